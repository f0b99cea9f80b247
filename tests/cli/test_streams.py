"""Pipes, terminals and encodings of the command line."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from support import constrain, python, tokenizer_json, written
from support.cli import DATE, Cli, content

from constrain.compiler.tokenizers import byte_alphabet


def test_nothing_but_data_is_piped(date_file: Path, tmp_path: Path) -> None:
    """No colours and no bars where the streams are no terminals."""
    bad = content(tmp_path / "bad.ebnf", "s ::= t;")
    for arguments in (
        ["mask", str(date_file)],
        ["compile", DATE, "-o", "-", "--stats"],
        ["compile", bad],
        ["compile", "no.ebnf"],
        ["--help"],
        ["compile", "--help"],
    ):
        ran = constrain(*arguments, folder=tmp_path, variables={"TERM": "xterm-256color"})
        assert b"\x1b" not in ran.stderr
        assert b"\x1b" not in ran.stdout or b"__metadata__" in ran.stdout


def test_forked_commands_end_as_started_ones_do(tmp_path: Path) -> None:
    """What tests see of processes of ``support.forked`` is what users see of theirs."""
    content(tmp_path / "g.ebnf", 's ::= "é" "b";')
    for arguments, stdin in (
        (("explain", "g.ebnf"), "éb".encode()),
        (("explain", "g.ebnf"), b"\xff\0"),
        (("mask", "g.ebnf", "--prefix", "é"), b""),
        (("mask", "g.ebnf", "--nothing"), b""),
    ):
        forked = constrain(*arguments, stdin=stdin, folder=tmp_path)
        started = python("-m", "constrain.cli", *arguments, stdin=stdin, folder=tmp_path)
        assert started.returncode == forked.returncode
        assert (started.stdout, started.stderr) == (forked.stdout, forked.stderr)


def at_a_terminal(
    arguments: Sequence[str], stream: str, variables: dict[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Run with ``stream`` being a terminal: code, what it showed, and the other stream."""
    pty = pytest.importorskip("pty", reason="there are no terminals to try here")
    controller, terminal = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: terminal}
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "constrain.cli", *arguments],
        stdin=subprocess.DEVNULL,
        env={**environment, **(variables or {})},
        **streams,
    ) as child:
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:
                data = b""  # Linux says so when the last writer is gone.
            if not data:
                break
            shown += data
        other = child.communicate(timeout=60)[0 if stream == "stderr" else 1] or b""
    os.close(controller)
    return child.returncode, shown, other


@pytest.mark.parametrize(
    "arguments", [["compile", DATE, "-o", "-"], ["mask", DATE, "--format", "bits"]]
)
def test_binary_data_is_kept_off_a_terminal(arguments: Sequence[str]) -> None:
    """Code 2 and a hint, before anything is written."""
    code, shown, err = at_a_terminal(arguments, "stdout")

    assert (2, b"") == (code, shown)
    assert b"is binary and standard output is a terminal: redirect it" in err


def test_text_is_shown_on_a_terminal() -> None:
    """A table is for people."""
    code, shown, _ = at_a_terminal(["mask", DATE, "--prefix", "2024-02-29"], "stdout")

    assert (0, b'0  "<|endoftext|>"  (end of text)\r\n') == (code, shown)


def test_errors_are_coloured_on_a_terminal() -> None:
    """Unless NO_COLOR is set to something."""
    for variables, coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
        code, shown, _ = at_a_terminal(["compile", "no.ebnf"], "stderr", variables)
        assert 2 == code
        assert b"no.ebnf: No such file" in shown
        assert coloured == (b"\x1b[" in shown)


def test_a_reader_that_stops_is_no_error(date_file: Path) -> None:
    """As head does once it has enough lines."""
    with subprocess.Popen(
        [sys.executable, "-m", "constrain.cli", "mask", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        child.stdin.write(date_file.read_bytes())
        child.stdin.close()
        err = child.stderr.read()

    assert 0 == child.returncode
    assert b"Traceback" not in err
    assert b"Broken" not in err


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """Tokens are shown the same under the C locale."""
    content(tmp_path / "g.ebnf", 's ::= "é";')
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = constrain("mask", "g.ebnf", folder=tmp_path, variables=variables)

    assert 0 == ran.returncode
    assert "é" in ran.stdout.decode()


@pytest.mark.parametrize("char", ["\x1b", "\x7f", "\x9b", "\u202e", "\u2066"], ids=ascii)
def test_control_characters_are_shown_escaped(cli: Cli, tmp_path: Path, char: str) -> None:
    """A message never sends a grammar's escape sequences to the terminal, nor turns its text."""
    result = cli("compile", content(tmp_path / "g.ebnf", f's ::= "{char}[31m" {char} ;'))

    assert 2 == result.code
    assert char not in result.err


QUOTED = [
    (b"a\n\xc3", r'"a\n\xc3"'),
    (b"\n\xc3", r'"\n\xc3"'),
    (b'"\xc3', r'"\"\xc3"'),
    (b"\\\xc3", r'"\\\xc3"'),
    (b"\x1b\xc3", r'"\x1b\xc3"'),
    (b"\x1b", r'"\x1b"'),
    (b"\x7f", r'"\x7f"'),
    (b"\xc2\x9b", None),
    (b'"', r'"\""'),
    (b"\\", r'"\\"'),
    (b"\n", r'"\n"'),
]


@pytest.mark.parametrize(("token", "shown"), QUOTED)
def test_tokens_are_quoted_whatever_they_hold(
    cli: Cli, tmp_path: Path, token: bytes, shown: str | None
) -> None:
    """A table has one line a token, in which quotes, controls and stray bytes are escaped."""
    alphabet = byte_alphabet.characters()
    extra = {"".join(alphabet[octet] for octet in token): 8}
    value = tokenizer_json("xé", added=[(9, "<eos>", True)], extra=extra)
    file = str(written(tmp_path, value))
    grammar = content(tmp_path / "g.ebnf", 's ::= #"(.|\\n){3}";')
    result = cli("mask", grammar, "-t", file, "--tokenization", "any")

    lines = result.out.decode().split("\n")
    assert ["0", "1", "8", ""] == [line.split("  ")[0] for line in lines]
    assert lines[2].isprintable()
    if shown is not None:
        assert f"8  {shown}" == lines[2]


def test_a_slow_reader_gets_all_of_an_unbuffered_output() -> None:
    """Signals of the command's own timer end a write early, which goes on then."""
    command = [sys.executable, "-m", "constrain.cli", "compile", DATE, "-o", "-"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as child:
        time.sleep(2)
        out, err = child.communicate(timeout=60)
    assert f"{len(out):,} bytes" in err.decode()
    assert len(out) > 1_000_000
