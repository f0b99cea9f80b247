"""Whether the sections of conjunctions fit together, so that walks never leave their tables."""

from collections.abc import Mapping

import numpy as np

from ..container.sections import Arrays, check_sections, require
from ..errors import ArtifactError
from .conjunctions import CONTINUES, PHASES, UNBOUNDED, from_sections
from .lengths import Lengths

_SECTIONS = {
    "lazy.accepting": f"uint8 (states) 0..{PHASES + 1}",
    "lazy.bounds": "int64 (conjunctions, 2)",
    "lazy.classes": "uint8 (256) 0..columns",
    "lazy.set_accepting": "uint8 (set_states)",
    "lazy.set_cells": "int64 (cells+1) to:targets",
    "lazy.set_of": "int32 (operands, 2) 0..conjunctions,0..3",
    "lazy.set_start_offsets": "int64 (operands+1) to:starts",
    "lazy.set_starts": "int32 (starts) 0..",
    "lazy.set_states": "int64 (operands+1) to:set_states",
    "lazy.set_targets": "int32 (targets) 0..",
    "lazy.starts": "int32 (conjunctions) 0..",
    "lazy.states": "int64 (conjunctions+1) to:states ascending",
    "lazy.table": "int32 (states, columns) 0..",
}

# More characters than any text has.
_MOST_CHARACTERS = 1 << 39


def check_conjunctions(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    found = check_sections(arrays, _SECTIONS)
    require(found["conjunctions"] > 0, "lazy.starts")
    sizes, table = np.diff(arrays["lazy.states"]), arrays["lazy.table"]
    require(bool((table < sizes.repeat(sizes)[:, None]).all()), "lazy.table")
    require(not table[arrays["lazy.states"][:-1]].any(), "lazy.table")
    require(bool((arrays["lazy.starts"] < sizes).all()), "lazy.starts")
    classes = arrays["lazy.classes"]
    others = np.delete(classes, np.arange(256)[CONTINUES])
    require(not set(classes[CONTINUES].tolist()) & set(others.tolist()), "lazy.classes")
    bounds = arrays["lazy.bounds"]
    least, most = bounds[:, 0], bounds[:, 1]
    fits = (least >= 0) & (least <= _MOST_CHARACTERS) & (most <= _MOST_CHARACTERS)
    fits &= (most == UNBOUNDED) | (most >= least)
    require(bool(fits.all()), "lazy.bounds")
    _check_operands(arrays, found)
    for conjunction in from_sections(arrays):
        if not Lengths(conjunction).is_bounded:
            raise ArtifactError("damaged artifact: section 'lazy.bounds' does not fit")


def _check_operands(arrays: Arrays, found: Mapping[str, int]) -> None:
    require(found["cells"] == found["set_states"] * found["columns"], "lazy.set_cells")
    states, targets = arrays["lazy.set_states"], arrays["lazy.set_targets"]
    sizes = np.diff(states)
    lengths = np.diff(arrays["lazy.set_cells"][states * found["columns"]])
    require(bool((targets < sizes.repeat(lengths)).all()), "lazy.set_targets")
    limits = sizes.repeat(np.diff(arrays["lazy.set_start_offsets"]))
    require(bool((arrays["lazy.set_starts"] < limits).all()), "lazy.set_starts")
