"""Runs an engine in a child process, within time and memory, and reads what it found.

A child that takes too long or holds too much is ended; what it lacks or cannot read it says itself.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from ..children import Ran, run
from ..limits import Limits

_MODULE = f"{__package__}.bench_child"

# Lines of a child's last words that are shown.
_LINES = 3


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
    given = json.dumps({**request, "begun": time.time(), "seconds": seconds}).encode("ascii")
    # subtle: without -P the current folder would be looked up before the library's own.
    command = [sys.executable, "-P", "-m", _MODULE]

    def clock(_: int) -> Callable[[], bool]:
        end = time.monotonic() + seconds
        return lambda: time.monotonic() > end

    try:
        ran = run(command, given, clock, limits.memory)
    finally:
        meter.clock.spend(time.monotonic() - begin)
    if ran.exceeded == "seconds":
        raise ChildError(f"it takes more than {seconds:,.1f} seconds; raise --max-seconds")
    if ran.exceeded:
        raise ChildError(f"it holds more than {limits.memory:,} bytes; raise --max-memory")
    return _read(ran)


def _read(ran: Ran) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(ran.out)
    except ValueError:
        last = ran.errors.decode("utf-8", "backslashreplace").strip().splitlines()[-_LINES:]
        raise ChildError(f"it ended with code {ran.code}: {' / '.join(last)}") from None
    if "error" in found:
        raise ChildError(str(found["error"]))
    return found
