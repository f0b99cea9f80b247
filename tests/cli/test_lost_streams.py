"""Streams of the command line that are closed, full, or without an end."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import DATE, Cli, content, names

FULL = Path("/dev/full")

needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="closes streams by way of sh")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


def shell(redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with streams redirected as a shell writes it."""
    program = [sys.executable, "-m", "constrain.cli", *arguments]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@needs_shell
@needs_full
@pytest.mark.parametrize(
    "arguments",
    [
        ["mask", DATE],
        ["compile", DATE, "-o", "-"],
        ["sample", DATE],
        ["tokenize", "a"],
        ["check", DATE, "--format", "json"],
        ["--version"],
        ["--help"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_output_without_room_is_named(arguments: list[str]) -> None:
    """Code 2 and the stream's name, once; what is left in buffers is not tried again at exit."""
    ran = shell(f">{FULL}", *arguments)

    assert 2 == ran.returncode
    assert "error: standard output: No space left on device\n" in ran.stderr
    assert 1 == ran.stderr.count("No space left")
    assert "Traceback" not in ran.stderr


@needs_full
def test_a_device_without_room_is_named(cli: Cli) -> None:
    """A file that is written to and not replaced has a name too."""
    result = cli("compile", DATE, "-o", str(FULL))

    assert (2, b"") == (result.code, result.out)
    assert result.err.endswith("error: /dev/full: No space left on device\n")


@needs_shell
@pytest.mark.parametrize(
    ("closed", "arguments", "said"),
    [
        (">&-", ["mask", DATE], "error: standard output is closed"),
        (">&-", ["compile", DATE, "-o", "-"], "error: standard output is closed"),
        ("<&-", ["mask", "-"], "error: standard input is closed"),
        ("<&-", ["explain", DATE], "error: standard input is closed"),
        ("<&-", ["tokenize", "--file", "-"], "error: standard input is closed"),
    ],
)
def test_a_closed_stream_is_bad_usage(closed: str, arguments: list[str], said: str) -> None:
    """Code 2 where the stream is needed."""
    ran = shell(closed, *arguments)

    assert 2 == ran.returncode
    assert said in ran.stderr


@needs_shell
@pytest.mark.parametrize("redirected", ["2>&-", pytest.param(f"2>{FULL}", marks=needs_full)])
@pytest.mark.parametrize(
    ("arguments", "code"), [(["mask", "no.cst"], 2), (["mask", DATE], 0), (["mask"], 2)]
)
def test_messages_that_nobody_takes_change_nothing(
    redirected: str, arguments: list[str], code: int
) -> None:
    """The exit code is the same where stderr is closed or full."""
    assert code == shell(redirected, *arguments).returncode


@pytest.mark.parametrize("command", ["check", "compile", "mask", "convert"])
@pytest.mark.parametrize(
    ("name", "most"),
    [("cli.inputs._MOST_BYTES", "an input"), ("compiler.limits.MOST_GRAMMAR_BYTES", "a grammar")],
)
def test_an_input_without_an_end_is_a_limit(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, most: str
) -> None:
    """Code 3 and the number, for a stream and for a file, as a finding of ``check``; no more is
    read."""
    monkeypatch.setattr(f"constrain.{name}", 1000)
    options = {"compile": ["-o", "x"], "convert": ["--to", "gbnf"]}.get(command, [])
    text = b's ::= "a";' + b" " * 1000
    before = names(tmp_path)
    file = content(tmp_path / "g.ebnf", text)

    for result in (cli(command, "-", *options, stdin=text), cli(command, file, *options)):
        found, other = result.err.encode(), result.out
        if command == "check":
            found, other = other, found
        assert (3, b"") == (result.code, other)
        assert f"there are more than 1,000 bytes, the most that {most} has\n".encode() in found
    assert [*before, "g.ebnf"] == names(tmp_path)


def test_drawings_need_a_folder(cli: Cli, tmp_path: Path) -> None:
    """A file in its place is named before anything is written."""
    content(tmp_path / "file", "old")
    result = cli("compile", DATE, "--viz", "file")

    assert (2, b"") == (result.code, result.out)
    assert "error: file: the drawings need a folder, and this is none\n" == result.err
    assert ["file"] == names(tmp_path)
