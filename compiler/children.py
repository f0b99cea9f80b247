"""What a child process has taken of the machine: its time of the processor, and its memory.

    clock = ChildClock(process.pid, seconds=10)      counts from now on
    clock.is_over()                                  it took more, or waits for what does not come

Linux alone tells this of another process; elsewhere the time on the wall is counted, and no memory.
"""

import os
import time
from pathlib import Path

# A process that takes no time for so many seconds on the wall waits for what will not come.
IDLE_SECONDS = 60.0


class ChildClock:
    """Counts down ``seconds`` of the processor's time of a process."""

    def __init__(self, process: int, seconds: float) -> None:
        self._process = process
        self._taken, self._since = cpu_seconds_of(process), time.monotonic()
        self._end = seconds + (self._since if self._taken is None else self._taken)

    def left(self) -> float:
        """Seconds that are left, 0 or less where the time is over."""
        now, taken = time.monotonic(), cpu_seconds_of(self._process)
        if taken is None or self._taken is None:
            # It has ended, or the system does not tell.
            return self._end - now if self._taken is None else 1.0
        if taken > self._taken:
            self._taken, self._since = taken, now
        return -1.0 if self.is_idle() else self._end - taken

    def is_idle(self) -> bool:
        """Whether the process had no time for long, as far as that was looked at."""
        return self._taken is not None and time.monotonic() - self._since > IDLE_SECONDS

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.left() <= 0


def cpu_seconds_of(process: int) -> float | None:
    """Seconds of the processor, user and system, of a process and of its children that have ended;
    None where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        ticks = map(int, fields.rpartition(")")[2].split()[11:15])
        return sum(ticks) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def resident_bytes_of(process: int) -> int:
    """Bytes of a process that are in memory; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
