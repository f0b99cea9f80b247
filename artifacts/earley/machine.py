"""The machine that a matcher steps over Earley's recogniser; trie walks make the mask rows.

Two columns that hold the same items allow the same continuations, wherever they stand (observations
1 and 2 of "Implementing a Constrained Decoding Engine", "Cache Possible Tokens"). So a column is
given a *name*: an integer for its items, each with the name of its start column in place of the
position. Names are the states of the machine, and a row is computed once for each:

    "[1,1" and "[1,1,1"  ->  equal items over start columns of equal names  ->  one name, one row

A name takes one look at the column's own items. The source shifts a column's positions to the front
instead, which takes a look at all columns below.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.interning import FEWEST_BYTES, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from ..tokens.watch import Watch, unwatched
from .recogniser import Earley

# Bytes of an item of a name, a tuple of four integers. Of the budget so many parts go to rows and
# to names.
_ITEM_BYTES = 160
_ROWS, _NAMES = 1, 3

# In place of the name of an item's start column where that is its own column.
_ITSELF = -1

# The symbol of token terminal 0; those below are bytes.
FIRST_TERMINAL = 256


@dataclass(slots=True, eq=False)
class EarleyMemo:
    """What all texts of one grammar share: names by content, rows by name, and for each name its
    ``witness``, the name and the token that it was first reached from. Rows are evicted; names are
    interned, and when they are ``most_bytes`` texts go on with an empty memo. ``lock``: held while
    a name is given."""

    rows: BoundedCache[int, Words]
    most_bytes: int
    lock: Lock = field(default_factory=RLock)
    names: dict[tuple[tuple[int, ...], ...], int] = field(default_factory=dict)
    witness: dict[int, tuple[int, int]] = field(default_factory=dict)
    name_bytes: int = 0

    @classmethod
    def of(cls, caches: CacheBudget, lock: Lock | None = None) -> "EarleyMemo":
        """An empty memo that spends a budget."""
        rows, names = caches.divide(_ROWS, _NAMES)
        most = max(names.limit, FEWEST_BYTES)
        return cls(rows.cache(), most, RLock() if lock is None else lock)

    @property
    def is_full(self) -> bool:
        """Whether texts should go on with another one."""
        return self.name_bytes > self.most_bytes

    def name(self, key: tuple[tuple[int, ...], ...]) -> int:
        """The name of a column's content."""
        number = self.names.get(key)
        if number is None:
            with self.lock:
                # Another thread may have given it.
                number = self.names.get(key)
                if number is None:
                    number = self.names[key] = len(self.names)
                    self.name_bytes += 2 * ENTRY_BYTES + _ITEM_BYTES * len(key)
        return number


