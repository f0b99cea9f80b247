"""Slices and subtrees: tokens that a walk takes whole, and where they fit."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import numpy as np
import pytest
from support.maximal_munch import (
    JSON,
    SAMPLES,
    SWALLOWING,
    masks_of,
    masks_with,
    read,
    vocabulary_of,
)

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch import lexer_trie
from constrain.artifacts.maximal_munch.lexer import Lexer
from constrain.artifacts.maximal_munch.lexer_trie import Stays
from constrain.artifacts.maximal_munch.slices import LENGTHS, Slices, slice_of
from constrain.artifacts.tokens import subtrees as module
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_slices_change_no_mask(grammar: str, default_tokenizer: Tokenizer) -> None:
    """Rows along a sample are equal with slices and without."""
    plain = masks_with(default_tokenizer, grammar, sliced=False)
    sliced = masks_with(default_tokenizer, grammar)
    left, right = plain.start, sliced.start
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        assert plain.row(left).tolist() == sliced.row(right).tolist()
        left, right = plain.step(left, token), sliced.step(right, token)


def test_slices_leave_out_most_of_the_trie(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a JSON string less than a quarter of the nodes is visited."""
    monkeypatch.setattr(lexer_trie, "LARGE", 0)
    visited = []
    for sliced in (True, False):
        masks = masks_with(default_tokenizer, JSON, sliced=sliced)
        masks.row(read(masks, b'{"a": "b'))
        visited.append(masks.walks.visited)
    assert visited[0] * 4 < visited[1]


@pytest.mark.parametrize(
    ("pattern", "fits"), [('"', False), ('"C{0,50}"', True), ('"C{0,9}"', False), ('"C*"', True)]
)
def test_where_slices_fit(pattern: str, fits: bool) -> None:
    """A slice of ten characters fits inside a string that can take ten more."""
    body = pattern.replace('"', r"\"").replace("C", r'[^"\\\x00-\x1f]')
    tokens = [b'"', b"a", b"ab", "é".encode()]
    masks = masks_of(f"start: /{body}/\n", tokens)
    trie = Trie.from_vocabulary(vocabulary_of(tokens))
    slices = Slices(trie, 5, [10])
    heads, lexer = masks.configurations.heads, masks.configurations.lexer
    start = lexer.start(heads.view(heads.start).allowed)
    assert slices.covered(lexer, start) is None
    covered = slices.covered(lexer, lexer.rows[start][ord('"')])
    assert fits == (covered is not None)
    if covered is not None:
        assert [1, 2, 3] == tokenset.to_ids(covered.row).tolist()
        # The root and the quote.
        assert 2 == int(covered.needed.sum())


@pytest.mark.parametrize("most", LENGTHS)
def test_slices_read_what_their_regex_matches_the_beginnings_of(most: int | None) -> None:
    """The DFA of bytes and that of the regular expression are the same, up to equivalent states."""
    escaped = [(0x00, 0x1F), (ord('"'), ord('"')), (ord("\\"), ord("\\")), (0x7F, 0x7F)]
    plain = regex.char_class(regex.complement(escaped))
    expected = minimize(determinize(thompson(regex.repeat(plain, 1, most))))
    table = slice_of(most)
    seen = {(1, expected.start)}
    pending = [*seen]
    for state, other in pending:
        targets = expected.table[other][expected.classes]
        assert ((table[state] == DEAD) == (targets == DEAD)).all()
        for pair in set(zip(table[state].tolist(), targets.tolist(), strict=True)) - seen:
            seen.add(pair)
            pending.append(pair)


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


def test_where_states_of_a_lexer_loop() -> None:
    """A state loops on the classes that lead back to it; the dead state takes no subtree."""
    lexer = Lexer(maximal_munch_tables(read_grammar(SWALLOWING, "lark")).lexer)
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
    # The space, and two classes outside ASCII, in one of which a name has but one character.
    assert left["name"].bit_count() == 3
    assert left["short"] == below


def test_a_row_of_intervals_that_overlap_holds_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the subtrees of a node and of one below it do; marked one by one, or all at once."""
    rng = random.Random(7)
    tokens = sorted({bytes(rng.choices(b"abc", k=rng.randint(1, 7))) for _ in range(500)})
    rng.shuffle(tokens)
    subtrees = Subtrees.of(Trie.from_vocabulary(vocabulary_of(tokens)))
    size = len(tokens) + 40
    for most in (1 << 13, 0):
        monkeypatch.setattr(module, "_PACKED_SINGLY", most // 2)
        monkeypatch.setattr(module, "_MARKED_SINGLY", most)
        for count in (1, 2, 5, 50):
            nodes = rng.sample(range(len(subtrees.begin)), count)
            begins, ends = subtrees.begin[nodes], subtrees.end[nodes]
            parts = [subtrees.ids[b:e].tolist() for b, e in zip(begins, ends, strict=True)]
            found = tokenset.to_ids(subtrees.row(begins, ends, size)).tolist()
            assert sorted(set().union(*parts)) == found
