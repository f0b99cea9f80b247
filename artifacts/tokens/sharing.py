"""One object for the same arrays, as artifacts of one process share what is the tokenizer's own."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast
from weakref import WeakMethod, WeakValueDictionary

T = TypeVar("T")
P = ParamSpec("P")

# By what makes it and the places of its parts, mostly arrays, which it keeps where they are.
_MADE: WeakValueDictionary[tuple[object, ...], Any] = WeakValueDictionary()

# The last ones that are kept in any case, and how many.
_RECENT: dict[tuple[object, ...], Any] = {}
_MOST_RECENT = 16


def shared(make: Callable[..., T], *parts: object) -> T:
    """``make(*parts)``, or what it made of these parts before, while that is in use. The object
    holds all of them, and nobody writes to them."""
    key = make, *map(id, parts)
    found: T | None = _MADE.get(key)
    if found is None:
        found = _MADE[key] = make(*parts)
    return found


def share(made: T, make: Callable[..., T], *parts: object) -> None:
    """What ``make(*parts)`` is from now on, while it is in use."""
    _MADE[make, *map(id, parts)] = made


def recent(make: Callable[..., T], *parts: object) -> T:
    """As ``shared``; and the last few objects are kept though nobody uses them."""
    key = make, *map(id, parts)
    found = _RECENT.pop(key, None) or shared(make, *parts)
    _RECENT[key] = found
    if len(_RECENT) > _MOST_RECENT:
        # subtle: other threads add to it; a list of its keys is made in one step.
        oldest, *_ = tuple(_RECENT)
        _RECENT.pop(oldest, None)
    return cast(T, found)


def weakly(method: Callable[P, T]) -> Callable[P, T]:
    """The same method, which does not keep its object: for what that object holds. So both are free
    at once when nobody uses them, and so is the file under their arrays."""
    found = WeakMethod(method)

    def call(*args: P.args, **named: P.kwargs) -> T:
        alive = found()
        assert alive is not None
        return alive(*args, **named)

    return call
