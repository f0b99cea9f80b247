"""Deterministic automata over marked symbols: where a pre-token starts is part of the input.

A text with *marks* says of each symbol whether a pre-token (also called a piece) starts there. The
automaton of a pre-tokenizer accepts exactly one marking of each text. Over classes of characters
there are two marks; over bytes there may be four, which say how the token of the byte begins:

    0  inside a token, or the first byte of one that continues a pre-token
    1  the first byte of a token that starts a pre-token (the start mark)
    2, 3  the same of a byte token, which spells one byte of a character that has no token

    subset_automaton    determinize an automaton that is given by its successors
    composed            split by one pre-tokenizer, then each pre-token by another
    unmarked            the texts, whatever their marks are
    intersected         what two automata accept, by their synchronous product
    minimal, reaching   minimization (Moore), and co-accessible states
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import distinct, numbered_rows, row_keys
from constrain.artifacts.tokens.trie import ranges

from ..automata.graphs import Numbered
from ..diagnostics import TokenizerError
from ..limits import check_in_force

DEAD = 0

# What messages call the work of this room.
STAGE = "the automaton of the tokenizer's steps"

# At most so many states of one automaton over atoms; those of real pre-tokenizers have dozens.
_MAX_STATES = 5000

# Up to so many possible pairs a product numbers them in an array, beyond that in sorted lists.
_MAX_DENSE_PAIRS = 1 << 26

# Pairs are made distinct by sorting if there are more than so many possible ones for each.
_SPARSE = 64

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class MarkedDfa:
    """A deterministic automaton over (mark, symbol); state 0 is dead.

    ``table``: int32 (S, M, A), next state by mark and symbol. ``final``: bool (S,). ``start``: the
    state before any symbol.
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
    """Determinize by the subset construction, then minimize.

    ``successors(state, mark, atom)``: the states of the nondeterministic automaton after a symbol.
    ``may_end``: whether one accepts. ``atoms``: how many symbols there are. Raises
    ``TokenizerError`` for more than ``_MAX_STATES`` states.
    """
    numbers = Numbered[frozenset[State]](frozenset([start]), frozenset())
    rows: list[list[list[int]]] = [[[DEAD] * atoms] * 2]
    for subset in numbers.order:
        row = []
        for mark in (0, 1):
            targets = []
            for atom in range(atoms):
                check_in_force(STAGE)
                after = frozenset(t for s in subset for t in successors(s, mark, atom))
                targets.append(numbers[after])
            row.append(targets)
        rows.append(row)
        if len(numbers) > _MAX_STATES:
            raise _too_many(_MAX_STATES)
    final = np.array([any(map(may_end, subset)) for subset in numbers])
    return minimal(MarkedDfa(np.array(rows, dtype=np.int32), final, 1))


def _too_many(most: int) -> TokenizerError:
    return TokenizerError(
        f"the tokenizer's patterns need more than {most:,} states; use --tokenization any"
    )


def unsplit(atoms: int) -> MarkedDfa:
    """The automaton of a tokenizer that does not split: each text is one pre-token."""
    table = np.zeros((3, 2, atoms), dtype=np.int32)
    table[1, 1] = table[2, 0] = 2
    return MarkedDfa(table, np.array([False, True, True]), 1)


def composed(first: MarkedDfa, second: MarkedDfa, most: int = _MAX_STATES) -> MarkedDfa:
    """Split by ``first``, then each pre-token by ``second``: boundaries are those of either.

    ``second`` restarts in each pre-token of ``first``, which must end where it may end. ``most``:
    so many states at most; raises ``TokenizerError`` for more.
    """
    # As if the marks said whose boundary it is: nobody's, that of ``second``, that of ``first``.
    restarted = np.where(second.final[:, None], second.table[second.start, 1], DEAD)
    inner = np.stack([second.table[:, 0], second.table[:, 1], restarted], axis=1)
    width = np.int64(second.states)
    pairs, table = synchronous_product(
        first.table[:, [0, 0, 1]], inner, np.array([first.start * width + second.start])
    )
    a, b = np.divmod(pairs, width)
    final = first.final[a] & second.final[b]
    return _determinized(table, final, 1, ((0,), (1, 2)), most)


def unmarked(dfa: MarkedDfa, optional: int | None = None) -> MarkedDfa:
    """The texts of an automaton, whatever their marks are.

    ``optional``: a symbol that stands before each text that does not begin with it, and is no part
    of those here; None for none.
    """

    def read(state: int, symbol: int) -> set[int]:
        return {int(target) for target in dfa.table[state, :, symbol]} - {DEAD}

    def successors(state: int, _: int, symbol: int) -> set[int]:
        if optional is None or state != dfa.start or symbol == optional:
            return read(state, symbol)
        return {target for begun in read(state, optional) for target in read(begun, symbol)}

    count = dfa.table.shape[2]
    return subset_automaton(dfa.start, successors, lambda state: bool(dfa.final[state]), count)


