"""Conjunctions as arrays: each a DFA, bounds of the length, and operands that have no DFA.

    texts of the DFA, of ``least`` to ``most`` characters, that every operand has or excludes

The length is counted in characters by their first bytes, which are all but 0x80 to 0xBF. Of texts
that are JSON strings an escape is one character, and so is a pair of escapes for a character beyond
U+FFFF. Their bytes but the first are inside it: states there have a *phase* other than 0, which is
what of the escape was read (``phase_after``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEAD = 0

# Instead of the most characters: any number.
UNBOUNDED = -1

# Kinds of operands in a file; 0 is one that is required, and no more.
_EXCLUDED, _FOLLOWED = 1, 2

# Phases of an escape: 1 after the backslash, 2 after "u", 3 to 5 after digits; 6 to 8 after
# those of the first of a pair, 9 and 10 before the second's "u", 11 to 14 before its digits.
PHASES = 15
_BACKSLASH, _UNIT, _HIGH, _FIRST = frozenset(b"\\"), frozenset(b"u"), frozenset(b"89abAB"), b"dD"

# Bytes that continue a character.
CONTINUES = slice(0x80, 0xC0)


@dataclass(frozen=True, eq=False)
class Operand:
    """An NFA without ε whose texts are required, or excluded.

    ``offsets``: int64 (S * C + 1,), the targets of state s by column c are those from
    ``offsets[s * C + c]`` on in ``targets``, int32. ``accepting``: uint8 (S,). ``starts``: int32.
    ``is_followed``: it is required, and a text begins one of its texts iff the conjunction's DFA
    reads it, so that no text has to be searched for.
    """

    excludes: bool
    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    accepting: NDArray[np.uint8]
    starts: NDArray[np.int32]
    is_followed: bool = False


@dataclass(frozen=True, eq=False)
class Conjunction:
    """``table``: int32 (S, C), next state by column, state 0 dead. ``classes``: uint8 (256,), the
    column of each byte; bytes that continue a character share none with others. ``accepting``:
    uint8 (S,), of states inside an escape of JSON one more than their phase. ``least``, ``most``:
    characters of a member, ``UNBOUNDED`` for any number."""

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.uint8]
    start: int
    least: int
    most: int
    operands: tuple[Operand, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether a state has a number of characters."""
        return self.least > 0 or self.most != UNBOUNDED

    @cached_property
    def accepts(self) -> NDArray[np.bool_]:
        """Whether each state accepts, bool (S,)."""
        found: NDArray[np.bool_] = self.accepting == 1
        return found

    @cached_property
    def phases(self) -> list[int]:
        """The phase of each state."""
        found: list[int] = np.where(self.accepting > 1, self.accepting - 1, 0).tolist()
        return found

    @cached_property
    def has_escapes(self) -> bool:
        """Whether texts are JSON strings with escapes."""
        return any(self.phases)

    @cached_property
    def columns(self) -> list[int]:
        """The column of each byte."""
        found: list[int] = self.classes.tolist()
        return found

    @cached_property
    def rows(self) -> list[list[int]]:
        """The table as lists."""
        found: list[list[int]] = self.table.tolist()
        return found

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """Which columns begin a character, bool (C,)."""
        found = np.ones(self.table.shape[1], dtype=np.bool_)
        found[self.classes[CONTINUES]] = False
        return found


def phase_after(phase: int, octet: int) -> int:
    """The phase after a byte of a JSON string with well-formed escapes."""
    if phase == 0:
        return int(octet in _BACKSLASH)
    if phase == 1:
        return 2 if octet in _UNIT else 0
    if phase == 2:
        return 6 if octet in _FIRST else 3
    if phase == 6:
        return 7 if octet in _HIGH else 4
    return 0 if phase in (5, PHASES - 1) else phase + 1


# Bytes that some phase tells from others.
TOLD_APART = (_BACKSLASH, _UNIT, _HIGH, frozenset(_FIRST))


def from_sections(arrays: Mapping[str, NDArray[Any]]) -> tuple[Conjunction, ...]:
    """The conjunctions in the sections ``lazy.*``, which have been checked."""
    states, width = arrays["lazy.states"].tolist(), arrays["lazy.table"].shape[1]
    cells, sets = arrays["lazy.set_cells"], arrays["lazy.set_states"].tolist()
    of, begun = arrays["lazy.set_of"].tolist(), arrays["lazy.set_start_offsets"].tolist()
    operands: list[list[Operand]] = [[] for _ in arrays["lazy.starts"]]
    for i, (conjunction, kind) in enumerate(of):
        span = cells[sets[i] * width : sets[i + 1] * width + 1]
        operands[conjunction].append(
            Operand(
                kind == _EXCLUDED,
                span - span[0],
                arrays["lazy.set_targets"][int(span[0]) : int(span[-1])],
                arrays["lazy.set_accepting"][sets[i] : sets[i + 1]],
                arrays["lazy.set_starts"][begun[i] : begun[i + 1]],
                kind == _FOLLOWED,
            )
        )
    found = []
    for i, start in enumerate(arrays["lazy.starts"].tolist()):
        least, most = arrays["lazy.bounds"][i].tolist()
        table = arrays["lazy.table"][states[i] : states[i + 1]]
        accepting = arrays["lazy.accepting"][states[i] : states[i + 1]]
        classes, own = arrays["lazy.classes"], tuple(operands[i])
        found.append(Conjunction(table, classes, accepting, start, least, most, own))
    return tuple(found)


def to_sections(conjunctions: Sequence[Conjunction]) -> dict[str, NDArray[Any]]:
    """The inverse; all conjunctions have the same ``classes``."""
    operands = [(i, each) for i, c in enumerate(conjunctions) for each in c.operands]
    counts = [len(each.accepting) for _, each in operands]
    lengths = [np.diff(each.offsets) for _, each in operands]
    nobody = np.zeros(0, dtype=np.int32)
    return {
        "lazy.accepting": np.concatenate([c.accepting for c in conjunctions]),
        "lazy.bounds": np.array([(c.least, c.most) for c in conjunctions], dtype=np.int64),
        "lazy.classes": conjunctions[0].classes,
        "lazy.set_accepting": np.concatenate(
            [np.zeros(0, dtype=np.uint8), *(each.accepting for _, each in operands)]
        ),
        "lazy.set_cells": _offsets(np.concatenate([nobody, *lengths])),
        "lazy.set_of": np.array(
            [(i, _FOLLOWED if each.is_followed else int(each.excludes)) for i, each in operands],
            dtype=np.int32,
        ).reshape(-1, 2),
        "lazy.set_start_offsets": _offsets([len(each.starts) for _, each in operands]),
        "lazy.set_starts": np.concatenate([nobody, *(each.starts for _, each in operands)]),
        "lazy.set_states": _offsets(counts),
        "lazy.set_targets": np.concatenate([nobody, *(each.targets for _, each in operands)]),
        "lazy.starts": np.array([c.start for c in conjunctions], dtype=np.int32),
        "lazy.states": _offsets([len(c.table) for c in conjunctions]),
        "lazy.table": np.concatenate([c.table for c in conjunctions]),
    }


def _offsets(counts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.asarray(counts, dtype=np.int64)))).astype(np.int64)
