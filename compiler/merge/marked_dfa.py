"""Automata over symbols with marks: a mark says that a piece starts at the symbol.

Over atoms of characters there are two marks. Over bytes there may be four *planes*, which say
how the token of the byte begins:

    0  inside a token, or first of one that continues a piece
    1  first of a token that starts a piece
    2, 3  the same of a byte token, which spells a byte of a character that has no token
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.frontiers import ranges

from ..diagnostics import TokenizerError

DEAD = 0

# States of one automaton over atoms; those of real pre-tokenizers have some dozens.
_MOST_STATES = 5000

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class MarkedDfa:
    """A deterministic automaton over (mark, symbol); state 0 is dead.

    ``table``: int32 (S, P, A). ``final``: bool (S,). ``start``: the state before any symbol.
    """

    table: NDArray[np.int32]
    final: NDArray[np.bool_]
    start: int

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)


def subset_automaton(
    start: State,
    successors: Callable[[State, int, int], Iterable[State]],
    may_end: Callable[[State], bool],
    atoms: int,
) -> MarkedDfa:
    """The minimal automaton of one that is given by its successors (state, mark, atom)."""
    numbers: dict[frozenset[State], int] = {frozenset(): DEAD, frozenset([start]): 1}
    rows: list[list[list[int]]] = [[[DEAD] * atoms] * 2]
    pending = [frozenset([start])]
    for subset in pending:
        row = []
        for mark in (0, 1):
            targets = []
            for atom in range(atoms):
                after = frozenset(t for s in subset for t in successors(s, mark, atom))
                if after not in numbers:
                    numbers[after] = len(numbers)
                    pending.append(after)
                targets.append(numbers[after])
            row.append(targets)
        rows.append(row)
        if len(numbers) > _MOST_STATES:
            raise TokenizerError(
                f"the tokenizer's patterns need more than {_MOST_STATES:,} states; use "
                f"--tokenization any"
            )
    final = np.array([any(map(may_end, subset)) for subset in numbers])
    return minimal(MarkedDfa(np.array(rows, dtype=np.int32), final, 1))


def unsplit(atoms: int) -> MarkedDfa:
    """The automaton of a tokenizer that does not cut: each text is one piece."""
    table = np.zeros((3, 2, atoms), dtype=np.int32)
    table[1, 1] = table[2, 0] = 2
    return MarkedDfa(table, np.array([False, True, True]), 1)


def composed(first: MarkedDfa, second: MarkedDfa) -> MarkedDfa:
    """Cut by ``first``, then each piece by ``second``: where either cuts."""

    def successors(pair: tuple[int, int], mark: int, atom: int) -> Iterator[tuple[int, int]]:
        a, b = pair
        after = int(first.table[a, 1, atom])
        if mark and after and second.final[b]:
            yield after, int(second.table[second.start, 1, atom])
        if int(first.table[a, 0, atom]):
            yield int(first.table[a, 0, atom]), int(second.table[b, mark, atom])

    def alive(pair: tuple[int, int], mark: int, atom: int) -> Iterator[tuple[int, int]]:
        return (found for found in successors(pair, mark, atom) if found[1])

    return subset_automaton(
        (first.start, second.start),
        alive,
        lambda pair: bool(first.final[pair[0]] and second.final[pair[1]]),
        first.table.shape[2],
    )


def minimal(dfa: MarkedDfa) -> MarkedDfa:
    """The minimal automaton, dead states joined with state 0, by Moore's refinement."""
    flat = dfa.table.reshape(dfa.states, -1)
    blocks = dfa.final.astype(np.int64)
    count = 0
    while True:
        signature = np.ascontiguousarray(np.column_stack([blocks, blocks[flat]]))
        known: dict[bytes, int] = {}
        refined = [known.setdefault(row.tobytes(), len(known)) for row in signature]
        blocks = np.array(refined, dtype=np.int64)
        if len(known) == count:
            break
        count = len(known)
    # State 0 comes first, so its block, all that accept nothing, has number 0.
    _, kept = np.unique(blocks, return_index=True)
    table = blocks[dfa.table[kept]].astype(np.int32)
    return MarkedDfa(table, dfa.final[kept], int(blocks[dfa.start]))


def reaching(table: NDArray[np.integer], ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states of an automaton, (S, …), are among ``ends`` or lead to one of them.

    Backwards from the ends, breadth first.
    """
    targets = np.sort(table.reshape(len(table), -1), axis=1)
    # Each target of a state once.
    kept = targets != DEAD
    kept[:, 1:] &= targets[:, 1:] != targets[:, :-1]
    sources = np.repeat(np.arange(len(table)), kept.sum(axis=1))
    entered = targets[kept]
    sources = sources[np.argsort(entered, kind="stable")]
    bounds = np.cumsum(np.bincount(entered, minlength=len(table)))
    counts = np.diff(bounds, prepend=0)
    found = ends.copy()
    frontier = np.flatnonzero(found)
    while len(frontier):
        before = sources[ranges(bounds[frontier] - counts[frontier], counts[frontier])]
        frontier = np.unique(before[~found[before]])
        found[frontier] = True
    return found
