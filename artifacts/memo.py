"""What has been computed once, kept up to a bound: the oldest goes first."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True, eq=False)
class Memo(Generic[K, V]):
    """``capacity``: the most that the weights of all entries add up to.

    Threads may share it. An entry heavier than all the capacity is kept alone.
    """

    capacity: int
    _entries: dict[K, tuple[V, int]] = field(default_factory=dict)
    _weight: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """What was kept, None if there is nothing (any more)."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def keep(self, key: K, value: V, weight: int = 1) -> V:
        """Keep ``value`` and give it back."""
        with self._lock:
            if key not in self._entries:
                while self._entries and self._weight + weight > self.capacity:
                    self._weight -= self._entries.pop(next(iter(self._entries)))[1]
                self._entries[key] = value, weight
                self._weight += weight
        return value
