"""The caches of what is computed while decoding: one limit in bytes, which a caller sets."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest

from constrain.artifacts.tokens.memo import BoundedCache, CacheBudget


def test_the_oldest_entries_are_evicted() -> None:
    """The oldest first; an entry that is heavier than all the capacity is held alone."""
    cache: BoundedCache[str, int] = BoundedCache(3)
    for number, name in enumerate("abcd"):
        cache.keep(name, number)
    assert [None, 1, 2, 3] == [cache.get(name) for name in "abcd"]
    cache.keep("e", 4, weight=7)
    assert [None, 4] == [cache.get("d"), cache.get("e")]
    cache.keep("f", 5)
    assert (1, 1) == (len(cache), cache.total)


def test_an_entry_keeps_its_first_value() -> None:
    """What is added again is neither counted twice nor replaced."""
    cache: BoundedCache[str, int] = BoundedCache(100, weight=40)
    assert 1 == cache.keep("a", 1)
    assert 2 == cache.keep("a", 2)
    assert (1, 40) == (cache.get("a"), cache.total)
    cache.keep("b", 2, weight=60)
    cache.keep("c", 3)
    assert [None, 2, 3] == [cache.get(name) for name in "abc"]
    cache.clear()
    assert (0, 0, None) == (len(cache), cache.total, cache.get("c"))


def test_many_entries_are_evicted_at_once() -> None:
    """A full cache makes room for a 64th of its capacity, in the order in which entries came."""
    cache: BoundedCache[int, int] = BoundedCache(640)
    for number in range(641):
        cache.keep(number, number)
    assert 631 == len(cache)
    assert [None, 10, 640] == [cache.get(number) for number in (9, 10, 640)]


def test_a_budget_is_divided() -> None:
    """Its parts have the given ratio, and never more than the whole."""
    assert [20, 60] == [part.limit for part in CacheBudget(80).divide(1, 3)]
    for limit in (0, 1, 7, 100):
        parts = CacheBudget(limit).divide(3, 1, 2)
        assert sum(part.limit for part in parts) <= limit
    assert (80, 16) == (CacheBudget(80).cache(16).capacity, CacheBudget(80).cache(16).weight)
    with pytest.raises(ValueError, match="-1 bytes"):
        CacheBudget(-1)
