"""Procedure summaries of a network over the token trie: which tokens fit, frame by frame.

A token can end a call in the middle; the node of the trie that it has come to is then *suspended*,
until the frame below reads on. For a set e of suspended nodes and a state p

    F(e, p) = (row, suspended)

``row``: the tokens below e that end inside p's call, or inside calls that it makes. ``suspended``:
the nodes with children at which p's call may end. F depends on no stack: it is a procedure summary
(Sharir and Pnueli, Two approaches to interprocedural data flow analysis, 1981; Reps, Horwitz and
Sagiv, Precise interprocedural dataflow analysis via graph reachability, 1995). The mask of a stack
p, g1, g2, … is

    row(e0, p) | row(e1, g1) | row(e2, g2) | …     e0 the root, e(i+1) what e(i) leaves suspended

until nothing is suspended. F is computed by memoised recursion: a walk of the trie from e by p's
own edges, and F of each call and its frame where it meets one. What a call leaves suspended lies
strictly deeper in the trie than where it began, so no bound on nesting is needed.

    s ::= '[' s? ']' | 'x';    tokens [, ], x, [[, x]]; frame 4 (``tables``)

    F({root}, 2) = {[, ], x, [[}, {node of "x]"}      "x" is read in the call, "]" behind it
    F({node of "x]"}, 4) = {x]]}, {}
"""

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import NOTHING, Nodes, NodeSets
from ..summaries.rows import EMPTY, RowTable
from ..tokens.memo import ENTRY_BYTES, CacheBudget, solve_recursive
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.watch import Watch, unwatched
from .summary_tables import SummaryTables, key_of, parts_of
from .tables import Reading

if TYPE_CHECKING:
    from .tables import NetworkTables

# How a budget is divided: rows, summaries with the sets that they name, and children of sets.
_ROWS, _SUMMARIES, _CHILDREN = 2, 2, 1

# What a walk costs beside the nodes that it meets, in such nodes; and one that meets few.
_WALK_WORK, _FEW_WORK = 4_000, 500

# From so many nodes on it is asked which of them were begun with before.
_LARGE = 256

_Key = tuple[int, int]
_Summary = tuple[int, int]


class TrieWalk(Protocol):
    """Walks the trie from a set by the own edges of states."""

    @property
    def returns(self) -> Sequence[bool] | NDArray[np.bool_]:
        """Whether the call of each state may end."""

    def walk(
        self, number: int, suspended: Nodes, state: int
    ) -> tuple[Words, list[tuple[int, Nodes]], int]:
        """What tokens come to from set ``number``, whose nodes are ``suspended``: their row; by
        state, ascending, the nodes with children where calls begin or end; how many were met."""

    def inside(self, number: int, suspended: Nodes, state: int) -> tuple[int, ...] | None:
        """As ``FewNodes.inside``: names the row of a walk that meets few nodes, and leaves nothing
        suspended."""

    def row_of(self, met: tuple[int, ...]) -> Words:
        """The tokens of what ``inside`` gave."""

    def merged(self, parts: Sequence[Nodes]) -> Nodes:
        """The nodes of all parts, ascending, each once."""

    def rest(self, nodes: Nodes, others: Nodes) -> Nodes:
        """``TrieIndex.rest``."""

    def flat(self, nodes: Nodes) -> Nodes:
        """A set with all nodes, each by itself."""

    def forget(self) -> None:
        """Drop what is cached by the numbers of sets, which are given again."""


