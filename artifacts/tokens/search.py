"""Best-first search for a live item: one from which an end can be reached.

    start -> expand -> items with estimates -> expand the least -> ... -> a live item, or none left

Whether the start is live is cached for all items on the way (``Trail``): a live item makes those
live that led to it; where none is left, all that were met are dead.
"""

from collections.abc import Callable, Hashable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from .memo import BoundedCache

Entry = TypeVar("Entry")
Item = TypeVar("Item", bound=Hashable)


def search_alive(
    start: Entry,
    expand: Callable[[Entry], Iterable[tuple[int, Entry]] | None],
    is_spent: Callable[[int, int], bool],
) -> bool | None:
    """Whether some entry that ``start`` leads to is live; None where the budget was spent.

    ``expand``: None for a live entry, else the entries that it is live by, each with an estimate.
    The least estimate comes first, among equals the entry that was found first.
    ``is_spent(expanded, found)``: whether to give up, by the numbers of entries expanded and of
    entries found so far, the start among them.
    """
    order = count()
    heap = [(0, next(order), start)]
    expanded, found = 0, 1
    while heap:
        if is_spent(expanded, found):
            return None
        after = expand(heappop(heap)[2])
        if after is None:
            return True
        expanded += 1
        for estimate, entry in after:
            heappush(heap, (estimate, next(order), entry))
            found += 1
    return False


class Trail(Generic[Item]):
    """The items that a search has met, each with the one that led to it, the start with itself."""

    def __init__(self) -> None:
        self._before: dict[Item, Item] = {}

    def add(self, item: Item, before: Item) -> bool:
        """Note that ``before`` led to ``item``; False if that had been met."""
        if item in self._before:
            return False
        self._before[item] = before
        return True

    def mark_live(self, item: Item, cache: BoundedCache[Item, bool]) -> None:
        """Cache that ``item`` is live, and all that led to it."""
        cache.keep(item, True)
        while (before := self._before[item]) != item:
            item = before
            cache.keep(item, True)

    def mark_dead(self, cache: BoundedCache[Item, bool]) -> None:
        """Cache that nothing met is live."""
        for item in self._before:
            cache.keep(item, False)
