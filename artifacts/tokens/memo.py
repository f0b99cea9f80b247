"""Memoisation: caches that share one limit in bytes, and recursion without Python's own stack.

An artifact has one ``CacheBudget``. It is divided between the caches of its machine, so that
together they cannot hold more than it says:

    rows, steps = CacheBudget(1 << 20).divide(3, 1)     786,432 and 262,144 bytes
    cache = steps.cache(256)                            1,024 entries of 256 bytes

What is evicted is computed again when it is needed. What is interned, a state or a row to which
a number was given, cannot be evicted as long as a matcher may hold the number (``interning``).
"""

from collections.abc import Callable, Container, Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from sys import maxsize
from threading import Lock
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakSet

from ..errors import ArtifactError
from .sharing import weakly

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
S = TypeVar("S")
P = ParamSpec("P")

# What all caches of an artifact may hold, unless the caller of ``load`` says otherwise.
DEFAULT_CACHE_BYTES = 1 << 28

# An entry whose key is up to three small integers and whose value is one, with its share of the
# dictionary: 200 to 250 bytes in CPython 3.11 and 3.13.
ENTRY_BYTES = 256


class Holder(Protocol):
    """What spends a budget."""

    @property
    def held_bytes(self) -> int:
        """What it holds now, as the budget counts it."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class BoundedCache(Generic[K, V]):
    """A dictionary that evicts its oldest entries.

    ``capacity``: the most that the weights of all entries add up to. ``weight``: that of an
    entry whose own is not given. An entry heavier than all the capacity is held alone. Threads
    may share a cache. ``get``: the value of a key, None if it was never there or was evicted; as
    fast as a dictionary's.
    """

    capacity: int
    weight: int = 1
    get: Callable[[K], V | None] = field(init=False)
    _entries: dict[K, V] = field(default_factory=dict, init=False)
    _weights: dict[K, int] = field(default_factory=dict, init=False)
    _total: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self.get = self._entries.get

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def total(self) -> int:
        """What the weights of all entries add up to."""
        return self._total

    def keep(self, key: K, value: V, weight: int | None = None) -> V:
        """Add an entry and give its value back; a key that is there keeps its value."""
        with self._lock:
            if key not in self._entries:
                added = self.weight if weight is None else weight
                if self._total + added > self.capacity:
                    self._make_room(added)
                self._entries[key] = value
                self._total += added
                if added != self.weight:
                    self._weights[key] = added
        return value

    @property
    def held_bytes(self) -> int:
        """The same: weights are bytes, where a budget has made the cache."""
        return self._total

    def _make_room(self, added: int) -> None:
        """Evict until ``added`` fits, and at least a 64th of the capacity.

        One entry at a time would take long: a dictionary finds its first key by stepping over
        the places of all that were deleted before.
        """
        left = self.capacity - max(added, self.capacity // 64)
        oldest = []
        for key in self._entries:
            if self._total <= left:
                break
            self._total -= self._weights.pop(key, self.weight)
            oldest.append(key)
        for key in oldest:
            del self._entries[key]

    def clear(self) -> None:
        """Evict all entries."""
        with self._lock:
            self._entries.clear()
            self._weights.clear()
            self._total = 0


@dataclass(frozen=True, slots=True)
class CacheBudget:
    """``limit``: how many bytes the caches that are made of it may hold together.

    Bytes are counted by what an entry weighs: the buffer of a packed row, or a size that is
    documented where the cache is made. ``holders``: what spends it, and its parts. Raises
    ``ValueError`` for a negative limit.
    """

    limit: int = DEFAULT_CACHE_BYTES
    holders: "WeakSet[Holder]" = field(default_factory=WeakSet, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise ValueError(f"caches cannot hold {self.limit} bytes")

    def divide(self, *parts: int) -> "tuple[CacheBudget, ...]":
        """Budgets in the ratio of ``parts``, which together have this one's limit or less.

        ``CacheBudget(80).divide(1, 3) -> CacheBudget(20), CacheBudget(60)``
        """
        whole = sum(parts)
        return tuple([CacheBudget(self.limit * part // whole, self.holders) for part in parts])

    def cache(self, entry_bytes: int = ENTRY_BYTES) -> BoundedCache[Any, Any]:
        """A cache that spends this budget; ``entry_bytes``: of entries that are added
        without a weight."""
        found: BoundedCache[Any, Any] = BoundedCache(self.limit, entry_bytes)
        self.holders.add(found)
        return found

    @property
    def held_bytes(self) -> int:
        """What all that spends it, and its parts, holds now."""
        return sum(each.held_bytes for each in list(self.holders))


class memoised(Generic[S, P, V]):  # noqa: N801
    """A method whose results are kept by its arguments for as long as its object is there, and
    which does not keep that: somebody else does, as long as it is called. Its arguments are
    hashable, and a result is never another one."""

    def __init__(self, method: Callable[Concatenate[S, P], V]) -> None:
        self._method = method

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: S, owner: type[S]) -> Callable[P, V]:
        # From now on it is the object's own attribute, which is found before this is asked.
        bound: Callable[P, V] = self._method.__get__(instance)
        found = cast("Callable[P, V]", cache(weakly(bound)))
        vars(instance)[self._name] = found
        return found


class Made(dict[K, V]):
    """A dictionary whose values are made when they are first looked up. ``most``: so many are
    kept; with more it is emptied."""

    def __init__(self, make: Callable[[K], V], most: int = maxsize) -> None:
        super().__init__()
        self._make, self._most = make, most

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value


class Numbered(list[K]):
    """Values by number, each once, in the order in which they were met. ``find``: the number of a
    value, None if it was not met."""

    def __init__(self, first: Iterable[K] = ()) -> None:
        super().__init__(first)
        self._numbers = {value: number for number, value in enumerate(self)}

        self.find = self._numbers.get

    def number(self, value: K) -> int:
        """The number of a value, which has one from now on."""
        number = self._numbers.setdefault(value, len(self))
        if number == len(self):
            self.append(value)
        return number


def bottom_up(
    begun: Iterable[K], below: Callable[[K], Iterable[K]], known: Container[K]
) -> Iterator[K]:
    """What lies below some keys, and these, each after all that is ``below`` it, without what is
    ``known``. The caller makes each known before it asks for the next. Nothing is below itself."""
    pending = list(begun)
    while pending:
        current = pending[-1]
        missing = [] if current in known else [key for key in below(current) if key not in known]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        if current not in known:
            yield current


def top_down(begun: Iterable[K], below: Callable[[K], Iterable[K]]) -> Iterator[K]:
    """Some keys and what lies below them, each once, and a level before the next."""
    seen = dict.fromkeys(begun)
    pending = list(seen)
    for key in pending:
        yield key
        for each in below(key):
            if each not in seen:
                seen[each] = None
                pending.append(each)


def solve_recursive(
    key: K, find: Callable[[K], V | None], steps: Callable[[K], Generator[K, V, V]]
) -> V:
    """The result for ``key``, which ``find`` does not have: memoised recursion as a trampoline.

    A walk of the token trie stops where a call or a lexeme ends, and needs what follows there:
    as deep as tokens are long, which may be deeper than Python's own stack goes.

    ``steps`` yields the keys whose results it needs, returns the result for its own and memoises
    it. Raises ``ArtifactError`` where a result needs itself, as in a damaged file.
    """
    stack = [(key, steps(key))]
    pending = {key}
    result: V | None = None
    while stack:
        current, waiting = stack[-1]
        try:
            needed = next(waiting) if result is None else waiting.send(result)
        except StopIteration as done:
            stack.pop()
            pending.remove(current)
            result = done.value
            continue
        result = find(needed)
        if result is None:
            if needed in pending:
                raise ArtifactError("damaged artifact: a precomputed result depends on itself")
            pending.add(needed)
            stack.append((needed, steps(needed)))
    assert result is not None
    return result
