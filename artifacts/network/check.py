"""Whether a recursive transition network fits together.

Besides the bounds of all indices, what makes every walk end: no call matches ε, and a chain of
first calls does not lead back to its beginning.
"""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest, ParserNames
from ..container.sections import (
    Arrays,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..tokens.distinct import distinct
from .counts import MOST_ITEMS, UNBOUNDED
from .sets import MOST_PARTS, NO_SEPARATOR, REPEATED, REQUIRED

# So many calls may begin one in another before a byte is read, and so many ways may they begin in a
# state: each is a stack of frames, for each token that is looked at. Grammars have a few.
MOST_NESTED, MOST_WAYS = 1000, 10_000

# Sections: dtype and number of axes.
_NETWORK = {
    "network.accepting": ("u1", 1),
    "network.call_offsets": ("i8", 1),
    "network.call_returns": ("i4", 1),
    "network.call_starts": ("i4", 1),
    "network.classes": ("u1", 1),
    "network.entries": ("i4", 1),
    "network.table": ("i4", 2),
}


def check_network(
    manifest: Manifest, names: ParserNames, arrays: Arrays, named: int, *, counted: bool = False
) -> int:
    """The number of states; ``named``: how many symbols there are beside the bytes. ``counted``:
    there are counters. Raises ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _NETWORK)
    table, accepting = arrays["network.table"], arrays["network.accepting"]
    starts, offsets = arrays["network.call_starts"], arrays["network.call_offsets"]
    states, columns = table.shape
    classes = arrays["network.classes"]
    require(states > 0 and columns > 0, "network.table")
    require_range(arrays, "network.table", 0, states)
    require(not table[0].any(), "network.table")
    require(len(classes) == 256 and int(classes.max()) + 1 + named == columns, "network.classes")
    require(len(accepting) == states and not accepting[0], "network.accepting")
    require_range(arrays, "network.accepting", 0, 2)
    require_offsets(arrays, "network.call_offsets", states, len(starts))
    require(int(offsets[1]) == 0, "network.call_offsets")
    require(len(arrays["network.call_returns"]) == len(starts), "network.call_returns")
    require(counted or "count.items" not in arrays, "count.items")
    require(counted or "set.parts" not in arrays, "set.parts")
    counters = _check_counters(arrays, int(states)) if counted else 0
    require_range(arrays, "network.call_returns", 1, states + counters)
    require_range(arrays, "network.call_starts", 1, states)
    require(not accepting[starts].any(), "network.call_starts")
    require(len(arrays["network.entries"]) == len(names.called), "network.entries")
    # Both are the dead state where the empty text is the only member.
    require_range(arrays, "network.entries", 0, states)
    require(0 <= manifest.byte_start < states, "byte_start")
    callers = np.repeat(np.arange(states), np.diff(offsets))
    check_first_calls(int(states), callers, starts, "network.call_starts")
    return int(states)


def check_first_calls(
    states: int, callers: NDArray[np.integer], starts: NDArray[np.integer], name: str
) -> None:
    """Calls that begin in calls lead to no cycle, nor too deep, nor in too many ways: those of
    states that call nothing first, then of those that call these, and so on. Else section ``name``
    is damaged."""
    ways = np.ones(states)
    for _ in range(MOST_NESTED):
        if not len(callers):
            break
        calling = np.zeros(states, dtype=np.bool_)
        calling[callers] = True
        left = calling[starts]
        np.add.at(ways, callers[~left], ways[starts[~left]])
        callers, starts = callers[left], starts[left]
    require(not len(callers) and float(ways.max()) <= MOST_WAYS, name)


_COUNTERS = {
    "count.backs": ("i4", 1),
    "count.items": ("i4", 1),
    "count.least": ("i8", 1),
    "count.most": ("i8", 1),
}


def _check_counters(arrays: Arrays, states: int) -> int:
    """How many counters there are, and parts of sets."""
    check_types(arrays, _COUNTERS)
    count = len(arrays["count.items"])
    has_sets = "set.parts" in arrays
    require(count > 0 or has_sets, "count.items")
    for name in _COUNTERS:
        require(len(arrays[name]) == count, name)
    for name in ("count.items", "count.backs"):
        require_range(arrays, name, 1, states)
    # No item matches ε.
    require(not arrays["network.accepting"][arrays["count.items"]].any(), "count.items")
    least, most = arrays["count.least"], arrays["count.most"]
    require_range(arrays, "count.least", 1, MOST_ITEMS)
    require_range(arrays, "count.most", UNBOUNDED, MOST_ITEMS)
    # A frame of the last item is plain, and so a counter has at least two.
    bounded = most != UNBOUNDED
    require(bool((most[bounded] >= np.maximum(least[bounded], 2)).all()), "count.most")
    starts, returns = arrays["network.call_starts"], arrays["network.call_returns"]
    parts = check_sets(arrays, (1, states), (1, states)) if has_sets else 0
    if has_sets:
        # Neither a part nor a separator matches ε.
        for name in ("set.parts", "set.separators"):
            require(not arrays["network.accepting"][arrays[name]].any(), name)
    counted = returns >= states
    inside = returns[counted] - states
    require(bool((inside < count + parts).all()), "network.call_returns")
    begun = arrays["count.items"]
    if has_sets:
        begun = np.concatenate((begun, arrays["set.parts"]))
    require(np.array_equal(begun[inside], starts[counted]), "network.call_returns")
    return count + parts


_SETS = {
    "set.adjoining": ("u1", 1),
    "set.backs": ("i4", 1),
    "set.flags": ("u1", 1),
    "set.least": ("i4", 1),
    "set.most": ("i4", 1),
    "set.offsets": ("i8", 1),
    "set.parts": ("i4", 1),
    "set.separators": ("i4", 1),
}


def check_sets(arrays: Arrays, starts: tuple[int, int], backs: tuple[int, int]) -> int:
    """How many parts there are. ``starts``: from where to where a part may start, as a separator
    may; ``backs``: the same of what is after the last."""
    check_types(arrays, _SETS)
    parts, flags, offsets = (arrays[f"set.{name}"] for name in ("parts", "flags", "offsets"))
    least, most, separators = (arrays[f"set.{name}"] for name in ("least", "most", "separators"))
    count = len(separators)
    require(count > 0, "set.separators")
    for name in ("adjoining", "backs", "least", "most"):
        require(len(arrays[f"set.{name}"]) == count, f"set.{name}")
    require_offsets(arrays, "set.offsets", count, len(parts))
    sizes = np.diff(offsets)
    require(bool((sizes >= 1).all() and (sizes <= MOST_PARTS).all()), "set.offsets")
    require(len(flags) == len(parts), "set.flags")
    require_range(arrays, "set.flags", 0, (REQUIRED | REPEATED) + 1)
    require_range(arrays, "set.parts", *starts)
    require_range(arrays, "set.backs", *backs)
    between = separators[separators != NO_SEPARATOR]
    require(bool(((between >= starts[0]) & (between < starts[1])).all()), "set.separators")
    require_range(arrays, "set.adjoining", 0, 2)
    firsts = offsets[:-1]
    required = np.add.reduceat((flags & REQUIRED).astype(np.int64), firsts)
    is_repeating = np.logical_or.reduceat((flags & REPEATED) != 0, firsts)
    require(bool((least >= 0).all() and (least <= most).all()), "set.least")
    require(bool((most <= sizes).all() and (most >= np.maximum(required, 1)).all()), "set.most")
    require(not bool((is_repeating & ((least > 0) | (most < sizes))).any()), "set.flags")
    # Equal parts stand side by side, one that is repeated as the last of them.
    owners = np.repeat(np.arange(count), sizes)
    names = owners * np.int64(starts[1]) + parts
    changes = np.flatnonzero(names[1:] != names[:-1])
    require(len(changes) + 1 == len(distinct(names)), "set.parts")
    same = names[1:] == names[:-1]
    require(not bool((same & ((flags[:-1] & REPEATED) != 0)).any()), "set.flags")
    # Those that must be there come before those that may.
    rises = (flags[1:] & REQUIRED) > (flags[:-1] & REQUIRED)
    require(not bool((same & rises).any()), "set.flags")
    return len(parts)
