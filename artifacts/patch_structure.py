"""Whether the rows that stand in place of those of the cuts fit them (``canonical_network``)."""

import numpy as np

from .requirements import Arrays, check_types, require, require_range


def check_patches(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    size = len(arrays["cuts.table"])
    for name in ("alone", "inert"):
        check_types(arrays, {f"{name}.states": ("i4", 1), f"{name}.rows": ("i4", 3)})
        states, rows = arrays[f"{name}.states"], arrays[f"{name}.rows"]
        require(bool((np.diff(states) > 0).all()), f"{name}.states")
        # New states are behind all others, without gaps; the dead one stays as it is.
        new = states[states >= size]
        require(bool((new == size + np.arange(len(new))).all()), f"{name}.states")
        size += len(new)
        require_range(arrays, f"{name}.states", 1, size)
        require(rows.shape == (len(states), *arrays["cuts.table"].shape[1:]), f"{name}.rows")
        require_range(arrays, f"{name}.rows", 0, size)
