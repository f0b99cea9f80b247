"""How far the ends of calls are, as the plain equations have it."""

# Tests here say `expected == actual`.

import random
from contextlib import suppress

import numpy as np
import pytest
from numpy.typing import NDArray
from support.grammars import random_grammar
from support.network import network_of

from constrain.artifacts.canonical_network.certificates import distances
from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler.diagnostics import GrammarError

pytestmark = pytest.mark.quick

FAR = 1 << 40


def distances_via_rounds(tables: NetworkTables) -> NDArray[np.int64]:
    """The same: all edges and calls again and again, until nothing comes nearer."""
    found = [0 if accepting else FAR for accepting in tables.accepting.tolist()]
    found[0] = FAR
    while True:
        before = list(found)
        for state in range(1, tables.states):
            led = [found[target] + 1 for target in tables.table[state].tolist() if target]
            for start, frame in tables.calls[state]:
                times, back = 1, frame
                if frame >= tables.states:
                    counters = tables.some_counters
                    _, times, _, back = counters.rows[counters.split(frame)[0]]
                led.append(times * found[start] + found[back])
            found[state] = min(found[state], FAR, *led)
        if before == found:
            return np.array(found)


GRAMMARS = {
    "brackets": "start ::= '[' start? ']' | 'xyz';",
    "two ways": "start ::= '(' start ')' | 'ab' c; c ::= 'def' | start start '.';",
    "ends anywhere": "start ::= ('a' start 'b')? 'c'*;",
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_distances_are_those_of_the_plain_equations(name: str) -> None:
    """Of networks that nest."""
    tables = network_of(GRAMMARS[name])

    assert np.array_equal(distances_via_rounds(tables), distances(tables))


@pytest.mark.parametrize("least", [1_000, 1 << 20, 1 << 39])
def test_counted_items_are_as_far_as_all_of_them_are(least: int) -> None:
    """What must be there so often is so often as far; more than there is room for is far."""
    tables = network_of(f"start ::= '(' start ')' | #'(ab|cde){{{least},}}' 'x';")

    assert tables.counters is not None
    assert np.array_equal(distances_via_rounds(tables), distances(tables))


def test_distances_of_random_grammars_are_those_of_the_plain_equations() -> None:
    """Of twenty with a seed."""
    rng, looked_at = random.Random(3), 0
    for _ in range(20):
        with suppress(GrammarError):
            tables = network_of(random_grammar(rng))
            assert np.array_equal(distances_via_rounds(tables), distances(tables))
            looked_at += 1
    assert looked_at >= 10
