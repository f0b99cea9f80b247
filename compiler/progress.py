"""The interfaces by which steps report: how far one is, which begins and ends, what they chose.

progress(stage, done, total)              a parameter of what takes over a second
@Step("merge")  or  with Step("merge"):   a step, as ``pipeline.py`` names them
with listening(*listeners): ...           who hears of the steps of this thread
say(message)                              what was chosen that nobody had said
with hearing(hear): ...                   who hears of that
"""

from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    """Called now and then by stages that may take over a second."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of ``stage`` are finished."""


def silent(stage: str, done: int, total: int) -> None:
    """The progress that tells nobody."""


class Listener(Protocol):
    """Hears of each step when it begins and when it ends, also by an error; steps nest."""

    def begin(self, step: str) -> None:
        """The step of this name begins."""

    def end(self, step: str) -> None:
        """The innermost step that is at work ends."""


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("_listeners", default=())


class Step(ContextDecorator):
    """A step of this name: around a block, or around each call of a function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        for listener in _listeners.get():
            listener.begin(self.name)

    def __exit__(self, *_: object) -> None:
        for listener in _listeners.get():
            listener.end(self.name)


@contextmanager
def listening(*listeners: Listener) -> Iterator[None]:
    """Tell ``listeners`` of the steps of this block, in this thread."""
    token = _listeners.set(listeners)
    try:
        yield
    finally:
        _listeners.reset(token)


_hear: ContextVar[Callable[[str], None] | None] = ContextVar("_hear", default=None)


def say(message: str) -> None:
    """Tell whoever hears it in this thread."""
    hear = _hear.get()
    if hear is not None:
        hear(message)


@contextmanager
def hearing(hear: Callable[[str], None]) -> Iterator[None]:
    """Tell ``hear`` what steps of this block say, in this thread."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)
