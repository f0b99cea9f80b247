"""Findings that are mended: the text checks clean, and the language is the one that it says."""

import json
import random
import re
from pathlib import Path

import pytest
from support import sampled

from constrain.cli.app import run
from constrain.compiler import CompileOptions
from constrain.compiler.diagnostics import Edit, Fix
from constrain.compiler.dialects import read_grammar
from constrain.compiler.explain.lockstep import lockstep
from constrain.compiler.explain.machines import TextMachine, machine_of
from constrain.compiler.limits import Limits
from constrain.compiler.lints import lint, mended
from constrain.compiler.pipeline import build_engine

# Sound grammars of two dialects; all rules are regular.
KBNF = """\
(* A list of dates. *)
start ::= "[" [ date { "," date } ] "]";
date ::= year "-" month | "today" | "never";
year ::= digit digit (* of this century *) digit digit;
month ::= "0" digit | "1" last;
last ::= "0" | "1" | "2";
digit ::= #"[0-9]" | "é";
"""
GBNF = """\
# A list of dates.
root ::= "[" (date ("," date){0,9})? "]"
date ::= year "-" month | "today" | "never"
year ::= digit digit digit digit # of this century
month ::= "0" digit | "1" last
last ::= "0" | "1" | "2"
digit ::= [0-9] | "é"
"""
SOUND = {"kbnf": KBNF, "gbnf": GBNF}


def faulty(seed: int) -> tuple[str, str, str]:
    """A dialect, a sound text, half of which nest, and the same text with several faults."""
    draw = random.Random(seed)
    dialect = draw.choice([*SOUND])
    sound, end = SOUND[dialect], ";" * (dialect == "kbnf")
    start = "start" if dialect == "kbnf" else "root"
    if seed % 2:
        sound = sound.replace('| "never"', f'| "never" | {start}')
    text = sound
    faults = [
        # A name misspelt where it is used.
        lambda t: t.replace(" month |", draw.choice([" mnth |", " monht |", " months |"])),
        lambda t: t.replace('"1" last', draw.choice(['"1" lst', '"1" lastt'])),
        # An alternative that others cover, in each place.
        lambda t: t.replace(
            '| "never"', draw.choice(['| "never" | "today"', '| "today" | "never"'])
        ),
        lambda t: t.replace('"0" | "1" | "2"', '("0") | "1" | "2" | ("1" | "0")'),
        # An option as an alternative.
        lambda t: (
            t.replace("[ date", "( date").replace(' ] "]"', ' | "" ) "]"').replace(")? ", " | ) ")
        ),
        # An escape that is a character and no byte.
        lambda t: t.replace("é", r"\xE9"),
        # A rule that nothing uses, with a comment of its own.
        lambda t: t + f'unused ::= "x" digit{end}\n',
        lambda t: t.replace("last ::=", f'spare ::= digit | ("y"){end}\nlast ::='),
    ]
    if dialect == "kbnf":
        faults.append(lambda t: re.sub(r";\n(?=year|$)", "\n", t, count=draw.choice([1, 2])))
        # A repetition as a recursion.
        faults.append(
            lambda t: t.replace('date { "," date }', "dates") + 'dates ::= dates "," date | date;\n'
        )
    for fault in draw.sample(faults, draw.randint(1, len(faults))):
        text = fault(text)
    return dialect, sound, text


def machine(text: str, dialect: str) -> TextMachine:
    """What reads the texts of a grammar."""
    return machine_of(build_engine(text, CompileOptions(dialect=dialect)))


def assert_equal(left: str, right: str, dialect: str, *, nests: bool) -> None:
    """Of two languages: decided where rules do not nest, else as deep as there is room."""
    found = lockstep(machine(left, dialect), machine(right, dialect), Limits())
    assert found.is_equal
    assert nests or found.depth is found.length is None


@sampled("seed", range(12), range(100))
def test_faulty_files_are_mended(seed: int, tmp_path: Path) -> None:
    """A hundred of them: nothing is found in the result, its comments are all there, and its
    language is that of the sound text."""
    dialect, sound, text = faulty(seed)
    path = tmp_path / "faulty"
    path.write_text(text)
    assert text != sound
    assert run(["check", str(path), "--dialect", dialect, "--fix", "--unsafe-fixes"]) == 0
    fixed = path.read_text()
    for comment in re.findall(r"\(\*.*?\*\)|#\s.*", sound):
        assert comment in fixed
    assert lint(read_grammar(fixed, dialect)) == []
    assert_equal(fixed, sound, dialect, nests=bool(seed % 2))


NESTED = {
    "kbnf": 'start ::= sum; sum ::= sum "+" item | sum "-" item | item | "("sum")";item ::= "x";',
    "gbnf": 'root ::= sum\nsum ::= sum "+" item | item | "(" sum ")"\nitem ::= "x"',
    "lark": 'start: sum\nsum: sum "+" item | item | "(" sum ")"\nitem: "x"',
    "w3c": "start ::= sum sum ::= sum '+' item | item | '(' sum ')' item ::= 'x'",
    "abnf": 'sum = sum "+" item / item / "(" sum ")"\nitem = %s"x"',
    "iso14977": "sum = sum, '+', item | item | '(', sum, ')'; item = 'x';",
    "ebnf": '<sum> ::= <sum> "+" <item> | <item> | "(" <sum> ")"\n<item> ::= "x"',
}


