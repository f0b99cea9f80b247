"""Runs of one nullable frame on top of each other, shortened to what a single token can observe.

A frame that may return without reading a lexeme is nullable. Nested ``if`` without ``else`` leave
one each, and any number of them may return at once. A token begins at most k lexemes that such a
frame f can begin with, and each f that reads at all reads one of them. So with r = k + 2 (one more
may have begun before the token, one more may be allowed after it) no token can distinguish

    q f f f f f f g …   and   q f f f g …      where r = 3

and both have one mask. Shortened heads are for masks alone; the text goes on with the head as it
is. Without this there would be a head, and so a summary, for each depth of nesting.

Nor can a token distinguish counts that are far from their bounds: each item reads a lexeme, so that
it begins and ends at most as many as it has bytes. Such counts are one count in shortened heads.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..network.counts import UNBOUNDED
from ..network.tables import DEAD
from ..tokens.memo import ENTRY_BYTES, bottom_up, memoised
from ..tokens.trie import ranges
from ..tokens.vocabulary import Vocabulary
from .lexer import LexerTables
from .parser_heads import MARKS, Heads

# So many copies one token can observe, whatever the frame reads.
_FEWEST = 2

# A node of stacks, the frame of the run that is above it (or ``DEAD``), and how long that is.
_Place = tuple[int, int, int]


class NullableFrameRuns:
    """Heads with shortened runs, for one vocabulary."""

    def __init__(self, heads: Heads, lexer: LexerTables, vocabulary: Vocabulary) -> None:
        self._heads, self._lexer, self._vocabulary = heads, lexer, vocabulary
        self._shortened: dict[int, int] = {}
        self._counters = heads.counters

    @property
    def nbytes(self) -> int:
        """About the size of what is cached."""
        return ENTRY_BYTES // 2 * len(self._shortened)

    def shortened(self, head: int) -> int:
        """The head in which no run is longer than ``longest``; it has the same mask."""
        cached = self._shortened.get(head)
        if cached is None:
            cached = self._shortened[head] = self._mapped(head, extended=False)
        return cached

    def lengthened(self, head: int) -> int:
        """The shortened head with one frame more in each run that is as long as ``longest``."""
        return self._mapped(head, extended=True)

    @cached_property
    def most_items(self) -> int:
        """No token begins or ends more items of a counter, with one before it and one after."""
        return int(self._vocabulary.lengths.max(initial=0)) + 2

    def usual(self, frame: int) -> int:
        """The frame that is in place of a counter's frame in shortened heads, and below them."""
        counters = self._counters
        if counters is None or not counters.is_count(frame):
            return frame
        counter, begun = counters.split(frame)
        _, least, most, _ = counters.rows[counter]
        far = self.most_items
        if begun < least - far and (most == UNBOUNDED or begun < most - far):
            return counters.frame(counter, 1)
        if least < begun < most - far:
            return counters.frame(counter, least)
        return frame

    @memoised
    def longest(self, frame: int) -> int:
        """r: how many copies of a frame one token can observe; 0 if the frame is not nullable."""
        return self._most(frame) + _FEWEST if self._heads.is_nullable(frame) else 0

    def _mapped(self, head: int, *, extended: bool) -> int:
        """Each stack of a head from the top down, without the frames beyond ``longest``."""
        heads, stacks = self._heads, self._heads.stacks
        images: dict[_Place, int] = {}
        # Of each place the frames on top, how many copies of each stay, and the place below.
        parts_of: dict[_Place, list[tuple[int, int, _Place]]] = {}

        def below(place: _Place) -> list[_Place]:
            node, frame, count = place
            parts = parts_of[place] = []
            for entry, rest in stacks.entries[node]:
                if entry in MARKS:
                    continue
                top = self.usual(entry)
                length = count + 1 if top == frame else 1
                # One is never too many, and the most are counted by the whole vocabulary.
                longest = self.longest(top) if length > 1 else _FEWEST * heads.is_nullable(top)
                if not longest:
                    parts.append((top, 1, (rest, DEAD, 0)))
                elif length > longest:
                    parts.append((top, 0, (rest, top, longest)))
                else:
                    times = 1 + (extended and length == longest)
                    parts.append((top, times, (rest, top, length)))
            return [place for _, _, place in parts]

        begun = [(node, DEAD, 0) for _, node in heads.threads[head]]
        for place in bottom_up(begun, below, images):
            entries = stacks.entries[place[0]]
            found = [stacks.push(*entry) for entry in entries if entry[0] in MARKS]
            for top, times, rest in parts_of[place]:
                image = images[rest]
                for _ in range(times):
                    image = stacks.push(top, image)
                found.append(image)
            images[place] = stacks.joined(found)
        return heads.head_of((state, images[node, DEAD, 0]) for state, node in heads.threads[head])

    def _most(self, frame: int) -> int:
        """k: the most lexemes in FIRST of a frame that one token can begin.

        They begin at different bytes, each as far from the next as the shortest is long.
        """
        dfas = self._lexer.dfas
        starts = dfas.starts[sorted(self._heads.first_lexemes(frame))]
        if not len(starts):
            return 0
        octets = (dfas.table[starts] != DEAD).any(axis=0)[dfas.columns[:256]]
        length = min(_shortest(dfas.table, dfas.accepting, int(start)) for start in starts)
        vocabulary, most = self._vocabulary, 0
        # The longest tokens first, of which there are few.
        least = int(vocabulary.lengths.max(initial=0)) + 1
        while least > 1 and most * length < least - 1:
            longer, least = least, (least + 1) // 2
            which = np.flatnonzero((vocabulary.lengths >= least) & (vocabulary.lengths < longer))
            if len(which):
                lengths = vocabulary.lengths[which]
                read = octets.take(vocabulary.data[ranges(vocabulary.offsets[which], lengths)])
                begun = np.add.reduceat(read, lengths.cumsum() - lengths, dtype=np.int32)
                most = max(most, int(np.minimum(begun, (lengths + length - 1) // length).max()))
        return most


def _shortest(table: NDArray[np.int32], accepting: NDArray[np.uint8], start: int) -> int:
    """The length of the shortest text that leads from a state to an accepting one.

    Raises ``ArtifactError`` if there is none.
    """
    states = [start]
    length = 0
    while not accepting[states].any():
        if length == len(table):
            raise ArtifactError("section 'lexer.accepting' is damaged: a lexeme never ends")
        states = sorted(set(table[states].ravel().tolist()) - {DEAD})
        length += 1
    return length
