"""Masks that are worked out one by one, all tokens at once; subtrees that are taken whole."""

import random

import numpy as np
import pytest
from support.maximal_munch import BOTH, CODE, JSON, SAMPLES, masks_of, random_larks, vocabulary_of

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch import lexer_walk as greedy_walk
from constrain.artifacts.maximal_munch.lexer import Lexer
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.slices import Slices
from constrain.artifacts.maximal_munch.subtrees import Stays, Subtrees
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import literal
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.lexer_tables import json_slices, maximal_munch_tables

# Lexemes that swallow text outside ASCII, that count, and that leave something out.
_SWALLOWING = r"""
start: (NAME | STRING | SHORT | NOTE | OTHER | "é" | "日")*
NAME: /[a-zé]+/
STRING: /"[^"\n]*"/
SHORT: /'[^'\n]{0,4}'/
NOTE: /#[^\n]*/
OTHER: /[^\x00-\x7f€]+/
%ignore /[ \n]+/
"""
_PIECES = ["a", "b", " ", "#", '"', "'", "\n", "é", "€", "日本", "😀"]
_PARTS = [piece.encode() for piece in _PIECES]
_PARTS += [b"\xc3", b"\xa9", b"\xe6\x97", b"\xa5", b"\xf0\x9f", b"\xff"]


def machine(
    text: str, vocabulary: Vocabulary, size: int, *, sliced: bool, parts: bool, made: bool = True
) -> MaximalMunchMasks:
    """With slices and subtrees or without; of ``parts`` that masks share, or one by one.

    ``made``: subtrees are there from the beginning.
    """
    trie = Trie.from_vocabulary(vocabulary)
    slices = Slices(json_slices(), trie, size)
    slices.subtrees(make=made)
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    make = (lambda: slices) if sliced else None
    masks = MaximalMunchMasks(tables, lambda: trie, vocabulary, (), size, make)
    if parts:
        masks.residual.single = None
    return masks


def words(rng: random.Random, count: int) -> list[bytes]:
    """Tokens of several characters, of parts of one, and of bytes that make none."""
    found = {b"".join(rng.choices(_PARTS, k=rng.randint(1, 5))) for _ in range(count)}
    return sorted(found | set(_PARTS))


