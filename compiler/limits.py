"""The limits of a compilation: states, transitions, memory, time and nesting.

limits = Limits(seconds=5).started()                 the clock runs, the memory held is noted
limits.check_states(count, "the DFA", rules)         counts: the same on each machine
limits.check_allocation(size, "the DFA", rules)      before an array of ``size`` bytes is made
limits.check_resources("the DFA", rules)             between steps: time and resident memory
limits.check_overrun()                               from a timer: what no step has seen
with blaming(["object"]): ...                        names the rule where a step knows none
with in_force(limits): ...                           and check_in_force("the DFA") further inside
of_later(limits)                                     for what is made when it is first needed
effort = Effort(limits, rules, progress)
effort.begin("the masks", most=1 << 30)              work is counted from here on
effort.spend(nodes)                                  ``Exhausted`` beyond the most, ``LimitError``

Work is counted where it can be left to decoding: the same input is precomputed as far on each
machine.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock

from .diagnostics import LimitError
from .progress import Progress, silent

# Of the text of a grammar in a file.
MOST_GRAMMAR_BYTES = 1 << 24

# Seconds between two looks at the resident size, which cost 10 microseconds each.
_BETWEEN_LOOKS = 0.005

# Bytes that are no reason for a look of their own at the resident size.
_SMALL = 1 << 20

# What a timer grants beyond a limit, so that the step at work says first what is too much.
_GRACE_SHARE, _GRACE_SECONDS, _GRACE_BYTES = 0.05, 0.1, 10_000_000


class Meter:
    """The clock and the resident memory of one command or compilation.

    ``deadline``: of ``time.monotonic``. ``baseline``: bytes that were resident at the start, 0
    where the system does not tell. ``last``: stage, rules and part of the step that looked last.
    ``blamed``: the longest rule of the grammar that was read last.
    """

    __slots__ = ("_next_look", "baseline", "blamed", "deadline", "last")

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.baseline = resident_bytes()
        self.blamed: tuple[str, ...] = ()
        self.last: tuple[str, Iterable[str], str] = ("the command", (), "")
        self._next_look = 0.0

    def growth(self) -> int:
        """Bytes that became resident since the start, 0 where the system does not tell."""
        return max(0, resident_bytes() - self.baseline) if self.baseline else 0

    def is_time_to_look(self) -> bool:
        """Whether the last look at the resident memory is so long ago that one is due."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _BETWEEN_LOOKS
        return True


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that every stage keeps; hitting one raises ``LimitError``.

    ``states``: of any automaton. ``transitions``: of the token DFA. ``memory``: bytes, of the
    tables of a stage, and on Linux of what the process has resident beyond what it had when the
    clock started (elsewhere sizes alone are counted). ``seconds``: of the whole command or
    compilation, by the wall's clock. ``nesting``: brackets inside brackets in a grammar or regex.

    Counts depend on the input alone, so that ``auto`` may go on to another engine where one is
    exceeded; time and resident memory depend on the machine and end the compilation
    (``LimitError.is_measured``).
    """

    states: int = 200_000
    transitions: int = 100_000_000
    memory: int = 2_000_000_000
    seconds: float = 60.0
    nesting: int = 100_000
    meter: Meter | None = field(default=None, compare=False, repr=False)

    def started(self) -> "Limits":
        """The same limits with the clock running (left as it is if it runs already)."""
        if self.meter is not None:
            return self
        return replace(self, meter=Meter(self.seconds))

    def within(self, states: int) -> "Limits":
        """The same limits, by the same clock, with at most ``states`` states: for a search that is
        given up where it would take more."""
        return replace(self, states=min(states, self.states)).started()

    def exceeded(self, states: int, transitions: int, memory: int) -> bool:
        """Whether any of the three is too many: one quick look before the checks that raise."""
        return states > self.states or transitions > self.transitions or memory > self.memory

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.meter is not None and time.monotonic() > self.meter.deadline

    def is_full(self, size: int = 0) -> bool:
        """Whether ``size`` bytes more are too much for what the process may have resident."""
        return self.meter is not None and self.meter.growth() + size > self.memory

    def check_states(
        self, count: int, stage: str, rules: Iterable[str] = (), part: str = ""
    ) -> None:
        """Raise if ``count`` states are too many; ``part`` of an expression takes most."""
        if count > self.states:
            raise LimitError(stage, "states", self.states, rules, part)

    def check_transitions(self, count: int, stage: str, rules: Iterable[str] = ()) -> None:
        """Raise if ``count`` transitions are too many."""
        if count > self.transitions:
            raise LimitError(stage, "transitions", self.transitions, rules)

    def check_memory(
        self, size: int, stage: str, rules: Iterable[str] = (), part: str = ""
    ) -> None:
        """Raise if tables of ``size`` bytes are too large, whether they exist yet or not."""
        if size > self.memory:
            raise LimitError(stage, "memory", self.memory, rules, part)

    def check_allocation(
        self, size: int, stage: str, rules: Iterable[str] = (), part: str = ""
    ) -> None:
        """Raise if ``size`` bytes, which are about to be allocated, are too many: alone, or
        beside what the process holds."""
        self.check_memory(size, stage, rules, part)
        if size < _SMALL and not (self.meter and self.meter.is_time_to_look()):
            return
        if self.is_full(size):
            raise LimitError(stage, "memory", self.memory, rules, part, is_measured=True)

    def check_nesting(self, depth: int, stage: str, rules: Iterable[str] = ()) -> None:
        """Raise if brackets stand ``depth`` deep and that is too deep."""
        if depth > self.nesting:
            raise LimitError(stage, "nesting", self.nesting, rules)

    def check_resources(self, stage: str, rules: Iterable[str] = (), part: str = "") -> None:
        """Raise if the time is over, or if too much memory is resident; cheap enough for loops
        whose steps take some microseconds."""
        if self.meter is None:
            return
        self.meter.last = (stage, rules, part)
        if self.is_over():
            raise LimitError(stage, "seconds", self.seconds, rules, part, is_measured=True)
        if self.meter.is_time_to_look() and self.is_full():
            raise LimitError(stage, "memory", self.memory, rules, part, is_measured=True)

    def check_overrun(self) -> None:
        """Raise if time or resident memory are exceeded by so much that a step which does not look
        is at work; the error names the one that looked last. For a timer, outside of all steps."""
        if self.meter is None:
            return
        stage, rules, part = self.meter.last
        late = time.monotonic() - self.meter.deadline
        if late > self.seconds * _GRACE_SHARE + _GRACE_SECONDS:
            raise LimitError(stage, "seconds", self.seconds, rules, part, is_measured=True)
        if self.meter.growth() > self.memory * (1 + _GRACE_SHARE) + _GRACE_BYTES:
            raise LimitError(stage, "memory", self.memory, rules, part, is_measured=True)


@contextmanager
def blaming(rules: Iterable[str], part: str = "") -> Iterator[None]:
    """Name ``rules`` in a ``LimitError`` of this block that names none."""
    try:
        yield
    except LimitError as error:
        if error.rules:
            raise
        raise error.blaming(rules, part) from error


# Of the compilation that this thread is at.
_in_force: ContextVar[Limits | None] = ContextVar("_in_force", default=None)


@contextmanager
def in_force(limits: Limits) -> Iterator[None]:
    """Let ``check_in_force`` look at these limits in this block, in this thread."""
    token = _in_force.set(limits.started())
    try:
        yield
    finally:
        _in_force.reset(token)


class Interrupted:
    """Limits whose clock runs in some blocks and stands still between them, as for what is made
    when it is first needed.

    ``limits``: those, whose clock has been started; one that ran before runs on.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits.started()
        self._stands_still = limits.meter is None
        self._running, self._since, self._lock = 0, time.monotonic(), Lock()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run in this block, where the limits are in force."""
        with self._lock:
            if self._stands_still and not self._running and self.limits.meter is not None:
                self.limits.meter.deadline += time.monotonic() - self._since
            self._running += 1
        try:
            with in_force(self.limits):
                yield
        finally:
            with self._lock:
                self._running -= 1
                self._since = time.monotonic()


def of_later(limits: Limits) -> Limits:
    """The same limits for what is made when it is first needed: by the clock that is in force, if
    one is, else by one that starts now."""
    running = _in_force.get()
    return replace(limits, meter=running.meter if running else None).started()


def check_in_force(stage: str) -> None:
    """``check_resources`` of the limits that are in force, if any are: for tables of a tokenizer,
    which no compilation's limits are part of, and which are made within some compilation's."""
    limits = _in_force.get()
    if limits is not None:
        limits.check_resources(stage)


def resident_bytes() -> int:
    """Bytes of the process that are in memory now; 0 where the system does not tell (only Linux
    does)."""
    if sys.platform != "linux":
        return 0
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            pages = int(os.read(file, 100).split()[1])
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


# The most work of precomputing masks, in trie nodes that are met or what takes as long: about 30 ns
# each, together a quarter of the time that a command has by default.
MOST_WORK = 1 << 29

# Work between two steps of the progress bar.
_BETWEEN = 1 << 22


class Exhausted(Exception):  # noqa: N818
    """The work that a stage may do is spent: what is left is computed while decoding."""


@dataclass(slots=True, eq=False)
class Effort:
    """``rules``: named where time or memory run out. ``stage``: at work. ``most``: work of it that
    is done at most, None where all of it must be. ``spent``: so far."""

    limits: Limits
    rules: Sequence[str]
    progress: Progress = silent
    stage: str = "the masks"
    most: int | None = None
    spent: int = 0
    _shown: int = field(default=0, init=False)

    def begin(self, stage: str, most: int | None = None) -> None:
        """Count from 0 for a stage."""
        self.stage, self.most, self.spent, self._shown = stage, most, 0, 0

    def spend(self, work: int, size: int = 0) -> None:
        """Some work was done, and so many bytes of tables are about to be allocated (a ``Watch``).

        Raises ``LimitError`` for time and memory, and ``Exhausted``.
        """
        self.spent += work
        self.limits.check_resources(self.stage, self.rules)
        if size:
            self.limits.check_allocation(size, self.stage, self.rules)
        if self.spent >= self._shown + _BETWEEN:
            self._shown = self.spent
            if self.most is not None:
                self.progress(self.stage, min(self.spent, self.most), self.most)
        if self.most is not None and self.spent > self.most:
            raise Exhausted

    def end(self) -> None:
        """The stage is finished: no more of it is counted."""
        if self.most is not None:
            self.progress(self.stage, self.most, self.most)
        self.most = None
