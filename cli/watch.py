"""Hold a command's limits where no step looks at them: a timer does, between two byte codes.

    with Watch() as watch:                   the command begins
        limits = watch.over(limits)          from here on ``LimitError`` is raised inside the block

The steps look themselves, and say what takes most (``Limits.check_resources``); this is for those
that run long without a look, such as reading or writing a text. Where there is no such timer
(Windows, threads other than the main one) the steps alone hold the limits.
"""

import signal
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constrain.compiler.limits import Limits, Meter

# Seconds between two looks, and from an error to the next: what cleans up is left in peace.
_BETWEEN, _BETWEEN_ERRORS = 0.02, 1.0


class Watch:
    """The clock of a command, and the timer that looks as soon as it is known what is allowed."""

    def __init__(self) -> None:
        self._begun = time.thread_time()
        self._stack = ExitStack()
        self._limits: Limits | None = None
        self._quiet_until = 0.0
        self._before: Any = None

    def __enter__(self) -> "Watch":
        return self

    def over(self, limits: "Limits") -> "Limits":
        """The limits with the command's clock, in force from here on; the timer runs.

        Others take the place of those before, as of the next grammar in the project file.
        """
        from constrain.compiler.limits import in_force

        before, meter = self._limits, self._meter
        if before == limits:
            return before
        if before is None or meter is None:
            self._limits = limits.started(self._begun)
            self._start()
        else:
            meter.clock.spend(before.seconds - limits.seconds)
            self._limits = replace(limits, meter=meter)
        self._stack.close()
        self._stack.enter_context(in_force(self._limits))
        return self._limits

    @property
    def _meter(self) -> "Meter | None":
        return None if self._limits is None else self._limits.meter

    def _start(self) -> None:
        from constrain.compiler.limits import in_force_or

        is_main = threading.current_thread() is threading.main_thread()
        if not (is_main and hasattr(signal, "setitimer")):
            return

        def look(_signal: int, _frame: FrameType | None) -> None:
            now = time.monotonic()
            if now >= self._quiet_until:
                self._quiet_until = now + _BETWEEN_ERRORS
                if self._limits is not None:
                    in_force_or(self._limits).check_overrun()
                self._quiet_until = 0.0

        self._before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _BETWEEN, _BETWEEN)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._stack.close()
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
        if (meter := self._meter) is not None and meter.blamed:
            from constrain.compiler.diagnostics import LimitError

            if isinstance(error, LimitError) and not error.rules:
                raise error.blaming(meter.blamed) from None
