"""The machine that an artifact's matchers share, and the next one when it is full."""

from collections.abc import Callable
from typing import Generic, TypeVar

from ..matcher import Begun, Generation, Machine
from ..tokens.interning import Lock

M = TypeVar("M", bound=Machine)


class Generations(Generic[M]):
    """``following``: makes the first machine of None, and the next one of the one before, which is
    full. One machine at a time holds memory: a generation that has ended holds none any more."""

    def __init__(self, lock: Lock, following: Callable[[M | None], M]) -> None:
        self._lock, self._following = lock, following
        self._machine: M | None = None
        self._generation: Generation | None = None

    def machine(self) -> M:
        """The machine that is not full."""
        return self.current()[1]

    def latest(self) -> M:
        """The machine of ``machine`` again, full or not."""
        return self._machine or self.machine()

    def current(self) -> tuple[Generation, M]:
        """The generation that has not ended, and its machine."""
        with self._lock:
            machine, generation = self._machine, self._generation
            if machine is None or generation is None or machine.is_full:
                machine = self._machine = self._following(machine)
                if generation is not None:
                    generation.machine = None
                generation = self._generation = Generation(machine)
            return generation, machine

    def begun(self) -> Begun:
        """Where a text begins."""
        generation, machine = self.current()
        return Begun(generation, machine, machine.start)


def always(machine: Machine, start: int | None = None) -> Begun:
    """Where a text begins on a machine that interns nothing, and so never is full."""
    return Begun(Generation(machine), machine, machine.start if start is None else start)
