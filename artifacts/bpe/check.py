"""Whether an artifact's table of forbidden pairs fits together."""

import numpy as np

from ..container.manifest import Manifest
from ..container.requirements import Arrays, check_types, require, require_offsets, require_range

# Sections: dtype and number of axes.
PAIRS = {
    "pairs.begin": ("i4", 1),
    "pairs.bound": ("i4", 1),
    "pairs.class": ("i4", 1),
    "pairs.end": ("i4", 1),
    "pairs.index": ("i4", 1),
    "pairs.offsets": ("i8", 1),
    "pairs.order": ("i4", 1),
    "pairs.part": ("i4", 1),
}


def check_pairs(manifest: Manifest, arrays: Arrays) -> None:
    """The forbidden pairs. Spines end: the bound of a token's part is below its own. Raises
    ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, PAIRS)
    size, merges = manifest.vocab_size, len(arrays["pairs.index"])
    for name in ("part", "bound", "class"):
        require(len(arrays[f"pairs.{name}"]) == size, f"pairs.{name}")
    part, bound = arrays["pairs.part"], arrays["pairs.bound"]
    require_range(arrays, "pairs.part", -1, size)
    require(bool((bound[part] < bound)[part >= 0].all()), "pairs.part")
    require_range(arrays, "pairs.class", 0, 2 * size + 1)
    require_offsets(arrays, "pairs.offsets", size, merges)
    order = arrays["pairs.order"]
    require_range(arrays, "pairs.order", 0, size)
    # Several times faster than sorting them.
    held = np.zeros(size, dtype=np.bool_)
    held[order] = True
    require(np.count_nonzero(held) == len(order), "pairs.order")
    for name in ("begin", "end"):
        require(len(arrays[f"pairs.{name}"]) == merges, f"pairs.{name}")
        require_range(arrays, f"pairs.{name}", 0, len(order) + 1)
    require(bool((arrays["pairs.begin"] < arrays["pairs.end"]).all()), "pairs.end")
