"""Coverage in ``constrain test``: what is printed, suggested cases, the least percentage, lcov."""

import json
from pathlib import Path

import pytest
from support import EXAMPLES
from support.cli import Cli

pytestmark = pytest.mark.quick

CASES = """===
a leap day
===
2024-02-29
---

===
a day
:start day
===
31
---

===
month 13
:reject
===
2024-13-01
---
"""

SUMMARY = "date.ebnf: rules 4/4, alternatives 3/5, edges 8/10: 78.9 % by 2 texts\n"


@pytest.fixture
def dates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A grammar and its cases, in the current folder."""
    (tmp_path / "date.ebnf").write_text((EXAMPLES / "date.ebnf").read_text())
    (tmp_path / "date.test").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_not_covered_has_its_place_and_a_member(cli: Cli, dates: Path) -> None:
    """Cases with another start count for the same grammar; rejected ones cover nothing."""
    result = cli("test", "date.ebnf", "--coverage")

    assert (result.code, result.err) == (0, "3 cases: 3 passed\n")
    assert result.out.decode() == SUMMARY + (
        'date.ebnf:4:26: not covered: alternative "1" #"[0-2]" in month; 0000-10-10 covers it\n'
        'date.ebnf:5:11: not covered: alternative "0" #"[1-9]" in day; 0000-10-01 covers it\n'
    )


def test_less_than_the_least_percentage_ends_with_1(cli: Cli, dates: Path) -> None:
    """Then what is not covered is listed; else the counts are on standard error."""
    enough = cli("test", "date.ebnf", "--min-coverage", "78.9")
    less = cli("test", "date.ebnf", "--min-coverage", "79")

    assert (enough.code, enough.out, enough.err) == (0, b"", "3 cases: 3 passed\n" + SUMMARY)
    assert less.code == 1
    assert less.out.decode().startswith(SUMMARY)
    assert less.err.endswith("error: date.ebnf: 78.9 % is covered, less than 79 %\n")


def test_a_grammar_without_an_accepted_text_is_not_covered_at_all(cli: Cli, dates: Path) -> None:
    """It counts all the same."""
    Path("date.test").write_text(CASES[CASES.index("===\nmonth") :])
    result = cli("test", "date.ebnf", "--min-coverage", "1")

    assert result.code == 1
    assert b"rules 0/4, alternatives 0/5, edges 0/10: 0 % by 0 texts" in result.out


def test_suggested_cases_pass_and_cover_all_once_they_are_looked_at(cli: Cli, dates: Path) -> None:
    """They are ``:todo``, cover nothing as long as they are, and are suggested once."""
    assert cli("test", "date.ebnf", "--suggest", "date.test").code == 0
    written = Path("date.test").read_text()
    again = cli("test", "date.ebnf", "--suggest", "date.test")

    assert written.startswith(CASES)
    assert written.count(":todo") == 2
    assert Path("date.test").read_text() == written
    assert "no case is suggested" in again.err
    assert SUMMARY in cli("test", "date.ebnf", "--coverage").out.decode()
    Path("date.test").write_text(written.replace(":todo\n", ""))
    assert cli("test", "date.ebnf", "--min-coverage", "100").code == 0


def test_suggestions_go_to_a_new_file_that_names_its_grammar_or_to_standard_output(
    cli: Cli, dates: Path
) -> None:
    """What is on standard output is a case file and nothing else."""
    (dates / "sub").mkdir()
    assert cli("test", "date.ebnf", "--suggest", "sub/more.test").code == 0
    printed = cli("test", "date.ebnf", "--suggest", "-")

    text = (dates / "sub" / "more.test").read_text()
    assert text.startswith("grammar: ../date.ebnf\n")
    assert text.removeprefix("grammar: ../date.ebnf\n\n") == printed.out.decode()
    assert cli("test", "sub/more.test").code == 0


def test_suggestions_are_never_written_over_what_is_no_case_file(cli: Cli, dates: Path) -> None:
    """A grammar stays as it is, and so do two streams in one."""
    before = Path("date.ebnf").read_bytes()

    assert cli("test", "date.ebnf", "--suggest", "date.ebnf").code == 2
    assert Path("date.ebnf").read_bytes() == before
    assert cli("test", "date.ebnf", "--suggest", "-", "--format", "json").code == 2


def test_suggestions_stand_in_files_with_a_suffix_and_hold_any_bytes(
    cli: Cli, tmp_path: Path
) -> None:
    """Texts that look like the lines of a case file, and bytes that are no character."""
    grammar = tmp_path / "g.ebnf"
    grammar.write_text("s ::= 'x' | '===\\n---' | #'\\\\x00' | '';")
    (tmp_path / "g.test").write_text("===|1\nx\n===|1\nx\n---|1\n")
    result = cli("test", str(grammar), "--suggest", str(tmp_path / "g.test"))
    looked_at = (tmp_path / "g.test").read_text().replace(":todo\n", "")
    (tmp_path / "g.test").write_text(looked_at)

    assert result.code == 0
    assert cli("test", str(grammar), "--min-coverage", "100").code == 0


def test_json_has_all_items(cli: Cli, dates: Path) -> None:
    """Beside the results, in one object."""
    found = json.loads(cli("test", "date.ebnf", "--coverage", "--format", "json").out)

    (coverage,) = found["coverage"]
    assert found["schema"] == 1
    assert coverage["percent"] == 78.9
    assert coverage["counts"]["alternative"] == {"covered": 3, "total": 5}
    assert len(coverage["items"]) == 19
    assert next(item for item in coverage["items"] if not item["hits"]) == {
        "kind": "alternative",
        "rule": "month",
        "line": 4,
        "column": 26,
        "text": '"1" #"[0-2]"',
        "case": "",
        "hits": 0,
        "unreachable": False,
        "member": "0000-10-10",
        "member_hex": None,
    }


def test_lcov_has_lines_functions_and_branches(cli: Cli, dates: Path) -> None:
    """As genhtml of lcov 1.16 reads it; results that fail go to standard error."""
    lines = cli("test", "date.ebnf", "--format", "lcov").out.decode().splitlines()

    assert lines[:2] == ["TN:", "SF:date.ebnf"]
    assert lines[-1] == "end_of_record"
    assert {"FN:4,month", "FNDA:1,month", "FNF:4", "FNH:4"} <= set(lines)
    assert {"BRDA:4,1,0,1", "BRDA:4,1,1,0", "BRDA:4,3,0,-", "BRF:15", "BRH:11"} <= set(lines)
    assert {"DA:2,1", "DA:5,2", "LF:4", "LH:4"} <= set(lines)


def test_other_formats_have_coverage_where_they_have_a_place(cli: Cli, dates: Path) -> None:
    """Notices of GitHub, comments of TAP; of JUnit the summary on standard error."""
    github = cli("test", "date.ebnf", "--coverage", "--format", "github")
    tap = cli("test", "date.ebnf", "--coverage", "--format", "tap")
    junit = cli("test", "date.ebnf", "--coverage", "--format", "junit")

    assert github.out.startswith(b"::notice file=date.ebnf,line=4,col=26,title=coverage::not")
    assert tap.out.endswith(b"# " + SUMMARY.encode())
    assert junit.err.endswith(SUMMARY)


def test_an_artifact_is_covered_by_its_grammar(cli: Cli, dates: Path) -> None:
    """As long as it has its text."""
    fast = ("--lazy", "--tokenization", "any")
    assert cli("compile", "date.ebnf", "-o", "date.cst", *fast).code == 0
    assert cli("compile", "date.ebnf", "--strip", "-o", "bare.cst", *fast).code == 0
    Path("plain.test").write_text(CASES[: CASES.index("===\na day")])
    covered = cli("test", "date.cst", "plain.test", "--coverage")
    bare = cli("test", "bare.cst", "plain.test", "--coverage")

    assert b"rules 4/4, alternatives 2/5" in covered.out
    assert bare.code == 2
    assert b"stripped" in bare.out


ANY_ORDER = {"--whitespace": "compact", "--order": "any"}
SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}, '
    '"required": ["a"], "additionalProperties": false}'
)
IN_ANY_ORDER = """grammar: {}
{}
===
b first
===
{{"b":"x","a":1}}
---
"""


def test_the_options_of_a_schema_hold_for_its_coverage(cli: Cli) -> None:
    """Whether an artifact has them or the head of the cases says them, and for what is suggested,
    whose file says them again."""
    Path("s.schema.json").write_text(SCHEMA)
    said = [part for pair in ANY_ORDER.items() for part in pair]
    fast = ("--lazy", "--tokenization", "any")
    assert cli("compile", "s.schema.json", "-o", "s.cst", *fast, *said).code == 0
    head = "".join(f"{name[2:]}: {value}\n" for name, value in ANY_ORDER.items())
    Path("artifact.test").write_text(IN_ANY_ORDER.format("s.cst", ""))
    Path("grammar.test").write_text(IN_ANY_ORDER.format("s.schema.json", head))
    Path("more").mkdir()
    artifact = cli("test", "artifact.test", "--coverage")
    grammar = cli("test", "grammar.test", "--coverage", "--suggest", "more/suggested.test")
    suggested = Path("more/suggested.test").read_text()
    Path("more/suggested.test").write_text(suggested.replace(":todo\n", ""))

    assert "schemas 3/3, alternatives 1/2, keys 2/3: 75 % by 1 text" in artifact.out.decode()
    assert artifact.out.decode().replace("s.cst", "s.schema.json") == grammar.out.decode()
    assert suggested.startswith("grammar: ../s.schema.json\nwhitespace: compact\norder: any\n")
    assert cli("test", "more/suggested.test").code == 0


def test_what_a_depth_leaves_out_is_no_member_to_suggest(cli: Cli) -> None:
    """And the report gives none."""
    Path("n.ebnf").write_text('start ::= "(" start ")" | "a";\n')
    Path("n.test").write_text("max-depth: 0\n===\na\n===\na\n---\n")
    result = cli("test", "n.ebnf", "n.test", "--coverage", "--suggest", "-")

    assert result.code == 0
    assert result.out == b""
    listed = cli("test", "n.ebnf", "n.test", "--coverage")
    assert b'alternative "(" start ")" in start; no member was found' in listed.out


def test_a_percentage_is_a_number(cli: Cli, dates: Path) -> None:
    """On the command line and in the project file."""
    Path("constrain.toml").write_text('grammars = ["date.ebnf"]\nmin-coverage = nan\n')

    assert cli("test", "date.ebnf", "--isolated", "--min-coverage", "nan").code == 2
    assert cli("test").code == 2
