"""Automata over characters that read every text alike, whatever its marks, as ones over bytes."""

import numpy as np
from numpy.typing import NDArray

from .alphabet import CODE_POINTS, NO_CHARACTER, Alphabet
from .marked_dfa import MarkedDfa
from .split_bytes import over_bytes

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
