"""Runs an engine in a child process, within time and memory, and reads what it found.

A child that takes too long or holds too much is ended; what it lacks or cannot read it says itself.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

from ..children import resident_bytes_of
from ..limits import Limits

_MODULE = f"{__package__}.bench_child"

# Seconds between two looks at a child, and lines of its last words that are shown.
_BETWEEN, _LINES = 0.05, 3


class ChildError(Exception):
    """A child that found nothing, and why."""


def is_installed(engine: str) -> bool:
    """Whether there is such a module; it is not imported."""
    return find_spec(engine) is not None


def run_child(request: Mapping[str, Any], limits: Limits, share: float = 1.0) -> dict[str, Any]:
    """What a child found for ``request`` (``bench_child.py`` describes both).

    ``share``: of the time that ``limits`` leave; it is of the wall, and spent. Raises
    ``ChildError``.
    """
    meter = limits.started().meter
    assert meter is not None
    seconds, begin = max(0.1, meter.clock.left() * share), time.monotonic()
    # Files: a pipe that nobody reads would stop a child that says much.
    with ExitStack() as stack:
        given, out, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(
            json.dumps({**request, "begun": time.time(), "seconds": seconds}).encode("ascii")
        )
        given.seek(0)
        # subtle: without -P the current folder would be looked up before the library's own.
        command = [sys.executable, "-P", "-m", _MODULE]
        child = subprocess.Popen(command, stdin=given, stdout=out, stderr=errors)
        try:
            why = _wait(child, seconds, limits.memory)
        finally:
            child.kill()
            child.wait()
            meter.clock.spend(time.monotonic() - begin)
        out.seek(0)
        errors.seek(0)
        return _read(out.read(), errors.read(), why, child.returncode)


def _wait(child: "subprocess.Popen[bytes]", seconds: float, memory: int) -> str:
    """Why a child is ended; nothing if it ended by itself."""
    deadline = time.monotonic() + seconds
    while child.poll() is None:
        if time.monotonic() > deadline:
            return f"it takes more than {seconds:,.1f} seconds; raise --max-seconds"
        if resident_bytes_of(child.pid) > memory:
            return f"it holds more than {memory:,} bytes; raise --max-memory"
        try:
            child.wait(_BETWEEN)
        except subprocess.TimeoutExpired:
            continue
    return ""


def _read(out: bytes, errors: bytes, why: str, code: int) -> dict[str, Any]:
    if why:
        raise ChildError(why)
    try:
        found: dict[str, Any] = json.loads(out)
    except ValueError:
        last = errors.decode("utf-8", "backslashreplace").strip().splitlines()[-_LINES:]
        raise ChildError(f"it ended with code {code}: {' / '.join(last)}") from None
    if "error" in found:
        raise ChildError(str(found["error"]))
    return found
