"""``constrain check``: lints, silencing, formats and exit codes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from constrain.cli.app import run
from constrain.compiler.dialects import read_grammar
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.explain.report import Status
from constrain.compiler.lints import LINTS, lint
from constrain.compiler.options import CompileOptions

pytestmark = pytest.mark.quick


def found(text: str) -> list[tuple[str, str]]:
    """Lint and the text it points at, for each finding."""
    return [(f.lint, text[f.span.start : f.span.end]) for f in lint(read_grammar(text, "kbnf"))]


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ('a ::= "x"; b ::= "y";', [("unreachable", "b")]),
        ('a ::= "x"; a ::= "y";', [("duplicate-definition", "a")]),
        ('a ::= "x" | b; b ::= "y" b;', [("unproductive", "b")]),
        ('a ::= a "x" | "y";', [("left-recursion", "a")]),
        ('a ::= b "x" | "y"; b ::= [c] a; c ::= "z";',
         [("left-recursion", "a"), ("left-recursion", "b")]),
        ('a ::= "x" | #"[a-z]";', [("redundant-alternative", '"x"')]),
        ('a ::= b | "x" "y"; b ::= "xy" | "z";', [("redundant-alternative", '"x" "y"')]),
        ('a ::= b b; b ::= a | "";', [
            ("left-recursion", "a"), ("unit-cycle", "a"), ("left-recursion", "b"),
            ("redundant-alternative", "a"),
        ]),
        ('a ::= "(" b ")"; b ::= [a];', []),
        ('a ::= ("x" | "xy")* ("z"?)+;', [("ambiguous-repetition", '"z"?)+')]),
        ('a ::= "\\x41b" "\\xff";', [
            ("hex-escape-digit", "\\x41b"), ("high-hex-escape", "\\xff"),
        ]),
        ('a ::= " "* "x";', [("unbounded-whitespace", '" "*')]),
        ('a ::= {" " | "\\n"} "x";', [("unbounded-whitespace", '{" " | "\\n"}')]),
        ('a ::= #"[ \\\\t]+x";', [("unbounded-whitespace", '#"[ \\\\t]+x"')]),
        ('a ::= #"\\\\s*x";', [("unbounded-whitespace", '#"\\\\s*x"')]),
        ('a ::= #" {0,3}x" [" "] "y";', []),
        ('a ::= "x" | "y" "(" a ")";', []),
        ('a ::= "x" | except!("x");', []),
        ('a ::= "x" | b; b ::= a | "y" "z";', [
            ("left-recursion", "a"), ("unit-cycle", "a"), ("left-recursion", "b"),
        ]),
        ('a ::= "x" | any!;', [("redundant-alternative", '"x"')]),
        ('a ::= n [" " n] [" IF " n]; n ::= #"[A-Z]+";', [("keyword-as-name", '[" " n]')]),
        ('a ::= b ["(" n] b; b ::= ["IF("]; n ::= #"[A-Z]+";', []),
        ('a ::= "(" n? c; c ::= ["IF"]; n ::= #"[A-Z]+";', [("keyword-as-name", "n?")]),
        ('a ::= n [" " n] [" IF " n]; n ::= #"(?!IF$)[A-Z]+";', []),
        ('a ::= n [" " n] [" if " n]; n ::= #"[A-Z]+";', []),
        ('a ::= n [" " n] [" IF " n]; n ::= "OR" | "IF";', []),
        ('a ::= "A" [#" [^.]+"] [" IF " "A"];', []),
        ('a ::= permute!("x"?, "y"*) a | "z";', [("unit-cycle", "a")]),
        ('a ::= permute!("x"?, "y") a | "z";', []),
        ('a ::= "z" | permute!("x", "y") a;', []),
    ],
)  # fmt: skip
def test_lints(text: str, findings: list[tuple[str, str]]) -> None:
    """Each lint finds what it is named for, and nothing in grammars without it."""
    assert found(text) == findings


def test_a_comment_silences_the_rule_behind_it() -> None:
    """Right before a rule a comment is for that rule, elsewhere for the file."""
    rest = 'a ::= "x";\n\n(* constrain: allow(unreachable) *)\nb ::= "y";\nc ::= "z";'
    assert found(rest) == [("unreachable", "c")]
    assert found('a ::= "x"; b ::= "y"; c ::= "z"; (* constrain: allow(unreachable) *)') == []


def write(folder: Path, name: str, text: str) -> str:
    """A file in ``folder``."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_exit_codes(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """0 for nothing or notes, 1 for lints, 2 for errors; the worst of all files counts."""
    good = write(tmp_path, "good.ebnf", 'a ::= a "x" | "y";')
    odd = write(tmp_path, "odd.ebnf", 'a ::= "x"; b ::= "y";')
    bad = write(tmp_path, "bad.ebnf", "a ::= b;")
    assert run(["check", good]) == 0
    assert run(["check", good, odd]) == 1
    assert run(["check", odd, "--allow", "unreachable"]) == 0
    capsysbinary.readouterr()
    assert run(["check", bad, odd]) == 2
    printed = capsysbinary.readouterr().out.decode()
    assert f"{bad}:1:7: error: rule 'b' is not defined" in printed
    assert f"{odd}:1:12: warning: rule 'b' cannot be reached from 'a' [unreachable]" in printed
    assert run(["check", good, "--allow", "nonsense"]) == 2


def test_all_errors_of_a_file(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Every undefined rule is reported at once."""
    bad = write(tmp_path, "bad.ebnf", "a ::= b c;\nd ::= e;")
    assert run(["check", bad]) == 2
    assert capsysbinary.readouterr().out.decode().count("is not defined") == 3


