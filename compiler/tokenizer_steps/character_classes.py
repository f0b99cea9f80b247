r"""Classes of characters that a tokenizer's patterns do not distinguish, and their UTF-8 bytes.

A pattern looks at characters by sets such as ``\p{L}``. Characters that lie in the same sets are
one class, called an *atom* (these are the minterms of the sets), so that automata over characters
have some dozens of symbols instead of 1.1 million:

    sets of characters  ->  alphabet_of: atoms  ->  automaton over atoms  ->  over_bytes: over UTF-8

Over bytes the mark of a character is that of its first byte, and its other bytes have mark 0. A
state inside a character is identified by what its remaining bytes lead to, so that equal ones are
one state, and blocks of 64 code points with the same atoms are expanded once.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import numbered_rows

from ..diagnostics import TokenizerError
from ..limits import check_in_force
from ..tokenizers.encoding.pattern_program import CharSet
from ..tokenizers.encoding.patterns import compile_pattern, substitutes
from .marked_dfa import DEAD, STAGE, MarkedDfa

CODE_POINTS = 0x110000

# Surrogates, which are no characters: the first, and the first code point after them.
_SURROGATES_BEGIN, _SURROGATES_END = 0xD800, 0xE000

# Code points without a character that is assigned, and for private use: no set holds some of them
# that does not name them, as what is found here does.
_EMPTY = ((0x40000, 0xE0000), (0xE1000, CODE_POINTS))
_FAR_UP = re.compile("[\U00040000-\U0010ffff]|[0-9A-Fa-f]{5}")

# A code point's code is a uint64: a leading 1, then a bit for each set.
_MAX_SETS, _MAX_BITS = 60, 62

# Scripts and what patterns ask for divide characters into some 400.
_MAX_ATOMS = 1024

# Sets whose code points stay known; those of real tokenizers' patterns are a dozen each.
_REMEMBERED = 256

# The atom of what is no character.
NO_CHARACTER = 0

# Values of a continuation byte, and where these bytes lie.
_TAIL = 64
_CONTINUATION = slice(0x80, 0xC0)

# Encodings of two, three and four bytes: the first code point, the first and last lead byte.
_LENGTHS = ((0x80, 0xC0, 0xDF), (0x800, 0xE0, 0xEF), (0x10000, 0xF0, 0xF4))


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Atoms of characters.

    ``atoms``: uint8 or uint16 (0x110000,), the atom of each code point, ``NO_CHARACTER`` for
    surrogates. ``count``: number of atoms, that one included. ``members``: for each set the atoms
    that it holds, bool (count,).
    """

    atoms: NDArray[np.uint8] | NDArray[np.uint16]
    count: int
    members: dict[CharSet, NDArray[np.bool_]]

    @cached_property
    def blocks(self) -> "CodePointBlocks":
        """The tree of blocks of 64 code points."""
        return code_point_blocks(self.atoms)


