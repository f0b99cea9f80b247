"""Whether the sections of conjunctions fit together, so that walks never leave their tables."""

import numpy as np

from ..container.sections import Arrays, check_types, require, require_offsets, require_range
from ..errors import ArtifactError
from .lengths import Lengths
from .tables import CONTINUES, PHASES, UNBOUNDED, from_sections

_TYPES = {
    "lazy.accepting": ("u1", 1),
    "lazy.bounds": ("i8", 2),
    "lazy.classes": ("u1", 1),
    "lazy.set_accepting": ("u1", 1),
    "lazy.set_cells": ("i8", 1),
    "lazy.set_of": ("i4", 2),
    "lazy.set_start_offsets": ("i8", 1),
    "lazy.set_starts": ("i4", 1),
    "lazy.set_states": ("i8", 1),
    "lazy.set_targets": ("i4", 1),
    "lazy.starts": ("i4", 1),
    "lazy.states": ("i8", 1),
    "lazy.table": ("i4", 2),
}

# More characters than any text has.
_MOST_CHARACTERS = 1 << 39


def check_conjunctions(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _TYPES)
    states, width = arrays["lazy.table"].shape
    count = len(arrays["lazy.starts"])
    require(count > 0, "lazy.starts")
    require_offsets(arrays, "lazy.states", count, states)
    sizes = np.diff(arrays["lazy.states"])
    require(bool((sizes > 0).all()), "lazy.states")
    firsts = arrays["lazy.states"][:-1]
    require(bool((arrays["lazy.table"] >= 0).all()), "lazy.table")
    require(bool((arrays["lazy.table"] < sizes.repeat(sizes)[:, None]).all()), "lazy.table")
    require(not arrays["lazy.table"][firsts].any(), "lazy.table")
    require(len(arrays["lazy.accepting"]) == states, "lazy.accepting")
    require(bool((arrays["lazy.accepting"] <= PHASES).all()), "lazy.accepting")
    starts = arrays["lazy.starts"]
    require(bool(((starts >= 0) & (starts < sizes)).all()), "lazy.starts")
    _check_classes(arrays, width)
    bounds = arrays["lazy.bounds"]
    require(bounds.shape == (count, 2), "lazy.bounds")
    least, most = bounds[:, 0], bounds[:, 1]
    fits = (least >= 0) & (least <= _MOST_CHARACTERS) & (most <= _MOST_CHARACTERS)
    fits &= (most == UNBOUNDED) | (most >= least)
    require(bool(fits.all()), "lazy.bounds")
    _check_operands(arrays, count, width)
    for conjunction in from_sections(arrays):
        if not Lengths(conjunction).is_bounded:
            raise ArtifactError("damaged artifact: section 'lazy.bounds' does not fit")


def _check_classes(arrays: Arrays, width: int) -> None:
    classes = arrays["lazy.classes"]
    require(len(classes) == 256, "lazy.classes")
    require_range(arrays, "lazy.classes", 0, width)
    others = np.delete(classes, np.arange(256)[CONTINUES])
    require(not set(classes[CONTINUES].tolist()) & set(others.tolist()), "lazy.classes")


def _check_operands(arrays: Arrays, count: int, width: int) -> None:
    of = arrays["lazy.set_of"]
    require(of.shape[1] == 2, "lazy.set_of")
    operands = len(of)
    require(bool(((of >= 0) & (of < [count, 3])).all()), "lazy.set_of")
    states, targets = arrays["lazy.set_states"], arrays["lazy.set_targets"]
    total = len(arrays["lazy.set_accepting"])
    require_offsets(arrays, "lazy.set_states", operands, total)
    require_offsets(arrays, "lazy.set_cells", total * width, len(targets))
    sizes = np.diff(states)
    lengths = np.diff(arrays["lazy.set_cells"][states * width])
    limits = sizes.repeat(lengths)
    require(bool(((targets >= 0) & (targets < limits)).all()), "lazy.set_targets")
    begun = arrays["lazy.set_starts"]
    require_offsets(arrays, "lazy.set_start_offsets", operands, len(begun))
    limits = sizes.repeat(np.diff(arrays["lazy.set_start_offsets"]))
    require(bool(((begun >= 0) & (begun < limits)).all()), "lazy.set_starts")
