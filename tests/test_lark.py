"""Lark's grammars: ignored text against Python's regexes, the library against Lark's own."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import regex
from lark import Lark
from lark.exceptions import UnexpectedInput
from support import LARK_STARTS

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run
from constrain.compiler.dialects import read_grammar
from constrain.compiler.dialects.lark_library import COMMON
from constrain.compiler.grammar.tree import Literal, Reference, walk
from constrain.compiler.grammar.tree_text import tree_text
from constrain.compiler.grammar.weave_ignored import weave_ignored
from constrain.compiler.lints import lint
from constrain.compiler.lnf import normalize
from constrain.compiler.pipeline import build_automaton
from constrain.compiler.writers import WRITERS

# --- ignored text

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
    gap = f"(?:{'|'.join(meaning for _, meaning in ignored)})*"
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
    for _ in range(400 if full else 40):
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
    for _ in range(400 if full else 40):
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


# --- the library

PIECES = [*'019eE+-._aZgF \t\n\r\f#/*"\\', "--", "//", "/*", "*/", '"', "\\", "\r\n"]
NUMERIC = [*"019eE+-."]


@pytest.mark.parametrize("name", [n for n in COMMON if not n.startswith("_STRING")])
def test_library_against_lark(name: str, full: bool) -> None:
    """Each terminal matches what Lark's terminal of that name matches, text by text."""
    theirs = Lark(f"start: T\n%import common.{name} -> T", parser="lalr")
    ours = build_automaton(f"start: T\n%import common.{name} -> T", dialect="lark").dfa
    rng = random.Random(59)
    members = 0
    for number in range(20_000 if full else 3000):
        pieces = (PIECES, NUMERIC, rng.sample(PIECES, 4))[number % 3]
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 7)))
        if number % 2:
            text = {"ESCAPED_STRING": f'"{text}"', "C_COMMENT": f"/*{text}*/"}.get(name, text)
        try:
            theirs.parse(text)
            wanted = True
        except UnexpectedInput:
            wanted = False
        assert wanted == ours.accepts(text.encode()), text
        members += wanted
    assert members > 5


def test_parts_of_strings() -> None:
    """What Lark cannot match on its own: the inside of a string."""
    inner = build_automaton("start: _STRING_INNER\n%import common._STRING_INNER", dialect="lark")
    escaped = build_automaton(
        "start: _STRING_ESC_INNER\n%import common._STRING_ESC_INNER", dialect="lark"
    )
    texts = [b"", b"a\\", b"a\\\\", b'\\"', b"\n"]

    assert [True, True, True, True, False] == [inner.dfa.accepts(t) for t in texts]
    assert [True, False, True, True, False] == [escaped.dfa.accepts(t) for t in texts]


# --- trees, round trips and commands


def test_the_tree_keeps_what_a_lexer_needs() -> None:
    """Terminals, their priorities and what is ignored."""
    text = 'start: A <eos> <[1,5-9]> <[^3]> <[*]>\nA.-2: "a"\n%ignore " "\n%ignore /x/u'

    assert [
        "lark grammar, start start",
        "rule start  [0, 37)",
        "  sequence  [7, 37)",
        "    reference A  [7, 8)",
        "    token <eos>  [9, 14)",
        "    token <[1,5-9]>  [15, 24)",
        "    token !<[3]>  [25, 31)",
        "    token <[*]>  [32, 37)",
        "terminal A, priority -2  [38, 47)",
        "  literal 'a'  [44, 47)",
        "ignored  [56, 59)",
        "  literal ' '  [56, 59)",
        "ignored  [68, 72)",
        "  pattern 'x'  [68, 72)",
    ] == tree_text(read_grammar(text, "lark")).splitlines()


def test_real_grammars_come_back(data: Callable[[str], Path]) -> None:
    """Parse, write, parse: all that can be read is as it was, but for the name of the start."""
    root = data("grammars")
    tried = 0
    for path in sorted((root / "lark").rglob("*.lark")):
        start = LARK_STARTS.get(path.relative_to(root).as_posix())
        try:
            once = read_grammar(path.read_text(encoding="utf-8"), "lark", start=start)
        except ConstrainError:
            continue
        again = read_grammar(WRITERS["lark"](once), "lark")
        expected = re.sub(rf"\b{once.start}\b", "start", without_places(tree_text(once)))
        found = without_places(tree_text(again))
        if once.start in once.terminals:
            # A rule that is the terminal comes first.
            found = found.replace("rule start\n  reference", "")
            expected = without_places(tree_text(once))
            assert expected.splitlines()[1:] == found.splitlines()[2:]
        else:
            assert expected == found
        assert WRITERS["lark"](again) == WRITERS["lark"](once)
        tried += 1
    assert tried >= 10


def without_places(text: str) -> str:
    """The lines of a tree without spans and without the way that patterns were written."""
    return re.sub(r"(?m)(^ *pattern .*|  \[\d+, \d+\))$", "", text)


def test_what_lark_cannot_say_is_refused(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Differences and exclusions, with their place."""
    path = tmp_path / "g.w3c"
    path.write_text('s ::= [a-z] - "x"', encoding="utf-8")

    assert 2 == run(["convert", str(path), "--to", "lark"])
    assert b"1:7: error: Lark's grammars have no set difference" in capsysbinary.readouterr().err


def test_converting_says_what_is_lost(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """On stderr; in Lark's own syntax nothing is lost."""
    path = tmp_path / "g.lark"
    path.write_text('start: A\nA.2: "a"\n%ignore " "\n', encoding="utf-8")

    assert 0 == run(["convert", str(path), "--to", "gbnf"])
    printed = capsysbinary.readouterr()
    assert printed.out == (
        b'root ::= start ignored\nstart ::= ignored A\nA ::= "a"\nignored ::= " "*\n'
    )
    assert b"written out before each terminal" in printed.err
    assert b"no priorities" in printed.err
    assert 0 == run(["convert", str(path), "--to", "lark"])
    printed = capsysbinary.readouterr()
    assert (b'start: A\nA.2: "a"\n%ignore " "\n', b"") == (printed.out, printed.err)


def test_names_become_lower_case() -> None:
    """Rules of other dialects are rules, different where they differ in case alone."""
    text = 'start ::= Digit digit 1-a; Digit ::= "1"; digit ::= "2";'.replace("1-a", "_A1")
    text += ' _A1 ::= "" | "x";'

    assert 'start: digit digit2 a1\ndigit: "1"\ndigit2: "2"\na1: () | "x"\n' == WRITERS["lark"](
        read_grammar(text, "kbnf")
    )


def test_what_is_ignored_is_reached_and_linted() -> None:
    """A terminal that is ignored is in use; white space that is ignored repeats without end."""
    grammar = read_grammar('start: "a"\nSPACE: " "\n%ignore SPACE\n%ignore "\\t"', "lark")

    found = [(f.lint, f.span.start) for f in lint(grammar)]
    assert [("unbounded-whitespace", 30), ("unbounded-whitespace", 44)] == found
