"""Graphviz's program ``dot`` as a child process that may take so much time, memory and output.

run_dot(program, ["-Tsvg"], dot, limits)    ->    what it wrote, its exit code, its complaint
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import IO

from ..children import ChildClock, resident_bytes_of
from ..diagnostics import LimitError
from ..limits import Limits

_STAGE = "laying out a drawing with Graphviz's dot"

# Seconds between two looks at the child.
_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Ran:
    """``code``: with which ``dot`` ended. ``complaint``: the first line that it wrote of it."""

    written: bytes
    code: int
    complaint: str


def run_dot(program: str, arguments: Sequence[str], dot: str, limits: Limits) -> Ran:
    """Lay out a DOT text. Raises ``LimitError`` beyond ``limits.seconds`` of the processor, and
    beyond ``limits.memory`` bytes of memory or of output; ``OSError`` where it cannot be run."""
    # The convention of reproducible builds; not every cairo, which writes PDF, heeds it.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "TZ": "UTC"}
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(dot.encode("utf-8"))
        given.seek(0)
        child = subprocess.Popen(
            [program, *arguments], stdin=given, stdout=subprocess.PIPE, stderr=said, env=environment
        )
        exceeded, ended = list[LimitError](), Event()

        def watch() -> None:
            clock = ChildClock(child.pid, limits.seconds)
            while not ended.wait(_BETWEEN_LOOKS):
                if clock.is_over():
                    exceeded.append(LimitError(_STAGE, "seconds", limits.seconds, is_measured=True))
                elif max(resident_bytes_of(child.pid), size_of(said)) > limits.memory:
                    exceeded.append(LimitError(_STAGE, "memory", limits.memory, is_measured=True))
                if exceeded:
                    child.kill()
                    return

        def size_of(file: IO[bytes]) -> int:
            return os.fstat(file.fileno()).st_size

        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        assert child.stdout is not None
        try:
            written = child.stdout.read(limits.memory + 1)
            if len(written) > limits.memory:
                raise LimitError(_STAGE, "memory", limits.memory)
            code = child.wait()
        finally:
            ended.set()
            child.kill()
            child.wait()
            child.stdout.close()
            watcher.join()
        if exceeded:
            raise exceeded[0]
        said.seek(0)
        lines = said.read(1 << 16).decode("utf-8", "replace").strip().splitlines()
    return Ran(written, code, lines[0] if lines else f"it ended with code {code}")
