"""Ignored text of Lark's grammars, against Python's regexes with the gaps written out."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
import random

import numpy as np
import pytest
import regex
from support import without_places
from support.automata import build_automaton

from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.tree import Literal, Reference, walk
from constrain.compiler.grammar.tree_text import tree_text
from constrain.compiler.grammar.weave_ignored import weave_ignored
from constrain.compiler.lints import lint
from constrain.compiler.lnf import normalize
from constrain.compiler.writers import WRITERS

ALPHABET = "ab -"


TEXTS = ["".join(t) for n in range(6) for t in itertools.product(ALPHABET, repeat=n)]


ATOMS = [('"a"', "a"), ('"ab"', "ab"), ("/b+/", "b+"), ('"a".."b"', "[ab]"), ('"-"', "-")]


IGNORED = [('" "', " "), ("/-+/", "-+"), ('"- "', "- "), ('("a" "-")', "a-"), ("/ ?/", " ?")]


COUNTS = [("?", "?"), ("*", "*"), ("+", "+"), ("~2", "{2}"), ("~1..2", "{1,2}"), ("{,2}", "{0,2}")]


# The text of an expression in a Lark grammar, and a regex of Python that means the same.
Pair = tuple[str, str]


def random_expr(rng: random.Random, depth: int, gap: str, names: list[Pair]) -> Pair:
    """An expression in which ``gap`` may stand before each literal and regex."""
    kind = rng.randrange(6 if depth else 2)
    if kind == 0:
        text, meaning = rng.choice(ATOMS)
        return text, f"(?:{gap}(?:{meaning}))"
    if kind == 1:
        return rng.choice(names) if names else random_expr(rng, depth, gap, names)
    if kind == 2:
        text, meaning = random_expr(rng, depth - 1, gap, names)
        suffix, times = rng.choice(COUNTS)
        return f"({text}){suffix}", f"(?:{meaning}){times}"
    parts = [random_expr(rng, depth - 1, gap, names) for _ in range(rng.randrange(1, 3))]
    if kind == 3:
        text, meaning = parts[0]
        return f"[{text}]", f"(?:{meaning})?"
    if kind == 4:
        parts += [("", "")] if rng.randrange(3) == 0 else []
        return f"({' | '.join(t for t, _ in parts)})", f"(?:{'|'.join(m for _, m in parts)})"
    return " ".join(t for t, _ in parts), "".join(m for _, m in parts)


def random_grammar(rng: random.Random) -> Pair:
    """A grammar without recursion, and a regex of all its members."""
    ignored = rng.sample(IGNORED, rng.randrange(1, 3))
    gap = f"(?:{'|'.join(f'(?>{meaning})' for _, meaning in ignored)})*"
    lines = [f"%ignore {text}" for text, _ in ignored]
    terminals: list[Pair] = []
    names: list[Pair] = []
    for name in ("A", "B"):
        text, meaning = random_expr(rng, 1, "", terminals)
        lines.append(f"{name}: {text}")
        terminals.append((name, f"(?:{meaning})"))
        names.append((name, f"(?:{gap}{meaning})"))
    for name in ("x", "y", "start"):
        text, meaning = random_expr(rng, 2, gap, names)
        lines.append(f"{name}: {text}")
        names.append((name, f"(?:{meaning})"))
    rng.shuffle(lines)
    return "\n".join(lines), names[-1][1] + gap


def test_ignored_text_against_regexes(full: bool) -> None:
    """Random grammars accept the texts that a regex with the gaps written out accepts."""
    rng = random.Random(53)
    members = given_up = 0
    for _ in range(400 if full else 24):
        text, meaning = random_grammar(rng)
        expected = regex.compile(meaning)
        dfa = build_automaton(text, dialect="lark").dfa
        for member in TEXTS:
            try:
                wanted = expected.fullmatch(member, timeout=1) is not None
            except TimeoutError:
                given_up += 1  # It tries all ways to cut the text, which can be too many.
                break
            assert wanted == dfa.accepts(member.encode()), (text, member)
            members += wanted
    assert members > 1000
    assert given_up <= 10


def test_random_grammars_come_back(full: bool) -> None:
    """Written in Lark's syntax the same tree, in GBNF the same language."""
    rng = random.Random(61)
    for _ in range(400 if full else 7):
        text, _ = random_grammar(rng)
        once = read_grammar(text, "lark")
        again = read_grammar(WRITERS["lark"](once), "lark")
        assert without_places(tree_text(once)) == without_places(tree_text(again)), text
        before = build_automaton(text, dialect="lark").dfa
        for target in ("lark", "gbnf"):
            after = build_automaton(WRITERS[target](once), dialect=target).dfa
            assert np.array_equal(before.table, after.table), text
            assert np.array_equal(before.accepting, after.accepting), text


def test_nothing_ignored_changes_nothing() -> None:
    """Without ignored text the tree is the same object."""
    grammar = read_grammar('start: "a" B\nB: "b"', "lark")

    assert grammar is weave_ignored(grammar)


def test_ignored_text_is_not_forgotten() -> None:
    """A normal form is not made of a tree in which text is still ignored."""
    grammar = read_grammar('start: "a"\n%ignore " "', "lark")

    with pytest.raises(ValueError, match="weave_ignored"):
        normalize(grammar)


def test_woven_names_are_new() -> None:
    """Rules called as the new ones would be keep their names."""
    text = 'start: whole ignored\nwhole: "a"\nignored: "b"\n%ignore " "'
    woven = weave_ignored(read_grammar(text, "lark"))

    assert ["start", "whole", "ignored", "whole2", "ignored2"] == [r.name for r in woven.rules]
    assert ("whole2", ()) == (woven.start, woven.ignored)
    assert build_automaton(text, dialect="lark").dfa.accepts(b" a b ")


def test_deep_trees_are_woven() -> None:
    """Twenty thousand nested options need no Python stack."""
    depth = 20_000
    text = f'start: {"[" * depth}"a"{"]" * depth}\n%ignore " "'
    woven = weave_ignored(read_grammar(text, "lark"))

    (start, *_) = woven.rules
    assert 1 == sum(isinstance(expr, Literal) for expr in walk(start.body))
    assert 1 == sum(isinstance(expr, Reference) for expr in walk(start.body))


def test_a_terminal_may_be_the_start() -> None:
    """Then ignored text stands around it, also once it is written."""
    grammar = read_grammar('A: "a" "b"\n%ignore " "', "lark", start="A")
    for target, start in (("gbnf", None), ("lark", None), ("w3c", None)):
        text = WRITERS[target](grammar)
        dfa = build_automaton(text, dialect=target, start=start).dfa
        assert [True, False, False] == [dfa.accepts(t) for t in (b" ab  ", b"a b", b"")], text


def test_what_is_ignored_is_reached_and_linted() -> None:
    """A terminal that is ignored is in use; white space that is ignored repeats without end."""
    grammar = read_grammar('start: "a"\nSPACE: " "\n%ignore SPACE\n%ignore "\\t"', "lark")

    found = [(f.lint, f.span.start) for f in lint(grammar)]
    assert [("unbounded-whitespace", 30), ("unbounded-whitespace", 44)] == found
