"""A tokenizer's cuts, of the texts that its normalizers leave alone, for grammars that nest.

The cuts in step with all stable texts would have millions of states. So only characters that
are stable by themselves are left in the cuts, and the rest is followed beside them while
decoding (``constrain.artifacts.stable_network``). Both that and the *inert cuts*, which show
what goes on whatever went before, are the cuts but for some rows (patches): between two
characters all of them agree.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.cuts import begins_character

from .in_step import in_step
from .marked_dfa import DEAD
from .stable_text import StableTables, each_alone_bytes
from .tables import CutTables

# A patch: the states whose rows are others, or new, int32 (n,), and their rows, (n, P, J).
Patch = tuple[NDArray[np.int32], NDArray[np.int32]]

# Bytes of a character behind its first.
_LONGEST_TAIL = 3


def stable_cut_sections(cuts: CutTables, stable: StableTables) -> Mapping[str, NDArray[Any]]:
    """The sections ``alone.*``, ``inert.*`` and ``stable.*``; and ``cuts.table`` and
    ``cuts.classes`` anew, with a class for bytes that all these tell apart."""
    alone, alone_classes, alone_start = each_alone_bytes(stable.characters)
    keys = cuts.classes.astype(np.int64)
    for classes in (alone_classes, stable.inert_classes):
        keys = keys * 256 + classes
    _, octets, joint = np.unique(keys, return_index=True, return_inverse=True)
    table = cuts.dfa.table[:, :, cuts.classes[octets]]
    between = begins_character(cuts.dfa.table, cuts.classes)
    first = restricted(table, between, alone[:, alone_classes[octets]], alone_start)
    whole = _with(table, first)
    begins = np.append(between, np.zeros(len(whole) - len(table), dtype=np.bool_))
    inert = stable.inert[:, stable.inert_classes[octets]]
    second = restricted(whole, begins, inert, stable.inert_start)
    return {
        "cuts.table": np.ascontiguousarray(table),
        "cuts.classes": joint.reshape(-1).astype(np.uint8),
        "alone.states": first[0],
        "alone.rows": first[1],
        "inert.states": second[0],
        "inert.rows": second[1],
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


def _with(table: NDArray[np.int32], patch: Patch) -> NDArray[np.int32]:
    states, rows = patch
    size = max(len(table), int(states.max(initial=0)) + 1)
    whole = np.zeros((size, *table.shape[1:]), dtype=np.int32)
    whole[: len(table)] = table
    whole[states] = rows
    return whole
