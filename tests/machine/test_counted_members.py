"""Members of networks whose repetitions are counted: those of their copies, without any copy."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from support.automata import build_automaton
from support.cli import Cli, content

from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler import thresholds
from constrain.compiler.automata.members import Members
from constrain.compiler.network.counted_items import CountedItems
from constrain.compiler.network.members import NetworkMembers
from constrain.compiler.pipeline import build_engine

# Grammars of which each member has one reading.
GRAMMARS = [
    '"<" [ab]{2,5} ">"',
    '( "a" | "bb" ){3} "."',
    '( "a" [bc] ){2,} "."',
    '"[" [0-9] ( "," [0-9]{1,2} ){0,3} "]"',
    '( "a"{2,4} "," ){2,5}',
    '( "x" | "y" [0-9]{2,3} ){4,6} "!"',
    '[ab]{1,1000000} "."',
]


def network(text: str, monkeypatch: pytest.MonkeyPatch) -> NetworkTables:
    """All of whose repetitions are counted."""
    monkeypatch.setattr(thresholds, "SOON_COPIED_STATES", 0)
    options = {"dialect": "gbnf", "tokenization": "any", "engine": "network", "prewarm": 0}
    found: NetworkTables = build_engine(f"root ::= {text}", **options).network  # type: ignore
    assert found.counters is not None
    return found


@pytest.mark.parametrize("text", GRAMMARS)
def test_counts_lists_and_draws_are_those_of_copies(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many of each length as a DFA has, the same in the same order, and draws are members; a
    million items are no more than there are bytes."""
    counted = NetworkMembers(network(text, monkeypatch))
    copied = Members(
        build_automaton(f"root ::= {text}".replace("1000000", "20"), dialect="gbnf").dfa
    )
    for length in range(13):
        assert copied.count(length) == counted.count(length)
        if copied.count(length) < 2_000:
            assert list(copied.of_length(length)) == list(counted.of_length(length))
    most = next(n for n in range(20) if copied.count(n)) + 4
    known = set(copied.up_to(most)) if sum(map(copied.count, range(most + 1))) < 5_000 else None
    for word in islice(counted.draws(most, 3), 200):
        assert len(word) <= most
        assert known is None or word in known


def test_draws_are_equally_likely(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """Each member is drawn about as often as any other."""
    counted = NetworkMembers(network('( "a" | "bb" | "b" [cd] ){2,4} "."', monkeypatch))
    drawn = Counter(islice(counted.draws(7, 1), 10_000))
    members = list(counted.up_to(7))
    assert set(members) == set(drawn)
    mean = 10_000 / len(members)
    assert all(0.6 * mean < drawn[member] < 1.5 * mean for member in members)


def test_readings_of_items_are_powers_of_those_of_one() -> None:
    """For random items: by multiplying, and by the recurrence."""
    rng = random.Random(4)
    for _ in range(40):
        series = [0, *(rng.choice([0, 0, 1, 2, 5]) for _ in range(14))]
        series[rng.randrange(1, 6)] += 1
        least = rng.randrange(1, 6)
        most = rng.choice([None, least, least + 3, 10**6])
        items = CountedItems(least, most, lambda: None)
        for readings in series[1:]:
            items.append(readings)
        power, expected = [1, *[0] * 14], [0] * 15
        for number in range(1, 15):
            power = [sum(power[i] * series[n - i] for i in range(n + 1)) for n in range(15)]
            if least <= number <= (most or 99):
                expected = [a + b for a, b in zip(expected, power, strict=True)]
        assert expected == items.ways


def test_a_million_items_are_sampled_without_copies(cli: Cli, tmp_path: Path) -> None:
    """Of a grammar, nesting or not, and of an artifact: draws, the shortest, and the first ones."""
    item = '"\\"" ( [a-z] | "\\\\" [nt] ){2,1000000} "\\""'
    for number, more in enumerate(("", ' | "(" root ")"')):
        path = content(tmp_path / f"{number}.gbnf", f"root ::= {item}{more}")
        drawn = cli("sample", path, "-n", "5", "--max-bytes", "40", "-f", "raw0").out
        assert 5 == drawn.count(b"\0")
        assert b'"aa"\n' == cli("sample", path, "--shortest").out
        assert b'"aa"\n"ab"\n' == cli("sample", path, "--all", "--max-bytes", "4").out[:10]
        out = str(tmp_path / f"{number}.cst")
        assert 0 == cli("compile", path, "--tokenization", "any", "-o", out, "--lazy").code
        same = cli("sample", out, "-n", "5", "--max-bytes", "40", "-f", "raw0").out
        assert drawn == same
