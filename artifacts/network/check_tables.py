"""Whether the automaton of a recursive transition network fits together.

Besides the bounds of all indices, what makes every walk end: no call matches ε, and a chain of
first calls does not lead back to its beginning.
"""

import numpy as np

from ..container.manifest import Manifest, ParserNames
from ..container.requirements import (
    Arrays,
    check_types,
    is_acyclic,
    require,
    require_offsets,
    require_range,
)

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


def check_network(manifest: Manifest, names: ParserNames, arrays: Arrays, named: int) -> int:
    """The number of states; ``named``: how many symbols there are beside the bytes. Raises
    ``ArtifactError`` naming the first section that does not fit."""
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
    require_range(arrays, "network.call_returns", 1, states)
    require_range(arrays, "network.call_starts", 1, states)
    require(not accepting[starts].any(), "network.call_starts")
    require(len(arrays["network.entries"]) == len(names.called), "network.entries")
    # Both are the dead state where the empty text is the only member.
    require_range(arrays, "network.entries", 0, states)
    require(0 <= manifest.byte_start < states, "byte_start")
    callers = np.repeat(np.arange(states), np.diff(offsets))
    require(is_acyclic(int(states), callers, starts), "network.call_starts")
    return int(states)
