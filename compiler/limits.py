"""The limits of a compilation: states, transitions, memory, time and nesting.

limits = Limits(seconds=5).started()                 the clock runs, the memory held is noted
limits.check_states(count, "the DFA", rules)         counts: the same on each machine
limits.check_allocation(size, "the DFA", rules)      before an array of ``size`` bytes is made
limits.check_resources("the DFA", rules)             between steps: time and resident memory
limits.check_overrun()                               from a timer: what no step has seen
with blaming(["object"]): ...                        names the rule where a step knows none
with in_force(limits): ...                           and check_in_force("the DFA") further inside
of_later(limits)                                     for what is made when it is first needed
with making_tables(): ...                            of a tokenizer: by a clock of their own
effort = Effort(limits, rules, progress)
effort.begin("the masks", most=1 << 30)              work is counted from here on
effort.spend(nodes)                                  ``Exhausted`` beyond the most, ``LimitError``
limits.for_precomputing(seconds)                     by a clock that leaves time to write a file

Work is counted where it can be left to decoding: the same input is precomputed as far on each
machine. Seconds are of the processor, so that a busy machine refuses nothing that another takes.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import get_ident

from .diagnostics import LimitError
from .progress import Progress, Step, silent

# Of the text of a grammar in a file.
MOST_GRAMMAR_BYTES = 1 << 24

# Seconds between two looks at the resident size, which cost 10 microseconds each, and at the time
# of the processor, 2 microseconds.
_BETWEEN_LOOKS, _BETWEEN_READINGS = 0.005, 0.02

# Bytes that are no reason for a look of their own at the resident size.
_SMALL = 1 << 20

# What a timer grants beyond a limit, so that the step at work says first what is too much.
_GRACE_SHARE, _GRACE_SECONDS, _GRACE_BYTES = 0.05, 0.1, 10_000_000

# Of the time that is left, what precomputing leaves to the steps after it: so much at most.
_TO_WRITE_SHARE, _TO_WRITE_SECONDS = 0.5, 5.0


class Clock:
    """Counts down ``seconds`` of the processor's time, of the threads that look at it: of the one
    that made it from then on (from ``begun`` of ``time.thread_time``), of others from their first
    look on. What other threads and processes of the machine do is not counted, nor is waiting.
    """

    __slots__ = ("_left", "_read", "next_reading")

    def __init__(self, seconds: float, begun: float | None = None) -> None:
        self._left, self.next_reading = seconds, 0.0
        # By thread the time that was read last, ``_STILL`` where the clock stands still.
        self._read = {get_ident(): time.thread_time() if begun is None else begun}

    def left(self) -> float:
        """Seconds that are left, below 0 where the time is over."""
        now, thread = time.thread_time(), get_ident()
        before = self._read.get(thread, now)
        if before != _STILL:
            # A thread may have the number of one that has ended.
            self._left -= max(0.0, now - before)
            self._read[thread] = now
        return self._left

    def is_over(self) -> bool:
        """Whether the time is over; quick, and some milliseconds late at most."""
        now = time.monotonic()
        if now >= self.next_reading:
            # A thread takes no more of the processor's time than passes on the wall.
            self.next_reading = now + min(max(self.left(), 0.0), _BETWEEN_READINGS)
        return self._left <= 0

    def spend(self, seconds: float) -> None:
        """Count these as well, as those in which others were waited for."""
        self._left -= seconds

    def stand_still(self) -> None:
        """Count nothing that this thread does from here on."""
        self.left()
        self._read[get_ident()] = _STILL

    def go_on(self) -> None:
        """Count what this thread does from here on."""
        self._read[get_ident()] = time.thread_time()


_STILL = float("inf")


class Meter:
    """The clock and the resident memory of one command or compilation.

    ``tables``: that of the tables of tokenizers, which are made within it; None for such a meter.
    ``baseline``: bytes that were resident at the start, 0 where the system does not tell. ``last``:
    stage, rules and part of the step that looked last. ``blamed``: the longest rule of the grammar
    that was read last.
    """

    __slots__ = ("_next_look", "baseline", "blamed", "clock", "last", "rests_until", "tables")

    def __init__(self, clock: Clock, tables: "Meter | None" = None) -> None:
        self.clock, self.tables = clock, tables
        self.baseline: int = resident_bytes() if tables is None else tables.baseline
        self.blamed: tuple[str, ...] = ()
        self.last: tuple[str, Iterable[str], str] = ("the command" if tables else "this", (), "")
        self._next_look = time.monotonic() + _BETWEEN_LOOKS
        # Until then neither the clock nor the memory is due, by ``time.monotonic``.
        self.rests_until = 0.0

    def rest(self) -> None:
        """Neither is over: the next look is when one of them is due."""
        self.rests_until = min(self._next_look, self.clock.next_reading)

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
    clock started (elsewhere sizes alone are counted). ``seconds``: of the processor, for the whole
    command or compilation. ``table_seconds``: the same for what is made of a tokenizer, once for
    all grammars. ``nesting``: brackets inside brackets in a grammar or regex.

    Counts depend on the input alone, so that ``auto`` may go on to another engine where one is
    exceeded; time and resident memory depend on the machine and end the compilation
    (``LimitError.is_measured``).
    """

    states: int = 200_000
    transitions: int = 100_000_000
    memory: int = 2_000_000_000
    seconds: float = 60.0
    nesting: int = 100_000
    table_seconds: float = 120.0
    meter: Meter | None = field(default=None, compare=False, repr=False)

    def started(self, begun: float | None = None) -> "Limits":
        """The same limits with the clock running (left as it is if it runs already). ``begun``:
        since when, by ``time.thread_time``; by default from now on."""
        if self.meter is not None:
            return self
        tables = Meter(Clock(self.table_seconds))
        tables.clock.stand_still()
        return replace(self, meter=Meter(Clock(self.seconds, begun), tables))

    def within(self, states: int) -> "Limits":
        """The same limits, by the same clock, with at most ``states`` states: for a search that is
        given up where it would take more."""
        return replace(self, states=min(states, self.states)).started()

    def for_precomputing(self, seconds: float | None = None) -> "Limits":
        """The same limits by a clock of their own, which ends after so many ``seconds``, and before
        the other: what can be left to decoding leaves time to write what there is."""
        meter = self.started().meter
        assert meter is not None
        left = max(0.0, meter.clock.left())
        left -= min(_TO_WRITE_SHARE * left, _TO_WRITE_SECONDS)
        own = Meter(Clock(left if seconds is None else min(left, seconds)), meter.tables)
        own.baseline = meter.baseline
        return replace(self, meter=own)

    def exceeded(self, states: int, transitions: int, memory: int) -> bool:
        """Whether any of the three is too many: one quick look before the checks that raise."""
        return states > self.states or transitions > self.transitions or memory > self.memory

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.meter is not None and self.meter.clock.is_over()

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
        meter = self.meter
        if meter is None:
            return
        meter.last = (stage, rules, part)
        if time.monotonic() < meter.rests_until:
            return
        if self.is_over():
            raise LimitError(stage, "seconds", self.seconds, rules, part, is_measured=True)
        if meter.is_time_to_look() and self.is_full():
            raise LimitError(stage, "memory", self.memory, rules, part, is_measured=True)
        meter.rest()

    def check_overrun(self) -> None:
        """Raise if time or resident memory are exceeded by so much that a step which does not look
        is at work; the error names the one that looked last. For a timer, outside of all steps."""
        if self.meter is None:
            return
        stage, rules, part = self.meter.last
        late = -self.meter.clock.left()
        if late > self.seconds * _GRACE_SHARE + _GRACE_SECONDS:
            raise LimitError(stage, "seconds", self.seconds, rules, part, is_measured=True)
        if self.meter.growth() > self.memory * (1 + _GRACE_SHARE) + _GRACE_BYTES:
            raise LimitError(stage, "memory", self.memory, rules, part, is_measured=True)


