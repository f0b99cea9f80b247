"""Lark's grammars: the library against Lark's own, trees, round trips and commands."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from support import LARK_STARTS, without_places
from support.automata import build_automaton

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run
from constrain.compiler.dialects import read_grammar
from constrain.compiler.dialects.lark_library import COMMON
from constrain.compiler.grammar.tree_text import tree_text
from constrain.compiler.writers import WRITERS

PIECES = [*'019eE+-._aZgF \t\n\r\f#/*"\\', "--", "//", "/*", "*/", '"', "\\", "\r\n"]


NUMERIC = [*"019eE+-."]


@pytest.mark.parametrize("name", [n for n in COMMON if not n.startswith("_STRING")])
def test_library_against_lark(name: str, full: bool) -> None:
    """Each terminal matches what Lark's terminal of that name matches, text by text."""
    theirs = Lark(f"start: T\n%import common.{name} -> T", parser="lalr")
    ours = build_automaton(f"start: T\n%import common.{name} -> T", dialect="lark").dfa
    rng = random.Random(59)
    members = 0
    for number in range(20_000 if full else 2_000):
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
    assert members > 2


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
        tried += 1
        assert WRITERS["lark"](again) == WRITERS["lark"](once)
        if any("{" in rule.name for rule in once.rules):
            # A use of a template is a rule under another name.
            continue
        expected = re.sub(rf"\b{once.start}\b", "start", without_places(tree_text(once)))
        found = without_places(tree_text(again))
        if once.start in once.terminals:
            # A rule that is the terminal comes first.
            found = found.replace("rule start\n  reference", "")
            expected = without_places(tree_text(once))
            assert expected.splitlines()[1:] == found.splitlines()[2:]
        else:
            assert expected == found
    assert tried >= 10


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
    text = b'start: A | "(" start ")"\nA.2: "a"\n%ignore " "\n'
    path.write_bytes(text)

    assert 2 == run(["convert", str(path), "--to", "gbnf"])
    assert b"this grammar nests, so it would gain members" in capsysbinary.readouterr().err
    assert 0 == run(["convert", str(path), "--to", "gbnf", "--loosen"])
    printed = capsysbinary.readouterr()
    assert printed.out == (
        b'root ::= start ignored\nstart ::= ignored A | (ignored "(") start (ignored ")")\n'
        b'A ::= "a"\nignored ::= " "*\n'
    )
    assert b"texts that maximal munch excludes are members now" in printed.err
    assert b"written out before each terminal" in printed.err
    assert b"no priorities" in printed.err
    assert 0 == run(["convert", str(path), "--to", "lark"])
    printed = capsysbinary.readouterr()
    assert (text, b"") == (printed.out, printed.err)


def test_names_become_lower_case() -> None:
    """Rules of other dialects are rules, different where they differ in case alone."""
    text = 'start ::= Digit digit 1-a; Digit ::= "1"; digit ::= "2";'.replace("1-a", "_A1")
    text += ' _A1 ::= "" | "x";'

    assert 'start: digit digit2 a1\ndigit: "1"\ndigit2: "2"\na1: () | "x"\n' == WRITERS["lark"](
        read_grammar(text, "kbnf")
    )
