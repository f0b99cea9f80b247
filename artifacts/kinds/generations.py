"""The machine that an artifact's matchers share, and the next one when it is full."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Generic, TypeVar

from ..matcher import Begun, Generation, Machine
from ..tokens.interning import Lock
from .contents import Contents

M = TypeVar("M", bound=Machine)


class SharedMachine(ABC, Generic[M]):
    """What runs an artifact by a machine that matchers share until it is full. One machine at a
    time holds memory: a generation that has ended holds none any more."""

    contents: Contents
    _machine: M | None = None
    _generation: Generation | None = None

    @abstractmethod
    def _following(self, full: M | None) -> M:
        """The first machine of None, and the next one of the one before, which is full."""

    @cached_property
    def _lock(self) -> Lock:
        return self.contents.lock

    def machine(self) -> M:
        """The machine of all matchers, until it is full."""
        return self._current()[1]

    def latest(self) -> M:
        """The machine of ``machine`` again, full or not."""
        return self._machine or self.machine()

    def _current(self) -> tuple[Generation, M]:
        with self._lock:
            machine, generation = self._machine, self._generation
            if machine is None or generation is None or machine.is_full:
                machine = self._machine = self._following(machine)
                if generation is not None:
                    generation.machine = None
                generation = self._generation = Generation(machine)
            return generation, machine

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Where a text begins after a prompt."""
        generation, machine = self._current()
        return Begun(generation, machine, self._start(machine, prompt))

    def _start(self, machine: M, prompt: Sequence[int]) -> int:
        # Under any tokenization a prompt changes nothing.
        return machine.start


def always(machine: Machine, start: int | None = None) -> Begun:
    """Where a text begins on a machine that interns nothing, and so never is full."""
    return Begun(Generation(machine), machine, machine.start if start is None else start)
