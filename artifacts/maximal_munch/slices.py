"""Slices: regular sets of tokens that a trie walk takes whole where the lexer can read all of them.

In a JSON string nearly all tokens fit, and a walk would visit nearly all of the trie to say so. A
slice is the tokens of one to n *characters* out of some set (such as all that need no escape).
Where the language of the slice is read from a state of the lexer without ending a lexeme, its
tokens are in the row, and the walk visits only nodes on the way to other tokens:

    inside a JSON string, slice of 1 to 10 unescaped characters: it fits, so its tokens are one row;
    the walk visits nodes on the way to tokens with a quote, an escape, or more than 10 characters

All slices that fit are taken together. The rows are the same with slices and without.

Source: llguidance, "Optimizing": the slicer optimization.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..tokens import tokenset
from ..tokens.subtrees import Subtrees, levels_of, made_subtrees, subtrees_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .lexer import Lexer

# Pairs of states, of a slice and of the lexer, that are looked at for whether the slice fits.
_MOST_PAIRS = 512


@dataclass(frozen=True, eq=False)
class Slice:
    """A DFA over bytes of a prefix-closed language: every state but the dead one accepts.

    ``table``: int32 (S, C), next state by class, 0 dead. ``classes``: uint8 (256,). ``start``:
    a state. A token belongs to the slice if the DFA reads all of it.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    start: int


@dataclass(frozen=True, eq=False)
class Covered:
    """``row``: uint32 (W,), tokens that need no walk. ``needed``: bool (N,), nodes that do."""

    row: Words
    needed: NDArray[np.bool_]


class Slices:
    """The slices over one vocabulary, and which of them fit each state of the lexer, cached."""

    def __init__(self, slices: Sequence[Slice], trie: Trie, vocab_size: int) -> None:
        self._slices = slices
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


def _members(part: Slice, trie: Trie) -> NDArray[np.bool_]:
    """Which trie nodes a slice reads, bool (N,)."""
    states = np.zeros(len(trie.octets), dtype=np.int32)
    states[0] = part.start
    columns = part.classes[trie.octets]
    nodes = np.zeros(1, dtype=np.int32)
    while len(nodes):
        first, last = int(trie.first[nodes[0]]), int(trie.first[nodes[-1] + 1])
        fan_out = trie.first[nodes + 1] - trie.first[nodes]
        children = np.arange(first, last, dtype=np.int32)
        states[children] = part.table[np.repeat(states[nodes], fan_out), columns[children]]
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


def _fits(part: Slice, lexer: Lexer, state: int) -> bool:
    """Whether the lexer reads on from ``state`` whatever the slice reads, as far as a few pairs of
    states say: long lexemes have many, and a slice that does not fit is only not taken whole."""
    if state == DEAD:
        return False
    seen = {(part.start, state)}
    pending = list(seen)
    for inside, outside in pending:
        steps = part.table[inside][part.classes]
        octets = np.flatnonzero(steps)
        targets = lexer.table[outside][lexer.columns[octets]]
        if (targets == DEAD).any() or len(seen) > _MOST_PAIRS:
            return False
        for pair in set(zip(steps[octets].tolist(), targets.tolist(), strict=True)):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True
