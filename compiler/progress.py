"""The interface by which steps report how far they are."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then by stages that may take over a second."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of ``stage`` are finished."""


def silent(stage: str, done: int, total: int) -> None:
    """The progress that tells nobody."""
