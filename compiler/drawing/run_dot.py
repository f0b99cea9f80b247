"""Graphviz's program ``dot`` as a child process that may take so much time, memory and output.

run_dot(program, ["-Tsvg"], dot, limits)    ->    what it wrote, its exit code
"""

import os
from collections.abc import Sequence

from ..children import ChildClock, Ran, run
from ..diagnostics import LimitError
from ..limits import Limits

_STAGE = "laying out a drawing with Graphviz's dot"


def run_dot(program: str, arguments: Sequence[str], dot: str, limits: Limits) -> Ran:
    """Lay out a DOT text. Raises ``LimitError`` beyond ``limits.seconds`` of the processor, and
    beyond ``limits.memory`` bytes of memory or of output; ``OSError`` where it cannot be run."""
    # The convention of reproducible builds; not every cairo, which writes PDF, heeds it.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "TZ": "UTC"}
    ran = run(
        [program, *arguments],
        dot.encode("utf-8"),
        lambda process: ChildClock(process, limits.seconds).is_over,
        limits.memory,
        environment,
    )
    if len(ran.out) > limits.memory:
        raise LimitError(_STAGE, "memory", limits.memory)
    if ran.exceeded:
        value = limits.seconds if ran.exceeded == "seconds" else limits.memory
        raise LimitError(_STAGE, ran.exceeded, value, is_measured=True)
    return ran
