"""A progress bar on a terminal, for everything that takes over a second.

The library's steps say when they begin and how far they are; a thread of its own draws, so that a
step that says nothing for long is seen to be at work, too.
"""

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from constrain.artifacts.errors import visible

from ..console import has_colour, manner

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# What is said of steps whose names do not tell.
_SAID = {"tokenizer": "the tables of this tokenizer are being made, once"}

# Seconds of work that show no bar.
_AFTER = 1.0


class Bar:
    """The bar of one command; as a context. It hears of steps (``Listener``), and by ``progress``
    of how far they are."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._steps: list[str] = []
        self._is_over = False

    def __enter__(self) -> "Bar":
        manner.progress, manner.hide_bar = self.progress, self.hide
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        manner.progress = manner.hide_bar = None
        self.hide(True)

    def begin(self, step: str) -> None:
        """A step begins."""
        with self._lock:
            self._steps.append(step)
            self._describe(step, None, None)

    def end(self, _step: str) -> None:
        """The innermost step ends."""
        with self._lock:
            if self._steps:
                self._steps.pop()
            self._describe(self._steps[-1] if self._steps else "…", None, None)

    def progress(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of ``stage``."""
        if self._bar is not None:
            with self._lock:
                self._describe(stage, done, total)

    def hide(self, for_good: bool) -> None:
        """Clear the bar before something else is written; unless ``for_good`` it comes back."""
        with self._lock:
            self._is_over |= for_good
            timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            bar, self._bar = self._bar, None
            if bar is not None:
                with suppress(OSError):
                    bar.stop()
            if timer is not None and not self._is_over:
                self._wait()

    def _wait(self) -> None:
        self._timer = threading.Timer(_AFTER, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over or self._timer is not threading.current_thread():
                return
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[share]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True, no_color=not has_colour(sys.stderr)),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            step = _said(self._steps[-1] if self._steps else "…")
            self._task = self._bar.add_task(step, total=None, share="")
            self._bar.start()

    def _describe(self, stage: str, done: int | None, total: int | None) -> None:
        if self._bar is None or self._task is None:
            return
        share = f"{done / total:.0%}" if done is not None and total else ""
        self._bar.update(self._task, description=visible(_said(stage)), share=share)
        task = self._bar.tasks[0]
        task.total, task.completed = total, done or 0


def _said(step: str) -> str:
    return _SAID.get(step, step)