def _determinized(
    table: NDArray[np.int32],
    final: NDArray[np.bool_],
    start: int,
    letters: Sequence[Sequence[int]],
    most: int,
) -> MarkedDfa:
    """Read some letters as the same mark: the subset construction, then minimized.

    ``table``: int32 (S, L, A). ``letters``: for each mark those that are read as it. Raises
    ``TokenizerError`` for more than ``most`` states.
    """
    symbols = np.ascontiguousarray(table.reshape(-1, table.shape[2]).T)
    # Most symbols have the column of another.
    _, kept, places = np.unique(
        [column.tobytes() for column in symbols], return_index=True, return_inverse=True
    )
    table = table[:, :, kept]
    numbers = Numbered[bytes](np.array([start], dtype=np.int32).tobytes(), b"")
    rows = [np.zeros((len(letters), len(kept)), dtype=np.int32)]
    ends = [False]
    for packed in numbers.order:
        check_in_force(STAGE)
        subset = np.frombuffer(packed, dtype=np.int32)
        ends.append(bool(final[subset].any()))
        row = []
        for some in letters:
            targets = np.sort(table[subset][:, list(some)].reshape(-1, len(kept)), axis=0)
            targets[1:][targets[1:] == targets[:-1]] = DEAD
            columns = np.sort(targets, axis=0).T.astype(np.int32)
            each = row_keys(columns)
            # Few columns differ. Their dead targets, which are sorted first, are left out.
            of = {column: numbers[_without_dead(column)] for column in dict.fromkeys(each)}
            row.append([of[column] for column in each])
        rows.append(np.array(row, dtype=np.int32))
        if len(numbers) > most:
            raise _too_many(most)
    return minimal(MarkedDfa(np.stack(rows)[:, :, places], np.array(ends), 1))


def _without_dead(packed: bytes) -> bytes:
    targets = np.frombuffer(packed, dtype=np.int32)
    left: NDArray[np.int32] = targets[targets != DEAD]
    return left.tobytes()


def intersected(first: MarkedDfa, second: MarkedDfa) -> MarkedDfa:
    """The minimal automaton of what both accept; they have the same symbols."""
    width = np.int64(second.states)
    pairs, table = synchronous_product(
        first.table, second.table, np.array([first.start * width + second.start])
    )
    a, b = np.divmod(pairs, width)
    final = first.final[a] & second.final[b]
    final[DEAD] = False
    return minimal(MarkedDfa(table, final, 1))


def minimal(dfa: MarkedDfa) -> MarkedDfa:
    """The minimal automaton, dead states united with state 0, by Moore's partition refinement."""
    columns = np.ascontiguousarray(dfa.table.reshape(dfa.states, -1).T)
    # Most symbols have the column of another.
    flat = columns[numbered_rows(columns)[0]].T
    kind = np.uint16 if dfa.states < 1 << 16 else np.int32
    blocks: NDArray[np.integer] = dfa.final.astype(kind)
    count = 0
    while True:
        check_in_force(STAGE)
        kept, numbers = numbered_rows(np.column_stack([blocks, blocks[flat]]))
        blocks = numbers.astype(kind)
        if len(kept) == count:
            break
        count = len(kept)
    # State 0 comes first, so its block, all that accept nothing, has number 0.
    table = blocks[dfa.table[kept]].astype(np.int32)
    return MarkedDfa(table, dfa.final[kept], int(blocks[dfa.start]))


