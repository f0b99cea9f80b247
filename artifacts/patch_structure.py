"""Whether the rows that stand in place of those of the cuts fit them (``canonical_network``)."""

import numpy as np

from .requirements import Arrays, check_types, require, require_range


def check_patch(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, {"inert.states": ("i4", 1), "inert.rows": ("i4", 3)})
    states, rows = arrays["inert.states"], arrays["inert.rows"]
    require(bool((np.diff(states) > 0).all()), "inert.states")
    # New states are behind all others, without gaps; the dead one stays as it is.
    size = len(arrays["cuts.table"])
    new = states[states >= size]
    require(bool((new == size + np.arange(len(new))).all()), "inert.states")
    size += len(new)
    require_range(arrays, "inert.states", 1, size)
    require(rows.shape == (len(states), *arrays["cuts.table"].shape[1:]), "inert.rows")
    require_range(arrays, "inert.rows", 0, size)
