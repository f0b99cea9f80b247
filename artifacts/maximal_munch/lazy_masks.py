"""Summaries that were not precomputed, each by a walk of the token trie.

Maximal munch leaves no choice, so each trie node is reached with one state of the lexer, one head
and certain frames above its hole: a *place* of the parser, by its number. The walk of the lexer
asks for the place after each lexeme (``lexer_walk.py``). It stops at nodes where the head needs a
frame out of the hole, which are pending, and where a lexeme begins that is too large for a DFA:

    in "f(x", at the tokens that go on with a name:    the name ends before "+", ")", " +", "(b" …
        after "+"      the lexeme of an expression begins, whatever lies below
        after ")"      pending: what follows is decided by the frames below
"""

from collections.abc import Iterable

import numpy as np

from ..dfa.stacked_dfas import DEAD
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, CacheBudget, Numbered
from ..tokens.sharing import weakly
from ..tokens.tokenset import Words
from ..walk.node_sets import ROOT, Nodes
from ..walk.summary_rows import EMPTY
from .lexer import BETWEEN
from .lexer_reads import LexerReads
from .lexer_walk import ALONE, FIRST_WAIT, Behind, LexerWalk
from .parser_heads import NO_FRAMES, REFUSED, FrameTree
from .summaries import HeadSummaries, Key, Summary

# In place of a state of the lexer where the head needs a frame.
_PENDING = -1

# Suspended nodes, the place there, and the state of the lexer.
_Item = tuple[Nodes, int, int]


