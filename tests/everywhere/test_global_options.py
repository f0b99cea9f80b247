"""What every command takes: how much is said, in which colours, and how the help is grouped."""

import re
from pathlib import Path

import pytest
from support.cli import DATE, Cli, program

from constrain.cli import console
from constrain.cli.app import COMMANDS, TITLES
from constrain.cli.everywhere import bar as bars
from constrain.cli.everywhere.bar import Bar
from constrain.cli.everywhere.panels import PANELS

pytestmark = pytest.mark.quick

BAD = "a ::= b | 'x';\n"
FORCED = ({"FORCE_COLOR": "1"}, {"CLICOLOR_FORCE": "1"})


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours go by the options alone."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)


def titles(help_text: bytes) -> list[str]:
    """The lines of a help that begin a group."""
    return [line[:-1] for line in help_text.decode().split("\n") if re.match(r"[A-Z].*:$", line)]


def test_the_help_groups_commands_and_options_in_a_pipe(cli: Cli) -> None:
    """Commands by what they are for, options by panel; no box, no escape sequence."""
    root, mask = cli("--help"), cli("mask", "--help-all")

    assert titles(root.out) == [*TITLES.values(), "Global options"]
    groups = ["Arguments", "Options", *PANELS]
    assert [t for t in titles(mask.out) if t != "Examples"] == groups
    assert root.out.isascii() and b"\x1b" not in root.out + mask.out
    assert len(mask.out.split(b"Limits:")[1].split(b"Global options:")[0].split(b"--max-")) == 7


def test_every_command_is_in_a_group_of_the_help() -> None:
    """By title, each title once."""
    listed = program().commands
    panels = [listed[name].rich_help_panel for name in COMMANDS]

    assert list(dict.fromkeys(panels)) == list(TITLES.values())
    assert panels == sorted(panels, key=list(TITLES.values()).index)


@pytest.mark.parametrize(
    "words", [("-q", "compile"), ("compile", "--quiet"), ("-q", "compile", "-q")]
)
def test_quiet_says_errors_alone(cli: Cli, words: tuple[str, ...]) -> None:
    """Before the command and after it; what was asked for is written all the same."""
    done = cli(*words, DATE, "-o", "d.cst")
    failed = cli("-q", "compile", "missing.ebnf")
    table = cli("-q", "mask", "d.cst", "--prefix", "2024-0")

    assert (done.code, done.out, done.err) == (0, b"", "")
    assert Path("d.cst").stat().st_size > 1000
    assert failed.err == "error: missing.ebnf: No such file or directory\n"
    assert (table.err, table.out.count(b"\n")) == ("", 9)


def test_verbose_says_time_and_memory_of_each_step(cli: Cli) -> None:
    """In the steps' order and names, on standard error; the times add up to the total."""
    done = cli("compile", DATE, "-o", "-", "--verbose")
    rows = [line.split() for line in done.err.splitlines() if re.match(r"\w+ +\d+\.\d", line)]
    names = [row[0] for row in rows]

    steps = ["read", "check", "choose", "compile", "tokenizer", "merge", "encode", "precompute"]
    assert names == [*steps, "assemble", "other", "total"]
    assert done.out.startswith(b"\x89") or len(done.out) > 1000
    times = [float(row[1]) for row in rows]
    assert sum(times[:-1]) == pytest.approx(times[-1], abs=0.01)
    assert all(row[3] == "MB" or row[2] == "unknown" for row in rows)


def test_verbose_speaks_where_a_command_fails_too(cli: Cli, tmp_path: Path) -> None:
    """What took the time is of most use then."""
    (tmp_path / "bad.ebnf").write_text(BAD)

    done = cli("-v", "compile", "bad.ebnf")

    assert done.code == 2
    assert "check" in done.err and "\ntotal" in done.err and "is not defined" in done.err


def test_quiet_and_verbose_exclude_each_other(cli: Cli) -> None:
    """Also with the command between them."""
    for words in (("-q", "-v", "check"), ("-q", "check", "-v"), ("check", "-v", "-q")):
        assert cli(*words, DATE).code == 2, words
        assert "--quiet and --verbose exclude each other" in cli(*words, DATE).err


@pytest.mark.parametrize(
    ("variables", "words", "expected"),
    [
        ({}, (), False),
        ({}, ("--color", "always"), True),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        *((variables, (), True) for variables in FORCED),
        *((variables | {"NO_COLOR": "1"}, (), False) for variables in FORCED),
        ({"FORCE_COLOR": "0"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"FORCE_COLOR": "1"}, ("--color", "auto"), True),
    ],
)
def test_colours_go_by_the_option_then_by_the_variables(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    words: tuple[str, ...],
    expected: bool,
) -> None:
    """--color before all; NO_COLOR before FORCE_COLOR and CLICOLOR_FORCE; then the terminal."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    Path("bad.ebnf").write_text(BAD)

    before, behind = cli(*words, "check", "bad.ebnf"), cli("check", "bad.ebnf", *words)
    error = cli("compile", "bad.ebnf", *words)

    assert before.out == behind.out
    assert (b"\x1b[1;31merror" in before.out) is expected
    assert ("\x1b[1;31merror" in error.err) is expected


def test_work_of_a_second_shows_a_bar_that_names_the_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the step says nothing of how far it is; it is gone before a message is written."""
    monkeypatch.setattr(bars, "_AFTER", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with Bar() as bar:
        bar.begin("merge")
        assert bar._timer is not None
        bar._timer.join()
        bar.progress("merge", 1, 4)
        assert bar._bar is not None
        (task,) = bar._bar.tasks
        assert (task.description, task.percentage, task.fields["share"]) == ("merge", 25, "25%")
        console.tell("said")
        assert bar._bar is None or bar._timer is not None
        bar.hide(True)
        assert bar._bar is None
    assert "said\n" in capsys.readouterr().err
    assert console.manner.hide_bar is None
