"""What tests of the command line share; the fixture ``cli`` runs it inside the process."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from constrain.cli.app import application, run
from support import EXAMPLES

DATE = str(EXAMPLES / "date.ebnf")


@dataclass(frozen=True)
class Result:
    """What a run ended with."""

    code: int
    out: bytes
    err: str


Cli = Callable[..., Result]


def names(folder: Path) -> list[str]:
    """What a folder holds."""
    return sorted(path.name for path in folder.iterdir())


def content(path: Path, text: str | bytes) -> str:
    """Write a file; its path as an argument."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


Captured = pytest.CaptureFixture[bytes]


def called(captured: Captured, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command line."""
    captured.readouterr()
    code = run(list(arguments))
    out, err = captured.readouterr()
    return code, out.decode(), err.decode()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A command, with what may follow its name."""

    words: tuple[str, ...]
    parameters: tuple[Any, ...]


@cache
def program() -> Any:
    """The command line as Typer makes it, with all commands."""
    return typer.main.get_command(application())


def leaves() -> list[Leaf]:
    """All commands of the program, those inside groups too."""
    found = []
    for name, made in program().commands.items():
        inner = getattr(made, "commands", {"": made})
        for part, command in inner.items():
            found.append(Leaf((name, *([part] if part else [])), tuple(command.params)))
    return found