def test_lints_beside_errors(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """What can be said in spite of an undefined rule is said; the exit code is that of errors."""
    bad = write(tmp_path, "bad.ebnf", 'a ::= b;\nc ::= "x" | "x";')
    assert run(["check", bad]) == 2
    printed = capsysbinary.readouterr().out.decode()
    assert "rule 'b' is not defined" in printed
    assert "[unreachable]" in printed
    assert "[redundant-alternative]" not in printed
    nested = write(tmp_path, "nested.ebnf", 'a ::= b | a b; b ::= b | "y";\nc ::= d; d ::= c;')
    assert run(["check", nested, "--start", "c"]) == 2
    printed = capsysbinary.readouterr().out.decode()
    assert "is an empty language" in printed
    assert "[unit-cycle]" in printed
    assert "[unproductive]" not in printed


def test_files_that_cannot_be_read_are_errors_and_the_others_are_checked(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """One file's fault hides no other's findings; the worst is the exit code."""
    odd = write(tmp_path, "odd.ebnf", 'a ::= "x";\nb ::= "y";')
    plain = write(tmp_path, "plain.txt", 'a ::= "x";')
    missing, bad = str(tmp_path / "no.ebnf"), tmp_path / "bad.ebnf"
    bad.write_bytes('\ufeffa ::=\n "é'.encode() + b'\xff";')
    assert run(["check", str(bad), missing, plain, odd]) == 2
    printed = capsysbinary.readouterr().out.decode()
    place = printed.index(f"{bad}:2:4: error: byte 0xFF is not UTF-8")
    assert '2 |  "é\ufffd";\n  |    ^' in printed
    assert place < printed.index(f"{missing}: error: No such file or directory")
    assert f"{plain}: error: the suffix does not tell the dialect" in printed
    assert "[unreachable]" in printed
    deep = write(tmp_path, "deep.ebnf", "a ::= " + "[" * 9 + '"x"' + "]" * 9 + ";")
    assert run(["check", missing, deep, odd, "--max-nesting", "5", "--format", "json"]) == 3
    files = [f["file"] for f in json.loads(capsysbinary.readouterr().out)["findings"]]
    assert files == [missing, deep, odd]


def test_json(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """One object with a schema, places from 1."""
    odd = write(tmp_path, "odd.ebnf", 'a ::= "x";\nb ::= "y";')
    run(["check", odd, "--format", "json"])
    value = json.loads(capsysbinary.readouterr().out)
    assert value["schema"] == 1
    (finding,) = value["findings"]
    assert (finding["lint"], finding["level"]) == ("unreachable", "warning")
    assert (finding["file"], finding["line"], finding["column"]) == (odd, 2, 1)
    assert (finding["end_line"], finding["end_column"]) == (2, 2)


def test_github(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Workflow commands, with what would end a property escaped."""
    odd = write(tmp_path, "a,b.ebnf", 'a ::= "x";\nb ::= "y";')
    run(["check", odd, "--format", "github"])
    (line,) = capsysbinary.readouterr().out.decode().splitlines()
    assert line.startswith("::warning file=")
    assert "a%2Cb.ebnf,line=2,col=1,endLine=2,endColumn=2,title=unreachable::" in line


def test_sarif(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A SARIF log that lists all lints and points at the place, a URI."""
    odd = write(tmp_path, "100% odd.ebnf", 'a ::= "x";\nb ::= "y";')
    run(["check", odd, "--format", "sarif"])
    log = json.loads(capsysbinary.readouterr().out)
    assert log["version"] == "2.1.0"
    (ran,) = log["runs"]
    ids = [rule["id"] for rule in ran["tool"]["driver"]["rules"]]
    assert ids == ["error", *LINTS]
    (result,) = ran["results"]
    place = result["locations"][0]["physicalLocation"]
    region = place["region"]
    assert place["artifactLocation"]["uri"].endswith("/100%25%20odd.ebnf")
    assert (result["ruleId"], region["startLine"], region["startColumn"]) == ("unreachable", 2, 1)


def test_deep_grammars_are_linted(deep: int) -> None:
    """Thousands of nested options need no Python stack."""
    text = "a ::= " + "[" * deep + '"x"' + "]" * deep + ";"
    assert found(text) == []


def test_alternatives_of_large_grammars_are_not_compared() -> None:
    """Comparing stays in proportion: a choice that uses more than fifty rules is left out."""
    chain = " ".join(f'r{i} ::= "a" r{i + 1};' for i in range(60)) + ' r60 ::= "z";'
    assert found(f'a ::= r0 | r0 | "y"; {chain}') == []
    assert found(f'a ::= r50 | r50 | "y" | r0; {chain}') == []
    assert ("redundant-alternative", "r50") in found(f"a ::= r50 | r50; b ::= r0; {chain}")


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ("a ::= 'if' B\nB ::= [a-z]+", "'if'"),
        ("a ::= '(' 'not'? b ')'\nb ::= C+\nC ::= [0-9] | 'all'", "'not'"),
        ("a ::= 'if' '('* 'then'", "'if'"),
        ("a ::= 'if' '(' 'then'", None),
        ("a ::= 'if' S B\nB ::= [a-z]+\nS ::= [#x20#x9]+", None),
        ("a ::= 'if ' B\nB ::= [a-z]+", None),
        ("a ::= 'insert data' 'x'\nB ::= [a-z]+", None),
        ("a ::= 'if' 'insert data'", "'if'"),
        ("KEY ::= 'if' 'then'", None),
        ("a ::= 'if' B\nB ::= [a-z]+\n@pass: [#x20]", None),
        ("a ::= y '-' m\ny ::= d d d d\nm ::= d d\nd ::= [0-9]", None),
    ],
)
def test_words_that_nothing_separates(rules: str, word: str | None) -> None:
    """Only where no rule reads white space between words, and none is passed."""
    findings = lint(read_grammar(rules, "w3c"))
    said = [f for f in findings if f.lint == "no-white-space"]

    assert [rules[f.span.start : f.span.end] for f in said] == ([word] if word else [])
    for finding in said:
        line = re.search("'(@pass: .*)'", finding.help)
        assert line is not None
        mended = lint(read_grammar(f"{rules}\n{line[1]}", "w3c"))
        assert [f for f in mended if f.lint == "no-white-space"] == []


def test_published_grammars_want_white_space(data: Callable[[str], Path]) -> None:
    """SPARQL's and Turtle's say so in prose; with the line of the hint, words are separated."""
    options = CompileOptions(dialect="w3c", engine="earley")
    for name in ("sparql.ebnf", "sparql11.bnf", "turtle.ebnf"):
        grammar = data(f"grammars/w3c/{name}").read_text(encoding="utf-8")
        findings = lint(read_grammar(grammar, "w3c"), defined=False)
        (found,) = (f for f in findings if f.lint == "no-white-space")
        assert "'@pass: WS'" in found.help
    text = b"PREFIX p: <x> p:a a p:b ."
    for line, status in (("", Status.REJECTED), ("@pass: WS\n", Status.ACCEPTED)):
        explainer = explainer_of_grammar(f"{grammar}\n{line}", options)
        assert explainer.verdict(text).status is status
