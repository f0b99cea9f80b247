"""How calls return beside a pre-tokenizer DFA, against the plain equations."""

# Tests here say `expected == actual`.

import random
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.grammars import random_grammar
from support.network import network_of

from constrain.artifacts.canonical_network.certificates import distances
from constrain.artifacts.canonical_network.reached_pairs import ReachedPairs, reached_pairs
from constrain.artifacts.canonical_network.return_tables import call_returns
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.pretokenizer.dfa import PretokenizerDfa
from constrain.compiler.diagnostics import GrammarError

pytestmark = pytest.mark.quick

NONE = np.full(256, -1, dtype=np.int32)


def random_pretokenizer(rng: random.Random, states: int = 4) -> PretokenizerDfa:
    """Any table, which reads most bytes."""
    cells = [rng.randrange(states) for _ in range(states * 2 * 3)]
    table = np.array(cells, dtype=np.int32).reshape(states, 2, 3)
    table[0] = 0
    classes = np.array([rng.randrange(3) for _ in range(256)], dtype=np.uint8)
    return PretokenizerDfa(table, classes, NONE, 1)


def call_returns_via_rounds(
    tables: NetworkTables, pairs: ReachedPairs, return_states: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """All edges and calls again and again, until nothing is added. Without counters."""
    found: list[set[int]] = [
        {at} if tables.accepting[state] else set()
        for state, at in zip(pairs.states.tolist(), pairs.pre_states.tolist(), strict=True)
    ]
    number = pairs.number.tolist()
    while True:
        before = [set(each) for each in found]
        for source, target in pairs.edges.T.tolist():
            found[source] |= found[target]
        for pair in range(1, len(found)):
            for start, frame in tables.calls[int(pairs.states[pair])]:
                for at in found[number[start][int(pairs.pre_states[pair])]].copy():
                    found[pair] |= found[number[frame][at]]
        if before == found:
            return np.array([[at in each for at in return_states.tolist()] for each in found])


def test_calls_return_as_the_plain_equations_say() -> None:
    """Of random grammars beside random pre-tokenizer DFAs."""
    rng, looked_at = random.Random(5), 0
    for _ in range(30):
        with suppress(GrammarError):
            tables, pretokenizer = network_of(random_grammar(rng)), random_pretokenizer(rng)
            begins = np.array([tables.start * 4 + 1])
            pairs = reached_pairs(tables, pretokenizer, begins)
            ends = np.unique(pairs.pre_states[tables.accepting[pairs.states] != 0])
            expected = call_returns_via_rounds(tables, pairs, ends)
            found = call_returns(tables, pairs, pairs.pre_states, ends)
            assert np.array_equal(np.packbits(expected, axis=1), found)
            looked_at += expected.any() and bool(len(tables.call_starts))
    assert looked_at >= 5


def test_long_texts_take_work_in_line_with_their_length() -> None:
    """Twice as many states one after another, of a network that a stranger wrote: twice the
    work."""
    few, many = _work(2_000), _work(4_000)

    assert few > 0
    assert many < 2.2 * few


def _work(more: int) -> int:
    """What finding the returns counts as work, with so many states before the end."""
    tables, pretokenizer = (
        network_of("start ::= 'a' start 'b' | 'c';"),
        random_pretokenizer(random.Random(0)),
    )
    pretokenizer = replace(pretokenizer, table=(pretokenizer.table > 0).astype(np.int32))
    size, done = tables.states, list[int]()
    behind = np.append(np.arange(size + 1, size + more), 0).astype(np.int32)
    columns = tables.table.shape[1]
    long = replace(
        tables,
        table=np.concatenate([tables.table, np.tile(behind[:, None], columns)]),
        accepting=np.append(tables.accepting, np.arange(more) == more - 1).astype(np.uint8),
        call_offsets=np.append(tables.call_offsets, np.full(more, len(tables.call_starts))),
        start=size,
    )
    begins = np.array([size * 4 + 1])
    pairs = reached_pairs(long, pretokenizer, begins, lambda work, _: done.append(work))
    ends = np.unique(pairs.pre_states[long.accepting[pairs.states] != 0])
    found = call_returns(long, pairs, pairs.pre_states, ends, lambda work, _: done.append(work))
    assert np.unpackbits(found, axis=1, count=len(ends))[1:].all()
    assert more - 1 == distances(long)[size]
    return sum(done)
