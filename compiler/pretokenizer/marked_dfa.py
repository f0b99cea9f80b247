"""Automata over symbols with marks: a mark says that a piece starts at the symbol.

Over atoms of characters there are two marks. Over bytes there may be four *planes*, which say
how the token of the byte begins:

    0  inside a token, or first of one that continues a piece
    1  first of a token that starts a piece
    2, 3  the same of a byte token, which spells a byte of a character that has no token

Two automata in step: all pairs of states that some text leads to.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import ranges

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


# Pairs up to which each possible one has a place in an array.
_FEW_PAIRS = 1 << 22


def synchronous_product(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    begin: NDArray[np.int64],
    check: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pairs, ``a * len(second) + b``, and their table; pair 0 is dead.

    ``first``: (A, …), ``second``: (B, …), next states by symbol, 0 dead; what follows the first
    axis is broadcast. ``begin``: pairs to begin with, each once. Breadth first: the pairs are
    (N,), dead, those of ``begin``, then level by level in ascending order; the table (N, …).
    ``check`` is called with the number of pairs so far after each level.
    """
    size = len(first) * len(second)
    kind = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    first, second, width = first.astype(kind), second.astype(kind), kind(len(second))
    dead = np.full((1, *np.broadcast_shapes(first.shape[1:], second.shape[1:])), DEAD, dtype=kind)
    known: _Listed | _Placed = _Placed(size) if size <= _FEW_PAIRS else _Listed()
    frontier: NDArray[np.integer] = begin.astype(kind)
    levels: list[NDArray[np.integer]] = [np.array([DEAD], dtype=kind), frontier]
    for pairs in levels:
        known.add(pairs)
    rows = [dead]
    while len(frontier):
        left, right = np.divmod(frontier, width)
        a, b = first[left], second[right]
        targets = np.where((a != DEAD) & (b != DEAD), a * width + b, kind(DEAD))
        rows.append(targets)
        frontier = known.new(targets)
        known.add(frontier)
        levels.append(frontier)
        if check is not None:
            check(known.count)
    return np.concatenate(levels).astype(np.int64), known.places(np.concatenate(rows))


class _Placed:
    """Numbers of pairs, in an array of all that there could be."""

    def __init__(self, size: int) -> None:
        self.count, self.place = 0, np.full(size, -1, dtype=np.int32)

    def add(self, pairs: NDArray[np.integer]) -> None:
        self.place[pairs] = np.arange(self.count, self.count + len(pairs))
        self.count += len(pairs)

    def new(self, targets: NDArray[np.integer]) -> NDArray[np.integer]:
        """Those of ``targets`` that have no number, ascending."""
        is_met = np.zeros(len(self.place), dtype=np.bool_)
        is_met[targets] = True
        return np.flatnonzero(is_met & (self.place < 0)).astype(targets.dtype)

    def places(self, targets: NDArray[np.integer]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.place[targets]
        return found


class _Listed:
    """The same in an ascending list of those met."""

    def __init__(self) -> None:
        self.count, self.pairs, self.numbers = 0, np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, pairs: NDArray[np.integer]) -> None:
        numbers = np.arange(self.count, self.count + len(pairs))
        joined = np.concatenate([self.pairs, pairs])
        order = np.argsort(joined, kind="stable")
        self.pairs = joined[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]
        self.count += len(pairs)

    def new(self, targets: NDArray[np.integer]) -> NDArray[np.integer]:
        """Those of ``targets`` that have no number, ascending."""
        found = np.unique(targets)
        place = np.minimum(np.searchsorted(self.pairs, found), len(self.pairs) - 1)
        kept: NDArray[np.integer] = found[self.pairs[place] != found]
        return kept

    def places(self, targets: NDArray[np.integer]) -> NDArray[np.int32]:
        return self.numbers[np.searchsorted(self.pairs, targets)].astype(np.int32)
