"""Calls of the command line and the library inside this process: what they end with and take."""

import io
import os
import signal
import sys
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from constrain.artifacts.errors import ConstrainError
from constrain.cli.app import run

# What is promised of any input by the limits given here: seconds of CPU, and bytes beside what
# was resident.
SECONDS, BYTES = 5.0, 1_000_000_000

# The limits as options: small, so that many inputs can be tried.
LIMITS = ("--max-seconds", "2", "--max-states", "5000", "--max-memory", "300000000")

# Seconds of CPU after which a call is ended, with the stack it was at.
_RUNAWAY = 20.0

# What ends a process otherwise than by an answer.
_CODES = (0, 1, 2, 3)


class Runaway(BaseException):
    """A call that went on and on; no ``Exception``, so that nothing on the way catches it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended. ``failed``: the traceback of what it must not raise, else empty.
    ``seconds``: of CPU. ``peak``: bytes above what was resident, 0 where the system says none."""

    code: int
    out: bytes
    err: str
    failed: str
    seconds: float
    peak: int

    @property
    def flaw(self) -> str:
        """What is wrong with it, empty if nothing is."""
        if self.failed:
            return self.failed
        if self.code not in _CODES:
            return f"exit code {self.code}: {self.err[:500]}"
        if self.seconds > SECONDS:
            return f"{self.seconds:.1f} s of CPU: {self.err[:300]}"
        if self.peak > BYTES:
            return f"{self.peak:,} bytes: {self.err[:300]}"
        if raw := raw_characters(self.err):
            return f"raw on standard error: {raw!r} in {self.err[:300]!r}"
        return ""


def raw_characters(text: str) -> str:
    """Characters that a terminal takes for commands or that turn its text around."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ""
    odd = ("Cc", "Cs", "Zl", "Zp")
    return "".join(
        c
        for c in sorted(set(text) - {"\n", "\t"})
        if unicodedata.category(c) in odd or c in "\u061c\u200e\u200f" or _turns(c)
    )


def _turns(char: str) -> bool:
    return "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"


def called(*arguments: str, stdin: bytes = b"") -> Ended:
    """The command line with these arguments."""
    out, err = io.BytesIO(), io.BytesIO()
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)
    os.environ["CONSTRAIN_TRACEBACK"] = "1"
    try:
        code, failed, seconds, peak = _measured(lambda: run(arguments))
    finally:
        # subtle: a wrapper that is collected closes what it wraps.
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = kept
        del os.environ["CONSTRAIN_TRACEBACK"]
    return Ended(
        70 if code is None else code,
        out.getvalue(),
        err.getvalue().decode("utf-8", "surrogatepass"),
        failed,
        seconds,
        peak,
    )


def tried(call: Callable[[], Any]) -> Ended:
    """A call of the library, which may raise ``ConstrainError`` and nothing else."""

    def code() -> int:
        try:
            call()
        except ConstrainError as error:
            said.append(str(error))
            return error.exit_code
        return 0

    said: list[str] = []
    found, failed, seconds, peak = _measured(code)
    return Ended(70 if found is None else found, b"", "".join(said), failed, seconds, peak)


def _measured(call: Callable[[], int]) -> tuple[int | None, str, float, int]:
    _reset_peak()
    before, start, failed = _field("VmRSS"), time.process_time(), ""
    code: int | None = None
    with _watched():
        try:
            code = call()
        except (Exception, Runaway):
            failed = _shortened(traceback.format_exc())
    return code, failed, time.process_time() - start, _field("VmHWM") - before


def _shortened(text: str) -> str:
    return text if len(text) < 6000 else text[:2000] + "\n[…]\n" + text[-4000:]


@contextmanager
def _watched() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise Runaway(f"more than {_RUNAWAY} s of CPU")

    if not hasattr(signal, "setitimer"):
        yield
        return
    kept = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _RUNAWAY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, kept)


def _field(name: str) -> int:
    try:
        with Path("/proc/self/status").open(encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(name)), 0)
    except OSError:
        return 0


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return
