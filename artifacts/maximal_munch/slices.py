"""Slices: regular sets of tokens that a trie walk takes whole where the lexer can read all of them.

In a JSON string nearly all tokens fit, and a walk would visit nearly all of the trie to say so. A
slice is the tokens of one to n *characters* that a JSON string holds without an escape; those that
stop inside a character belong to it as well.
Where the language of the slice is read from a state of the lexer without ending a lexeme, its
tokens are in the row, and the walk visits only nodes on the way to other tokens:

    inside a JSON string, slice of 1 to 10 unescaped characters: it fits, so its tokens are one row;
    the walk visits nodes on the way to tokens with a quote, an escape, or more than 10 characters

All slices that fit are taken together. The rows are the same with slices and without.

Source: llguidance, "Optimizing": the slicer optimization.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..tokens import tokenset
from ..tokens.subtrees import UTF8_BETWEEN as BETWEEN
from ..tokens.subtrees import UTF8_ILL as ILL
from ..tokens.subtrees import UTF8_STEPS as STEPS
from ..tokens.subtrees import Subtrees, levels_of, made_subtrees, subtrees_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .lexer import Lexer

# Pairs of states, of a slice and of the lexer, that are looked at for whether the slice fits.
_MOST_PAIRS = 512


# The most characters of each slice, the shortest first; None for any number.
LENGTHS: tuple[int | None, ...] = (10, 30, None)

# Bytes that are no plain character of a JSON string: controls, DEL, and what has a meaning.
_ESCAPED = [*range(0x20), ord('"'), ord("\\"), 0x7F]

# A slice begins here.
_START = 1


@cache
def slice_of(most: int | None) -> NDArray[np.int32]:
    """The DFA that reads the prefixes of up to ``most`` plain characters of JSON strings: the next
    state by byte, int32 (S, 256), 0 dead."""
    steps = STEPS[:ILL].astype(np.int32)
    steps[BETWEEN, _ESCAPED] = ILL
    tables = [np.zeros((_START, 256), dtype=np.int32)]
    for read in range(1 if most is None else most):
        here = _START + ILL * read
        behind = here if most is None else here + ILL
        found = np.where(steps == BETWEEN, behind, here + steps)
        tables.append(np.where(steps == ILL, DEAD, found))
    # Behind the last character.
    tables.append(np.zeros((1, 256), dtype=np.int32))
    return np.concatenate(tables)


@dataclass(frozen=True, eq=False)
class Covered:
    """``row``: uint32 (W,), tokens that need no walk. ``needed``: bool (N,), nodes that do."""

    row: Words
    needed: NDArray[np.bool_]


class Slices:
    """The slices over one vocabulary, and which of them fit each state of the lexer, cached.

    ``lengths``: the most characters of each."""

    def __init__(
        self, trie: Trie, vocab_size: int, lengths: Sequence[int | None] = LENGTHS
    ) -> None:
        self._slices = [slice_of(most) for most in lengths]
        self._trie, self._vocab_size = trie, vocab_size
        # The trie nodes that each slice reads; filled when it first fits.
        self._members: dict[int, NDArray[np.bool_]] = {}
        self._covered: dict[int, Covered | None] = {}
        self._by_fit: dict[tuple[int, ...], Covered | None] = {}
        self._subtrees: Subtrees | None = None
        # Whether subtrees are taken whole.
        self.made = False

    def subtrees(self, *, make: bool) -> Subtrees:
        """The subtrees that are taken whole without a slice; leaves alone until they are made, as
        ``make`` says."""
        if not self.made:
            made = subtrees_of(self._trie) if make else made_subtrees(self._trie)
            if made is not None:
                self._subtrees, self.made = made, True
            elif self._subtrees is None:
                self._subtrees = Subtrees.leaves(self._trie)
        assert self._subtrees is not None
        return self._subtrees

    def covered(self, lexer: Lexer, state: int) -> Covered | None:
        """The tokens of the slices that fit into a lexer's state; None if none fits."""
        if state not in self._covered:
            fit = tuple(i for i, part in enumerate(self._slices) if _fits(part, lexer, state))
            if fit not in self._by_fit:
                self._by_fit[fit] = self._of(fit) if fit else None
            self._covered[state] = self._by_fit[fit]
        return self._covered[state]

    def _of(self, fit: tuple[int, ...]) -> Covered:
        inside = np.zeros(len(self._trie.octets), dtype=np.bool_)
        for number in fit:
            if number not in self._members:
                self._members[number] = _members(self._slices[number], self._trie)
            inside |= self._members[number]
        counts = np.diff(self._trie.held)
        slots = np.repeat(inside, counts)
        row = tokenset.from_ids(self._trie.ids[slots], self._vocab_size)
        return Covered(row, _leading_to((counts > 0) & ~inside, self._trie))


def _members(part: NDArray[np.int32], trie: Trie) -> NDArray[np.bool_]:
    """Which trie nodes a slice reads, bool (N,)."""
    states = np.zeros(len(trie.octets), dtype=np.int32)
    states[0] = _START
    nodes = np.zeros(1, dtype=np.int32)
    while len(nodes):
        first, last = int(trie.first[nodes[0]]), int(trie.first[nodes[-1] + 1])
        fan_out = trie.first[nodes + 1] - trie.first[nodes]
        children = np.arange(first, last, dtype=np.int32)
        states[children] = part[np.repeat(states[nodes], fan_out), trie.octets[children]]
        nodes = children
    inside: NDArray[np.bool_] = states != DEAD
    inside[0] = False
    return inside


def _leading_to(wanted: NDArray[np.bool_], trie: Trie) -> NDArray[np.bool_]:
    """The nodes at or below which there is a wanted one, bool (N,)."""
    parents = np.repeat(np.arange(len(trie.octets)), np.diff(trie.first))
    needed = wanted.copy()
    # Children have higher numbers than their parents, level by level.
    levels = levels_of(trie)
    for first, last in reversed(levels[1:]):
        below = np.arange(first, last)[needed[first:last]]
        needed[parents[below - 1]] = True
    return needed


def _fits(part: NDArray[np.int32], lexer: Lexer, state: int) -> bool:
    """Whether the lexer reads on from ``state`` whatever the slice reads, as far as a few pairs of
    states say: long lexemes have many, and a slice that does not fit is only not taken whole."""
    if state == DEAD:
        return False
    seen = {(_START, state)}
    pending = list(seen)
    for inside, outside in pending:
        steps = part[inside]
        octets = np.flatnonzero(steps)
        targets = lexer.table[outside][lexer.columns[octets]]
        if (targets == DEAD).any() or len(seen) > _MOST_PAIRS:
            return False
        for pair in set(zip(steps[octets].tolist(), targets.tolist(), strict=True)):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True
