"""The tokens that fit a state over a set of stacks, by the frames that finding them looked at.

    state 7                       ->  row: no token ends the call that state 7 is in
    state 8, frame 3              ->  row: some do, and go on in frame 3
    state 8, frame 5, frame 3     ->  row: "}}" goes on in both

A walk that looked at the frame on top looks at it whatever the frame is. So what was found is a
tree, whose leaves are rows; where a set holds several stacks, it is known by its number.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from ..network.configurations import Entries, Stacks
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .forms import kernel
from .layout import TrieLayout, layout_of

# A row, or what follows by the next frame; sets of several stacks are below 0.
Known: TypeAlias = "Words | dict[int, Known]"


class BoundedStates(Protocol):
    """States with bounds."""

    def within(self, state: int, characters: int) -> int:
        """The state that stands for one, if no text is of more than so many characters."""


class Stored(Protocol):
    """Rows of a file."""

    @property
    def is_full(self) -> bool:
        """Whether more is kept beside them than the budget allows."""

    def forget(self) -> None:
        """Drop what is kept beside them."""

    def row(
        self, state: int, node: int, entries: Sequence[Entries]
    ) -> tuple[Words, set[int]] | None:
        """The row of a state over a set of stacks, and which sets it depends on."""


class RowsByFrames:
    """Rows by one machine's states and sets of stacks; not for several threads at once. ``known``:
    those that were found, by states and then by frames."""

    def __init__(
        self,
        states: BoundedStates,
        stacks: Stacks,
        trie: Callable[[], Trie],
        vocab_size: int,
        budget: CacheBudget,
        longest: int,
        stored: Stored | None = None,
    ) -> None:
        """``longest``: no token has more characters."""
        self._states, self._stacks, self._trie, self._longest = states, stacks, trie, longest
        self._vocab_size, self._most_bytes, self._stored = vocab_size, budget.limit, stored
        self._kernel = kernel()(states, stacks)
        self._layout: TrieLayout | None = None
        self.step = self._kernel.step
        self.forget()

    def forget(self) -> None:
        """Drop what was found."""
        self.known: dict[int, Known] = {}
        self._rows: dict[bytes, Words] = {}
        self._bytes = 0
        if self._stored is not None:
            self._stored.forget()

    @property
    def held_bytes(self) -> int:
        """Bytes of rows, and of what leads to them."""
        return self._bytes

    @property
    def is_full(self) -> bool:
        """Whether there is more than the budget allows."""
        is_full = self._stored is not None and self._stored.is_full
        return is_full or self._bytes > self._most_bytes

    def row(self, state: int, node: int) -> Words:
        """The tokens that a state over a set of stacks reads, uint32 (W,), read-only. Raises
        ``WalkLimitError``, and what making states raises."""
        entries = self._stacks.entries
        known, place = self.known.get(self._key(state)), node
        while known is not None:
            if not isinstance(known, dict):
                return known
            pairs = entries[place]
            if len(pairs) > 1:
                known = known.get(-1 - place)
                continue
            frame, place = pairs[0]
            known = known.get(self._key(frame))
        stored = self._stored and self._stored.row(state, node, entries)
        if stored:
            row, looked_at = stored
            return self._keep(state, node, looked_at, row)
        self._lay_out()
        words = np.zeros(tokenset.word_count(self._vocab_size), dtype=np.uint32)
        looked_at = self._kernel.mask(state, node, words)
        return self._keep(state, node, looked_at, self._shared(words))

    def _lay_out(self) -> None:
        if self._layout is None:
            self._layout = layout_of(self._trie(), self._vocab_size)
            self._kernel.lay_out(self._layout)

    def _key(self, state: int) -> int:
        """What a state is known by: its twin where no token comes to its bounds."""
        return self._states.within(state, self._longest)

    def united(self, rows: Sequence[Words]) -> Words:
        """The tokens of all of some rows, uint32 (W,), read-only."""
        if len(rows) == 1:
            return rows[0]
        words = np.zeros(tokenset.word_count(self._vocab_size), dtype=np.uint32)
        for row in rows:
            words |= row
        return self._shared(words)

    def _shared(self, words: Words) -> Words:
        """A row that was found before, if it is equal."""
        data = words.tobytes()
        row = self._rows.get(data)
        if row is None:
            words.flags.writeable = False
            row = self._rows[data] = words
            self._bytes += 2 * len(data)
        return row

    def _keep(self, state: int, node: int, looked_at: set[int], row: Words) -> Words:
        known, key = self.known, self._key(state)
        while node in looked_at:
            inner = known.setdefault(key, {})
            assert isinstance(inner, dict)
            known = inner
            self._bytes += ENTRY_BYTES
            pairs = self._stacks.entries[node]
            if len(pairs) > 1:
                key = -1 - node
                break
            frame, node = pairs[0]
            key = self._key(frame)
            if not frame:
                break
        known[key] = row
        self._bytes += ENTRY_BYTES
        return row