def alphabet_of(
    sets: Iterable[CharSet], extra: Iterable[NDArray[np.bool_]] = (), space: str = " "
) -> Alphabet:
    """The coarsest alphabet that the sets (and ``extra``, bool (0x110000,)) are unions of.

    ``space``: the character that the sets see where a text has a space. Raises ``TokenizerError``
    for more than 60 sets or 1,023 atoms.
    """
    distinct = list(dict.fromkeys(sets))
    others = list(extra)
    if len(distinct) > _MAX_SETS or len(distinct) + len(others) > _MAX_BITS:
        raise TokenizerError(
            f"the tokenizer's patterns use more than {_MAX_SETS} sets of characters; use "
            f"--tokenization any"
        )
    bounds = [_bounds_of(chars) for chars in distinct]
    changes = [np.flatnonzero(flag[1:] != flag[:-1]) + 1 for flag in others]
    # Runs of code points that lie in the same sets: there are some thousands of them.
    space_at = ord(" ")
    fixed = [0, space_at, space_at + 1, _SURROGATES_BEGIN, _SURROGATES_END]
    starts = np.unique(np.concatenate([fixed, *bounds, *changes]))
    starts = starts[starts < CODE_POINTS]
    flags = [
        (np.searchsorted(bound, starts, side="right") & 1).astype(np.bool_) for bound in bounds
    ]
    here, seen = np.searchsorted(starts, [space_at, ord(space)], side="right") - 1
    for flag in flags:
        flag[here] = flag[seen]
    codes = np.ones(len(starts), dtype=np.uint64)
    for flag in (*flags, *(other[starts] for other in others)):
        codes = codes << np.uint64(1) | flag
    codes[(starts >= _SURROGATES_BEGIN) & (starts < _SURROGATES_END)] = NO_CHARACTER
    values, atoms = np.unique(codes, return_inverse=True)
    if len(values) > _MAX_ATOMS:
        raise TokenizerError(
            f"the tokenizer's patterns divide characters into more than {_MAX_ATOMS} classes; use "
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
    lengths = np.diff(starts, append=CODE_POINTS)
    kind = np.uint8 if count <= 256 else np.uint16
    return Alphabet(np.repeat(atoms.astype(kind), lengths), count, members)


def plain_alphabet(numbers: NDArray[np.integer]) -> Alphabet:
    """The alphabet in which code point c is the atom ``numbers[c]``, 1 to 255; (0x110000,)."""
    atoms = numbers.astype(np.uint8)
    atoms[_SURROGATES_BEGIN:_SURROGATES_END] = NO_CHARACTER
    return Alphabet(atoms, int(atoms.max()) + 1, {})


def as_seen(flags: NDArray[np.bool_], space: str) -> NDArray[np.bool_]:
    """Which code points have a property, (0x110000,), where a space is seen as ``space``."""
    found = flags.copy()
    found[ord(" ")] = flags[ord(space)]
    return found


def flags_of(characters: str) -> NDArray[np.bool_]:
    """The code points of some characters, bool (0x110000,)."""
    flags = np.zeros(CODE_POINTS, dtype=np.bool_)
    flags[[ord(char) for char in characters]] = True
    return flags


@cache
def _characters(*, is_whole: bool) -> tuple[str, NDArray[np.int64]]:
    """All characters in order, as patterns are to see them (``tokenizers.patterns``), and their
    code points with the end, int64. But if ``is_whole``, of those far up, which have no properties,
    one stands for many."""
    codes = np.arange(CODE_POINTS, dtype="<u4")
    changed = substitutes()
    codes[[*map(ord, changed)]] = [*map(ord, changed.values())]
    kept = np.ones(CODE_POINTS, dtype=np.bool_)
    kept[_SURROGATES_BEGIN:_SURROGATES_END] = False
    for low, high in () if is_whole else _EMPTY:
        kept[low + 1 : high] = False
    text = codes[kept].tobytes().decode("utf-32-le")
    return text, np.append(np.flatnonzero(kept), CODE_POINTS)


@lru_cache(maxsize=_REMEMBERED)
def _bounds_of(chars: CharSet) -> NDArray[np.int64]:
    """Where runs of the code points of a set begin and end by turns, int64 (2 R,), ascending.

    Whether a run goes on among surrogates, which are no characters, says nothing. One search over
    all characters.
    """
    text, codes = _characters(is_whole=_FAR_UP.search(chars.pattern) is not None)
    found = compile_pattern(f"{chars.pattern_of_one}+").finditer(text)
    return codes[np.array([bound for match in found for bound in match.span()], dtype=np.int64)]


@dataclass(frozen=True, slots=True, eq=False)
class CodePointBlocks:
    """The code points as a tree of blocks of 64, equal blocks being one.

    ``levels``: for each depth the distinct blocks, int64 (n, 64): at depth 0 of atoms, below of
    numbers of blocks of the level before; -1 for what is not valid. ``leads``: for each lead byte
    its (level, block).
    """

    levels: tuple[NDArray[np.int64], ...]
    leads: dict[int, tuple[int, int]]


def code_point_blocks(atoms: NDArray[np.unsignedinteger]) -> CodePointBlocks:
    """The tree of blocks for an atom of each code point, (0x110000,)."""
    leads: dict[int, tuple[int, int]] = {}
    levels: list[NDArray[np.int64]] = []
    below: NDArray[np.integer] = atoms.reshape(-1, _TAIL)
    for depth, (shortest, first, last) in enumerate(_LENGTHS):
        size = _TAIL ** (depth + 1)
        if depth:
            # Code points before the first one of this length have a shorter encoding.
            starts = np.arange(below.size).reshape(-1, _TAIL) * (size // _TAIL)
            whole: NDArray[np.integer] = np.where(starts < shortest, -1, below)
        else:
            whole = below
        places, numbers = numbered_rows(whole)
        levels.append(whole[places].astype(np.int64))
        for lead in range(first, last + 1):
            begin = (lead - first) * size
            if begin + size > shortest and begin < CODE_POINTS:
                leads[lead] = depth, int(numbers[begin // size])
        # The next level is made of the whole blocks: a short code point is in none of its own.
        padding = -len(numbers) % _TAIL
        below = np.pad(numbers, (0, padding), constant_values=-1).reshape(-1, _TAIL)
    return CodePointBlocks(tuple(levels), leads)


def over_bytes(dfa: MarkedDfa, alphabet: Alphabet, spelled_by: NDArray[np.int8]) -> MarkedDfa:
    """The automaton over UTF-8 bytes, int32 (S', 2 or 4, 256); states of ``dfa`` keep their number.

    ``spelled_by``: int8 (A,), for each atom 0 if tokens of its characters spell it, 2 if byte
    tokens do (whose bytes have the marks 2 and 3), -1 if nothing does.
    """
    blocks = alphabet.blocks
    marks = 4 if (spelled_by == 2).any() else 2
    numbers: dict[tuple[int, bytes], int] = {}
    inner: list[tuple[int, NDArray[np.int32]]] = []

    def number(offset: int, row: NDArray[np.int32]) -> int:
        """The state inside a character from which the continuation bytes lead as ``row`` says."""
        key = offset, row.tobytes()
        if key not in numbers:
            numbers[key] = dfa.states + len(inner)
            inner.append((offset, row))
        return numbers[key]

    table = np.zeros((dfa.states, marks, 256), dtype=np.int32)
    for state in range(1, dfa.states):
        for mark, offset in product((0, 1), range(0, marks, 2)):
            check_in_force(STAGE)
            targets = np.where(spelled_by == offset, dfa.table[state, mark], DEAD)
            targets[NO_CHARACTER] = DEAD
            if not targets.any():
                continue
            table[state, offset + mark, :0x80] = targets[alphabet.atoms[:0x80]]
            levels: list[NDArray[np.int32]] = []
            for level in blocks.levels:
                found = np.where(level < 0, DEAD, targets[level]).astype(np.int32)
                targets = np.zeros(len(found), dtype=np.int32)
                for place in np.flatnonzero(found.any(axis=1)).tolist():
                    targets[place] = number(offset, found[place])
                levels.append(targets)
            for lead, (depth, block) in blocks.leads.items():
                table[state, offset + mark, lead] = levels[depth][block]
    inside = np.zeros((len(inner), marks, 256), dtype=np.int32)
    for place, (offset, row) in enumerate(inner):
        inside[place, offset, _CONTINUATION] = row
    final = np.concatenate([dfa.final, np.zeros(len(inner), dtype=np.bool_)])
    return MarkedDfa(np.concatenate([table, inside]), final, dfa.start)


def ignoring_marks(table: NDArray[np.int32], final: NDArray[np.bool_], start: int) -> MarkedDfa:
    """An automaton over atoms, int32 (S, A), as one that reads each atom with either mark."""
    return MarkedDfa(np.repeat(table[:, None, :], 2, axis=1), final, start)


def over_bytes_ignoring_marks(dfa: MarkedDfa, alphabet: Alphabet, marks: int) -> MarkedDfa:
    """The automaton over bytes of one that ignores marks, with 2 or 4 marks, all read alike."""
    whole = over_bytes(dfa, alphabet, np.zeros(alphabet.count, dtype=np.int8))
    # Where both marks lead somewhere, they lead to the same state; elsewhere one leads to 0.
    either = whole.table.max(axis=1, keepdims=True)
    return MarkedDfa(np.repeat(either, marks, axis=1), whole.final, whole.start)
