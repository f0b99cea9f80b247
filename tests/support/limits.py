"""Run a command in a process of its own and measure what limits promise: CPU time and memory."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# What the promise grants above a limit: a share, and a constant for starting and ending.
SHARE, MORE_SECONDS, MORE_BYTES = 1.2, 0.5, 50_000_000

# The child imports what any command imports, notes what is resident, resets the peak (Linux) and
# runs the command; the last line of its standard error are the figures.
_CHILD = """
import json, sys, time
import numpy, lark
from constrain.cli.app import run
def field(name):
    try:
        with open("/proc/self/status") as file:
            return next((int(l.split()[1]) * 1024 for l in file if l.startswith(name)), 0)
    except OSError:
        return 0
try:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
except OSError:
    pass
before, start = field("VmRSS"), time.process_time()
code = run(sys.argv[1:])
sys.stdout.flush()
figures = {"seconds": time.process_time() - start, "bytes": field("VmHWM") - before}
sys.stderr.write("\\n" + json.dumps(figures))
sys.stderr.flush()
import os
os._exit(code)
"""


@contextmanager
def calls_counted() -> Iterator[Counter[str]]:
    """Counts the calls of functions in this block, by kind: work, whatever the machine does
    besides."""
    found = Counter[str]()
    sys.setprofile(lambda _frame, event, _argument: found.update([event]))
    try:
        yield found
    finally:
        sys.setprofile(None)


def work(seconds: float) -> None:
    """Take so much time of the processor."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@dataclass(frozen=True, slots=True)
class Measured:
    """How a command ended, and what it took.

    ``seconds``: of CPU, user and system. ``peak``: bytes resident at most, above what was resident
    before the command began; 0 where the system does not tell.
    """

    code: int
    stdout: bytes
    stderr: str
    seconds: float
    peak: int

    def check(self, *, seconds: float = 60.0, memory: float = 2_000_000_000) -> None:
        """Assert that limits of ``seconds`` and ``memory`` bytes were kept."""
        assert self.seconds <= SHARE * seconds + MORE_SECONDS, (self.seconds, self.stderr)
        assert self.peak <= SHARE * memory + MORE_BYTES, (self.peak, self.stderr)
        assert "Traceback" not in self.stderr and self.code != 70, self.stderr


def measured(*arguments: str | Path, stdin: bytes = b"") -> Measured:
    """Run ``constrain`` with these arguments and measure it."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    text, _, figures = done.stderr.decode("utf-8", "replace").rpartition("\n")
    found = json.loads(figures)
    return Measured(done.returncode, done.stdout, text, found["seconds"], found["bytes"])
