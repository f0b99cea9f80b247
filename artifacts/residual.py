"""The residual automaton of a network: which tokens fit, frame by frame.

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

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .asking import asked
from .errors import ArtifactError
from .network_tables import NetworkTables
from .residual_memo import Nodes, ResidualMemo
from .residual_walk import ResidualWalk
from .tokenset import Words
from .trie import Trie

NOTHING, ROOT = 0, 1

# Bytes of rows, and answers, beyond those given ahead; when there are more, they are worked
# out anew.
_KEPT_BYTES, _KEPT_ANSWERS = 1 << 26, 1 << 20

# So many rows are made views of in a tenth of a millisecond.
_FEW = 1024

_Key = tuple[int, int]
_Answer = tuple[int, int]


class Residual:
    """F for one network and one vocabulary; rows and exit sets are numbered, equal ones once.

    ``trie`` is made when the first answer is missing in ``memo``. Row 0 is empty. ``answers``: F
    by (exit set, state) as (row, exit set), as far as asked.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocab_size: int,
        memo: ResidualMemo | None = None,
    ) -> None:
        self._tables, self._make_trie, self._vocab_size = tables, trie, vocab_size
        self._memo = memo or ResidualMemo.empty(vocab_size)
        self._walk: ResidualWalk | None = None
        # Few rows are made views ahead, which takes longer than to look one up.
        rows = self._memo.rows
        self._given: Sequence[Words] | NDArray[np.uint32] = list(rows) if len(rows) < _FEW else rows
        self._added: list[Words] = []
        self._most_added = _KEPT_BYTES // (4 * tokenset.word_count(vocab_size))
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
        return asked((exits, state), self._found, self._steps)

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

    def memo(self) -> ResidualMemo:
        """All that was found so far, to begin with another time."""
        exit_sets = [self.exit_set(i) for i in range(self._memo.exits + len(self._exits))]
        given = zip(self._memo.keys.tolist(), self._memo.answers.tolist(), strict=True)
        known: dict[_Key, _Answer] = {(e, s): (row, left) for (e, s), (row, left) in given}
        rows = [*self._memo.rows, *self._added]
        unions = {(key[0], key[1]): row for key, row in self._unions.items() if len(key) == 2}
        return ResidualMemo.of(rows, exit_sets, known | self.answers, unions)

    def _whole_walk(self) -> ResidualWalk:
        """The walk, when an answer is missing. Raises ``ArtifactError`` for another memo."""
        if self._walk is None:
            trie = self._make_trie()
            if int(self._memo.exit_nodes.max()) >= len(trie.octets):
                raise ArtifactError("section 'memo.exit_nodes' is damaged: there are no such nodes")
            self._walk = ResidualWalk(self._tables, trie)
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