class Summaries:
    """F for one network and one vocabulary, over ``rows`` and ``sets`` of nodes.

    Begins with what is ``precomputed``, and computes the others lazily. ``trie`` is made when the
    first summary is missing. ``results``: F by key (``key_of``) as (row, set). ``caches``: for all
    beside what is precomputed. ``watch``: bounds what is computed; where it ends that, what was
    found so far stays. ``computed``: how many were. ``compact``: sets that are found are so
    (``SummaryWalk``), which those of ``precomputed`` are not.
    """

    def __init__(
        self,
        tables: Reading,
        trie: Callable[[], Trie],
        vocab_size: int,
        precomputed: SummaryTables | None = None,
        caches: CacheBudget | None = None,
        *,
        compact: bool = False,
    ) -> None:
        row_budget, summaries, self._children = (caches or CacheBudget()).divide(
            _ROWS, _SUMMARIES, _CHILDREN
        )
        self.watch: Watch = unwatched
        self._network, self._make_trie, self._vocab_size = tables, trie, vocab_size
        self._given = precomputed or SummaryTables.empty(vocab_size)
        self.computed, self._compact = 0, compact
        self._walk: TrieWalk | None = None
        self._most_bytes = summaries.limit
        self.rows = RowTable(vocab_size, self._given.rows, row_budget.limit)
        self.sets = NodeSets(self._given.nodes, self._given.node_offsets)
        self.results = self._given.results()
        # The rows of walks inside one call, by the nodes that they meet.
        self._inside: dict[tuple[int, ...], int] = {(): EMPTY}

    @property
    def is_full(self) -> bool:
        """Whether a cache limit is passed, so that ``forget`` should be called."""
        size = ENTRY_BYTES * self.results.added + self.sets.nbytes
        return self.rows.is_full or size > self._most_bytes

    @property
    def nbytes(self) -> int:
        """The size that ``tables`` would have."""
        rows = len(self.rows) * self.rows.row_bytes
        return rows + self.sets.table_bytes + len(self.results) * 16

    def forget(self) -> None:
        """Go back to what was precomputed; numbers of other rows and sets are given again."""
        self.rows.forget()
        self.sets.forget()
        self.results.forget()
        self._inside = {(): EMPTY}
        if self._walk is not None:
            self._walk.forget()

    def find(self, suspended: int, state: int) -> _Summary | None:
        """F(suspended, state) if it was precomputed or is cached."""
        return self.results.get(key_of(suspended, state))

    def summary(self, suspended: int, state: int) -> _Summary:
        """F(suspended, state) for a set by its number. Calls nest as deep as tokens are long."""
        found = self.find(suspended, state)
        if found is None:
            found = self._of_few(suspended, state)
        if found is not None:
            return found
        return solve_recursive((suspended, state), self._find_key, self._steps)

    def _find_key(self, key: _Key) -> _Summary | None:
        return self.find(*key)

    def tables(self) -> SummaryTables:
        """All that was found so far, to begin with another time."""
        rows = [self.rows[number] for number in range(len(self.rows))]
        sets = [self.sets[number] for number in range(len(self.sets))]
        if self._walk is not None:
            sets = [self._walk.flat(nodes) for nodes in sets]
        return SummaryTables.of(rows, sets, self.known())

    def known(self) -> dict[_Key, _Summary]:
        """All that was precomputed and found, by set and state."""
        return {parts_of(key): found for key, found in self.results.items()}

    def _whole_walk(self) -> TrieWalk:
        """The walk, when a summary is missing. Raises ``ArtifactError`` where precomputed sets
        name nodes that the trie does not have."""
        if self._walk is None:
            trie = self._make_trie()
            self.sets.check(trie, "memo.exit_nodes")
            self._walk = self._made_walk(trie)
        return self._walk

    def _made_walk(self, trie: Trie) -> TrieWalk:
        # Loaded when it is needed: a file may have all summaries.
        from .summary_walk import SummaryWalk

        tables = cast("NetworkTables", self._network)
        return SummaryWalk(tables, trie, self._vocab_size, self._children, compact=self._compact)

    def _of_few(self, suspended: int, state: int) -> _Summary | None:
        """F where few nodes are met, and no call begins or ends."""
        walk = self._whole_walk()
        met = walk.inside(suspended, self.sets[suspended], state)
        if met is None:
            return None
        self.watch(_FEW_WORK + len(met), 0)
        if met not in self._inside:
            self._inside[met] = self.rows.number(walk.row_of(met))
        return self._found((suspended, state), (self._inside[met], NOTHING))

    def _steps(self, key: _Key) -> Generator[_Key, _Summary, _Summary]:
        """F by the summaries of what is called, which it yields the keys of."""
        suspended, state = key
        if few := self._of_few(suspended, state):
            return few
        walk = self._whole_walk()
        begun = self.sets[suspended]
        row, groups, met = self._read_from(walk, suspended, begun, state)
        self.watch(_WALK_WORK + met, 0)
        parts: set[int] = set()
        pending: list[Nodes] = []
        # subtle: F of a union is the union of Fs. States that make the same call, and calls that
        # return to the same frame, go on together: sets would branch at each call otherwise, to
        # exponentially many where a text can be read in several ways.
        by_call: dict[_Key, list[int]] = {}
        for place, (reached, nodes) in enumerate(groups):
            if walk.returns[reached]:
                pending.append(nodes)
            for call in self._network.calls[reached]:
                by_call.setdefault(call, []).append(place)
        numbers: dict[tuple[int, ...], int] = {}
        left_by_frame: dict[int, list[int]] = {}
        for (start, frame), places in by_call.items():
            number = numbers.get(tuple(places))
            if number is None:
                sets = [groups[place][1] for place in places]
                nodes = sets[0] if len(sets) == 1 else walk.merged(sets)
                number = suspended if nodes is begun else self.sets.number(nodes)
                numbers[tuple(places)] = number
            inside, left = yield number, start
            parts.add(inside)
            if left != NOTHING:
                left_by_frame.setdefault(frame, []).append(left)
        for frame, lefts in left_by_frame.items():
            left = lefts[0]
            if len(different := set(lefts)) > 1:
                left = self.sets.number(walk.merged([self.sets[n] for n in sorted(different)]))
            if frame == state and len(begun) >= _LARGE:
                # subtle: what this state does from the nodes that it begins with is found already.
                left = self.sets.number(walk.rest(self.sets[left], begun))
                if left == NOTHING:
                    continue
            after, still = yield left, frame
            parts.add(after)
            pending.append(self.sets[still])
        self.watch(len(parts) * len(row) + sum(map(len, pending)), 0)
        for part in sorted(parts):
            row |= self.rows[part]
        # A large set is compared with all others; one that is left as it was need not be.
        unchanged = len(pending) == 1 and pending[0] is begun
        if not unchanged:
            suspended = self.sets.number(pending[0] if len(pending) == 1 else walk.merged(pending))
        return self._found(key, (self.rows.number(row), suspended))

    def _read_from(
        self, walk: TrieWalk, number: int, suspended: Nodes, state: int
    ) -> tuple[Words, list[tuple[int, Nodes]], int]:
        """What ``walk`` comes to."""
        return walk.walk(number, suspended, state)

    def _found(self, key: _Key, summary: _Summary) -> _Summary:
        self.results.found[key_of(*key)] = summary
        self.computed += 1
        return summary
