"""Regular grammars as one regular expression, and the state elimination after it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.automata import build_automaton
from support.regexes import random_regex

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.eliminate_states import (
    NotTextError,
    TooLongError,
    character_edges,
    eliminate_states,
)
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.regex_ir import Lit
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.writers import write
from constrain.compiler.writers.one_regex import write_regex
from constrain.compiler.writers.printer import WriterError


def same(left: Dfa, right: Dfa) -> bool:
    """Whether two minimal automata are one."""
    return all(
        np.array_equal(getattr(left, name), getattr(right, name))
        for name in ("table", "classes", "accepting")
    )


def test_elimination_keeps_the_language(full: bool) -> None:
    """The expression of a DFA has that DFA, for random expressions."""
    rng = random.Random(20)
    rounds, too_long = 2000 if full else 13, 0
    for _ in range(rounds):
        text = random_regex(rng, 3)
        before = build_automaton(text, dialect="regex").dfa
        try:
            node = eliminate_states(before, 20_000)
        except TooLongError:
            too_long += 1
            continue
        assert same(before, minimize(determinize(thompson(node)))), text
    assert too_long < rounds / 10


def test_characters_come_back_whole() -> None:
    """The edges of a class are its ranges, however many bytes they take."""
    dfa = build_automaton(r"[a-z\x{7F}-\x{D7FF}\x{E000}-\x{10FFFF}]", dialect="regex").dfa

    (edges,) = [targets for targets in character_edges(dfa).values() if targets]
    assert [((0x61, 0x7A), (0x7F, 0xD7FF), (0xE000, 0x10FFFF))] == list(edges.values())


@pytest.mark.parametrize(
    "data", [b"\x80", b"\xc3", b"\xc3a", b"\xff", b"\xc0\x80", b"\xed\xa0\x80"]
)
def test_bytes_that_are_no_text_have_no_characters(data: bytes) -> None:
    """Stray, missing and overlong bytes and surrogates are refused."""
    with pytest.raises(NotTextError):
        character_edges(minimize(determinize(thompson(Lit(data)))))


@pytest.mark.parametrize(
    ("grammar", "expression"),
    [
        ('a ::= b "=" b; b ::= #"[a-z]+";', "[a-z]+=[a-z]+\n"),
        ('a ::= "x" a | "y";', "x*y\n"),
        ('a ::= a "," "x" | "x";', "x(,x)*\n"),
        ('a ::= "x" b; b ::= ("a" | "b") ["?"];', "x(a|b)(\\?)?\n"),
        ('a ::= "x" | b; b ::= "y" b;', "x\n"),
        ('a ::= "x"; a ::= "y";', "x|y\n"),
        ('a ::= except!("x", 2);', "[^x][^x]?\n"),
        ('a ::= "";', "()\n"),
    ],
)
def test_expressions_stay_readable(grammar: str, expression: str) -> None:
    """Rules are written out; recursion becomes repetition."""
    assert expression == write(read_grammar(grammar, "kbnf"), "regex")


def test_real_grammars_as_one_expression(data: Callable[[str], Path], full: bool) -> None:
    """Every regular one of the real grammars that is not too large has the same DFA."""
    texts = [
        (path.read_text(encoding="utf-8", errors="replace"), dialect)
        for dialect, pattern in (("gbnf", "gbnf/*.gbnf"), ("w3c", "w3c/*.*"))
        for path in sorted(data("grammars").glob(pattern))
    ]
    rows = data("grammars/kbnf/kbnf_strings.jsonl").read_text(encoding="utf-8").splitlines()
    texts += [(json.loads(row)["text"], "kbnf") for row in rows[:: 1 if full else 2]]
    tried = 0
    for text, dialect in texts:
        try:
            before = build_automaton(text, dialect=dialect, limits=Limits(states=2000))
            written = write_regex(before.grammar, longest=20_000)
        except ConstrainError:
            continue
        assert same(before.dfa, build_automaton(written, dialect="regex").dfa), text
        tried += 1
    assert tried > 10


def test_what_is_too_long_is_told() -> None:
    """A rule that doubles at every step is refused before it is written out."""
    rules = " ".join(f"r{i} ::= r{i + 1} r{i + 1};" for i in range(40))
    grammar = read_grammar(rules + ' r40 ::= "x" | "y";', "kbnf", name="g.ebnf")
    with pytest.raises(WriterError, match="has more than 1,000,000 characters"):
        write_regex(grammar)
    with pytest.raises(TooLongError):
        eliminate_states(build_automaton("(a|b)*a(a|b){6}", dialect="regex").dfa, 1000)


def test_an_empty_language_has_no_expression() -> None:
    """A grammar without members is refused with its place."""
    with pytest.raises(WriterError, match=r"g\.ebnf:1:1: error: no finite text"):
        write_regex(read_grammar('a ::= "x" a;', "kbnf", name="g.ebnf"))
