"""The command ``constrain test``: verdicts, exit codes, and what a run reads."""

import json
import sys
from pathlib import Path

import pytest
from support import EXAMPLES
from support.cli import Cli

from constrain.cli import testing
from constrain.compiler.explain.explainer import Explainer, explainer_of_grammar
from constrain.compiler.testing import subject

pytestmark = pytest.mark.quick

DATES = """grammar: date.ebnf

===
a leap day
===
2024-02-29
---
tokens: 2024 - 02 - 29

===
month 13
:reject
===
2024-13-01
---
at: 1:7
expected: [0-2]
rule: month

===
a year
:incomplete
===
2024-
---
count: 12
refused: 9
"""


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """A grammar and its cases beside it."""
    (tmp_path / "date.ebnf").write_text((EXAMPLES / "date.ebnf").read_text())
    cases = tmp_path / "date.test"
    cases.write_text(DATES)
    return cases


def test_cases_that_are_right_end_with_0_and_a_summary(cli: Cli, dates: Path) -> None:
    """A case file names its grammar; a grammar alone has the cases beside it."""
    for paths in ([str(dates)], [str(dates.with_suffix(".ebnf"))], [str(dates.parent)]):
        result = cli("test", *paths)

        assert (result.code, result.out, result.err) == (0, b"", "3 cases: 3 passed\n")


def test_a_case_that_fails_ends_with_1_and_its_place(cli: Cli, dates: Path) -> None:
    """The place in the case file, what was said, what is, and why."""
    dates.write_text(DATES.replace("2024-02-29", "2024-22-29").replace("at: 1:7", "at: 1:5"))
    result = cli("test", str(dates))

    assert result.code == 1
    assert result.out.decode().startswith(
        f'{dates}:6:6: error: a leap day: should be accepted, and is rejected at 1:6, at "2" in '
        'date > month; expected "0" or "1"\n'
    )
    assert f"{dates}:16:5: error: month 13: 'at' is 1:7, not 1:5\n" in result.out.decode()
    assert result.err == "3 cases: 1 passed, 2 failed\n"


def test_no_case_is_an_error(cli: Cli, dates: Path) -> None:
    """A filter that finds nothing, or a folder without cases, is no success."""
    assert cli("test", str(dates), "--filter", "no such name").code == 2
    (dates.parent / "empty").mkdir()
    assert cli("test", str(dates.parent / "empty")).code == 2


def wrote(path: Path, text: str) -> str:
    """A case file of dates; its path."""
    path.write_text("grammar: date.ebnf\n" + text)
    return str(path)


def states(cli: Cli, *arguments: str) -> list[tuple[str, str]]:
    """The names of cases, and what became of them."""
    found = json.loads(cli("test", *arguments, "--format", "json").out)
    return [(case["name"], case["status"]) for file in found["files"] for case in file["cases"]]


def test_kinds_are_those_of_verdicts(cli: Cli, dates: Path) -> None:
    """Each text is of one of three, and ``invalid`` are two of them."""
    texts = {"accept": "2024-01-01", "reject": "x", "incomplete": "2024"}
    for kind, wanted in [*((k, {k}) for k in texts), ("invalid", {"reject", "incomplete"})]:
        cases = [f"===\n{name}\n:{kind}\n===\n{text}\n---\n" for name, text in texts.items()]
        found = states(cli, wrote(dates, "\n".join(cases)))

        assert found == [(name, "passed" if name in wanted else "failed") for name in texts]


@pytest.mark.parametrize(
    "tokens", ["2024 - 29 - 02", "2024 - 02 - 29 -", "2024 - 02 -", "20 24 - 02 - 29"]
)
def test_other_tokens_than_those_of_the_text_are_a_failure(
    tokens: str, cli: Cli, dates: Path
) -> None:
    """As many of them, more or fewer."""
    dates.write_text(DATES.replace("2024 - 02 - 29", tokens))
    result = cli("test", str(dates))

    assert result.code == 1
    said = f"8:9: error: a leap day: 'tokens' is 2024 - 02 - 29, not {tokens}\n"
    assert said in result.out.decode()


