"""Whether the sections of a network with lazy DFAs fit together."""

import numpy as np

from ..container.manifest import Manifest, ParserNames
from ..container.sections import Arrays, check_types, require, require_offsets
from ..lazy_dfa.check import check_conjunctions
from ..network.check import check_network

TERMINALS = "lazy.terminals"


def check_calling_network(manifest: Manifest, names: ParserNames, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_conjunctions(arrays)
    check_types(arrays, {TERMINALS: ("i8", 1)})
    offsets = arrays[TERMINALS]
    require(len(offsets) > 1, TERMINALS)
    require_offsets(arrays, TERMINALS, len(offsets) - 1, len(arrays["lazy.starts"]))
    require(bool((np.diff(offsets) > 0).all()), TERMINALS)
    check_network(manifest, names, arrays, len(offsets) - 1)
