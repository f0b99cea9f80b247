"""What other systems lack is not needed, and texts are UTF-8 whatever encoding they have."""

import errno
import io
import re
import sys
from pathlib import Path

import pytest
from support import python
from support.cli import DATE

from constrain.cli import console

# What Python says of our own files, and not of those of an environment inside the clone.
OURS = re.compile(r"^(?!.*site-packages).*constrain/.*Encoding")

# Imports first what asks for the system itself, then takes away what Windows has not.
WITHOUT_POSIX = """
import os, signal, sys
import numpy, typer, rich.progress, subprocess, tempfile, mmap, graphviz, asyncio, selectors

for name in ("resource", "fcntl", "pwd", "grp", "termios", "pty", "tty"):
    sys.modules[name] = None
for name in ("setitimer", "getitimer", "SIGALRM", "ITIMER_REAL", "SIGKILL", "SIGHUP"):
    delattr(signal, name)
for name in ("fork", "sysconf", "mkfifo", "geteuid", "getuid", "sync", "killpg"):
    delattr(os, name)
sys.platform = "win32"

from constrain.cli.app import run

for words in (
    ["compile", GRAMMAR, "-o", "date.cst", "--verbose"],
    ["mask", "date.cst", "--prefix", "2024-0", "--format", "ids"],
    ["check", GRAMMAR],
    ["diff", GRAMMAR, GRAMMAR],
    ["sample", "date.cst"],
    ["tokenize", "Grüße"],
    ["viz", GRAMMAR, "-o", "date.dot"],
):
    code = run(words)
    if code:
        sys.exit(f"{words} ended with {code}")
"""


def test_nothing_needs_what_windows_has_not(tmp_path: Path) -> None:
    """No timers of signals, no ``resource``, no ``fork``; memory is then unknown. No file is read
    or written in the encoding of the system."""
    script = f"GRAMMAR = {DATE!r}\n{WITHOUT_POSIX}"

    done = python("-X", "warn_default_encoding", "-c", script, folder=tmp_path)

    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert [line for line in said.splitlines() if OURS.search(line)] == []
    (total,) = (line for line in said.splitlines() if line.startswith("total"))
    assert total.split()[2] == "unknown"
    assert b"\nequal\n" in done.stdout
    assert (tmp_path / "date.dot").read_text(encoding="utf-8").startswith("digraph")


def test_messages_are_written_in_any_encoding(tmp_path: Path) -> None:
    """An arrow that a code page has not is escaped; data is UTF-8 all the same."""
    (tmp_path / "ä.ebnf").write_text('s ::= "→" | "(" s ")";', encoding="utf-8")
    variables = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = ("-m", "constrain.cli")

    shown = python(*command, "show", "ä.ebnf", folder=tmp_path, variables=variables)
    table = python(*command, "mask", "ä.ebnf", folder=tmp_path, variables=variables)

    assert (shown.returncode, table.returncode) == (0, 0), table.stderr
    assert "→".encode() in shown.stdout
    assert b"engine network" in table.stderr and b"\\u2192" in table.stderr


def test_a_pipe_that_nobody_reads_ends_a_command_on_windows_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There it is an invalid argument."""

    class Closed(io.BytesIO):
        def write(self, _data: object) -> int:
            raise OSError(errno.EINVAL, "Invalid argument")

    stream = io.TextIOWrapper(Closed())
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(console, "_IS_WINDOWS", True)

    with pytest.raises(BrokenPipeError):
        console.write_text("x")


@pytest.mark.parametrize(("name", "coloured"), [("WT_SESSION", True), ("TERM", True), ("", False)])
def test_terminals_of_windows_say_that_they_have_colours(
    monkeypatch: pytest.MonkeyPatch, name: str, coloured: bool
) -> None:
    """Old ones would show the escape sequences."""
    for variable in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", *console._KNOWN_ON_WINDOWS):
        monkeypatch.delenv(variable, raising=False)
    if name:
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr(console, "_IS_WINDOWS", True)
    monkeypatch.setattr(console, "is_terminal", lambda _: True)

    assert console.has_colour(sys.stderr) is coloured