def test_attributes_say_what_is_run(cli: Cli, dates: Path) -> None:
    """Skipped ones are not, those to do may fail, and one may end the file."""
    names = ["skip why", "todo", "start month", "fail-fast"]
    text = "".join(f"===\n{name}\n:{name}\n===\n12\n---\n" for name in names)
    found = states(cli, wrote(dates, text + "===\nbehind\n===\n2024-01-01\n---\n"))

    assert [state for _, state in found] == ["skipped", "todo", "passed", "failed", "skipped"]


def test_a_filter_runs_the_cases_that_it_finds(cli: Cli, dates: Path) -> None:
    """By a regular expression anywhere in the name."""
    assert states(cli, str(dates), "--filter", "^a.*r$") == [("a year", "passed")]
    assert cli("test", str(dates), "--filter", "(").code == 2


def test_commands_are_run_with_leave_alone(cli: Cli, dates: Path) -> None:
    """A case file from anywhere runs nothing: each command is refused by its name."""
    marker = dates.parent / "ran"
    program = 'import sys; open("ran", "a"); sys.exit(b"9" in sys.stdin.buffer.read())'
    command = f"{sys.executable} -c '{program}'"
    path = wrote(
        dates,
        f"===\none\n:command {command}\n===\n2024-01-01\n---\n"
        f"===\nother\n:command {command}\n===\n2029-01-01\n---\n"
        f"===\nnone\n:reject\n:command {command}\n===\nx9\n---\n"
        f"===\ndrawn\n:sample 20 1\n:command {command}\n===\n---\n",
    )
    refused = cli("test", path)

    assert refused.code == 2
    assert refused.out.decode().count(f"would run '{command}'".replace("\\", "")) == 4
    assert not marker.exists()
    found = states(cli, path, "--allow-commands")
    assert [state for _, state in found] == ["passed", "failed", "passed", "failed"]
    assert marker.exists()