def reaching(table: NDArray[np.integer], ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states of an automaton, (S, …), are in ``ends`` or lead to one of them; bool (S,)."""
    found: NDArray[np.bool_] = distances(table, ends) >= 0
    return found


def distances(table: NDArray[np.integer], ends: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many symbols lead from each state of an automaton, (S, …), to the nearest of ``ends``, -1
    where none do; int64 (S,). Breadth first backwards from the ends."""
    columns = np.ascontiguousarray(table.reshape(len(table), -1).T)
    # Most symbols have the column of another.
    targets = np.sort(columns[numbered_rows(columns)[0]].T, axis=1)
    # Each target of a state once.
    kept = targets != DEAD
    kept[:, 1:] &= targets[:, 1:] != targets[:, :-1]
    sources = np.repeat(np.arange(len(table)), kept.sum(axis=1))
    entered = targets[kept]
    sources = sources[np.argsort(entered, kind="stable")]
    bounds = np.cumsum(np.bincount(entered, minlength=len(table)))
    counts = np.diff(bounds, prepend=0)
    found = np.where(ends, 0, -1)
    frontier = np.flatnonzero(ends)
    while len(frontier):
        before = sources[ranges(bounds[frontier] - counts[frontier], counts[frontier])]
        further = found[frontier[0]] + 1
        frontier = distinct(before[found[before] < 0])
        found[frontier] = further
    return found


def synchronous_product(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    begin: NDArray[np.int64],
    check: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The synchronous product of two automata, from some pairs of states on, breadth first.

    ``first``: (A, …), ``second``: (B, …), next states by symbol, 0 dead; the axes after the first
    are broadcast. ``begin``: the pairs ``a * B + b`` to begin with, each once. Returns the pairs,
    int64 (N,): the dead one, those of ``begin``, then level by level in ascending order; and their
    table, int32 (N, …). ``check`` is called with the number of pairs, again and again.
    """
    size = len(first) * len(second)
    kind = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    first, second = first.astype(kind, copy=False), second.astype(kind, copy=False)
    width = kind(len(second))
    dead = np.full((1, *np.broadcast_shapes(first.shape[1:], second.shape[1:])), DEAD, dtype=kind)
    numbers = PairNumbers(size)
    frontier: NDArray[np.integer] = begin.astype(kind)
    levels: list[NDArray[np.integer]] = [np.array([DEAD], dtype=kind), frontier]
    for pairs in levels:
        numbers.add(pairs)
    rows: list[NDArray[np.integer]] = [dead]
    while len(frontier):
        left, right = np.divmod(frontier, width)
        a, b = first[left], second[right]
        targets = np.where((a != DEAD) & (b != DEAD), a * width + b, kind(DEAD))
        rows.append(targets)
        frontier = numbers.new(targets)
        check_in_force(STAGE)
        numbers.add(frontier)
        levels.append(frontier)
        if check is not None:
            check(numbers.count)
    # Each level is let go of when its pairs have become numbers.
    table, low = np.empty((sum(map(len, rows)), *dead.shape[1:]), dtype=np.int32), 0
    rows.reverse()
    while rows:
        targets = rows.pop()
        table[low : low + len(targets)] = numbers.of(targets)
        low += len(targets)
        if check is not None:
            check(numbers.count)
    return np.concatenate(levels).astype(np.int64), table


class PairNumbers:
    """Pairs of states, numbered in the order in which they are added.

    ``size``: how many pairs there can be. ``count``: how many have been added.
    """

    def __init__(self, size: int) -> None:
        self.count, self._size = 0, size
        # Numbers plus 1: the pages of what is never met are never made.
        self._places = np.zeros(size if size <= _MAX_DENSE_PAIRS else 0, dtype=np.int32)
        # Else sorted runs, each more than twice as long as the next.
        self._runs: list[tuple[NDArray[np.integer], NDArray[np.int32]]] = []

    def add(self, pairs: NDArray[np.integer]) -> None:
        """Number some new pairs in their order."""
        if not len(pairs):
            return
        numbers = np.arange(self.count + 1, self.count + 1 + len(pairs), dtype=np.int32)
        self.count += len(pairs)
        if len(self._places):
            self._places[pairs] = numbers
            return
        while self._runs and len(self._runs[-1][0]) <= 2 * len(pairs):
            before, known = self._runs.pop()
            pairs, numbers = np.concatenate([before, pairs]), np.concatenate([known, numbers])
        order = np.argsort(pairs, kind="stable")
        self._runs.append((pairs[order], numbers[order]))

    def new(self, targets: NDArray[np.integer]) -> NDArray[np.integer]:
        """The pairs of ``targets`` that have no number yet, ascending, each once."""
        targets = targets.reshape(-1)
        if _SPARSE * len(targets) < self._size or not len(self._places):
            found: NDArray[np.integer] = distinct(targets)
            fresh: NDArray[np.integer] = found[self._places_of(found) == 0]
            return fresh
        is_met = np.zeros(self._size, dtype=np.bool_)
        is_met[targets] = True
        return np.flatnonzero(is_met & (self._places == 0)).astype(targets.dtype)

    def of(self, targets: NDArray[np.integer]) -> NDArray[np.int32]:
        """The number of each pair, -1 for none."""
        found = self._places_of(targets)
        return np.subtract(found, 1, out=found)

    def _places_of(self, pairs: NDArray[np.integer]) -> NDArray[np.int32]:
        if len(self._places):
            found: NDArray[np.int32] = self._places[pairs]
            return found
        found = np.zeros(pairs.shape, dtype=np.int32)
        for known, numbers in self._runs:
            place = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
            np.copyto(found, numbers[place], where=known[place] == pairs)
        return found
