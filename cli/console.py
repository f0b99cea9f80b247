"""Output: data to stdout, everything else (notes, errors, a progress bar) to stderr."""

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import typer

from constrain.artifacts.errors import ConstrainError, visible

from .quoting import octets_of, on_lines, text_of

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic, Source

_IS_WINDOWS = os.name == "nt"

_RED, _YELLOW, _PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"


class UsageError(ConstrainError):
    """Options that do not go together, or input of the wrong kind."""


def check_installed(package: str, extra: str, what: str) -> None:
    """Raise ``UsageError`` where a package is missing that an ``extra`` installs."""
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise UsageError(
            f"{what} needs {package}, which is not installed\n"
            f"  = help: pip install 'constrain-grammar[{extra}]', or pip install {package}"
        )


class PlacedError(ConstrainError):
    """What is wrong with a file of the command line's own, with the places."""

    exit_code = 2

    def __init__(self, source: "Source", found: "list[Diagnostic]") -> None:
        from constrain.compiler.diagnostics import MOST_SHOWN, more_of

        shown = [each.render(source) for each in found[:MOST_SHOWN]]
        super().__init__("\n".join([*shown, *more_of(source.name, len(found))]))


# Where output is coloured.
Color = Literal["auto", "always", "never"]


@dataclass(slots=True)
class Manner:
    """How the command at work speaks: what the options say that every command takes.

    ``progress`` tells a progress bar, if there is one, how far a step is; ``hide_bar`` clears it
    before something else is written, and for good before data is.
    """

    quiet: bool = False
    color: Color = "auto"
    progress: Callable[[str, int, int], None] | None = None
    hide_bar: Callable[[bool], None] | None = None


# One command is at work in a process.
manner = Manner()


def reset() -> None:
    """Speak as without options."""
    manner.quiet, manner.color = False, "auto"
    manner.progress = manner.hide_bar = None


def progress(stage: str, done: int, total: int) -> None:
    """``done`` of ``total`` parts of ``stage`` are finished, for the bar if one is shown."""
    if manner.progress:
        manner.progress(stage, done, total)


def write_text(text: str, *, in_colour: bool = False) -> None:
    """Text for people, as UTF-8 whatever the locale, without what a terminal obeys; ``in_colour``:
    diagnostics among it where there are colours."""
    shown = on_lines(text)
    write_raw(octets_of(coloured(shown, sys.stdout) if in_colour else shown))


def write_data(text: str) -> None:
    """Data for programs, as UTF-8 whatever the locale; on a terminal it is for people."""
    write_pieces([octets_of(text)])


def write_json(schema: int, value: Mapping[str, Any]) -> None:
    """One object with the number of its schema, on a line."""
    write_data(json.dumps({"schema": schema, **value}) + "\n")


def write_name(name: object) -> None:
    """A name on a line, for programs as it is; on a terminal it is one line whatever is in it."""
    shown = visible(name) if is_terminal(sys.stdout) else str(name)
    write_raw(octets_of(f"{shown}\n"))


def write_pieces(pieces: Iterable[bytes], output: str | None = None, subject: str = "-") -> None:
    """Data to the file ``output``, whole or not at all; to standard output for None and ``-``,
    where a terminal is shown what it would obey.

    Raises ``UsageError`` if that is the file ``subject``, which the data is made of.
    """
    if output in (None, "-"):
        is_shown = is_terminal(sys.stdout)
        for piece in pieces:
            write_raw(octets_of(on_lines(text_of(piece))) if is_shown else piece)
        return
    from constrain.artifacts.container.write import write_atomically

    target = Path(output)
    if subject != "-" and target.exists() and target.samefile(subject):
        raise UsageError(
            f"{visible(output)}: this would overwrite {visible(subject)}; name another file"
        )
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
    if manner.hide_bar and is_terminal(sys.stdout):
        manner.hide_bar(True)
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
        if _IS_WINDOWS and failure.errno == errno.EINVAL:  # What a pipe without a reader is there.
            raise BrokenPipeError from None
        abandon_output()
        raise OSError(failure.errno, failure.strerror, "standard output") from None


def abandon_output() -> None:
    """Write no more to standard output; what is buffered would fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; a closed one is not."""
    return stream is not None and stream.isatty()


# Characters of a line on standard error.
_LONGEST = 4_000


def note(message: str) -> None:
    """Something the user should know; the work goes on."""
    status(f"note: {message}", in_colour=True)


@contextmanager
def noting() -> Iterator[None]:
    """Note what the library says it has chosen in this block, each thing once."""
    from constrain.compiler.progress import hearing

    noted = set[str]()

    def hear(message: str) -> None:
        if message not in noted:
            noted.add(message)
            note(message)

    with hearing(hear):
        yield


def error(message: str) -> None:
    """Why the program ends. Diagnostics that name their place say "error" themselves."""
    tell(message if _HEAD.match(message) else f"error: {message}", in_colour=True)


def status(message: str, *, in_colour: bool = False) -> None:
    """What was done; nothing where errors alone are wanted."""
    if not manner.quiet:
        tell(message, in_colour=in_colour)


def tell(message: str, *, in_colour: bool = False) -> None:
    """Lines on standard error, quiet or not, without what a terminal obeys; ``in_colour``:
    diagnostics. A stream that takes no messages changes nothing about the work."""
    if sys.stderr is not None:
        if manner.hide_bar:
            manner.hide_bar(False)
        shown = on_lines(message, _LONGEST)
        try:
            sys.stderr.write((coloured(shown, sys.stderr) if in_colour else shown) + "\n")
            sys.stderr.flush()
        except OSError:
            # What is buffered would fail once more at exit, which would be the exit code then.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def has_colour(stream: TextIO | None) -> bool:
    """Whether what is written to a stream is coloured: as --color says; else NO_COLOR, then
    FORCE_COLOR and CLICOLOR_FORCE; else on terminals that show colours."""
    if stream is None or manner.color != "auto":
        return stream is not None and manner.color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCE):
        return True
    return is_terminal(stream) and _shows_colours()


def _shows_colours() -> bool:
    """Whether this is a terminal that knows escape sequences; those of Windows say so."""
    if os.environ.get("TERM") == "dumb":
        return False
    return not _IS_WINDOWS or any(name in os.environ for name in _KNOWN_ON_WINDOWS)


def coloured(text: str, stream: TextIO | None) -> str:
    """Diagnostics with coloured levels and carets where ``stream`` has colours."""
    if not has_colour(stream):
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
        tell(context.get_help())
        raise typer.Exit(2)


# What has colours without being a terminal, and what the terminals of Windows set that have them.
_FORCE = ("FORCE_COLOR", "CLICOLOR_FORCE")
_KNOWN_ON_WINDOWS = ("WT_SESSION", "ANSICON", "ConEmuANSI", "TERM")

# The first line of a diagnostic, up to its level, and the line of its carets.
_HEAD = re.compile(r"(|.*?: )(error|warning|note)(?=: )")
_CARETS = re.compile(r"( *\| [\t ]*)(\^+)$")


def _in_colour(level: str, text: str) -> str:
    return f"{_RED if level == 'error' else _YELLOW}{text}{_PLAIN}"
