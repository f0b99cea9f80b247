"""The limits of a compilation: states, transitions, memory, time and nesting."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .diagnostics import LimitError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that every stage keeps; hitting one raises ``LimitError``.

    ``states``: of any automaton. ``transitions``: of the token DFA. ``memory``: bytes of the
    largest table of a stage. ``seconds``: of the whole compilation. ``nesting``: brackets
    inside brackets in a grammar or regex.
    """

    states: int = 200_000
    transitions: int = 100_000_000
    memory: int = 2_000_000_000
    seconds: float = 600.0
    nesting: int = 100_000
    deadline: float | None = None

    def started(self) -> "Limits":
        """The same limits with the clock running (left as it is if it runs already)."""
        if self.deadline is not None:
            return self
        return replace(self, deadline=time.monotonic() + self.seconds)

    def exceeded(self, states: int, transitions: int, memory: int) -> bool:
        """Whether any of the three is too many: one quick look before the checks that raise."""
        return states > self.states or transitions > self.transitions or memory > self.memory

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

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
        """Raise if a table of ``size`` bytes is too large."""
        if size > self.memory:
            raise LimitError(stage, "memory", self.memory, rules, part)

    def check_nesting(self, depth: int, stage: str) -> None:
        """Raise if brackets stand ``depth`` deep and that is too deep."""
        if depth > self.nesting:
            raise LimitError(stage, "nesting", self.nesting)

    def check_time(self, stage: str, rules: Iterable[str] = (), part: str = "") -> None:
        """Raise if the time is over."""
        if self.is_over():
            raise LimitError(stage, "seconds", self.seconds, rules, part)
