"""Earley's recogniser against the textbook's, its Leo items, its columns' names and its masks."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import numpy as np
import pytest
from support.grammars import (
    JSON,
    LEFT,
    RIGHT,
    lnf_of,
    random_grammars,
    random_text,
    recogniser,
)
from support.oracles.earley import PlainEarley
from support.oracles.lazy_terminals import LazyTerminals

from constrain.artifacts.earley.machine import EarleyMasks
from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.earley.tables import JaggedRows
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.earley.tables import layout
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import Lnf


def lazy_recogniser(lnf: Lnf) -> Earley:
    """The recogniser over automata that are built while it runs."""
    found = layout(lnf)
    return Earley(found.tables, LazyTerminals(found.nodes), 1 << 16)


@pytest.mark.quick
def test_jagged_rows() -> None:
    """Rows come back as they went in, also when a value makes the buffer wider."""
    jagged = JaggedRows()
    rows = [[1, 2], [], [1 << 33], [7], [3, 5 << 64 | 9, 1 << 63], [1]]
    for row in rows:
        jagged.append(row)
    assert rows == [list(jagged.row(i)) for i in range(len(jagged))]
    assert sum(map(len, rows)) == jagged.values
    with pytest.raises(OverflowError):
        jagged.append([8, 1 << 128])
    assert rows == [list(jagged.row(i)) for i in range(len(jagged))]
    jagged.truncate(2)
    assert [[1, 2], []] == [list(jagged.row(i)) for i in range(len(jagged))]
    jagged.append([4])
    assert [[1, 2], [], [4]] == [list(jagged.row(i)) for i in range(len(jagged))]


@pytest.mark.quick
def test_items_of_any_width_recognise_the_same() -> None:
    """A grammar of ten thousand rules has items that eight bytes do not hold."""
    rng = random.Random(3)
    for text, lnf in random_grammars(30, seed=5):
        usual, wide = recogniser(lnf), recogniser(lnf)
        wide._dot_bits = wide._state_bits = wide._head_bits = 25
        wide.truncate(-1)
        wide._begin_first_column()
        for _ in range(4):
            word = random_text(rng, usual, 9)
            assert usual.feed(word) == wide.feed(word), (text, word)
            assert usual.is_accepting == wide.is_accepting
            assert usual.items(len(usual)) == wide.items(len(wide))
            usual.truncate(0)
            wide.truncate(0)


def test_equals_the_textbook(full: bool) -> None:
    """Viable prefixes and members are the textbook's on random grammars, eager and lazy."""
    rng = random.Random(7)
    seen = 0
    for text, lnf in random_grammars(1000 if full else 5, seed=1):
        plain = PlainEarley(lnf)
        for earley in (recogniser(lnf), lazy_recogniser(lnf)):
            for _ in range(4):
                word = random_text(rng, earley, 9)
                columns = plain.columns(word)
                viable = len(columns) - (1 if columns[-1] else 2)
                assert viable == earley.feed(word), (text, word)
                for length in range(viable, -1, -1):
                    earley.truncate(length)
                    assert plain.accepts(word[:length]) == earley.is_accepting, (text, word, length)
                    seen += 1
    assert seen > 250


