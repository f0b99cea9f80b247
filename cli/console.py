"""Output: data to stdout, everything else (notes, errors, a progress bar) to stderr."""

import os
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from constrain.artifacts.errors import ConstrainError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_RED, _YELLOW, _PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"

# Work that takes less shows no progress bar.
_BAR_AFTER_SECONDS = 1.0


class UsageError(ConstrainError):
    """Options that do not go together, or input of the wrong kind."""


def write_text(text: str) -> None:
    """Data for people and programs, as UTF-8 whatever the locale."""
    write_raw(text.encode("utf-8", "surrogateescape"))


def write_pieces(pieces: Iterable[bytes], output: str | None, subject: str) -> None:
    """Data to the file ``output``, whole or not at all; to standard output for None and ``-``.

    Raises ``UsageError`` if that is the file ``subject``, which the data is made of.
    """
    if output in (None, "-"):
        for piece in pieces:
            write_raw(piece)
        return
    from constrain.artifacts.container.write import write_atomically

    target = Path(output)
    if subject != "-" and target.exists() and target.samefile(subject):
        raise UsageError(f"{output}: this would overwrite {subject}; name another file")
    write_atomically(target, pieces)


def write_bytes(data: bytes, what: str) -> None:
    """Binary data; refused on a terminal."""
    if is_terminal(sys.stdout):
        raise UsageError(f"{what} is binary and standard output is a terminal: redirect it")
    write_raw(data)


def write_raw(data: bytes) -> None:
    """Data as it is; written when this returns. ``OSError`` names the stream."""
    if sys.stdout is None:  # As Python has it where the stream is closed from the start.
        raise UsageError("standard output is closed")
    try:
        sys.stdout.flush()
        rest = memoryview(data)
        while rest:
            # Unbuffered (PYTHONUNBUFFERED), a signal ends a write before all is written.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as failure:
        abandon_output()
        raise OSError(failure.errno, failure.strerror, "standard output") from None


def abandon_output() -> None:
    """Write no more to standard output; what is buffered would fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; a closed one is not."""
    return stream is not None and stream.isatty()


def note(message: str) -> None:
    """Something the user should know; the work goes on."""
    _say("note", message)


def error(message: str) -> None:
    """Why the program ends. Diagnostics that name their place say "error" themselves."""
    if _HEAD.match(message):
        status(coloured(message, sys.stderr))
    else:
        _say("error", message)


def status(message: str) -> None:
    """What was done. A stream that takes no messages changes nothing about the work."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(message + "\n")


def coloured(text: str, stream: TextIO | None) -> str:
    """Diagnostics with coloured levels and carets where ``stream`` is a terminal that shows
    them."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    level = "error"
    lines = []
    for line in text.split("\n"):
        if head := _HEAD.match(line):
            level = head[2]
            line = f"{head[1]}{_in_colour(level, level)}{line[head.end(2) :]}"
        elif caret := _CARETS.match(line):
            line = f"{caret[1]}{_in_colour(level, caret[2])}"
        lines.append(line)
    return "\n".join(lines)


def help_without_command(context: typer.Context) -> None:
    """End with the help on standard error and code 2 where no subcommand was named."""
    if context.invoked_subcommand is None:
        status(context.get_help())
        raise typer.Exit(2)


# The first line of a diagnostic, up to its level, and the line of its carets.
_HEAD = re.compile(r"(.*?: )(error|warning|note)(?=: )")
_CARETS = re.compile(r"( *\| [\t ]*)(\^+)$")


def _in_colour(level: str, text: str) -> str:
    return f"{_RED if level == 'error' else _YELLOW}{text}{_PLAIN}"


def _say(kind: str, message: str) -> None:
    plain = not is_terminal(sys.stderr) or os.environ.get("NO_COLOR")
    status(f"{kind if plain else _in_colour(kind, kind)}: {message}")


class Bar:
    """A progress bar on a terminal's stderr, from one second of work on.

    Passed to the library as its ``progress``; use it as a context, which removes the bar.
    """

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of ``stage``."""
        if self._bar is None:
            if not is_terminal(sys.stderr) or time.monotonic() - self._begin < _BAR_AFTER_SECONDS:
                return
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total)
        self._bar.update(self._tasks[stage], completed=done, total=total)