def test_masks_one_by_one_are_those_of_parts(full: bool) -> None:
    """On random grammars, whichever way a mask is put together and with slices or without."""
    rng = random.Random(3)
    for text, _ in random_larks(300 if full else 25, seed=12):
        tokens = sorted({bytes(rng.choices(b"abc #", k=rng.randint(1, 7))) for _ in range(40)})
        size = len(tokens) + 1
        vocabulary = vocabulary_of(tokens)
        oracle = machine(text, vocabulary, size, sliced=False, parts=True)
        others = [
            machine(text, vocabulary, size, sliced=sliced, parts=parts)
            for sliced, parts in ((False, False), (True, False), (True, True))
        ]
        state, states = oracle.start, [other.start for other in others]
        for _ in range(6):
            row = oracle.row(state)
            for other, reached in zip(others, states, strict=True):
                assert row.tolist() == other.row(reached).tolist(), text
            choices = [i for i in tokenset.to_ids(row).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            state = oracle.step(state, token)
            states = [other.step(at, token) for other, at in zip(others, states, strict=True)]


def test_subtrees_change_no_mask(full: bool) -> None:
    """Where lexemes swallow text outside ASCII, and tokens begin and end inside characters."""
    rng = random.Random(4)
    for _ in range(60 if full else 6):
        tokens = words(rng, 300)
        size, vocabulary = len(tokens) + 1, vocabulary_of(tokens)
        plain = machine(_SWALLOWING, vocabulary, size, sliced=False, parts=False)
        sliced = machine(_SWALLOWING, vocabulary, size, sliced=True, parts=False)
        left, right = plain.start, sliced.start
        for _ in range(25):
            row = plain.row(left)
            assert row.tolist() == sliced.row(right).tolist()
            choices = tokenset.to_ids(row).tolist()
            if not choices:
                break
            token = rng.choice(choices)
            left, right = plain.step(left, token), sliced.step(right, token)
        assert sliced.walks.visited < plain.walks.visited


def test_subtrees_are_made_in_the_middle_of_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many nodes have been read before; what was found until then stays in the mask."""
    rng = random.Random(5)
    tokens = sorted({bytes(rng.choices(range(32, 127), k=rng.randint(1, 4))) for _ in range(2000)})
    size, vocabulary = len(tokens) + 1, vocabulary_of(tokens)
    plain = machine(_SWALLOWING, vocabulary, size, sliced=False, parts=False)
    inside = plain.read(plain.start, b"#")
    assert inside is not None
    expected, visited = plain.row(inside).tolist(), []
    for large in (0, 200, 2 * plain.walks.visited):
        monkeypatch.setattr(greedy_walk, "LARGE", large)
        sliced = machine(_SWALLOWING, vocabulary, size, sliced=True, parts=False, made=False)
        inside = sliced.read(sliced.start, b"#")
        assert inside is not None
        assert expected == sliced.row(inside).tolist()
        visited.append(sliced.walks.visited)
    # Made at once, on the way, and not at all.
    assert visited == sorted(visited)
    assert len(set(visited)) == 3
    assert visited[-1] == plain.walks.visited


@pytest.mark.parametrize("grammar", [JSON, CODE, BOTH + CODE], ids=["json", "code", "both"])
def test_masks_along_a_sample(grammar: str, default_tokenizer: Tokenizer) -> None:
    """Along a sample, masks one by one with slices are those of shared parts without."""
    size = default_tokenizer.vocab_size
    vocabulary = default_tokenizer.vocabulary(size)
    plain = machine(grammar, vocabulary, size, sliced=False, parts=True)
    sliced = machine(grammar, vocabulary, size, sliced=True, parts=False)
    left, right = plain.start, sliced.start
    for token in default_tokenizer.encode(SAMPLES[grammar.removeprefix(BOTH)]):
        assert plain.row(left).tolist() == sliced.row(right).tolist()
        left, right = plain.step(left, token), sliced.step(right, token)
    assert sliced.walks.visited * 2 < plain.walks.visited


def test_subtrees_are_those_of_the_texts() -> None:
    """Tokens below a node are the longer ones of its text, and their characters its classes."""
    tokens = [b"a", b"ab", b"aB1", "aé".encode(), b"a\xff", b"b", b"\xc3", "é".encode()]
    trie = Trie.from_vocabulary(vocabulary_of(tokens))
    subtrees = Subtrees.of(trie)
    texts = [b""]
    for node, octet in enumerate(trie.octets[1:].tolist(), 1):
        parent = int(np.searchsorted(trie.first, node, side="right")) - 1
        texts.append(texts[parent] + bytes([octet]))
    for node, text in enumerate(texts):
        held = subtrees.ids[subtrees.begin[node] : subtrees.end[node]].tolist()
        assert [i for i, token in enumerate(tokens) if token.startswith(text)] == sorted(held)
        assert held[: subtrees.own[node]] == [i for i, token in enumerate(tokens) if token == text]
    bits = dict(zip(texts, subtrees.below.tolist(), strict=True))
    assert bits[b"b"] == 0
    # b; B and 1; a character outside ASCII; a byte that makes none.
    assert bits[b"a"].bit_count() == 5
    assert bits[b"aB"].bit_count() == 1
    # Inside a character nothing is said of what follows.
    broken = 1 << 63
    assert bits[b"a\xc3"] & broken
    assert not bits[b"aB"] & broken


def test_where_a_lexer_stays() -> None:
    """A state stays in what leads back to it; the dead state takes nothing."""
    lexer = Lexer(maximal_munch_tables(read_grammar(_SWALLOWING, "lark")).lexer)
    start = lexer.start(frozenset(range(lexer.tables.lexemes)))
    leaving = Stays(lexer).leaving()
    assert lexer.states == len(leaving)
    assert leaving[DEAD] == 2**64 - 1
    trie = Trie.from_vocabulary(vocabulary_of([b"na", b"na b", "né".encode(), "n€".encode()]))
    below = Subtrees.of(trie).below[1].item()
    rows = lexer.rows
    inside = {
        "name": rows[start][ord("b")],
        "string": rows[start][ord('"')],
        "short": rows[start][ord("'")],
    }
    left = {name: below & int(leaving[state]) for name, state in inside.items()}
    assert left["string"] == 0
    # The space, and the characters outside ASCII of which a name has but one.
    assert left["name"].bit_count() == 2
    assert left["short"] == below


@pytest.mark.parametrize("data", [b"a", b"aab", bytes(range(256)), bytes(range(255, -1, -1)) * 2])
def test_literals_are_minimal_automata(data: bytes) -> None:
    """The chain of a text is what determinisation and minimisation make of it."""
    expected, found = minimize(determinize(thompson(regex.lit(data)))), literal(data)
    assert expected.table.tolist() == found.table.tolist()
    assert expected.classes.tolist() == found.classes.tolist()
    assert expected.accepting.tolist() == found.accepting.tolist()
    assert (expected.start, expected.origins) == (found.start, found.origins)


def test_what_is_pending_waits_for_the_frame_below() -> None:
    """A token that closes more than the head knows of is decided by the frames below it."""
    masks = masks_of('start: "(" start ")" | "[" start "]" | "x"\n', [b"(", b"[", b"x", b"x)])"])
    for text, fits in ((b"([(", True), (b"([[", False), (b"(((", False)):
        state = masks.read(masks.start, text)
        assert state is not None
        assert fits == tokenset.contains(masks.row(state), 3)