class LazyMasks:
    """Computes summaries for a ``HeadSummaries``, one at a time.

    Trie nodes that are read count among those that its walks have visited. ``caches``: for places,
    stacks of frames and ``reads``; when they take more, all are evicted.
    """

    def __init__(
        self,
        summaries: HeadSummaries,
        vocab_size: int,
        caches: CacheBudget | None = None,
        reads: LexerReads | None = None,
    ) -> None:
        self._most_bytes = (caches or CacheBudget()).limit
        self._summaries, self._walks, self._runs = summaries, summaries.walks, summaries.runs
        self._heads, self._lexer = summaries.heads, summaries.lexer
        self._vocab_size = vocab_size
        self._reads = reads or LexerReads()
        self._walk = LexerWalk(self._lexer, self._walks.trie, vocab_size, weakly(self._follow))
        self._forget()

    def _forget(self) -> None:
        self._reads.forget()
        # A place is a complete head with the frames above the hole, or a head that needs a frame.
        self._places = Numbered([(REFUSED, NO_FRAMES)])
        self._behind: dict[tuple[int, int], tuple[int, int]] = {}
        self._frames = FrameTree()
        # Places and states of the lexer at which walks stop.
        self._waiting = Numbered[tuple[int, int]]()

    def compute(self, key: Key) -> Summary:
        """The summary that ``HeadSummaries`` has under a key."""
        entries = 2 * len(self._places) + len(self._behind) + len(self._waiting)
        if ENTRY_BYTES * entries + self._frames.nbytes + self._reads.nbytes > self._most_bytes:
            self._forget()
        row, begun = EMPTY, list[_Item]()
        if len(key) == 2:
            summary, frame = key
            row, waiting = self._summaries.summary(summary)
            for head, number in waiting:
                plugged = self._heads.plug(head, frame)
                begun.append((self._walks.nodes(number), *self._place(plugged, NO_FRAMES)))
        else:
            number, head, state = key
            place, start = self._place(head, NO_FRAMES)
            # subtle: no lexeme has begun where the head is refused (in a damaged file alone one may
            # have) or needs a frame.
            state = start if state == BETWEEN or place == ALONE else state
            begun.append((self._walks.nodes(number), place, state))
        words = self._walks.rows[row].copy()
        found = self._read(begun, words)
        number_of = self._walks.suspended.number
        pending = [(head, number_of(united(parts))) for head, parts in sorted(found.items())]
        return Summary(self._walks.rows.number(words), tuple(pending))

    def inside(self, state: int) -> tuple[Words, list[tuple[int, int]]]:
        """The tokens, uint32 (W,), that end in the lexeme of a state; and by accept set the number
        of the nodes at which it ends."""
        words, suspended = self._walks.rows[EMPTY].copy(), self._walks.suspended
        found = self._walk.walk(self._walks.nodes(ROOT), state, ALONE, words)
        ends = [(waited - FIRST_WAIT, suspended.number(np.sort(nodes))) for waited, nodes in found]
        self._walks.visited += self._walk.visited
        return words, ends

    def behind(self, head: int, accept_set: int, nodes: int) -> int:
        """The summary of suspended nodes at which a lexeme has ended that a head allows."""
        lexemes = self._lexer.accept_sets[accept_set]
        target = self._heads.read(head, lexemes, self._lexer.ignored)
        return self._summaries.at(nodes, self._runs.shortened(target))

    def _read(self, items: list[_Item], words: Words) -> dict[int, list[Nodes]]:
        """Add to ``words`` what is read on from items, to which those after them are added; what
        is pending, by head."""
        pending: dict[int, list[Nodes]] = {}
        for nodes, place, state in items:
            if state == _PENDING:
                pending.setdefault(self._places[place][0], []).append(nodes)
            elif state == DEAD:
                continue
            elif self._reads.reads(state):
                read = self._reads.read(nodes, state)
                if read.row is not None:
                    words |= read.row
                if read.ids:
                    ids = np.array(read.ids, dtype=np.int64)
                    words |= tokenset.from_ids(ids, self._vocab_size)
                for accept_set, ended in read.ends:
                    items.append((ended, *self._after(accept_set, place)))
            else:
                for waited, ended in self._walk.walk(nodes, state, place, words):
                    items.append((ended, *self._waiting[waited - FIRST_WAIT]))
                self._walks.visited += self._walk.visited
        return pending

    def _follow(self, accept_set: int, place: int) -> Behind:
        """What follows a lexeme: the state in which the next one begins, and the place there; or 0
        and what is waited for, if anything is."""
        self._walks.parsed += 1
        place, start = found = self._after(accept_set, place)
        if start == DEAD:
            return 0, 0
        if start == _PENDING or self._reads.reads(start):
            return 0, FIRST_WAIT + self._waiting.number(found)
        return start, place

    def _after(self, accept_set: int, place: int) -> tuple[int, int]:
        """The place after a lexeme, and the state of the lexer there."""
        found = self._behind.get((place, accept_set))
        if found is None:
            head, frames = self._places[place]
            lexemes = self._lexer.accept_sets[accept_set]
            target = self._heads.read(head, lexemes, self._lexer.ignored)
            found = self._behind[place, accept_set] = self._place(target, frames)
        return found

    def _place(self, head: int, frames: int) -> tuple[int, int]:
        """The number of a place, and the state of the lexer there: ``DEAD`` for a refused head,
        ``_PENDING`` for one that needs a frame."""
        head, frames = self._completed(head, frames)
        if head == REFUSED:
            return ALONE, DEAD
        view = self._heads.view(head)
        if view.needs_frame:
            # Heads with the same masks would only make for more summaries.
            head = self._runs.shortened(head)
        number = self._places.number((head, frames))
        return number, _PENDING if view.needs_frame else self._lexer.start(view.allowed)

    def _completed(self, head: int, frames: int) -> tuple[int, int]:
        """The complete and smallest head, and the frames that then lie below it and above the hole;
        or one that needs a frame out of the hole."""
        if head == REFUSED:
            return REFUSED, NO_FRAMES
        while self._heads.view(head).needs_frame:
            if frames == NO_FRAMES:
                return head, NO_FRAMES
            frame, frames = self._frames.entries[frames]
            head = self._heads.plug(head, frame)
        head, split = self._heads.split_off(head)
        return head, self._frames.push(split, frames)


def united(parts: Iterable[Nodes]) -> Nodes:
    """The nodes of all parts, of which no two share one, ascending."""
    found = np.concatenate(list(parts)).astype(np.int32, copy=False)
    found.sort()
    return found
