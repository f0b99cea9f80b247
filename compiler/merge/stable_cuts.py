"""A tokenizer's cuts beside the texts that its normalizers leave alone, for grammars that nest.

The cuts in step with all stable texts would have millions of states. So these are followed beside
the cuts while decoding (``constrain.artifacts.stable_network``), which know of characters that
are never stable alone. The *inert cuts* show what goes on whatever went before: they are the
cuts but for some rows (a patch), and for states inside characters.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.cuts import begins_character

from .in_step import in_step
from .marked_dfa import DEAD
from .stable_text import StableTables
from .tables import CutTables

# A patch: the states whose rows are others, or new, int32 (n,), and their rows, (n, P, J).
Patch = tuple[NDArray[np.int32], NDArray[np.int32]]

# Bytes of a character behind its first.
_LONGEST_TAIL = 3


def stable_cut_sections(cuts: CutTables, stable: StableTables) -> Mapping[str, NDArray[Any]]:
    """The sections ``inert.*`` and ``stable.*``; and ``cuts.table`` and ``cuts.classes`` anew,
    with a class for bytes that these tell apart."""
    keys = cuts.classes.astype(np.int64) * 256 + stable.inert_classes
    _, octets, joint = np.unique(keys, return_index=True, return_inverse=True)
    table = np.ascontiguousarray(cuts.dfa.table[:, :, cuts.classes[octets]])
    between = begins_character(cuts.dfa.table, cuts.classes)
    inert = stable.inert[:, stable.inert_classes[octets]]
    states, rows = restricted(table, between, inert, stable.inert_start)
    return {
        "cuts.table": table,
        "cuts.classes": joint.reshape(-1).astype(np.uint8),
        "inert.states": states,
        "inert.rows": rows,
        "stable.classes": stable.classes,
        "stable.start": np.array([stable.start], dtype=np.int32),
        "stable.table": stable.table,
        "stable.tokens": stable.tokens,
        "stable.unsure": stable.tokens,
    }


def restricted(
    table: NDArray[np.int32],
    between: NDArray[np.bool_],
    characters: NDArray[np.integer],
    start: int,
) -> Patch:
    """The rows that differ if, between two characters, only some characters can be read.

    ``table``: int32 (S, P, J). ``between``: bool (S,), states in which a character may begin.
    ``characters``: integers (T, J), an automaton of texts of those characters, whose only state
    between two of them is ``start``. Inside a character that has begun all stays as it is.
    """
    begin = np.flatnonzero(between)
    width = len(characters)
    pairs, found = in_step(table, characters[:, None, :], begin * np.int64(width) + start)
    states, places = np.divmod(pairs, width)
    number = np.where(places == start, states, len(table) + np.arange(len(pairs)))
    number[DEAD] = DEAD
    inside = np.flatnonzero(number >= len(table))
    # What reads the same as before is what it was; the last bytes of characters first.
    for _ in range(_LONGEST_TAIL):
        same = (number[found[inside]] == table[states[inside]]).all(axis=(1, 2))
        number[inside[same]] = states[inside[same]]
    added = inside[number[inside] >= len(table)]
    number[added] = len(table) + np.arange(len(added))
    kept = np.flatnonzero(between[states])
    rows = number[found].astype(np.int32)
    kept = kept[(rows[kept] != table[states[kept]]).any(axis=(1, 2))]
    kept = np.concatenate([kept[np.argsort(number[kept])], added])
    return number[kept].astype(np.int32), rows[kept]
