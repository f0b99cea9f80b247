r"""Characters in classes that a tokenizer's patterns cannot tell apart.

Patterns look at characters by properties such as ``\p{L}``; every set is found once over
all code points, and characters that lie in the same sets are one *atom*.

Automata over characters that read every text alike, whatever its marks, as ones over bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..tokenizers.patterns import compile_pattern
from ..tokenizers.unicode_versions import as_cut
from .pattern_program import CharSet

CODE_POINTS = 0x110000
# Surrogates, which are no characters, lie from the first to before the last.
_FIRST, _LAST = 0xD800, 0xE000

# Surrogates are eight of these blocks.
_BLOCK = 256

# A code is a bit for each set, with one before them.
_MOST_SETS = 60

# The atom of what is no character.
NO_CHARACTER = 0


@dataclass(frozen=True, slots=True, eq=False)
class Alphabet:
    """``atoms``: uint8 (0x110000,), the atom of each code point, ``NO_CHARACTER`` for
    surrogates. ``count``: number of atoms, that one included. ``members``: for each set which
    atoms it holds, bool (count,).
    """

    atoms: NDArray[np.uint8]
    count: int
    members: dict[CharSet, NDArray[np.bool_]]


def alphabet_of(
    sets: Iterable[CharSet], extra: Iterable[NDArray[np.bool_]] = (), space: str = " "
) -> Alphabet:
    """The coarsest alphabet that the sets (and ``extra``, bool (0x110000,)) are unions of.

    ``space``: the character that the sets see where a text has a space.
    """
    distinct = list(dict.fromkeys(sets))
    flags = [_found(chars) for chars in distinct]
    for flag in flags:
        flag[ord(" ")] = flag[ord(space)]
    codes = np.ones(CODE_POINTS, dtype=np.uint64)
    for flag in (*flags, *extra):
        codes = codes << np.uint64(1) | flag
    codes[_FIRST:_LAST] = NO_CHARACTER
    if len(flags) > _MOST_SETS:
        raise TokenizerError(
            f"the tokenizer's patterns use more than {_MOST_SETS} sets of characters; use "
            f"--tokenization any"
        )
    values, atoms = np.unique(codes, return_inverse=True)
    if len(values) > 256:
        raise TokenizerError(
            "the tokenizer's patterns divide characters into more than 256 classes; use "
            "--tokenization any"
        )
    atoms = atoms.reshape(-1)
    count = len(values)
    members = {}
    for chars, flag in zip(distinct, flags, strict=True):
        held = np.zeros(count, dtype=np.bool_)
        held[atoms[flag]] = True
        held[NO_CHARACTER] = False
        members[chars] = held
    return Alphabet(atoms.astype(np.uint8), count, members)


@cache
def _characters() -> str:
    """All characters in order, as patterns are to see them."""
    # Blocks without a substitute are left as they are, which is most of them.
    blocks = range(0, CODE_POINTS, _BLOCK)
    return "".join(
        as_cut("".join(map(chr, range(first, first + _BLOCK))))
        for first in blocks
        if not _FIRST <= first < _LAST
    )


def _found(chars: CharSet) -> NDArray[np.bool_]:
    """Which code points a set holds: one search over all characters."""
    text = _characters()
    held = np.zeros(len(text), dtype=np.bool_)
    for match in compile_pattern(f"{chars.pattern_of_one}+").finditer(text):
        held[match.start() : match.end()] = True
    return np.concatenate([held[:_FIRST], np.zeros(_LAST - _FIRST, np.bool_), held[_FIRST:]])
