"""Walks of the token trie from exit sets, by a network's own edges (``residual.py``).

A large exit set is asked with many states, of which most go on with few bytes. So its children
are laid out by the column of their byte, once, and a walk begins with those whose column its
state goes on by. An exit set may hold a node and another below it; what a walk has met before in
the same state it does not follow again.

The residual automaton of a network: which tokens fit, frame by frame.

An *exit set* is a set of nodes of the token trie: what is left of the tokens that have come
to the end of a call. For an exit set e and a state p

    F(e, p) = (row, pending)

``row``: the tokens that end inside p's call, or inside calls that it makes, when their first
part has come to e. ``pending``: the nodes at which that call ends in the middle of a token,
so that the frame below decides. The mask of a stack p, g1, g2, … is then

    row(e0, p) | row(e1, g1) | row(e2, g2) | …     e0 the root, e_(i+1) = pending(e_i, g_i)

until nothing is pending. F is memoised; it depends on no stack, and a call's exit sets lie
strictly deeper in the trie than the caller's, so that no bound on nesting is needed.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.memo import solve_recursive
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from .summary_tables import Nodes, SummaryTables
from .tables import DEAD, NetworkTables

# Exit sets from so many nodes on have their children laid out. Children that are kept so, over
# all sets; beyond them they are laid out anew.
_LARGE, _KEPT = 256, 1 << 24

# Nodes that are fewer than one in so many are sorted, others are counted off.
_SPARSE = 64


class Walked(NamedTuple):
    """``tokens``: int32, the ids of those that were met, some more than once. ``stopped``: by
    state, ascending, the nodes with children (int32, ascending) where calls begin or end."""

    tokens: NDArray[np.int32]
    stopped: list[tuple[int, Nodes]]


class _Children(NamedTuple):
    """The children of an exit set by column, those of column c from ``starts[c]`` on."""

    nodes: Nodes
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]


class SummaryWalk:
    """Walks one trie by one network."""

    def __init__(self, tables: NetworkTables, trie: Trie) -> None:
        self._trie = trie
        self._table = np.ascontiguousarray(tables.table)
        self._flat = self._table.ravel()
        self._narrow = np.uint16 if len(self._table) <= 1 << 16 else np.int32
        self._columns = tables.classes[trie.octets]
        self._fan_out = np.diff(trie.first)
        self._byte_columns = int(tables.classes.max()) + 1
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        self._children: dict[int, _Children] = {}
        self._kept = 0
        # For each node the walk and the state that it was met in last.
        self._met = np.zeros(len(trie.octets), dtype=np.int64)
        self._walks = 0

    def walk(self, number: int, exits: Nodes, state: int) -> Walked:
        """What tokens come to from exit set ``number``, whose nodes ``exits`` are."""
        trie, width = self._trie, np.int32(self._table.shape[1])
        met: list[Nodes] = []
        stopped: list[tuple[Nodes, NDArray[np.int32]]] = []
        # Nodes that a walk comes to in so many bytes have different nodes above them, and each
        # has one state. So only what was met in fewer bytes can be met again.
        nodes, states = self._first(number, exits, state)
        while len(nodes):
            if len(exits) > 1:
                nodes, states = self._unmet(nodes, states)
            met.append(nodes)
            fan_out = self._fan_out.take(nodes)
            inner = fan_out.nonzero()[0]
            nodes, states, fan_out = nodes.take(inner), states.take(inner), fan_out.take(inner)
            stops = self._stops.take(states)
            if stops.any():
                stopped.append((nodes[stops], states[stops]))
            children = ranges(trie.first.take(nodes), fan_out)
            places = (states * width).repeat(fan_out)
            places += self._columns.take(children)
            targets = self._flat.take(places)
            live = targets.nonzero()[0]
            nodes, states = children.take(live), targets.take(live)
        self._walks += 1
        return Walked(self._tokens(met), self._by_state(exits, state, stopped))

    def forget(self) -> None:
        """The numbers of exit sets begin anew."""
        self._children.clear()
        self._kept = 0

    def merged(self, parts: Sequence[Nodes]) -> Nodes:
        """The nodes of all parts, int32, ascending, each once."""
        if not parts:
            return np.zeros(0, dtype=np.int32)
        nodes = np.concatenate(parts)
        size = len(self._fan_out)
        if len(nodes) * _SPARSE < size:
            nodes.sort()
            return nodes[np.diff(nodes, prepend=-1) > 0]
        flags = np.zeros(size, dtype=np.bool_)
        flags[nodes] = True
        return np.flatnonzero(flags).astype(np.int32)

    def _first(self, number: int, exits: Nodes, state: int) -> tuple[Nodes, NDArray[np.int32]]:
        """The children of an exit set that a state leads to, and the states there."""
        row = self._table[state]
        if len(exits) < _LARGE:
            children = ranges(self._trie.first[exits], self._fan_out[exits])
            targets = row[self._columns[children]]
            alive = targets != DEAD
            return children[alive], targets[alive]
        laid_out = self._children.get(number) or self._laid_out(number, exits)
        row = row[: len(laid_out.counts)]
        live = (row != DEAD) & (laid_out.counts > 0)
        counts = laid_out.counts[live]
        nodes = laid_out.nodes[ranges(laid_out.starts[live], counts)]
        return nodes, np.repeat(row[live], counts)

    def _laid_out(self, number: int, exits: Nodes) -> _Children:
        trie = self._trie
        children = ranges(trie.first[exits], self._fan_out[exits])
        columns = self._columns[children]
        counts = np.bincount(columns, minlength=self._byte_columns)
        order = np.argsort(columns, kind="stable")
        laid_out = _Children(children[order], np.cumsum(counts) - counts, counts)
        if self._kept + len(children) > _KEPT:
            self.forget()
        self._children[number] = laid_out
        self._kept += len(children)
        return laid_out

    def _unmet(self, nodes: Nodes, states: NDArray[np.int32]) -> tuple[Nodes, NDArray[np.int32]]:
        """What was not met before in the same state, which is remembered."""
        meeting = states + self._walks * len(self._table)
        new = self._met[nodes] != meeting
        nodes, states = nodes[new], states[new]
        self._met[nodes] = meeting[new]
        return nodes, states

    def _tokens(self, met: list[Nodes]) -> NDArray[np.int32]:
        trie = self._trie
        nodes = np.concatenate(met) if met else np.zeros(0, dtype=np.int32)
        held = trie.held[nodes]
        found: NDArray[np.int32] = trie.ids[ranges(held, trie.held[nodes + 1] - held)]
        return found

    def _by_state(
        self, exits: Nodes, state: int, stopped: list[tuple[Nodes, NDArray[np.int32]]]
    ) -> list[tuple[int, Nodes]]:
        groups: dict[int, list[Nodes]] = {state: [exits]} if self._stops[state] else {}
        if stopped:
            nodes = np.concatenate([nodes for nodes, _ in stopped])
            states = np.concatenate([states for _, states in stopped])
            # Numpy sorts 16 bits in time linear in their number.
            order = np.argsort(states.astype(self._narrow), kind="stable")
            nodes, states = nodes[order], states[order]
            cuts = (states[1:] != states[:-1]).nonzero()[0] + 1
            heads = states[np.append(0, cuts)].tolist()
            for head, part in zip(heads, np.split(nodes, cuts), strict=True):
                groups.setdefault(head, []).append(part)
        return [
            (head, exits if parts[0] is exits and len(parts) == 1 else self.merged(parts))
            for head, parts in sorted(groups.items())
        ]


NOTHING, ROOT = 0, 1

# Bytes of rows, and answers, beyond those given ahead; when there are more, they are worked
# out anew.
_KEPT_BYTES, _KEPT_ANSWERS = 1 << 26, 1 << 20

# So many rows are made views of in a tenth of a millisecond.
_FEW = 1024

_Key = tuple[int, int]
_Answer = tuple[int, int]


class Summaries:
    """F for one network and one vocabulary; rows and exit sets are numbered, equal ones once.

    ``trie`` is made when the first answer is missing in ``memo``. Row 0 is empty. ``answers``: F
    by (exit set, state) as (row, exit set), as far as asked. ``row_bytes``: of rows beside those
    in ``memo``.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocab_size: int,
        memo: SummaryTables | None = None,
        row_bytes: int = _KEPT_BYTES,
    ) -> None:
        self._tables, self._make_trie, self._vocab_size = tables, trie, vocab_size
        self._memo = memo or SummaryTables.empty(vocab_size)
        self._walk: SummaryWalk | None = None
        # Few rows are made views ahead, which takes longer than to look one up.
        rows = self._memo.rows
        self._given: Sequence[Words] | NDArray[np.uint32] = list(rows) if len(rows) < _FEW else rows
        self._added: list[Words] = []
        self._most_added = row_bytes // (4 * tokenset.word_count(vocab_size))
        self.answers: dict[_Key, _Answer] = self._memo.at_hand()
        self._exits: list[Nodes] = []
        self._added_nodes = 0
        self._unions = self._memo.unions_at_hand()
        # By content; what the memo holds is added when the first new one is numbered.
        self._row_numbers: dict[bytes, int] = {}
        self._exit_numbers: dict[bytes, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether so much was found at run time that it should be forgotten."""
        return len(self._added) > self._most_added or len(self.answers) > _KEPT_ANSWERS

    @property
    def nbytes(self) -> int:
        """About the size that ``memo`` would have."""
        nodes = self._memo.exit_nodes.nbytes + self._added_nodes * 4
        row_bytes = 4 * tokenset.word_count(self._vocab_size)
        return len(self) * row_bytes + nodes + len(self.answers) * 16

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._memo.rows) + len(self._added)

    def row(self, number: int) -> Words:
        """A row, uint32 (W,), read-only."""
        given = len(self._given)
        row: Words = self._given[number] if number < given else self._added[number - given]
        return row

    def forget(self) -> None:
        """Go back to what was given ahead; numbers of rows and exit sets begin anew."""
        self._added.clear()
        self._exits.clear()
        if self._walk is not None:
            self._walk.forget()
        self._added_nodes = 0
        self.answers = self._memo.at_hand()
        self._unions = self._memo.unions_at_hand()
        self._row_numbers.clear()
        self._exit_numbers.clear()

    def find(self, exits: int, state: int) -> _Answer | None:
        """F(exits, state) if it is known."""
        known = self.answers.get((exits, state))
        if known is None:
            known = self._memo.find(exits, state)
            if known is not None:
                self.answers[exits, state] = known
        return known

    def answer(self, exits: int, state: int) -> _Answer:
        """F(exits, state). Calls nest as deep as tokens are long."""
        known = self.answers.get((exits, state)) or self.find(exits, state)
        if known is not None:
            return known
        return solve_recursive((exits, state), self._found, self._steps)

    def _found(self, key: _Key) -> _Answer | None:
        return self.find(*key)

    def union(self, numbers: Iterable[int]) -> int:
        """A row that holds all of these. It is not compared with the others, which takes as long
        as to read it several times."""
        key = tuple(sorted({NOTHING, *numbers}))[1:]
        if len(key) < 2:
            return key[0] if key else NOTHING
        known = self._unions.get(key)
        if known is None:
            whole = self.row(key[0]) | self.row(key[1])
            for number in key[2:]:
                whole |= self.row(number)
            known = self._unions[key] = self.add(whole)
        return known

    def find_union(self, left: int, right: int) -> int | None:
        """``union`` of two, if it is known."""
        if left == right or right == NOTHING:
            return left
        return self._unions.get((left, right) if left < right else (right, left))

    def numbered_union(self, left: int, right: int) -> int:
        """``union``, but equal rows have one number; for the memo."""
        key = (left, right) if left < right else (right, left)
        if left != right and NOTHING not in key and key not in self._unions:
            self._unions[key] = self.row_number(self.row(left) | self.row(right))
        return self.union(key)

    def add(self, row: Words) -> int:
        """A number for a row that is not compared with the others."""
        row.flags.writeable = False
        self._added.append(row)
        return len(self) - 1

    def row_number(self, row: Words) -> int:
        """The number of a row."""
        if not self._row_numbers:
            self._row_numbers = {self.row(i).tobytes(): i for i in range(len(self))}
        key = row.tobytes()
        number = self._row_numbers.get(key)
        if number is None:
            number = self._row_numbers[key] = self.add(row)
        return number

    def exit_set(self, number: int) -> Nodes:
        """The nodes of an exit set, int32, ascending."""
        given = self._memo.exits
        return self._memo.exit_set(number) if number < given else self._exits[number - given]

    def memo(self) -> SummaryTables:
        """All that was found so far, to begin with another time."""
        exit_sets = [self.exit_set(i) for i in range(self._memo.exits + len(self._exits))]
        given = zip(self._memo.keys.tolist(), self._memo.answers.tolist(), strict=True)
        known: dict[_Key, _Answer] = {(e, s): (row, left) for (e, s), (row, left) in given}
        rows = [*self._memo.rows, *self._added]
        unions = {(key[0], key[1]): row for key, row in self._unions.items() if len(key) == 2}
        return SummaryTables.of(rows, exit_sets, known | self.answers, unions)

    def _whole_walk(self) -> SummaryWalk:
        """The walk, when an answer is missing. Raises ``ArtifactError`` for another memo."""
        if self._walk is None:
            trie = self._make_trie()
            if int(self._memo.exit_nodes.max()) >= len(trie.octets):
                raise ArtifactError("section 'memo.exit_nodes' is damaged: there are no such nodes")
            self._walk = SummaryWalk(self._tables, trie)
        return self._walk

    def _steps(self, key: _Key) -> Generator[_Key, _Answer, _Answer]:
        exits, state = key
        walk = self._whole_walk()
        begun = self.exit_set(exits)
        tokens, groups = walk.walk(exits, begun, state)
        row = tokenset.from_ids(tokens, self._vocab_size)
        parts: set[int] = set()
        pending: list[Nodes] = []
        for reached, nodes in groups:
            if self._tables.accepting[reached]:
                pending.append(nodes)
            calls = self._tables.calls[reached]
            number = self._exit_number(nodes) if calls and nodes is not begun else exits
            for start, frame in calls:
                inside, left = yield number, start
                parts.add(inside)
                if left != NOTHING:
                    after, still = yield left, frame
                    parts.add(after)
                    pending.append(self.exit_set(still))
        for part in sorted(parts):
            row |= self.row(part)
        # A large set is compared with all others; one that is left as it was need not be.
        unchanged = len(pending) == 1 and pending[0] is begun
        rest = exits if unchanged else self._exit_number(walk.merged(pending))
        answer = self.row_number(row), rest
        self.answers[exits, state] = answer
        return answer

    def _exit_number(self, nodes: Nodes) -> int:
        if not self._exit_numbers:
            given = range(self._memo.exits)
            self._exit_numbers = {self.exit_set(i).tobytes(): i for i in given}
        key = nodes.tobytes()
        number = self._exit_numbers.get(key)
        if number is None:
            number = self._exit_numbers[key] = self._memo.exits + len(self._exits)
            self._exits.append(nodes)
            self._added_nodes += len(nodes)
        return number