class EarleyMasks:
    """Steps tokens and makes mask rows. States are names of columns.

    The recogniser holds one text: going to a state of that text truncates it, going to another one
    reads its witnesses again. So it serves one matcher. ``terminals``: the ids of each token
    terminal, ascending; a token may be in several.
    """

    def __init__(
        self,
        earley: Earley,
        trie: Trie,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        terminals: Sequence[NDArray[np.int32]] = (),
        memo: EarleyMemo | None = None,
    ) -> None:
        self._earley = earley
        self._vocabulary, self._trie = vocabulary, trie
        self._eos, self._vocab_size = tuple(eos), vocab_size
        self._terminals = [tokenset.from_ids(ids, vocab_size) for ids in terminals]
        self._memo = memo or EarleyMemo.of(CacheBudget())
        self._column_names: list[int] = []
        self._start = self._name()
        # The states of this text and the columns that they are the names of.
        self._trail: list[tuple[int, int]] = [(self._start, 0)]
        self.visited = 0

    @property
    def start(self) -> int:
        """Nothing is read."""
        return self._start

    @property
    def is_full(self) -> bool:
        """Whether the memo is."""
        return self._memo.is_full

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._keep(self._start, row)

    def first_row(self, watch: Watch) -> Words:
        """The mask before any token; ``watch`` bounds what that takes."""
        self._go_to(self._start)
        return self._walked(watch)

    @contextmanager
    def reading_again(self) -> Iterator[None]:
        """Inside it a matcher reads the tokens that it has taken; the names do not count."""
        memo = self._memo
        with memo.lock:
            before = memo.name_bytes
            yield
            memo.most_bytes += 2 * (memo.name_bytes - before)

    @property
    def read(self) -> int:
        """How many symbols the recogniser holds."""
        return len(self._earley)

    @property
    def nbytes(self) -> int:
        """The size of the columns."""
        return self._earley.nbytes

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token, by reading it; None if it does not fit."""
        row = self._memo.rows.get(state)
        if row is not None and not tokenset.contains(row, token_id):
            return None
        self._go_to(state)
        if not self._read(token_id):
            return None
        target = self._name()
        self._trail.append((target, len(self._earley)))
        if target != self._start:
            self._memo.witness.setdefault(target, (state, token_id))
        return target

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the row of ``state`` holds."""
        target = self.take(state, token_id)
        assert target is not None
        return target

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        self._go_to(state)
        return self._earley.is_accepting

    def row(self, state: int) -> Words:
        """The allowed tokens, uint32 (W,), read-only; a miss takes time linear in the part of the
        trie that can be read."""
        row = self._memo.rows.get(state)
        if row is None:
            self._go_to(state)
            row = self._walked()
            self._keep(state, row)
        return row

    def prewarm(self, rows: int) -> int:
        """Compute and cache at most ``rows`` rows, breadth-first over the bytes that may follow.

        Returns how many names were found. The text that was read is dropped.
        """
        self._go_to(self._start)
        seen = {self._start}
        pending = [b""]
        for text in pending:
            self._truncate(0)
            self._earley.feed(text)
            self._keep(self._name(), self._walked())
            options = self._earley.next_symbols()
            for octet in _bits(options & ((1 << 256) - 1)):
                if len(seen) >= rows:
                    break
                self._earley.push(octet)
                if self._name() not in seen:
                    seen.add(self._name())
                    pending.append(text + bytes([octet]))
                self._truncate(len(text))
        self._truncate(0)
        return len(seen)

    def _keep(self, state: int, row: Words) -> None:
        self._memo.rows.keep(state, row, row.nbytes + ENTRY_BYTES)

    def _go_to(self, state: int) -> None:
        """Make a state the one that the recogniser is in."""
        if self._trail[-1][0] == state:
            return
        for place in range(len(self._trail) - 1, -1, -1):
            if self._trail[place][0] == state:
                del self._trail[place + 1 :]
                self._truncate(self._trail[-1][1])
                return
        path = []
        reached = state
        while reached != self._start:
            reached, token_id = self._memo.witness[reached]
            path.append(token_id)
        del self._trail[1:]
        self._truncate(0)
        for token_id in reversed(path):
            self._read(token_id)
            self._trail.append((self._name(), len(self._earley)))

    def _truncate(self, length: int) -> None:
        self._earley.truncate(length)
        del self._column_names[length + 1 :]

    def _read(self, token_id: int) -> bool:
        """Read a token as its bytes and as each terminal that holds it. False, and nothing changes,
        if it fits as none."""
        earley, base = self._earley, len(self._earley)
        symbols = [
            FIRST_TERMINAL + number
            for number, ids in enumerate(self._terminals)
            if tokenset.contains(ids, token_id)
        ]
        text = self._vocabulary.token(token_id) if self._vocabulary.is_text(token_id) else b""
        if text and earley.feed(text[:-1]) == len(text) - 1:
            spanning = [(base, symbol) for symbol in symbols]
            if earley.push(text[-1], spanning):
                return True
        earley.truncate(base)
        del self._column_names[base + 1 :]
        return bool(symbols) and earley.push(symbols[0], [(base, s) for s in symbols[1:]])

    def _walked(self, watch: Watch = unwatched) -> Words:
        """Walk the trie depth-first, one column a byte, shared by all tokens below it."""
        earley, (octets, first, held) = self._earley, self._trie.lists
        base = len(earley)
        slots: list[int] = []
        possible = earley.next_symbols()
        # The children that are left at each depth, and the symbols that fit there.
        levels = [(iter(range(first[0], first[1])), possible)]
        while levels:
            children, fitting = levels[-1]
            for child in children:
                if fitting >> octets[child] & 1:
                    earley.push(octets[child])
                    self.visited += 1
                    watch(1, 0)
                    slots.extend(range(held[child], held[child + 1]))
                    inside = range(first[child], first[child + 1])
                    if inside:
                        levels.append((iter(inside), earley.next_symbols()))
                        break
                    earley.truncate(len(earley) - 1)
            else:
                levels.pop()
                if levels:
                    earley.truncate(base + len(levels) - 1)
        found = tokenset.from_ids(self._trie.ids[slots], self._vocab_size)
        for number, ids in enumerate(self._terminals):
            if possible >> FIRST_TERMINAL + number & 1:
                found |= ids
        if earley.is_accepting:
            found |= tokenset.from_ids(self._eos, self._vocab_size)
        found.flags.writeable = False
        return found

    def _name(self) -> int:
        """The name of the last column."""
        memo, names = self._memo, self._column_names
        for column in range(len(names), len(self._earley) + 1):
            items = sorted(
                (dot, state, head, _ITSELF if start == column else names[start])
                for dot, state, head, start in self._earley.items(column)
            )
            key = ((int(self._earley.accepts_at(column)),), *items)
            names.append(memo.name(key))
        return names[-1]


def _bits(value: int) -> list[int]:
    return [i for i in range(value.bit_length()) if value >> i & 1]
