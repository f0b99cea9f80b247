"""Masks by Earley recognition: the token trie is walked, and rows are kept by configuration.

Two columns that hold the same leave the same possible, wherever they stand (observations 1
and 2 of "Implementing a Constrained Decoding Engine", "Cache Possible Tokens"). So a column
is named by its items, each with the *name* of its start column instead of the place; equal
names are one integer, and a row is computed once for each. The name takes one look at the
column's own items. The source shifts a column's places to the front instead, which takes a
look at all columns below.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .earley import Earley
from .errors import ArtifactError
from .tokenset import Words
from .trie import Trie
from .vocabulary import Vocabulary

# Rows kept; at 150,000 tokens a row has 19 kB.
_KEPT_ROWS = 4096

# Names kept; when there are more, all are given anew.
_KEPT_NAMES = 1 << 20

_ITSELF = -1

OFF, LAZY, PREWARM = "off", "lazy", "prewarm"


class EarleyMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    A state is a number of symbols read, so that going back is forgetting the rest; it serves
    one matcher. ``terminals``: the symbol of each token that the grammar names by id.
    ``cache``: whether rows are kept (``lazy``), or not (``off``).
    """

    def __init__(
        self,
        earley: Earley,
        trie: Trie,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        terminals: dict[int, int] | None = None,
        cache: str = LAZY,
    ) -> None:
        self._earley = earley
        self._vocabulary = vocabulary
        self._eos, self._vocab_size = tuple(eos), vocab_size
        self._terminals = terminals or {}
        self._octets: list[int] = trie.octets.tolist()
        self._first: list[int] = trie.first.tolist()
        self._held: list[int] = trie.held.tolist()
        self._ids: NDArray[np.int32] = trie.ids
        self._cached = cache != OFF
        self._names: dict[tuple[tuple[int, ...], ...], int] = {}
        self._column_names: list[int] = []
        self._rows: dict[int, Words] = {}
        self.visited = 0

    @property
    def start(self) -> int:
        """Nothing is read."""
        return 0

    def step(self, state: int, token_id: int) -> int:
        """Read a token. Raises ``ArtifactError`` if it does not fit (an unverified file)."""
        self._back_to(state)
        symbol = self._terminals.get(token_id)
        if symbol is not None and self._earley.push(symbol):
            return len(self._earley)
        text = self._vocabulary.token(token_id) if self._vocabulary.is_text(token_id) else b""
        if not text or self._earley.feed(text) < len(text):
            self._earley.truncate(state)
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return len(self._earley)

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        self._back_to(state)
        return self._earley.is_accepting

    def row(self, state: int) -> Words:
        """The allowed tokens; walked on a miss, in time linear in the live part of the trie."""
        self._back_to(state)
        if not self._cached:
            return self._walked()
        name = self._name()
        row = self._rows.get(name)
        if row is None:
            row = self._walked()
            if len(self._rows) >= _KEPT_ROWS:
                self._rows.pop(next(iter(self._rows)))
            self._rows[name] = row
        return row

    def prewarm(self, rows: int) -> int:
        """Compute rows breadth-first over the bytes that may follow, at most ``rows`` of them.

        Returns how many configurations were found. The text that was read is given up.
        """
        self._back_to(0)
        seen = {self._name()}
        pending = [b""]
        for text in pending:
            self._back_to(0)
            self._earley.feed(text)
            self.row(len(text))
            options = self._earley.next_symbols()
            for octet in _bits(options & ((1 << 256) - 1)):
                if len(seen) >= rows:
                    break
                self._earley.push(octet)
                if self._name() not in seen:
                    seen.add(self._name())
                    pending.append(text + bytes([octet]))
                self._back_to(len(text))
        self._back_to(0)
        return len(seen)

    def _back_to(self, state: int) -> None:
        if state < len(self._earley):
            self._earley.truncate(state)
            del self._column_names[state + 1 :]

    def _walked(self) -> Words:
        """Walk the trie depth-first, one column a byte, shared by all tokens below it."""
        earley, octets, first = self._earley, self._octets, self._first
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
                    slots.extend(range(self._held[child], self._held[child + 1]))
                    inside = range(first[child], first[child + 1])
                    if inside:
                        levels.append((iter(inside), earley.next_symbols()))
                        break
                    earley.truncate(len(earley) - 1)
            else:
                levels.pop()
                if levels:
                    earley.truncate(base + len(levels) - 1)
        ids = self._ids[slots].tolist()
        ids.extend(i for i, symbol in self._terminals.items() if possible >> symbol & 1)
        ids.extend(self._eos if earley.is_accepting else ())
        row = tokenset.from_ids(ids, self._vocab_size)
        row.flags.writeable = False
        return row

    def _name(self) -> int:
        """The integer that stands for what the last column leaves possible."""
        if len(self._names) >= _KEPT_NAMES:
            self._names.clear()
            self._column_names.clear()
            self._rows.clear()
        names = self._column_names
        for column in range(len(names), len(self._earley) + 1):
            items = sorted(
                (dot, state, head, _ITSELF if start == column else names[start])
                for dot, state, head, start in self._earley.items(column)
            )
            key = ((int(self._earley.accepts_at(column)),), *items)
            names.append(self._names.setdefault(key, len(self._names)))
        return names[-1]


def _bits(value: int) -> list[int]:
    return [i for i in range(value.bit_length()) if value >> i & 1]
