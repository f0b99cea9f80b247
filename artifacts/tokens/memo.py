"""What has been computed once, kept up to a bound: the oldest goes first.

Answers that ask for others, remembered, on a stack of our own.

A walk of the token trie stops where a call or a lexeme ends, and asks what follows there: as deep
as tokens are long, which may be deeper than Python's own stack goes.
"""

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from ..errors import ArtifactError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True, eq=False)
class BoundedCache(Generic[K, V]):
    """``capacity``: the most that the weights of all entries add up to.

    ``get``: the cached value, None if there is none (any more); as fast as a dict's. Threads may
    share it. An entry heavier than all the capacity is cached alone.
    """

    capacity: int
    get: Callable[[K], V | None] = field(init=False)
    _entries: dict[K, V] = field(default_factory=dict)
    # Of entries whose weight is not 1.
    _weights: dict[K, int] = field(default_factory=dict)
    _weight: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.get = self._entries.get

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, key: K, value: V, weight: int = 1) -> V:
        """Cache ``value`` and return it; the oldest entries are evicted."""
        with self._lock:
            if key not in self._entries:
                while self._entries and self._weight + weight > self.capacity:
                    oldest = next(iter(self._entries))
                    del self._entries[oldest]
                    self._weight -= self._weights.pop(oldest, 1)
                self._entries[key] = value
                self._weight += weight
                if weight != 1:
                    self._weights[key] = weight
        return value

    def clear(self) -> None:
        """Evict all."""
        with self._lock:
            self._entries.clear()
            self._weights.clear()
            self._weight = 0


def solve_recursive(
    key: K, find: Callable[[K], V | None], steps: Callable[[K], Generator[K, V, V]]
) -> V:
    """The answer to ``key``, which ``find`` does not know.

    ``steps`` yields the keys that it needs the answers of, returns the answer to its own and
    remembers it. Raises ``ArtifactError`` where an answer needs itself, as in a damaged file.
    """
    stack = [(key, steps(key))]
    asking = {key}
    result: V | None = None
    while stack:
        current, waiting = stack[-1]
        try:
            needed = next(waiting) if result is None else waiting.send(result)
        except StopIteration as done:
            stack.pop()
            asking.remove(current)
            result = done.value
            continue
        result = find(needed)
        if result is None:
            if needed in asking:
                raise ArtifactError("damaged artifact: what was worked out ahead goes in circles")
            asking.add(needed)
            stack.append((needed, steps(needed)))
    assert result is not None
    return result