@contextmanager
def blaming(rules: Iterable[str], part: str = "", instead: str = "") -> Iterator[None]:
    """Name ``rules`` in a ``LimitError`` of this block that names none, and where time or memory
    ran out options that do without most of the block."""
    try:
        yield
    except LimitError as error:
        instead = instead if error.is_measured else ""
        if error.rules and not instead:
            raise
        raise error.blaming(error.rules or rules, part, instead) from error


# The step that makes the tables of a tokenizer, reading its file among them.
TABLES = "tokenizer"

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
        # None for one that runs on.
        self._clock = self.limits.meter.clock if self.limits.meter and not limits.meter else None
        if self._clock is not None:
            self._clock.stand_still()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run in this block, where the limits are in force."""
        around = _in_force.get()
        is_running = around is not None and around.meter is self.limits.meter
        clock = None if is_running else self._clock
        if clock is not None:
            clock.go_on()
        try:
            with in_force(self.limits):
                yield
        finally:
            if clock is not None:
                clock.stand_still()


@contextmanager
def making_tables() -> Iterator[None]:
    """In this block tables of a tokenizer are made, once for all grammars: by the clock of such
    tables, and so are the errors. The clock of the limits in force stands still meanwhile."""
    limits = _in_force.get()
    meter = None if limits is None else limits.meter
    if limits is None or meter is None or meter.tables is None:
        with Step(TABLES):
            yield
        return
    own = replace(limits, seconds=limits.table_seconds, meter=meter.tables)
    meter.clock.stand_still()
    meter.tables.clock.go_on()
    try:
        with in_force(own), Step(TABLES):
            yield
    except LimitError as error:
        raise error.of_tables() from None
    finally:
        meter.tables.clock.stand_still()
        meter.clock.go_on()


def in_force_or(limits: Limits) -> Limits:
    """The limits that are in force; these, if none are."""
    return _in_force.get() or limits


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


def check_size_in_force(size: int, stage: str) -> None:
    """``check_allocation`` of the limits that are in force, if any are: for a file of so many bytes
    that is about to be read."""
    limits = _in_force.get()
    if limits is not None:
        limits.check_allocation(size, stage)


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
# each, together a quarter of the time that a command has by default; and where nothing else is
# asked for, about five seconds. It is counted, so that the bytes of a file are those of its input.
MOST_WORK, DEFAULT_WORK = 1 << 29, 3 << 26

# Bytes of a cell of a table.
_CELL_BYTES = 4

# Work between two steps of the progress bar.
_BETWEEN = 1 << 22


class Exhausted(Exception):  # noqa: N818
    """The work that a stage may do is spent: what is left is computed while decoding."""


@dataclass(slots=True, eq=False)
class Effort:
    """``rules``: named where time or memory run out. ``stage``: at work. ``most``: work of it that
    is done at most, None where all of it must be. ``spent``: so far. ``within``: the limits of such
    a stage, which time and memory end as its work does."""

    limits: Limits
    rules: Sequence[str]
    progress: Progress = silent
    stage: str = "the masks"
    most: int | None = None
    spent: int = 0
    within: Limits | None = None
    _shown: int = field(default=0, init=False)

    def begin(self, stage: str, most: int | None = None, within: Limits | None = None) -> None:
        """Count from 0 for a stage."""
        self.stage, self.most, self.spent, self._shown = stage, most, 0, 0
        self.within = within

    def spend(self, work: int, size: int = 0) -> None:
        """Some work was done, and so many bytes of tables are about to be allocated (a ``Watch``).

        Raises ``LimitError`` for time and memory, and ``Exhausted``.
        """
        # A cell of what may be left to decoding is work as well, before it is made.
        self.spent += work if self.most is None else work + size // _CELL_BYTES
        if self.most is not None and self.spent > self.most:
            raise Exhausted
        try:
            limits = self.within or self.limits
            limits.check_resources(self.stage, self.rules)
            if size:
                limits.check_allocation(size, self.stage, self.rules)
        except LimitError as error:
            if self.within is None:
                raise
            raise Exhausted from error
        if self.spent >= self._shown + _BETWEEN:
            self._shown = self.spent
            if self.most is not None:
                self.progress(self.stage, min(self.spent, self.most), self.most)

    def end(self) -> None:
        """The stage is finished: no more of it is counted."""
        if self.most is not None:
            self.progress(self.stage, self.most, self.most)
        self.most = self.within = None
