"""A finished drawing, which every stage's picture becomes, and the errors of drawing."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from constrain.artifacts.errors import ConstrainError, visible

from ..limits import Limits
from .picture import Size
from .run_dot import run_dot


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing.

    ``dot``: DOT text; the same input gives the same text. ``left_out``: a sentence if states
    were left out, or should be (the drawing holds it too), else None. ``pages``: all states on
    several drawings, with their files' names, the index first, where that can be (``Plan.pages``);
    ``is_cramped``: they are needed to see all states.
    """

    dot: str = field(repr=False)
    left_out: str | None
    pages: "Pages | None" = None
    is_cramped: bool = False

    def _repr_svg_(self) -> str | None:
        """As notebooks show it; None, and so its line of text, where Graphviz does not draw it."""
        program = shutil.which("dot")
        done = program and run_dot(program, ["-Tsvg"], self.dot, Limits())
        return done.out.decode("utf-8") if done and done.code == 0 else None


# Of a size and of how files are named.
Pages: TypeAlias = Callable[[Size, Callable[[str], str]], list[tuple[str, Drawing]]]


class DrawingError(ConstrainError):
    """A drawing that cannot be made or written; the message says why."""


class MissingDotError(DrawingError):
    """Graphviz's program ``dot`` is not installed; the DOT text was ``written`` instead."""

    def __init__(self, path: Path, written: Path) -> None:
        self.written = written
        super().__init__(
            f"{visible(path)}: drawing needs Graphviz, whose program 'dot' is not installed "
            f"(apt install graphviz, brew install graphviz, or choco install graphviz); "
            f"the DOT text was written to {visible(written)}"
        )
