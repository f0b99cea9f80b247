"""Permutations that are held as sets: members and tools."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from support.cli import Cli, content
from support.network import (
    in_all_orders,
    keys,
    network_of,
    permuted,
)

from constrain.compiler import Tokenizer, compile_grammar, thresholds
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.network.members import NetworkMembers


@pytest.fixture
def all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every permutation is a set in a frame."""
    monkeypatch.setattr(thresholds, "COPIED_STATES", 0)


@pytest.mark.usefixtures("fewer_pairs")
def test_tools_know_permutations(cli: Cli, tmp_path: Path) -> None:
    """``check`` finds nothing wrong with 30 parts, ``show`` and ``viz`` name the set, ``explain``
    says which keys are left, and ``convert`` writes them as they are or refuses by name."""
    path = content(tmp_path / "a.ebnf", keys(30).replace("| start", ""))
    out = str(tmp_path / "a.cst")
    assert 0 == cli("check", path).code
    done = cli("compile", path, "--tokenization", "any", "-o", out)
    assert 0 == done.code
    assert "a permutation of 30 parts is a set in a frame" in done.err
    assert b"sets: 1" in cli("show", out).out
    assert b"separated by" in cli("show", path, "--stage", "network").out
    assert b"permutation of #1 #2?" in cli("show", path, "--stage", "tree").out
    drawn = str(tmp_path / "a.dot")
    assert 0 == cli("viz", path, "--stage", "parser", "-o", drawn).code
    assert "permute 30 parts of set 1" in Path(drawn).read_text()
    text = content(tmp_path / "x.txt", '{"key4": 1, "key4"')
    for subject in (path, out):
        said = cli("explain", subject, text)
        assert 1 == said.code
        assert b'rejected at "4" (byte 16) in start; expected [0-35-9] inside ' in said.out
    assert b"permute_by!(" in cli("convert", path, "--to", "kbnf").out
    assert "30 parts are too many" in cli("convert", path, "--to", "gbnf").err
    assert "their members are too long to be compared" in cli("diff", path, path).err
    few = content(tmp_path / "b.ebnf", keys(3).replace("| start", ""))
    again = content(tmp_path / "b.gbnf", cli("convert", few, "--to", "gbnf").out.decode())
    assert 0 == cli("diff", few, again).code


def test_written_out_orders_are_explained_by_rules_and_parts(cli: Cli, tmp_path: Path) -> None:
    """In place of the rules that all orders become stand the author's, and the part."""
    text = 'start ::= "{" permute!(x, ("y: " start | "z"), n?) "}";'
    text += ' x ::= "x: " n ";"; n ::= #"[0-9]+";'
    path = content(tmp_path / "a.kbnf", text)
    said = cli("explain", path, content(tmp_path / "x.txt", "{x: 1;y: {x")).out
    assert b"in start > start part 2 > start > x; expected" in said
    compiled = cli("compile", path, "-o", str(tmp_path / "a.cst"))
    assert "(start → start part 2 → start)" in compiled.err


def test_members_are_counted_and_drawn_as_of_all_orders(all_held: None, full: bool) -> None:
    """Readings by length, and members in order, are those of rules for each set of parts; each is
    drawn, about as often as the others."""
    rng = random.Random(3)
    for _ in range(60 if full else 3):
        words = rng.sample("abcdefgh", rng.randrange(2, 6))
        texts = [f'"{w}"' + rng.choice(["", ' #"[01]{1,2}"', ' #"[01]*"']) for w in words]
        parts = [(text, rng.random() < 0.5, rng.random() < 0.25) for text in texts]
        separator = rng.choice([None, '","', '","?', '";"+'])
        held, orders = (
            NetworkMembers(network_of(f'start ::= "<" {part} ">" ("!" start)?;\n{rules}'))
            for part, rules in (
                (permuted(parts, separator), ""),
                ("o", in_all_orders(parts, separator)),
            )
        )
        readings = [orders.count(length) for length in range(9)]
        assert readings == [held.count(length) for length in range(9)]
        members = list(orders.up_to(7))
        assert members == list(held.up_to(7))
        if 0 < len(members) < 60 and sum(readings[:8]) == len(members):
            drawn = Counter(islice(held.draws(7, 1), 40 * len(members)))
            assert set(members) == set(drawn)
            assert sum((count - 40) ** 2 / 40 for count in drawn.values()) < 3 * len(members) + 30


def test_too_many_orders_are_a_limit_by_name(default_tokenizer: Tokenizer) -> None:
    """Where no frame can hold the set: other engines."""
    for options in ({"engine": "dfa"}, {"engine": "earley"}):
        with pytest.raises(LimitError, match=r"all orders of a permutation.*'start'"):
            compile_grammar(keys(30), dialect="kbnf", tokenizer=default_tokenizer, **options)