@pytest.mark.quick
def test_caches_are_bounded_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting and Leo items of few columns are cached; the others are found again."""
    rng = random.Random(11)
    monkeypatch.setattr("constrain.artifacts.earley.recogniser._MOST_WAITING", 2)
    monkeypatch.setattr("constrain.artifacts.earley.recogniser._MOST_LEO", 2)
    most_waiting = most_leo = 0
    for text, lnf in random_grammars(15, seed=2):
        plain, earley = PlainEarley(lnf), recogniser(lnf)
        word = random_text(rng, earley, 12)
        fed = earley.feed(word)
        assert plain.accepts(word[:fed]) == earley.is_accepting, (text, word)
        most_waiting = max(most_waiting, len(earley._waiting))
        most_leo = max(most_leo, len(earley._leo))
    assert (2, 2) == (most_waiting, min(most_leo, 2))


@pytest.mark.quick
def test_next_symbols_are_those_that_fit() -> None:
    """The bits say exactly which bytes can be read."""
    rng = random.Random(3)
    for text, lnf in random_grammars(25, seed=5):
        earley = recogniser(lnf)
        earley.feed(random_text(rng, earley, 6))
        bits, length = earley.next_symbols(), len(earley)
        for octet in range(256):
            assert bool(bits >> octet & 1) == earley.push(octet), (text, octet)
            earley.truncate(length)


@pytest.mark.quick
def test_all_items_that_wait_count_for_leo() -> None:
    """An item that waits for A with more after it ends the deterministic reduction path."""
    earley = recogniser(lnf_of("start ::= 'a' x | 'a' x 'y'; x ::= 'b' 'b' x | 'c';"))
    assert earley.feed(b"abbcy") == 5
    assert earley.is_accepting


@pytest.mark.quick
def test_the_head_changes_with_the_start() -> None:
    """Observation 3 with the start alone would look for u where only t is waited for."""
    earley = recogniser(lnf_of("start ::= 'a' t 'e' | start 's'; t ::= 'x' u; u ::= 'y' 'z'+;"))
    assert earley.feed(b"axyzze") == 6
    assert earley.is_accepting


def items_of(earley: Earley) -> int:
    """The number of items in all columns."""
    return sum(len(earley.items(column)) for column in range(len(earley) + 1))


@pytest.mark.parametrize(("grammar", "items", "octets"), [(RIGHT, 3, 20), (LEFT, 1, 12)])
def test_items_per_byte_are_constant(grammar: str, items: int, octets: int, full: bool) -> None:
    """Left and right recursion (Leo) take so many items and bytes for each byte that is read, at
    any length."""
    for length in (1_000, 10_000, 100_000) if full else (1_000, 10_000):
        earley = recogniser(lnf_of(grammar))
        assert earley.feed(b"a" * length) == length
        assert items * length <= items_of(earley) <= items * length + 2
        assert octets * length <= earley.nbytes <= octets * length + 16


@pytest.mark.parametrize(
    ("grammar", "slope"),
    [
        # A column holds an item for each place where what it completes may have begun.
        ("start ::= start start | 'a';", 1 / 2),
        ("start ::= start start start | start start | 'a';", 3 / 2),
        ("start ::= 'a' start 'a' | 'a';", 1 / 4),
        # Two lists side by side: ambiguous, but Leo leaves one item for all places of the split.
        ("start ::= x x; x ::= 'a' x | 'a';", 0),
    ],
)
def test_items_of_ambiguous_grammars(grammar: str, slope: float) -> None:
    """The items of all columns grow with the square of the length where each column grows with
    it, by a constant; never faster."""
    totals = []
    for length in (30, 60, 120):
        earley = recogniser(lnf_of(grammar))
        assert earley.feed(b"a" * length) == length
        totals.append(items_of(earley) - slope * length * length)
    # What is left beside the square is linear.
    assert abs(totals[2] - 3 * totals[1] + 2 * totals[0]) <= 2
    assert totals[2] <= 6 * 120


def test_without_leo_right_recursion_is_quadratic() -> None:
    """The textbook's sets grow by an item a byte on the same grammar, so Leo is what helps."""
    columns = PlainEarley(lnf_of(RIGHT)).columns(b"a" * 60)
    assert len(columns[60]) - len(columns[30]) == 30


def test_brackets_nest_deep(deep: int) -> None:
    """Depth is columns, not Python's stack."""
    earley = recogniser(lnf_of("start ::= '[' start ']' | '';"))
    assert earley.feed(b"[" * deep + b"]" * deep) == 2 * deep
    assert earley.is_accepting


