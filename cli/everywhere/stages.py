"""``--verbose``: the time and the memory of a command, step by step.

Of steps inside steps each has what is its own, so that the column of times adds up to the total.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")

# What is before, between and after the steps: imports, files, output.
REST = "other"


def peak_bytes() -> int:
    """The most bytes of the process that were in memory; 0 where the system does not tell."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError):
            for line in _STATUS.read_text(encoding="ascii").splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        return 0
    try:
        import resource
    except ImportError:  # As on Windows.
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _forget_peak() -> None:
    """Let the peak begin at what is in memory now, where the system can; elsewhere a step's peak
    is that of all before it."""
    if sys.platform == "linux":
        with suppress(OSError):
            _CLEAR.write_text("5", encoding="ascii")


class Stages:
    """Hears of steps, and has a table of them."""

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self._cpu = time.process_time()
        self._inside = [REST]
        # Seconds and peak bytes of each step, in the order in which they began.
        self._found: dict[str, list[float]] = {REST: [0.0, 0.0]}

    def begin(self, step: str) -> None:
        """A step begins: what was at work waits."""
        self._account()
        self._inside.append(step)
        self._found.setdefault(step, [0.0, 0.0])

    def end(self, _step: str) -> None:
        """The innermost step ends."""
        self._account()
        if len(self._inside) > 1:
            self._inside.pop()

    def _account(self) -> None:
        now = time.perf_counter()
        own = self._found[self._inside[-1]]
        own[0] += now - self._last
        own[1] = max(own[1], peak_bytes())
        _forget_peak()
        self._last = now

    def table(self) -> str:
        """A line for each step, in the order in which they began, and one for the whole."""
        self._account()
        cpu = time.process_time() - self._cpu
        steps = [name for name in self._found if name != REST] + [REST]
        rows = [(name, self._found[name][0], self._found[name][1]) for name in steps]
        rows.append(("total", self._last - self._begun, max(peak for _, _, peak in rows)))
        lines = [f"{'step':12} {'seconds':>9} {'peak memory':>12}"]
        lines += [
            f"{name:12} {seconds:9.3f} {f'{peak / 1e6:,.0f} MB' if peak else 'unknown':>12}"
            for name, seconds, peak in rows
        ]
        lines[-1] += f"   (CPU time {cpu:.3f} s)"
        return "\n".join(lines)
