"""Grammars of ISO 14977 that others wrote, and the trees that the dialect makes.

What cannot be read stands in ``ratchets/iso14977.txt`` with the reason, one ``path<TAB>reason``
a line; the list may only shrink.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT, assert_in_order, reasons
from support.automata import build_automaton, words_of

from constrain.compiler.diagnostics import GrammarError, LimitError
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.grammar.tree import Difference, Literal, Repetition, walk
from constrain.compiler.limits import Limits

RATCHET = ROOT / "tests" / "ratchets" / "iso14977.txt"


# What opens and what closes a level.
BRACKETS = [
    ("(", ")"),
    ("[", "]"),
    ("(/", "/)"),
    ("{", "}-"),
    ("(: | ", ":)"),
    ("2 * (", ")"),
    ('("b" - ', ")"),
]


def ratchet() -> dict[str, str]:
    """What is known not to be read, with the reason."""
    return reasons(RATCHET)


def test_the_ratchet_is_in_order() -> None:
    """Sorted, each name once, each with a reason."""
    assert_in_order(RATCHET)


def test_files_are_read(data: Callable[[str], Path]) -> None:
    """All are but those in the ratchet, and all of those are not."""
    root = data("grammars")
    failed = {}
    paths = sorted((root / "dryruby-ebnf").glob("**/*.isoebnf"))
    for path in paths:
        name = path.relative_to(root).as_posix()
        try:
            read_grammar(path.read_text(encoding="utf-8"), "iso14977", name=name)
        except GrammarError as error:
            failed[name] = str(error)

    assert len(paths) >= 5
    assert {} == {name: text for name, text in failed.items() if name not in ratchet()}
    assert [] == [name for name in ratchet() if name not in failed]


@pytest.mark.parametrize("path", ["g.isoebnf", "dir.gbnf/g.iso", "G.ISO"])
def test_the_suffix_tells_the_dialect(path: str) -> None:
    """Both suffixes do, in either case."""
    assert "iso14977" == dialect_of(path)


def test_the_first_rule_starts() -> None:
    """Whatever it is called, unless another is asked for, by a name with single spaces."""
    text = 'a = "x"; start = "y"; the  last\none = "z";'

    assert "a" == read_grammar(text, "iso14977").start
    assert "start" == read_grammar(text, "iso14977", start="start").start
    dfa = build_automaton(text, dialect="iso14977", start="the last one").dfa
    assert [b"z"] == [bytes(word) for word in words_of(dfa, 3)]


def test_spans_point_at_the_text() -> None:
    """Each node and each name stands where its span says; a rule ends with its terminator."""
    text = '(* é *) a  b = {"ö"}-, 3 * ("c") | [a\nb] - .\nc = ("x" | "y") ; '
    rules = read_grammar(text, "iso14977").rules

    def under(start: int, end: int) -> str:
        return text[start:end]

    assert ["a b", "c"] == [rule.name for rule in rules]
    assert ["a  b", "c"] == [under(r.name_span.start, r.name_span.end) for r in rules]
    assert ['a  b = {"ö"}-, 3 * ("c") | [a\nb] - .', 'c = ("x" | "y") ;'] == [
        under(r.span.start, r.span.end) for r in rules
    ]
    assert [
        ("Choice", '{"ö"}-, 3 * ("c") | [a\nb] -'),
        ("Sequence", '{"ö"}-, 3 * ("c"'),
        ("Repetition", '{"ö"}-'),
        ("Literal", '"ö"'),
        ("Repetition", '3 * ("c"'),
        ("Literal", '"c"'),
        ("Difference", "[a\nb] -"),
        ("Repetition", "[a\nb]"),
        ("Reference", "a\nb"),
        ("Literal", ""),
    ] == [(type(n).__name__, under(n.span.start, n.span.end)) for n in walk(rules[0].body)]


def test_repetitions_say_how_often() -> None:
    """``-`` with nothing after it makes one or more of ``{ }`` alone, however it is written."""
    text = 's = {"a"}, (: "a" :)-, ({"a"})-, ["a"], 3 * "a", 2 * {"a"} -;'
    (rule,) = read_grammar(text, "iso14977").rules

    counts = [(n.min_times, n.max_times) for n in walk(rule.body) if isinstance(n, Repetition)]
    assert [(0, None), (1, None), (1, None), (0, 1), (3, 3), (2, 2), (0, None)] == counts
    assert 1 == sum(isinstance(node, Difference) for node in walk(rule.body))


def test_empty_parts_have_a_place() -> None:
    """The span of what is not there is where it would stand."""
    text = 's = ()| |["a"| ];t =;'
    rules = read_grammar(text, "iso14977").rules

    found = [
        (node.data, node.span.start, node.span.end)
        for rule in rules
        for node in walk(rule.body)
        if isinstance(node, Literal)
    ]
    assert [(b"", 5, 5), (b"", 7, 7), (b"a", 10, 13), (b"", 14, 14), (b"", 20, 20)] == found


@pytest.mark.parametrize(("opening", "closing"), BRACKETS)
def test_brackets_nest_deep(opening: str, closing: str, deep: int) -> None:
    """Thousands of levels are read without a call for each."""
    text = f's = {opening * deep}"a"{closing * deep};'

    (rule,) = read_grammar(text, "iso14977").rules

    assert text == text[rule.span.start : rule.span.end]


@pytest.mark.parametrize(("opening", "closing"), BRACKETS)
def test_nesting_is_limited(opening: str, closing: str) -> None:
    """One level more than allowed is a limit that was hit, as many as allowed are not."""
    text = f's = {opening * 20}"a"{closing * 20};'

    read_grammar(text, "iso14977", limits=Limits(nesting=20))
    with pytest.raises(LimitError, match="--max-nesting"):
        read_grammar(text, "iso14977", limits=Limits(nesting=19))


@pytest.mark.parametrize("comment", ["(* a *) " * 20_000, f"(* {'a ' * 100_000} *)"])
def test_long_comments_are_read(comment: str) -> None:
    """Many side by side, and many words in one; with one end missing they are refused at once."""
    assert 1 == len(read_grammar(f's = {comment} "a";', "iso14977").rules)
    with pytest.raises(GrammarError, match="comment without an end"):
        read_grammar(f's = (* {comment} "a";', "iso14977")
