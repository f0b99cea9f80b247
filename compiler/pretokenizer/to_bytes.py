"""From automata over characters to automata over the bytes of UTF-8.

The mark of a character is that of its first byte; the others have mark 0. Bytes of characters
that have no token of their own are read in the planes of byte tokens. A state inside a
character is what its remaining bytes lead to, so that equal ones are one state.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .character_classes import CODE_POINTS, NO_CHARACTER, Alphabet
from .marked_dfa import DEAD, MarkedDfa

_TAIL = 64
# Encodings of two, three and four bytes: the first code point, the lead bytes.
_LENGTHS = ((0x80, 0xC0, 0xDF), (0x800, 0xE0, 0xEF), (0x10000, 0xF0, 0xF4))
_CONTINUATION = slice(0x80, 0xC0)


@dataclass(frozen=True, slots=True, eq=False)
class CodePointBlocks:
    """The code points as a tree of blocks of 64, equal blocks being one.

    ``levels``: first the distinct blocks of atoms, then of numbers of blocks of the level
    before, each int (n, 64), -1 for what is not valid. ``leads``: for each lead byte (level,
    block).
    """

    levels: tuple[NDArray[np.int64], ...]
    leads: dict[int, tuple[int, int]]


def over_bytes(dfa: MarkedDfa, alphabet: Alphabet, planes: NDArray[np.int8]) -> MarkedDfa:
    """The same automaton over bytes, (S', 2 or 4, 256); states of ``dfa`` keep their numbers.

    ``planes``: int8 (A,), for each atom 0 if tokens of its own spell it, 2 if byte tokens do,
    -1 if nothing does.
    """
    blocks = code_point_blocks(alphabet.atoms)
    count = 4 if (planes == 2).any() else 2
    known: dict[tuple[int, bytes], int] = {}
    rows: list[tuple[int, NDArray[np.int32]]] = []

    def number(plane: int, row: NDArray[np.int32]) -> int:
        if not row.any():
            return DEAD
        key = plane, row.tobytes()
        if key not in known:
            known[key] = dfa.states + len(rows)
            rows.append((plane, row))
        return known[key]

    table = np.zeros((dfa.states, count, 256), dtype=np.int32)
    for state in range(1, dfa.states):
        for mark, plane in product((0, 1), range(0, count, 2)):
            targets = np.where(planes == plane, dfa.table[state, mark], DEAD)
            targets[NO_CHARACTER] = DEAD
            if not targets.any():
                continue
            table[state, plane + mark, :0x80] = targets[alphabet.atoms[:0x80]]
            numbers: list[NDArray[np.int32]] = []
            for level in blocks.levels:
                found = np.where(level < 0, DEAD, targets[level]).astype(np.int32)
                targets = np.array([number(plane, row) for row in found], dtype=np.int32)
                numbers.append(targets)
            for lead, (depth, block) in blocks.leads.items():
                table[state, plane + mark, lead] = numbers[depth][block]
    inside = np.zeros((len(rows), count, 256), dtype=np.int32)
    for place, (plane, row) in enumerate(rows):
        inside[place, plane, _CONTINUATION] = row
    final = np.concatenate([dfa.final, np.zeros(len(rows), dtype=np.bool_)])
    return MarkedDfa(np.concatenate([table, inside]), final, dfa.start)


def code_point_blocks(atoms: NDArray[np.unsignedinteger]) -> CodePointBlocks:
    """The tree of what each code point is, (0x110000,)."""
    leads: dict[int, tuple[int, int]] = {}
    levels: list[NDArray[np.int64]] = []
    below = atoms.astype(np.int64).reshape(-1, _TAIL)
    for depth, (shortest, first, last) in enumerate(_LENGTHS):
        size = _TAIL ** (depth + 1)
        if depth:
            # What begins below the first code point of this length is not of it.
            starts = np.arange(below.size).reshape(-1, _TAIL) * (size // _TAIL)
            whole = np.where(starts < shortest, -1, below)
        else:
            whole = below
        known: dict[bytes, int] = {}
        place = [known.setdefault(row.tobytes(), len(known)) for row in whole]
        levels.append(np.frombuffer(b"".join(known), dtype=np.int64).reshape(-1, _TAIL))
        for lead in range(first, last + 1):
            begin = (lead - first) * size
            if begin + size > shortest and begin < CODE_POINTS:
                leads[lead] = depth, place[begin // size]
        # The next level is made of the uncut blocks: a short code point is in none of them.
        padding = -len(place) % _TAIL
        below = np.pad(place, (0, padding), constant_values=-1).reshape(-1, _TAIL)
    return CodePointBlocks(tuple(levels), leads)


# Surrogates, which are no characters.
_SURROGATES = slice(0xD800, 0xE000)


def plain_alphabet(numbers: NDArray[np.integer]) -> Alphabet:
    """The alphabet of which code point c is the atom ``numbers[c]``, 1 to 255; (0x110000,)."""
    atoms = numbers.astype(np.uint8)
    atoms[_SURROGATES] = NO_CHARACTER
    return Alphabet(atoms, int(atoms.max()) + 1, {})


def with_marks(table: NDArray[np.int32], final: NDArray[np.bool_], start: int) -> MarkedDfa:
    """An automaton over atoms, int32 (S, A), with any marks."""
    return MarkedDfa(np.repeat(table[:, None, :], 2, axis=1), final, start)


def over_planes(dfa: MarkedDfa, alphabet: Alphabet, planes: int) -> MarkedDfa:
    """The same over bytes, in 2 or 4 planes of which any is read alike."""
    whole = over_bytes(dfa, alphabet, np.zeros(alphabet.count, dtype=np.int8))
    # Where both planes lead somewhere, they lead to the same state; others lead to 0.
    either = whole.table.max(axis=1, keepdims=True)
    return MarkedDfa(np.repeat(either, planes, axis=1), whole.final, whole.start)


def as_seen(flags: NDArray[np.bool_], space: str) -> NDArray[np.bool_]:
    """Which code points have a property, (0x110000,), where a space is seen as ``space``."""
    found = flags.copy()
    found[ord(" ")] = flags[ord(space)]
    return found


def flags_of(characters: str) -> NDArray[np.bool_]:
    """The code points of these characters, bool (0x110000,)."""
    flags = np.zeros(CODE_POINTS, dtype=np.bool_)
    flags[[ord(char) for char in characters]] = True
    return flags
