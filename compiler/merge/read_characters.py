"""Which characters an automaton over the bytes of UTF-8 reads anywhere, or first.

States that read the same in d continuation bytes are of one kind. The kinds of d bytes are the
different rows of kinds of d - 1 bytes, so that automata of many copies cost little more than one.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network_tables import NetworkTables

from ..automata.dfa import DEAD, Dfa
from .alphabet import CODE_POINTS
from .stable_characters import StableCharacters

# Bits of a continuation byte; lead bytes of two, three and four bytes.
_TAIL = 64
_LEADS = ((0xC0, 0xE0), (0xE0, 0xF0), (0xF0, 0xF5))


def read_characters(dfa: Dfa) -> NDArray[np.bool_]:
    """Which code points some state of a trimmed automaton reads, bool (0x110000,)."""
    by_byte = dfa.table[:, dfa.classes]
    found = np.zeros(0x40 * _TAIL**3, dtype=np.bool_)
    found[:0x80] = (by_byte[:, :0x80] != DEAD).any(axis=0)
    # Kind 0 reads nothing; of each kind what it reads, (K, 64**d).
    kind = (np.arange(dfa.states) != DEAD).astype(np.int64)
    reads = np.array([[False], [True]])
    for depth, (low, high) in enumerate(_LEADS, start=1):
        known = {bytes(8 * _TAIL): 0}
        rows = kind[by_byte[:, 0x80:0xC0]]
        kind = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows])
        held = np.frombuffer(b"".join(known), dtype=np.int64).reshape(-1, _TAIL)
        for lead in range(low, high):
            begin = (lead - low) * _TAIL**depth
            for number in np.unique(kind[by_byte[:, lead]]).tolist():
                found[begin : begin + _TAIL**depth] |= reads[held[number]].reshape(-1)
        if depth < len(_LEADS):
            reads = reads[held].reshape(len(held), -1)
    return found[:CODE_POINTS]


def read_classes(tables: NetworkTables, characters: StableCharacters) -> NDArray[np.integer]:
    """The classes of the characters that a network reads, ascending, as far as its states say
    alone: all of them where a call might begin or end inside a character."""
    by_byte = tables.table[:, : int(tables.classes.max()) + 1]
    inside = (tables.table[:, tables.classes[0x80:0xC0]] != DEAD).any(axis=1)
    calls = np.diff(tables.call_offsets) > 0
    meets = calls | (tables.accepting != 0)
    meets[np.concatenate([tables.call_starts, tables.call_returns, [tables.start]])] = True
    if (inside & meets).any():
        return np.arange(len(characters.combining))
    nothing = (frozenset[int](),) * tables.states
    dfa = Dfa(by_byte, tables.classes, tables.accepting != 0, tables.start, nothing)
    return np.unique(characters.classes[read_characters(dfa)])


def opening(dfa: Dfa) -> Dfa:
    """What members begin with: nothing is read behind the first character."""
    within = (dfa.table[:, dfa.classes[0x80:0xC0]] != DEAD).any(axis=1)
    return replace(
        dfa,
        table=np.append(np.where(within[:, None], dfa.table, DEAD), dfa.table[[dfa.start]], axis=0),
        accepting=np.append(dfa.accepting, dfa.accepting[dfa.start]),
        start=dfa.states,
        origins=(*dfa.origins, dfa.origins[dfa.start]),
    )
