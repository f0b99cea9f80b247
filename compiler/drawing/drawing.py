"""A finished drawing, which every stage's picture becomes, and the errors of drawing."""

from dataclasses import dataclass

from constrain.artifacts.errors import ConstrainError


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing.

    ``dot``: DOT text; the same input gives the same text. ``left_out``: a sentence if states
    were left out (the drawing holds it too), else None.
    """

    dot: str
    left_out: str | None


class DrawingError(ConstrainError):
    """A drawing that cannot be made or written; the message says why."""


class MissingDotError(DrawingError):
    """Graphviz's program ``dot`` is not installed; the DOT text was written instead."""
