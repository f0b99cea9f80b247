"""Precomputed rows: the live tokens of a network's threads, found by entry, state and suffix.

A row is a procedure summary, as in ``artifacts/walk/summaries.py``. What a walk down the stacks
adds at one frame depends on the frame, on the *entry* (the pre-tokenizer state, and the trie nodes
that tokens have come to), on the context of the stacks below (``Contexts``), and rarely on some
frames below. So a summary is found by its entry, its state and a *suffix* of the stacks, which is
the frames on top and then a context, and holds for all stacks that agree there. No stack is looked
at below.

For lists of numbers: after ``[1`` the tokens that go on inside the number need the context of the
list alone; a token ``]]`` ends the call, so that its trie nodes are an entry of the frame below.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays
from ..network.configurations import Stacks
from ..network.tables import DEAD
from ..tokens.memo import ENTRY_BYTES, bottom_up
from ..tokens.tokenset import Words
from ..tokens.trie import ranges
from ..walk.results import Results, pair_at

# In place of a row: the next frame decides.
DEEPER = -1
# The frame of a suffix of which nothing but the context is known; the context of no stack.
UNKNOWN, TEXT_END = -1, 0

# In place of a row: there is no summary, or no frame decides.
_ABSENT, _UNDECIDED = -2, -3

# Frames that have been looked at, the uppermost first; the set of stacks below; its context.
_Below: TypeAlias = tuple[tuple[int, ...], int, int]


@dataclass(eq=False)
class PrecomputedRows:
    """``states``: S, of the network. ``pre_states``: Q, of the pre-tokenizer DFA. ``arrays``: the
    sections ``closed.*``:

    ``keys``: int64 (A,), ascending, (entry · S + state) · U + suffix. ``answers``: int32 (A, 2),
    the row or ``DEEPER``, and the set of entries at which the walk goes on at the frame below.
    Entries below planes · Q are plane · Q + pre-tokenizer state, where a token begins.
    ``suffixes``: int32 (U, 2), (frame, suffix below), (``UNKNOWN``, context), and first the empty
    stack. ``contexts``: int32 (n, 3), frame, context and that of the call above. ``rows``: uint32
    (R, W); from R on rows are lists of ids. ``all``: uint8 (2,), whether a thread without summaries
    has no tokens, and whether no row is left to ``LazyRows``.
    """

    arrays: Arrays
    states: int
    pre_states: int
    _contexts_of: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> "ListedRows":
        """The rows, by their numbers plus 1."""
        packed, ids, offsets = (self.arrays[f"closed.{n}"] for n in ("rows", "ids", "id_offsets"))
        return ListedRows(packed, ids, offsets)

    @property
    def nbytes(self) -> int:
        """About the size of what is cached of sets of stacks."""
        return ENTRY_BYTES * len(self._contexts_of)

    def following(self) -> "PrecomputedRows":
        """The same for other sets of stacks."""
        found = copy(self)
        found._contexts_of = {}
        return found

    def find(
        self, stacks: Stacks, state: int, pre_state: int, node: int, plane: int
    ) -> set[int] | None:
        """Which of ``rows`` a thread's row is the union of; None if part of it is not here."""
        found: set[int] = set()
        if state == DEAD:
            return found
        waiting = [(plane * self.pre_states + pre_state, state, node)]
        seen = set(waiting)
        for entry, at, below in waiting:
            suspended, first = 0, (entry * self.states + at) * self._width
            contexts = self._contexts_of.get(below) or self._contexts(stacks, below)
            alone = self._alone(first, contexts[0]) if len(contexts) == 1 else None
            for number, left in (
                self._summaries(stacks, first, below) if alone is None else (alone,)
            ):
                if number == _ABSENT and self._has_all:
                    continue
                if number < 0:
                    return None
                found.add(number + 1)
                suspended = left
            for left in self._entry_sets[suspended]:
                for frame, lower in stacks.entries[below]:
                    more = left, frame, lower
                    if frame != DEAD and more not in seen:
                        seen.add(more)
                        waiting.append(more)
        return found

    def _alone(self, first: int, context: int) -> tuple[int, int] | None:
        """The summary for all stacks of a context, where no frame has to be looked at; the keys of
        its entry and state begin at ``first``."""
        ground = self._ground.get(context)
        found = None if ground is None else self._results.get(first + ground)
        return None if found is None or found[0] == DEEPER else found

    def _summaries(self, stacks: Stacks, first: int, node: int) -> Iterator[tuple[int, int]]:
        """The summaries for all stacks of ``node``; row ``_ABSENT`` for one that is not here,
        ``_UNDECIDED`` where no frame that is here decides."""
        waiting: list[_Below] = [((), node, context) for context in self._contexts(stacks, node)]
        for frames, below, context in waiting:
            found = self._found(first, self._suffix(frames, self._ground.get(context, -1)))
            if found is None or found[0] != DEEPER:
                yield found or (_UNDECIDED if frames else _ABSENT, 0)
                continue
            for frame, lower in stacks.entries[below]:
                if frame == DEAD:
                    if context == TEXT_END:
                        found = self._found(first, self._suffix(frames, 0))
                        yield (_UNDECIDED, 0) if found is None or found[0] < 0 else found
                    continue
                for deeper in self._contexts(stacks, lower):
                    if self._pushed.get((frame, deeper)) == context:
                        waiting.append(((*frames, frame), lower, deeper))

    def _contexts(self, stacks: Stacks, node: int) -> tuple[int, ...]:
        """The contexts of all stacks of a set, -1 for one that is not here; by a stack of its own:
        sets are as deep as stacks."""
        cached = self._contexts_of
        for current in bottom_up([node], stacks.below, cached):
            found = {
                self._pushed.get((frame, context), -1) if frame != DEAD else TEXT_END
                for frame, lower in stacks.entries[current]
                for context in (cached[lower] if frame != DEAD else (TEXT_END,))
            }
            cached[current] = tuple(sorted(found))
        return cached[node]

    def _suffix(self, frames: tuple[int, ...], ground: int) -> int:
        """The suffix with ``frames`` on top, the uppermost first; -1 if there is none."""
        for frame in reversed(frames):
            ground = self._above.get((frame, ground), -1)
        return ground

    def _found(self, first: int, suffix: int) -> tuple[int, int] | None:
        """The summary of a suffix, the keys of whose entry and state begin at ``first``."""
        return self._results.get(first + suffix) if suffix >= 0 else None

    @cached_property
    def _width(self) -> int:
        return len(self.arrays["closed.suffixes"])

    @property
    def is_complete(self) -> bool:
        """Whether no row is left to ``LazyRows``."""
        return bool(self.arrays["closed.all"][1])

    @cached_property
    def _has_all(self) -> bool:
        return bool(self.arrays["closed.all"][0])

    @cached_property
    def _results(self) -> Results[tuple[int, int]]:
        return Results(self.arrays["closed.keys"], pair_at(self.arrays["closed.answers"]))

    @cached_property
    def _entry_sets(self) -> list[list[int]]:
        entries: list[int] = self.arrays["closed.pending"].tolist()
        ends = self.arrays["closed.pending_offsets"].tolist()
        return [entries[low:high] for low, high in pairwise(ends)]

    @cached_property
    def _pushed(self) -> dict[tuple[int, int], int]:
        found: list[tuple[int, int, int]] = self.arrays["closed.contexts"].tolist()
        return {(frame, context): above for frame, context, above in found}

    @cached_property
    def _ground(self) -> dict[int, int]:
        """By context the suffix of which nothing else is cached."""
        return {
            below: number for number, (frame, below) in enumerate(self._suffixes) if frame < DEAD
        }

    @cached_property
    def _above(self) -> dict[tuple[int, int], int]:
        return {
            (frame, below): number
            for number, (frame, below) in enumerate(self._suffixes)
            if frame > DEAD
        }

    @cached_property
    def _suffixes(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = self.arrays["closed.suffixes"].tolist()
        return found


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows ``packed``, uint32 (R, W), and after them those of which the ids are listed; row 0 is
    empty."""

    packed: NDArray[np.uint32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of rows, with the empty one."""
        return len(self.packed) + len(self.offsets)

    def row(self, number: int, vocab_size: int) -> Words:
        """A row, uint32 (W,), read-only."""
        row: Words
        if 0 < number <= len(self.packed):
            row = self.packed[number - 1]
        else:
            row = self.rows(slice(number, number + 1), vocab_size)[0]
        return row

    def rows(self, numbers: slice, vocab_size: int) -> NDArray[np.uint32]:
        """Some rows, uint32 (n, W), read-only."""
        which = np.arange(len(self))[numbers]
        found = np.zeros((len(which), self.packed.shape[1]), dtype=np.uint32)
        packed = (which > 0) & (which <= len(self.packed))
        found[packed] = self.packed[which[packed] - 1]
        places = np.flatnonzero(which > len(self.packed))
        lists = which[places] - len(self.packed) - 1
        counts = np.diff(self.offsets)[lists]
        ids = self.ids[ranges(self.offsets[lists], counts)]
        bits = np.uint32(1) << (ids & 31).astype(np.uint32)
        np.bitwise_or.at(found, (places.repeat(counts), ids >> 5), bits)
        found.flags.writeable = False
        return found
