"""Whether the walks of items that a file has fit together, and its network."""

import numpy as np

from ..container.sections import Arrays, check_types, require, require_offsets, require_range

_ITEMS = {
    "items.calls": ("i4", 2),
    "items.exits": ("i4", 2),
    "items.levels": ("u1", 1),
    "items.needs": ("u1", 2),
    "items.offsets": ("i8", 1),
    "items.values": ("i4", 1),
    "items.walks": ("i4", 2),
}


def check_items(arrays: Arrays, vocab_size: int, states: int) -> None:
    """Check ``StoredItems`` of a network of so many ``states``, whose summaries are sound. Raises
    ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _ITEMS)
    walks, exits, calls = (arrays[f"items.{name}"] for name in ("walks", "exits", "calls"))
    needs, values, levels = (arrays[f"items.{name}"] for name in ("needs", "values", "levels"))
    offsets = arrays["items.offsets"]
    require(needs.shape[1] == vocab_size, "items.needs")
    sets = len(arrays["memo.exit_offsets"]) - 1
    _require_columns(arrays, "items.walks", (0, 1, 0, -1), (sets, states, 256, len(needs)))
    _require_columns(arrays, "items.exits", (0, 1), (len(walks), states))
    _require_columns(arrays, "items.calls", (0, 1), (len(exits), states))
    # What a token begins is at most one item more than nodes are left behind.
    counts, rows = walks[:, 2], walks[:, 3]
    dense = np.flatnonzero(rows >= 0)
    most = needs.max(axis=1, initial=0)[rows[dense]]
    require(bool((most <= counts[dense]).all()), "items.needs")
    require(len(values) == len(levels), "items.levels")
    require_offsets(arrays, "items.offsets", len(walks) + 2 * len(exits) + len(calls), len(values))
    sizes = np.diff(offsets)
    ends = np.zeros(len(values) + 1, dtype=np.bool_)
    ends[offsets] = True
    require(bool((ends[1:-1] | (levels[1:] >= levels[:-1])).all()), "items.levels")
    of_exits = counts[exits[:, 0]]
    limits = (counts, of_exits.repeat(2), of_exits[calls[:, 0]])
    require(bool((levels < np.concatenate(limits).repeat(sizes)).all()), "items.levels")
    # Of each exit the tokens are followed by nodes; of each call there are nodes.
    tokens = np.ones(len(sizes), dtype=np.bool_)
    tokens[len(walks) + 1 : len(walks) + 2 * len(exits) : 2] = False
    tokens[len(walks) + 2 * len(exits) :] = False
    nodes = len(arrays["trie.octets"]) if "trie.octets" in arrays else 0
    require_range(arrays, "items.values", 0, max(nodes, vocab_size))
    highest = np.where(tokens, vocab_size, nodes).repeat(sizes)
    require(bool((values < highest).all()), "items.values")
    keys = levels.astype(np.int64) << 32 | values
    are_nodes = ~tokens.repeat(sizes)[1:] & ~ends[1:-1]
    require(bool((keys[1:] > keys[:-1])[are_nodes].all()), "items.values")


def _require_columns(
    arrays: Arrays, name: str, low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    """Rows ascend by their first columns, each different, and each column has a range."""
    rows = arrays[name]
    require(rows.shape[1] == len(low), name)
    require(bool(((rows >= np.array(low)) & (rows < np.array(high))).all()), name)
    keys = rows[:, 0].astype(np.int64) << 32 | rows[:, 1]
    require(bool((keys[1:] > keys[:-1]).all()), name)
