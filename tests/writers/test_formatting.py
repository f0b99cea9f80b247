"""Formatted grammars are the same grammars, with all comments, and stay as they are."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support import ROOT, sampled

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.grammar.tree import Grammar, Pattern
from constrain.compiler.writers.formatting import (
    STYLES,
    FormatOptions,
    FormattingError,
    format_text,
)

NARROW = FormatOptions(line_length=30, align=True)

# Every comment of any dialect, and what stands in quotes, which holds none.
COMMENTS = {
    "kbnf": r"\(\*[\s\S]*?\*\)",
    "gbnf": r"#[^\r\n]*",
    "w3c": r"/\*[\s\S]*?\*/|(?<!\S)(?://|#(?!x))[^\r\n]*",
    "lark": r"(?<!\S)(?://|#)[^\r\n]*",
    "iso14977": r"\(\*[\s\S]*?\*\)",
    "abnf": r";[^\r\n]*",
    "ebnf": r"\(\*[\s\S]*?\*\)|/\*[\s\S]*?\*/|(?<!\S)(?://|--(?!\S))[^\r\n]*",
}
QUOTED = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\[(?:\\.|[^\]\\\n])*\]"""

# Strings and regexes of Lark, which keep their white space, or such space.
LARK_TOKEN = re.compile(r"""(?P<token>(["'/])(?:\\.|(?!\2)[^\\\n])*\2)|\s+""")


def grammars() -> Iterator[Path]:
    """All grammars at hand of dialects with a layout."""
    roots = [ROOT / "examples", ROOT / "tests"]
    if data := os.environ.get("CONSTRAIN_TEST_DATA"):
        roots.append(Path(data) / "grammars")
    for root in roots:
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        yield from (path for path in paths if dialect_of(path.name) in STYLES)


def comments_of(text: str, dialect: str) -> list[str]:
    """The comments of a text, by a regex alone."""
    either = re.compile(f"(?P<quoted>{QUOTED})|({COMMENTS[dialect]})")
    return [m[0].rstrip() for m in either.finditer(text) if m["quoted"] is None]


def without_places(grammar: Grammar) -> str:
    """The tree of a grammar as a text, without its spans.

    Lark's templates that are used, and its terminals that are joined into one regex, are called as
    they are written: of those calls alone the white space between tokens is left out.
    """
    parts = grammar.rules, grammar.ignored, grammar.start, grammar.tokens, grammar.indentation
    tree = re.sub(r"Span\(start=-?\d+, end=-?\d+\)", "", repr(parts))
    if grammar.source.dialect != "lark":
        return tree
    patterns = (e for rule in grammar.rules for e in rule.expressions if isinstance(e, Pattern))
    called = {e.text for e in patterns if e.text == grammar.source.text[slice(*e.span)]}
    called |= {rule.name for rule in grammar.rules if "{" in rule.name}
    for name in sorted(called, key=len, reverse=True):
        tree = tree.replace(repr(name), repr(LARK_TOKEN.sub(lambda m: m["token"] or "", name)))
    return tree


EVERY = list(grammars())


