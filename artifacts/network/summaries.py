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

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, CacheBudget, solve_recursive
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.watch import Watch, unwatched
from .summary_tables import Nodes, SummaryTables
from .tables import NetworkTables

if TYPE_CHECKING:
    from .summary_walk import SummaryWalk

# The numbers of the empty row and set, and of the set that holds the root.
NOTHING, ROOT = 0, 1

# How a budget is divided: rows, summaries with the sets that they name, and children of sets.
_ROWS, _SUMMARIES, _CHILDREN = 2, 2, 1

# What a walk costs beside the nodes that it meets, in such nodes.
_WALK_WORK = 4_000

# So many rows are made views of in a tenth of a millisecond.
_FEW = 1024

_Key = tuple[int, int]
_Summary = tuple[int, int]


class Summaries:
    """F for one network and one vocabulary; rows and sets of nodes are interned as numbers.

    Begins with what is ``precomputed``, and computes the others lazily. ``trie`` is made when the
    first summary is missing. Row 0 is empty. ``cached``: F by (set, state) as (row, set), as far
    as it was looked up or computed. ``caches``: for all beside what is precomputed. ``watch``:
    bounds what is computed; where it ends that, what was found so far stays.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocab_size: int,
        precomputed: SummaryTables | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        row_budget, summaries, self._children = (caches or CacheBudget()).divide(
            _ROWS, _SUMMARIES, _CHILDREN
        )
        self.watch: Watch = unwatched
        self._network, self._make_trie, self._vocab_size = tables, trie, vocab_size
        self._precomputed = precomputed or SummaryTables.empty(vocab_size)
        # How many were computed.
        self.computed = 0
        self._walk: SummaryWalk | None = None
        # Few rows are made views at once, which takes longer than to look one up.
        rows = self._precomputed.rows
        self._first_rows: Sequence[Words] | NDArray[np.uint32] = (
            list(rows) if len(rows) < _FEW else rows
        )
        self._added: list[Words] = []
        # A row may have its bytes as a key beside it.
        self._most_added = row_budget.limit // (8 * tokenset.word_count(vocab_size))
        self._most_bytes = summaries.limit
        # Rows that the owner adds, by what they are.
        self._constant: dict[int, int] = {}
        self.cached: dict[_Key, _Summary] = self._precomputed.as_dict()
        self._sets: list[Nodes] = []
        self._added_nodes = 0
        self._unions: dict[tuple[int, ...], int] = {}
        # By content; what is precomputed is added when the first new one is numbered.
        self._row_numbers: dict[bytes, int] = {}
        self._set_numbers: dict[bytes, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether a cache limit is passed, so that ``forget`` should be called."""
        entries = len(self.cached) + len(self._unions) + len(self._sets)
        size = ENTRY_BYTES * entries + 8 * self._added_nodes
        return len(self._added) > self._most_added or size > self._most_bytes

    @property
    def nbytes(self) -> int:
        """The size that ``tables`` would have."""
        given = self._precomputed
        nodes = given.nodes.nbytes + given.node_offsets.nbytes
        nodes += 4 * self._added_nodes + 8 * len(self._sets)
        row_bytes = 4 * tokenset.word_count(self._vocab_size)
        return len(self) * row_bytes + nodes + len(self.cached) * 16

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._precomputed.rows) + len(self._added)

    def row(self, number: int) -> Words:
        """A row, uint32 (W,), read-only."""
        first = len(self._first_rows)
        row: Words = self._first_rows[number] if number < first else self._added[number - first]
        return row

    def forget(self) -> None:
        """Go back to what was precomputed; numbers of other rows and sets are given again."""
        self._added.clear()
        self._sets.clear()
        if self._walk is not None:
            self._walk.forget()
        self._added_nodes = 0
        self.cached = self._precomputed.as_dict()
        self._unions.clear()
        self._row_numbers.clear()
        self._set_numbers.clear()
        self._constant.clear()

    def find(self, suspended: int, state: int) -> _Summary | None:
        """F(suspended, state) if it was precomputed or is cached."""
        found = self.cached.get((suspended, state))
        if found is None:
            found = self._precomputed.find(suspended, state)
            if found is not None:
                self.cached[suspended, state] = found
        return found

    def summary(self, suspended: int, state: int) -> _Summary:
        """F(suspended, state) for a set by its number. Calls nest as deep as tokens are long."""
        found = self.cached.get((suspended, state)) or self.find(suspended, state)
        if found is not None:
            return found
        return solve_recursive((suspended, state), self._find_key, self._steps)

    def _find_key(self, key: _Key) -> _Summary | None:
        return self.find(*key)

    def union(self, numbers: Iterable[int]) -> int:
        """A row that holds all of these. It is not compared with the others, which takes as long
        as to read it several times."""
        key = tuple(sorted({NOTHING, *numbers}))[1:]
        if len(key) < 2:
            return key[0] if key else NOTHING
        number = self._unions.get(key)
        if number is None:
            whole = self.row(key[0]) | self.row(key[1])
            for other in key[2:]:
                whole |= self.row(other)
            number = self._unions[key] = self.add(whole)
        return number

    def add(self, row: Words) -> int:
        """A number for a row that is not compared with the others."""
        row.flags.writeable = False
        self._added.append(row)
        return len(self) - 1

    def constant(self, key: int, row: Words) -> int:
        """The number of a row that is always the same for a key."""
        number = self._constant.get(key)
        if number is None:
            number = self._constant[key] = self.add(row)
        return number

    def row_number(self, row: Words) -> int:
        """The number of a row."""
        if not self._row_numbers:
            self._row_numbers = {self.row(i).tobytes(): i for i in range(len(self))}
        key = row.tobytes()
        number = self._row_numbers.get(key)
        if number is None:
            number = self._row_numbers[key] = self.add(row)
        return number

    def nodes_of(self, number: int) -> Nodes:
        """The nodes of a set, int32, ascending."""
        first = self._precomputed.sets
        return self._precomputed.nodes_of(number) if number < first else self._sets[number - first]

    def tables(self) -> SummaryTables:
        """All that was found so far, to begin with another time."""
        given = self._precomputed
        sets = [self.nodes_of(i) for i in range(given.sets + len(self._sets))]
        pairs = zip(given.keys.tolist(), given.summaries.tolist(), strict=True)
        first: dict[_Key, _Summary] = {(e, p): (row, left) for (e, p), (row, left) in pairs}
        return SummaryTables.of([*given.rows, *self._added], sets, first | self.cached)

    def _whole_walk(self) -> "SummaryWalk":
        """The walk, when a summary is missing. Raises ``ArtifactError`` where precomputed sets
        name nodes that the trie does not have."""
        if self._walk is None:
            # Loaded when it is needed: a file may have all summaries.
            from .summary_walk import SummaryWalk

            trie = self._make_trie()
            # As an unsigned number one below zero is larger than all others.
            if int(self._precomputed.nodes.view(np.uint32).max()) >= len(trie.octets):
                raise ArtifactError("section 'memo.exit_nodes' is damaged: there are no such nodes")
            self._walk = SummaryWalk(self._network, trie, self._vocab_size, self._children)
        return self._walk

    def _steps(self, key: _Key) -> Generator[_Key, _Summary, _Summary]:
        """F by the summaries of what is called, which it yields the keys of."""
        suspended, state = key
        walk = self._whole_walk()
        begun = self.nodes_of(suspended)
        row, groups, met = walk.walk(suspended, begun, state)
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
                number = suspended if nodes is begun else self._set_number(nodes)
                numbers[tuple(places)] = number
            inside, left = yield number, start
            parts.add(inside)
            if left != NOTHING:
                left_by_frame.setdefault(frame, []).append(left)
        for frame, lefts in left_by_frame.items():
            left = lefts[0]
            if len(different := set(lefts)) > 1:
                left = self._set_number(walk.merged([self.nodes_of(n) for n in sorted(different)]))
            after, still = yield left, frame
            parts.add(after)
            pending.append(self.nodes_of(still))
        self.watch(len(parts) * len(row) + sum(map(len, pending)), 0)
        for part in sorted(parts):
            row |= self.row(part)
        # A large set is compared with all others; one that is left as it was need not be.
        unchanged = len(pending) == 1 and pending[0] is begun
        if not unchanged:
            suspended = self._set_number(pending[0] if len(pending) == 1 else walk.merged(pending))
        summary = self.row_number(row), suspended
        self.cached[key] = summary
        self.computed += 1
        return summary

    def _set_number(self, nodes: Nodes) -> int:
        if not self._set_numbers:
            first = range(self._precomputed.sets)
            self._set_numbers = {self.nodes_of(i).tobytes(): i for i in first}
        key = nodes.tobytes()
        number = self._set_numbers.get(key)
        if number is None:
            number = self._set_numbers[key] = self._precomputed.sets + len(self._sets)
            self._sets.append(nodes)
            self._added_nodes += len(nodes)
        return number