def test_lazily_built_automata_check_the_limit() -> None:
    """More states than allowed is a limit error, not a full memory."""
    found = layout(lnf_of("start ::= #'(a|b)*a(a|b){12}';"))
    earley = Earley(found.tables, LazyTerminals(found.nodes, Limits(states=100)), 1 << 16)
    rng = random.Random(1)
    with pytest.raises(LimitError, match="100 states"):
        earley.feed(bytes(rng.choice(b"ab") for _ in range(10_000)))


class ComputedMasks(EarleyMasks):
    """Each row is computed again."""

    def _keep(self, state: int, row: tokenset.Words) -> None:
        pass


def masks_of(
    earley: Earley, tokens: list[bytes], kind: type[EarleyMasks] = EarleyMasks
) -> EarleyMasks:
    """Masks for a vocabulary of these tokens and one that ends the text."""
    lengths = np.cumsum([0, *map(len, tokens), 0], dtype=np.int64)
    kinds = np.array([0] * len(tokens) + [1], dtype=np.uint8)
    data = np.frombuffer(b"".join(tokens), dtype=np.uint8)
    vocabulary = Vocabulary(data, lengths, kinds)
    size = len(tokens) + 1
    return kind(earley, Trie.from_vocabulary(vocabulary), vocabulary, [len(tokens)], size)


def test_masks_are_viable_prefixes(full: bool) -> None:
    """A token is allowed exactly if the textbook finds prefix + token viable, cached or not."""
    rng = random.Random(11)
    letters = [b"a", b"b", b"c"]
    for text, lnf in random_grammars(300 if full else 2, seed=9):
        tokens = letters + [
            bytes(rng.choice(b"abc") for _ in range(rng.randint(2, 5))) for _ in range(12)
        ]
        tokens = list(dict.fromkeys(tokens))
        plain = PlainEarley(lnf)
        kinds = EarleyMasks, ComputedMasks
        cached, computed = (masks_of(recogniser(lnf), tokens, kind) for kind in kinds)
        states, prefix = [cached.start, computed.start], b""
        for _ in range(6):
            expected = [
                i for i, t in enumerate(tokens) if plain.viable(prefix + t) == len(prefix + t)
            ] + [len(tokens)] * plain.accepts(prefix)
            for masks, state in zip((cached, computed), states, strict=True):
                read = [i for i in range(len(tokens)) if masks.take(state, i) is not None]
                read += [len(tokens)] * masks.is_accepting(state)
                assert expected == read, (text, prefix)
                assert expected == tokenset.to_ids(masks.row(state)).tolist(), (text, prefix)
            choices = [i for i in expected if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            states = [
                masks.take(state, token)
                for masks, state in zip((cached, computed), states, strict=True)
            ]
            prefix += tokens[token]


def test_rows_are_shared_between_equal_configurations() -> None:
    """List elements and closed brackets lead back to rows that are cached."""
    tokens = [bytes([b]) for b in range(256)]
    masks = masks_of(recogniser(lnf_of(JSON)), tokens)
    state = masks.start
    visited, rows = [], []
    for octet in b"[1,1,1,1,[2],[2],1]":
        rows.append(masks.row(state).tobytes())
        visited.append(masks.visited)
        state = masks.take(state, octet)
    assert masks.is_accepting(state)
    assert visited[4] == visited[6]  # the third element
    assert rows[2] == rows[4] == rows[6]


def test_prewarming_computes_rows_before_they_are_needed() -> None:
    """After prewarming a short text is read without a walk."""
    tokens = [bytes([b]) for b in range(256)]
    masks = masks_of(recogniser(lnf_of("start ::= '[' start ']' | 'x';")), tokens)
    assert masks.prewarm(20) == 20
    before = masks.visited
    state = masks.start
    for octet in b"[[x]]":
        masks.row(state)
        state = masks.take(state, octet)
    assert masks.is_accepting(state)
    assert before == masks.visited
