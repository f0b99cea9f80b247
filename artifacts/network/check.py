"""Whether a recursive transition network fits together.

Besides the bounds of all indices, what makes every walk end: no call matches ε, and a chain of
first calls does not lead back to its beginning.
"""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest, ParserNames
from ..container.sections import Arrays, check_sections, require
from ..tokens.distinct import distinct
from .counts import MOST_ITEMS, UNBOUNDED
from .sets import MOST_PARTS, NO_SEPARATOR, REPEATED, REQUIRED

# So many calls may begin one in another before a byte is read, and so many ways may they begin in a
# state: each is a stack of frames, for each token that is looked at. Grammars have a few.
MOST_NESTED, MOST_WAYS = 1000, 10_000

_NETWORK = {
    "network.table": "int32 (states, columns) 0..states dead",
    "network.accepting": "uint8 (states) 0..2",
    "network.call_offsets": "int64 (states+1) to:calls",
    "network.call_starts": "int32 (calls) 1..states",
    "network.call_returns": "int32 (calls)",
    "network.classes": "uint8 (256)",
    # If the empty text is the only member, the start and the entries are 0, the dead state.
    "network.entries": "int32 (called) 0..states",
}
# The frames of counters and parts are after those that are states.
_RETURNS = {"network.call_returns": "int32 (calls) 1..states+counters"}


def check_network(
    manifest: Manifest, names: ParserNames, arrays: Arrays, named: int, *, counted: bool = False
) -> int:
    """The number of states. ``named``: how many columns come after those of the bytes, for token
    terminals or lexemes. ``counted``: counters are allowed. Raises ``ArtifactError`` naming the
    first section that does not fit."""
    sizes = check_sections(arrays, _NETWORK, called=len(names.called))
    states, accepting = sizes["states"], arrays["network.accepting"]
    starts, offsets = arrays["network.call_starts"], arrays["network.call_offsets"]
    classes = int(arrays["network.classes"].max()) + 1
    require(classes + named == sizes["columns"], "network.classes")
    require(not accepting[0], "network.accepting")
    require(int(offsets[1]) == 0, "network.call_offsets")
    require(counted or "count.items" not in arrays, "count.items")
    require(counted or "set.parts" not in arrays, "set.parts")
    counters = _check_counters(arrays, states) if counted else 0
    check_sections(arrays, _RETURNS, states=states, counters=counters)
    require(not accepting[starts].any(), "network.call_starts")
    require(0 <= manifest.byte_start < states, "byte_start")
    callers = np.repeat(np.arange(states), np.diff(offsets))
    check_first_calls(states, callers, starts, "network.call_starts")
    return states


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
    "count.items": "int32 (counters) 1..states",
    "count.backs": "int32 (counters) 1..states",
    "count.least": f"int64 (counters) 1..{MOST_ITEMS}",
    "count.most": f"int64 (counters) {UNBOUNDED}..{MOST_ITEMS}",
}


def _check_counters(arrays: Arrays, states: int) -> int:
    """How many counters there are, and parts of sets."""
    count = check_sections(arrays, _COUNTERS, states=states)["counters"]
    has_sets = "set.parts" in arrays
    require(count > 0 or has_sets, "count.items")
    # No item matches ε.
    require(not arrays["network.accepting"][arrays["count.items"]].any(), "count.items")
    least, most = arrays["count.least"], arrays["count.most"]
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
    "set.separators": "int32 (sets)",
    "set.adjoining": "uint8 (sets) 0..2",
    "set.backs": "int32 (sets) back..last",
    "set.least": "int32 (sets) 0..",
    "set.most": "int32 (sets) 1..",
    "set.offsets": "int64 (sets+1) to:parts ascending",
    "set.parts": "int32 (parts) low..high",
    "set.flags": f"uint8 (parts) 0..{(REQUIRED | REPEATED) + 1}",
}


def check_sets(arrays: Arrays, starts: tuple[int, int], backs: tuple[int, int]) -> int:
    """How many parts there are. ``starts``: from where to where a part may start, as a separator
    may; ``backs``: the same of what is after the last."""
    low, high = starts
    back, last = backs
    sizes = check_sections(arrays, _SETS, low=low, high=high, back=back, last=last)
    count = sizes["sets"]
    parts, flags, offsets = (arrays[f"set.{name}"] for name in ("parts", "flags", "offsets"))
    least, most, separators = (arrays[f"set.{name}"] for name in ("least", "most", "separators"))
    require(count > 0, "set.separators")
    lengths = np.diff(offsets)
    require(bool((lengths <= MOST_PARTS).all()), "set.offsets")
    between = separators[separators != NO_SEPARATOR]
    require(bool(((between >= low) & (between < high)).all()), "set.separators")
    firsts = offsets[:-1]
    required = np.add.reduceat((flags & REQUIRED).astype(np.int64), firsts)
    is_repeating = np.logical_or.reduceat((flags & REPEATED) != 0, firsts)
    require(bool((least <= most).all()), "set.least")
    require(bool((most <= lengths).all() and (most >= required).all()), "set.most")
    require(not bool((is_repeating & ((least > 0) | (most < lengths))).any()), "set.flags")
    # Equal parts stand side by side, one that is repeated as the last of them.
    owners = np.repeat(np.arange(count), lengths)
    names = owners * np.int64(high) + parts
    changes = np.flatnonzero(names[1:] != names[:-1])
    require(len(changes) + 1 == len(distinct(names)), "set.parts")
    same = names[1:] == names[:-1]
    require(not bool((same & ((flags[:-1] & REPEATED) != 0)).any()), "set.flags")
    # Those that must be there come before those that may.
    rises = (flags[1:] & REQUIRED) > (flags[:-1] & REQUIRED)
    require(not bool((same & rises).any()), "set.flags")
    return len(parts)