@sampled("path", EVERY[::12], EVERY)
def test_the_tree_and_the_comments_are_the_same_and_nothing_changes_twice(path: Path) -> None:
    """Of every grammar that can be read, in wide and in narrow lines."""
    with suppress(UnicodeDecodeError):
        text = path.read_bytes().decode().removeprefix("\ufeff")
        dialect = dialect_of(path.name) or ""
        folder, guessed = str(path.parent), path.suffix == ".ebnf"
        try:
            before = read_grammar(text, dialect, imports=folder, is_guessed=guessed)
        except ConstrainError:
            return
        dialect = before.source.dialect
        for options in (FormatOptions(), NARROW):
            found = format_text(text, dialect, options)
            after = read_grammar(found, dialect, imports=folder)
            assert without_places(before) == without_places(after)
            assert comments_of(text, dialect) == comments_of(found, dialect)
            assert found == format_text(found, dialect, options)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        (
            "kbnf",
            'a=(*1*)b|"x"\n;(*2*)\n\n\n(*3*) b::="y";',
            'a = (*1*) b | "x";  (*2*)\n\n(*3*)\nb ::= "y";\n',
        ),
        (
            "gbnf",
            'root ::= "a" # 1\n | "b" |\n# 2\n "c"\nb[lazy,capture="x"]::= [a-z]{ 1, 2 }',
            'root ::= "a" | # 1\n         "b" |\n         # 2\n         "c"\n'
            'b[lazy,capture="x"] ::= [a-z]{1,2}\n',
        ),
        (
            "lark",
            '?start.2 : _l{ a ,b} // 1\n | "c" ~ 2 -> d\na: "x"\nb: "y"',
            '?start.2: _l{a, b} // 1\n        | "c"~2 -> d\na: "x"\nb: "y"\n',
        ),
        (
            "abnf",
            'a = "x" ; 1\n  / 2*3( b )\nb=%x41',
            'a = "x" ; 1\n  / 2*3(b)\nb = %x41\n',
        ),
        (
            "iso14977",
            "a  b = { x } - , 3*'y' ; x = 'z' .",
            "a b = { x }-, 3 * 'y';\nx = 'z'.\n",
        ),
        (
            "w3c",
            "[1] a::=b /* 1 */ - 'x'\n// 2\n[2] b ::= [a-z] #x41?",
            "[1] a ::= b /* 1 */ - 'x'\n// 2\n[2] b ::= [a-z] #x41?\n",
        ),
        (
            "ebnf",
            '<a>::=<b>|"x" -- 1\n<b> ::= "y"-"z"',
            '<a> ::= <b> | "x"  -- 1\n<b> ::= "y"-"z"\n',
        ),
    ],
)
def test_what_is_written(dialect: str, before: str, after: str) -> None:
    """Comments, labels, counts and odd tokens, one text a dialect."""
    assert format_text(before, dialect) == after


@pytest.mark.quick
def test_line_breaks_stay_those_of_windows() -> None:
    """Where the text has such."""
    assert format_text('a="x"|\r\n"y";\r\n', "kbnf") == 'a = "x"\r\n  | "y";\r\n'


def test_nesting_needs_no_stack(deep: int) -> None:
    """Brackets deeper than any recursion."""
    text = f'a ::= {"(" * deep}"x"{")" * deep};\n'
    found = format_text(text, "kbnf")
    assert found == format_text(found, "kbnf")
    assert "".join(found.split()) == "".join(text.split())


def test_what_cannot_be_formatted_says_why() -> None:
    """Mistakes have their place; a dialect without a layout is named."""
    with pytest.raises(GrammarError) as caught:
        format_text("a ::= ;", "kbnf")
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.start == 6
    with pytest.raises(FormattingError, match="regex has no layout; those that have: kbnf"):
        format_text("a*", "regex")


def test_files_are_formatted_by_the_project_and_only_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """--check and --diff write nothing and give 1; a file that cannot be read hides no other."""
    monkeypatch.chdir(tmp_path)
    Path("constrain.toml").write_text(
        'grammars = ["*.ebnf"]\n[format]\nline-length = 20\nalign-definitions = true\n'
    )
    text = 'a="first"|"second";\nlong="x";\n'
    aligned = 'a    = "first"\n     | "second";\nlong = "x";\n'
    Path("one.ebnf").write_text(text)
    assert run(["fmt", "--check"]) == run(["fmt", "--diff"]) == 1
    assert b'+long = "x";' in capsysbinary.readouterr().out
    assert Path("one.ebnf").read_text() == text
    Path("bad.ebnf").write_text("a = ;")
    assert run(["fmt"]) == 2
    assert Path("one.ebnf").read_text() == aligned
    assert run(["fmt", "one.ebnf", "--check"]) == 0
    Path("constrain.toml").write_text("[format]\nline-length = 2\n")
    assert run(["fmt", "one.ebnf"]) == 2
    assert b"'line-length' takes at least 20" in capsysbinary.readouterr().err