def test_no_tokenizer_is_read_where_no_case_is_about_tokens(
    cli: Cli, dates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one automaton is made of a grammar, whatever the number of cases and files."""
    built: list[str] = []

    def counted(text: str, *rest: object) -> Explainer:
        built.append(text)
        return explainer_of_grammar(text, *rest)  # type: ignore[arg-type]

    testing._shared.cache_clear()
    monkeypatch.setattr(subject, "explainer_of_grammar", counted)
    monkeypatch.setattr(
        testing, "tokenizer_at", lambda *_, **__: pytest.fail("a tokenizer is read")
    )
    dates.write_text(DATES.replace("tokens:", "#").replace("count:", "#").replace("refused:", "#"))
    (dates.parent / "more.test").write_text(dates.read_text())

    assert cli("test", str(dates.parent)).err == "6 cases: 6 passed\n"
    assert len(built) == 1


def test_an_artifact_is_tested_as_its_grammar(cli: Cli, dates: Path) -> None:
    """Verdicts, places and masks, without a tokenizer beside it."""
    artifact = dates.with_suffix(".cst")
    assert cli("compile", str(dates.with_suffix(".ebnf")), "-o", str(artifact)).code == 0

    assert cli("test", str(artifact), str(dates)).err == "3 cases: 3 passed\n"
    assert cli("test", str(artifact)).err == "3 cases: 3 passed\n"
    other = wrote(dates, "===\nother\n:start month\n===\n12\n---\n")
    assert cli("test", str(artifact), other).code == 2


def test_a_head_has_the_options_of_the_command_line(cli: Cli, tmp_path: Path) -> None:
    """The command line goes before them; bad values have their place."""
    (tmp_path / "g").write_text('a ::= "x"; b ::= "(" b ")" | a;')
    path = tmp_path / "g.test"
    path.write_text("grammar: g\ndialect: kbnf\nstart: b\nmax-depth: 1\n===\nn\n===\n(x)\n---\n")
    deep = path.read_text().replace("(x)", "((x))")

    assert cli("test", str(path)).code == 0
    assert cli("test", str(path), "--start", "a").code == 1
    path.write_text(deep)
    assert cli("test", str(path)).code == 1
    assert cli("test", str(path), "--max-depth", "2").code == 0
    path.write_text(deep.replace("max-depth: 1", "meaning: exactly"))
    found = cli("test", str(path))
    assert (found.code, found.out.decode().split(" error: ")[0]) == (2, f"{path}:4:10:")


def test_folders_and_schemas_are_cases(cli: Cli, dates: Path) -> None:
    """Each file of accept/ and reject/, with all of its bytes; each instance of a schema."""
    folder = dates.parent
    dates.unlink()
    texts = {"accept/a": b"2024-01-01", "reject/deep/b": b"2024-01-01\n", "incomplete/c": b""}
    for name, text in (texts | {"invalid/d": b"\xff", "reject/.hidden": b"2024-01-01"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    schema = {"type": "object", "properties": {"é": {"minimum": 3}}, "required": ["é"]}
    tests = [{"description": v, "valid": v == 3, "data": {"é": v}} for v in (3, 2)]
    whole = {"description": "s", "schema": schema, "tests": tests}
    (folder / "z.json").write_text(json.dumps(whole, ensure_ascii=False))
    (folder / "zz.json").write_text(json.dumps([whole, {**whole, "schema": False}], indent=1))
    (folder / "other.json").write_text("{}")
    # Half a character is no text of ours.
    halves = '{"schema": {"type": "string"}, "tests": [{"valid": false, "data": "\\ud800"}]}'
    (folder / "zzz.json").write_text(halves)

    found = cli("test", str(folder), "--format", "json")
    names = [(case["name"], case["status"]) for case in json.loads(found.out)["files"][0]["cases"]]
    assert names == [(name, "passed") for name in sorted([*texts, "invalid/d"])]
    assert found.err.startswith("9 cases: 9 passed, 1 file with errors")
    assert states(cli, str(folder / "accept")) == [("accept/a", "passed")]


def test_limits_end_with_3_and_say_which(cli: Cli, dates: Path) -> None:
    """Each case that was not run is beyond one; without time nothing is begun."""
    found = cli("test", str(dates), "--max-states", "3")
    assert found.code == 3
    assert "raise --max-states" in found.out.decode()
    assert found.err == "3 cases: 3 beyond a limit\n"

    without = cli("test", str(dates), "--max-seconds", "0")
    assert (without.code, without.out) == (3, b"")
    assert "raise --max-seconds" in without.err


def test_what_cannot_be_read_ends_with_2_and_the_rest_is_run(cli: Cli, dates: Path) -> None:
    """Of several files those that can be are."""
    (dates.parent / "bytes.test").write_bytes(b"===\na\n===\n\xff\n---\n")
    (dates.parent / "alone.test").write_text("===\na\n===\nx\n---\n")
    (dates.parent / "lost.test").write_text("grammar: lost.ebnf\n===\na\n===\nx\n---\n")
    (dates.parent / "nul.test").write_text("grammar: date\0.ebnf\n===\na\n===\nx\n---\n")
    long = f"grammar: date.ebnf\nmax-depth: {'9' * 5_000}\n===\na\n===\nx\n---\n"
    (dates.parent / "long.test").write_text(long)
    found = cli("test", str(dates.parent))

    assert found.code == 2
    assert found.err == "3 cases: 3 passed, 5 files with errors\n"
    assert "nul.test:1:10: error: no file has a name with a NUL" in found.out.decode()
    assert "long.test:2:12: error: 'max-depth' takes a whole number" in found.out.decode()
    assert "bytes.test:4:1: error: byte 0xFF is not UTF-8\n" in found.out.decode()
    assert "lost.test:1:10: error: " in found.out.decode()
    assert "alone.test: no grammar is named" in found.out.decode()