@pytest.mark.parametrize("dialect", NESTED)
def test_left_recursion_becomes_a_repetition(dialect: str, tmp_path: Path) -> None:
    """In each dialect, where rules nest as well: the language is the same."""
    path, before = tmp_path / "nested", NESTED[dialect]
    path.write_text(before)
    assert run(["check", str(path), "--fix", "--unsafe-fixes", "--dialect", dialect]) == 0
    after = path.read_text()
    assert re.search(r"""sum>?,? ["']""", before)
    assert not re.search(r"""sum>?,? ["'][+-]""", after)
    assert_equal(before, after, dialect, nests=True)


@pytest.mark.parametrize(
    ("dialect", "before", "after", "rest"),
    [
        ("kbnf", 'a ::= "x"("y" | "" | b) (b | "");', 'a ::= "x"("y" | b)? b?;', 'b ::= "q";'),
        ("gbnf", 'root ::= "x" ( | ("y") | b)', 'root ::= "x" (("y") | b)?', 'b ::= "q"'),
        ("w3c", "a ::= 'x' (b 'y' | '')", "a ::= 'x' (b 'y')?", "b ::= 'q'"),
        ("lark", 'start: "x" (b|"y"|)', 'start: "x" (b | "y")?', 'b: "q"'),
        ("abnf", 'a = "x" ( "y" / b / "" )', 'a = "x" [ "y" / b ]', 'b = "q"'),
        ("iso14977", "a = 'x', ( b | ), 'y';", "a = 'x', [ b ], 'y';", "b = 'q';"),
        ("ebnf", '<a> ::= "x" ("y" | "" | <b>)', None, '<b> ::= "q"'),
        # A whole rule, which names what may be missing; and a comment.
        ("gbnf", 'root ::= | "x" b', None, 'b ::= "q"'),
        ("kbnf", 'a ::= "x" (b | (* nothing *) "");', None, 'b ::= "q";'),
    ],
)
def test_an_empty_alternative_becomes_an_option(
    dialect: str, before: str, after: str | None, rest: str, tmp_path: Path
) -> None:
    """In each dialect that has options; it is noted, which is no reason for an exit code."""
    path, text = tmp_path / "options", f"{before}\n{rest}\n"
    path.write_text(text)
    assert run(["check", str(path), "--dialect", dialect]) == 0
    assert run(["check", str(path), "--fix", "--dialect", dialect]) == 0
    assert path.read_text() == f"{after or before}\n{rest}\n"
    assert_equal(text, path.read_text(), dialect, nests=False)


@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        ("iso14977", "a = 'x' | b c\nb c = 'y'\nd = 'z'", "a = 'x' | b c;\nb c = 'y';\nd = 'z';"),
        ("iso14977", "a = ('x'\nb = 'y';", None),
        ("iso14977", "a = 'x', \nb = 'y';", None),
        ("kbnf", 'a ::= b\nb ::= "x"', 'a ::= b;\nb ::= "x";'),
        (
            "lark",
            "%import common (NUMBR, INTT)\nstart: NUMBR INTT",
            "%import common (NUMBER, INT)\nstart: NUMBER INT",
        ),
        ("lark", "%import common.NUMBR -> INT\nstart: INT", None),
    ],
)
def test_errors_are_mended(dialect: str, before: str, after: str | None, tmp_path: Path) -> None:
    """Marks that rules lack, and misspelt names of libraries, where that is sure."""
    path = tmp_path / "wrong"
    path.write_text(before)
    run(["check", str(path), "--dialect", dialect, "--fix"])
    assert path.read_text() == (after or before)


def test_only_safe_fixes_are_made_unasked(tmp_path: Path) -> None:
    """A rule that nothing uses stays, and so does its finding; --diff writes nothing."""
    path = tmp_path / "a.ebnf"
    path.write_text('a ::= "x" | "x"; b ::= "y";')
    assert run(["check", str(path), "--fix", "--diff"]) == 1
    assert path.read_text() == 'a ::= "x" | "x"; b ::= "y";'
    assert run(["check", str(path), "--fix"]) == 1
    assert path.read_text() == 'a ::= "x"; b ::= "y";'
    assert run(["check", str(path), "--unsafe-fixes"]) == 2


def test_a_comment_is_never_lost(tmp_path: Path) -> None:
    """What would take one away is not mended."""
    path = tmp_path / "a.ebnf"
    text = 'a ::= "x" | (* again *) "x";'
    path.write_text(text)
    assert run(["check", str(path), "--fix", "--unsafe-fixes"]) == 1
    assert path.read_text() == text


def test_edits_do_not_overlap() -> None:
    """Of two fixes at one place the first is made."""
    fixes = [
        Fix("one", (Edit(0, 2, "x"), Edit(4, 5, "")), safe=True),
        Fix("two", (Edit(1, 3, "y"),), safe=True),
        Fix("three", (Edit(6, 6, "z"),), safe=True),
    ]
    assert mended("abcdef", fixes) == ("xcdfz", [fixes[0], fixes[2]])


def test_fixes_in_json_and_sarif(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Both have the places and the new text."""
    path = tmp_path / "a.ebnf"
    path.write_text('start ::= "x"\n  nme;\nname ::= "y";')
    assert run(["check", str(path), "--format", "json"]) == 2
    finding = json.loads(capsysbinary.readouterr().out)["findings"][0]
    place = {"line": 2, "column": 3, "end_line": 2, "end_column": 6}
    expected = {"title": "write 'name'", "safe": True, "edits": [{**place, "text": "name"}]}
    assert finding["fix"] == expected
    assert run(["check", str(path), "--format", "sarif"]) == 2
    result = json.loads(capsysbinary.readouterr().out)["runs"][0]["results"][0]
    (change,) = result["fixes"][0]["artifactChanges"]
    region = {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 6}
    new = {"deletedRegion": region, "insertedContent": {"text": "name"}}
    assert change["replacements"] == [new]
