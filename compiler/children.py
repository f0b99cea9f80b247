"""Child processes, and what they have taken of the machine: time of the processor, and memory.

    clock = ChildClock(process.pid, seconds=10)      counts from now on
    clock.is_over()                                  it took more, or waits for what does not come

    run(["dot", "-Tsvg"], data, over, memory)        what it wrote, once it ended or was ended

Linux alone tells this of another process; elsewhere the time on the wall is counted, and no memory.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

# A process that takes no time for so many seconds on the wall waits for what will not come.
IDLE_SECONDS = 60.0

# Seconds between two looks at a child.
_BETWEEN = 0.05


class Ran(NamedTuple):
    """What a child wrote as its output and of errors, with which code it ended, and the limit for
    which it was ended: ``seconds``, ``memory`` or none."""

    out: bytes
    errors: bytes
    code: int
    exceeded: str


def run(
    command: Sequence[str],
    given: bytes,
    clock: Callable[[int], Callable[[], bool]],
    memory: int,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program on an input, within ``memory`` bytes of its own and of output. ``clock``: of
    a process, what says whether its time is over. Raises ``OSError`` where it cannot be run."""
    exceeded = ""
    # Files: a pipe that nobody reads would stop a child that says much.
    with ExitStack() as stack:
        source, out, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        source.write(given)
        source.seek(0)
        child = subprocess.Popen(command, stdin=source, stdout=out, stderr=errors, env=environment)
        try:
            is_over = clock(child.pid)
            while not exceeded:
                try:
                    child.wait(_BETWEEN)
                    break
                except subprocess.TimeoutExpired:
                    written = max(os.fstat(each.fileno()).st_size for each in (out, errors))
                    is_large = max(resident_bytes_of(child.pid), written) > memory
                    exceeded = "seconds" if is_over() else "memory" * is_large
        finally:
            child.kill()
            child.wait()
        out.seek(0)
        errors.seek(0)
        return Ran(out.read(memory + 1), errors.read(), child.returncode, exceeded)


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
