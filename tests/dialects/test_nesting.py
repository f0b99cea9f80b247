"""Brackets that nest, however deep, in every dialect, and the limit of nesting."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import tracemalloc

import pytest
from support.automata import build_automaton, words_of

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits

BRACKETS = [
    ("kbnf", 's ::= {}"a"{};', "(", ")"),
    ("kbnf", 's ::= {}"a"{};', "[", "]"),
    ("kbnf", 's ::= {}"a"{};', "{", "}"),
    ("kbnf", 's ::= {}"a"{};', '("b" | ', ")+"),
    ("kbnf", 's ::= #"{}a{}";', "(", ")"),
    ("gbnf", 'root ::= {}"a"{}', "(", ")"),
    ("gbnf", 'root ::= {}"a"{}', "(\n | ", "\n){2}"),
    ("w3c", 's ::= {}"a"{}', "(", ")"),
    ("w3c", 's ::= {}"a"{}', '("b" - ', ")+"),
    ("lark", 'start: {}"a"{}', "(", ")"),
    ("lark", 'start: {}"a"{}', "[\n ", "\n| B]"),
    ("lark", 'start: {}"a"{}', '("b" | ', ")~2..3"),
    ("regex", "{}a{}", "(", ")"),
    ("regex", "{}a{}", "(?:b|", ")?"),
    ("regex", "{}a{}", "(?P<n>", ")*"),
]


@pytest.mark.parametrize(("dialect", "pattern", "opening", "closing"), BRACKETS)
def test_brackets_nest_deep(
    dialect: str, pattern: str, opening: str, closing: str, deep: int
) -> None:
    """Thousands of levels are read without a call for each."""
    text = pattern.format(opening * deep, closing * deep)

    (rule,) = read_grammar(text, dialect).rules

    assert rule.name in ("s", "start", "root")
    assert text.endswith(text[rule.span.start : rule.span.end])


def test_deep_plain_brackets_make_the_same_automaton(deep: int) -> None:
    """Brackets alone mean nothing, however many there are."""
    text = f's ::= {"(" * deep}"a"{")" * deep};'

    automaton = build_automaton(text, dialect="kbnf")

    assert [(ord("a"),)] == list(words_of(automaton.dfa, 3))


@pytest.mark.parametrize(("dialect", "pattern", "opening", "closing"), BRACKETS)
def test_nesting_is_limited(dialect: str, pattern: str, opening: str, closing: str) -> None:
    """One level more than allowed is a limit that was hit, as many as allowed are not."""
    text = pattern.format(opening * 20, closing * 20)

    read_grammar(text, dialect, limits=Limits(nesting=20))
    with pytest.raises(LimitError) as found:
        read_grammar(text, dialect, limits=Limits(nesting=19))

    assert ("nesting", 19) == (found.value.limit, found.value.value)
    assert "--max-nesting" in str(found.value)


def test_brackets_side_by_side_do_not_nest() -> None:
    """The limit is on depth, not on number."""
    text = "s ::= " + '("a") ["b"] {"c"} #"(d)(e)" ' * 50 + ";"

    assert 1 == len(read_grammar(text, "kbnf", limits=Limits(nesting=1)).rules)


def test_nested_options_take_little_memory() -> None:
    """Twice the depth takes at most some four times the memory."""
    build_automaton('s ::= ["a"];', dialect="kbnf")  # What is loaded once does not count.
    peaks = []
    for depth in (100, 200):
        text = f's ::= {"[" * depth}"a"{"]" * depth};'
        tracemalloc.start()
        build_automaton(text, dialect="kbnf")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 5 * peaks[0]
