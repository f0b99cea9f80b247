"""Findings that are mended: the text checks clean, and the language is the one that it says."""

import json
import random
import re
from pathlib import Path

import pytest
from support import sampled

from constrain.cli.app import run
from constrain.compiler.diagnostics import Edit, Fix
from constrain.compiler.lints import mended

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
ALTERNATIVES = ['| "never" | "today"', '| "today" | "never"']
SOUND = {"ebnf": KBNF, "gbnf": GBNF}


def faulty(seed: int) -> tuple[str, str]:
    """The suffix of a dialect and a text with several faults, whose mended text is sound."""
    draw = random.Random(seed)
    suffix = draw.choice([*SOUND])
    text, end = SOUND[suffix], ";" * (suffix == "ebnf")
    faults = [
        # A name misspelt where it is used.
        lambda t: t.replace(" month |", draw.choice([" mnth |", " monht |", " months |"])),
        lambda t: t.replace('"1" last', draw.choice(['"1" lst', '"1" lastt'])),
        # An alternative that others cover, in each place.
        lambda t: t.replace(
            '| "never"', draw.choice(['| "never" | "today"', '| "today" | "never"'])
        ),
        lambda t: t.replace('"0" | "1" | "2"', '("0") | "1" | "2" | ("1" | "0")'),
        # An escape that is a character and no byte.
        lambda t: t.replace("é", r"\xE9"),
        # A rule that nothing uses, with a comment of its own.
        lambda t: t + f'unused ::= "x" digit{end}\n',
        lambda t: t.replace("last ::=", f'spare ::= digit | ("y"){end}\nlast ::='),
    ]
    if suffix == "ebnf":
        faults.append(lambda t: re.sub(r";\n(?=year|$)", "\n", t, count=draw.choice([1, 2])))
        # A repetition as a recursion.
        faults.append(
            lambda t: t.replace('date { "," date }', "dates") + 'dates ::= dates "," date | date;\n'
        )
    for fault in draw.sample(faults, draw.randint(1, len(faults))):
        text = fault(text)
    return suffix, text


@sampled("seed", range(12), range(100))
def test_faulty_files_are_mended(seed: int, tmp_path: Path) -> None:
    """A hundred of them: nothing is found in the result, its comments are all there, and its
    language is that of the sound text."""
    suffix, text = faulty(seed)
    path = tmp_path / f"faulty.{suffix}"
    path.write_text(text)
    assert text != SOUND[suffix]
    assert run(["check", str(path), "--fix", "--unsafe-fixes"]) == 0
    fixed = path.read_text()
    for comment in re.findall(r"\(\*.*?\*\)|#\s.*", SOUND[suffix]):
        assert comment in fixed
    sound = tmp_path / f"sound.{suffix}"
    sound.write_text(SOUND[suffix])
    assert run(["diff", str(path), str(sound)]) == 0


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
    """In each dialect, where rules nest as well: no member of either is none of the other, as far
    as they are compared."""
    before, after = tmp_path / "before", tmp_path / "after"
    for path in (before, after):
        path.write_text(NESTED[dialect])
    asked = ["--dialect", dialect]
    assert run(["check", str(after), "--fix", "--unsafe-fixes", *asked]) == 0
    assert re.search(r"""sum>?,? ["']""", before.read_text())
    assert not re.search(r"""sum>?,? ["'][+-]""", after.read_text())
    assert run(["diff", str(before), str(after), "--max-depth", "3", *asked]) == 0


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
