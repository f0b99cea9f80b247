"""One thread for all work on texts: what an editor asks goes before what is found by itself, and
what is newer takes the place of what is older.

Work is stopped where it looks at its clock, as all steps of the compiler do.
"""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from ..watch import Watch

if TYPE_CHECKING:
    from constrain.compiler.limits import Limits

T = TypeVar("T")


class Cancelled(BaseException):
    """The work that is done is wanted no more."""


class Stop:
    """Says to a piece of work that it is wanted no more."""

    def __init__(self) -> None:
        self._event = Event()

    def set(self) -> None:
        """End the work where it next looks."""
        self._event.set()

    def check(self) -> None:
        """Raise ``Cancelled`` if the work is to end."""
        if self._event.is_set():
            raise Cancelled

    def watch(self, seconds: float | None = None) -> Watch:
        """What holds a command's limits, ``seconds`` of them at most, and ends it where this is
        set."""
        return _StoppedWatch(self, seconds)


class _StoppedWatch(Watch):
    def __init__(self, stop: Stop, seconds: float | None) -> None:
        super().__init__()
        self._stop, self._seconds = stop, seconds

    def over(self, limits: "Limits") -> "Limits":
        """The limits by a clock that looks at the stop as well."""
        from constrain.compiler.limits import Clock

        stop = self._stop

        class StoppedClock(Clock):
            def is_over(self) -> bool:
                stop.check()
                return super().is_over()

        seconds = min(limits.seconds, self._seconds or limits.seconds)
        found = replace(limits, seconds=seconds, meter=None).started()
        assert found.meter is not None
        found.meter.clock = StoppedClock(seconds)
        return found


class Jobs:
    """The thread, and what waits for it. Called from one event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "constrain")
        self._background: Stop | None = None
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}

    async def ask(self, work: Callable[[Stop], T]) -> T:
        """The result of a piece of work, which goes before all that is ``later``."""
        stop = Stop()
        if self._background is not None:
            self._background.set()
        try:
            return await self._run(work, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def later(self, key: Hashable, delay: float, work: Callable[[Stop], None]) -> None:
        """Do the work after so many seconds, unless by then there is another of this key; done
        from its beginning where a question came between."""
        self.forget(key)
        self._tasks[key] = asyncio.get_running_loop().create_task(self._later(key, delay, work))

    def forget(self, key: Hashable) -> None:
        """What is to be done later by this key is wanted no more."""
        if (task := self._tasks.pop(key, None)) is not None:
            task.cancel()

    async def _later(self, key: Hashable, delay: float, work: Callable[[Stop], None]) -> None:
        await asyncio.sleep(delay)
        while True:
            stop = self._background = Stop()
            try:
                await self._run(work, stop)
            except Cancelled:
                continue  # A question came; it has been put in line before this.
            except asyncio.CancelledError:
                stop.set()
                raise
            if self._tasks.get(key) is asyncio.current_task():
                del self._tasks[key]
            return

    def _run(self, work: Callable[[Stop], T], stop: Stop) -> "asyncio.Future[T]":
        def run() -> T:
            stop.check()
            return work(stop)

        return asyncio.get_running_loop().run_in_executor(self._thread, run)

    def end(self) -> None:
        """Stop all that is at work."""
        for task in self._tasks.values():
            task.cancel()
        if self._background is not None:
            self._background.set()
        self._thread.shutdown(wait=False, cancel_futures=True)
