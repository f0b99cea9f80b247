"""Hold a command's limits where no step looks at them: a timer does, between two byte codes.

    with watching(limits): ...        raises ``LimitError`` inside the block

The steps look themselves, and say what takes most (``Limits.check_resources``); this is for those
that run long without a look, such as reading or writing a text. Where there is no such timer
(Windows, threads other than the main one) the steps alone hold the limits.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constrain.compiler.limits import Limits

# Seconds between two looks, and from an error to the next: what cleans up is left in peace.
_BETWEEN, _BETWEEN_ERRORS = 0.02, 1.0


@contextmanager
def watching(limits: "Limits") -> Iterator[None]:
    """Look at the time and the memory for as long as the block runs."""
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield
        return
    quiet_until = 0.0

    def look(_signal: int, _frame: FrameType | None) -> None:
        nonlocal quiet_until
        now = time.monotonic()
        if now >= quiet_until:
            quiet_until = now + _BETWEEN_ERRORS
            limits.check_overrun()
            quiet_until = 0.0

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _BETWEEN, _BETWEEN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
