"""Masks of a grammar read by longest matches: the machine that a matcher steps, and its rows."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from . import tokenset
from .earley_tables import DEAD
from .errors import ArtifactError
from .greedy_memo import GreedyMemo, laid_out, pairs_of
from .greedy_residual import BETWEEN, GreedyResidual
from .greedy_tables import GreedyTables
from .greedy_walk import Walks
from .heads import BELOW_ALL, REFUSED, Heads
from .lexer import NONE, Lexer
from .runs import Runs
from .slices import Slices
from .stacks import Stacks
from .tokenset import Words
from .trie import Trie
from .vocabulary import Vocabulary

# Remembered steps and rows by state; when there are more, they are worked out anew.
_KEPT = 1 << 20

# Different rows; at 150,000 tokens a row has 19 kB.
_KEPT_ROWS = 1 << 14

# The stacks below all frames, and with ``BELOW_ALL`` alone.
_NO_FRAMES, _BOTTOM_ONLY = 0, 1


class GreedyMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    A state is a number for (head, frames below it, state of the lexer). ``trie``: makes the
    token trie where ``memo`` lacks something. ``slices``: make walks shorter.
    """

    def __init__(
        self,
        tables: GreedyTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        slices: Slices | None = None,
        memo: GreedyMemo | None = None,
    ) -> None:
        if memo is None:
            self.heads, self.lexer = Heads(tables.network), Lexer(tables.lexer)
        else:
            stacks = Stacks(pairs_of(memo.stacks, memo.stacks_offsets))
            self.heads = Heads(tables.network, stacks, pairs_of(memo.heads, memo.heads_offsets))
            inner = pairwise(memo.lexer_offsets.tolist())
            self.lexer = Lexer(tables.lexer, [tuple(memo.lexer[a:b].tolist()) for a, b in inner])
        self.runs = Runs(self.heads, tables.lexer, vocabulary)
        self._trie, self._vocab_size, self._slices = trie, vocab_size, slices
        self._memo = memo
        self._vocabulary = vocabulary
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        # Frames as a tree that grows upwards: (top frame, what lies below).
        self._frames: list[tuple[int, int]] = [(BELOW_ALL, _NO_FRAMES), (BELOW_ALL, _NO_FRAMES)]
        self._frame_numbers: dict[tuple[int, int], int] = {}
        self._states: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._behind: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._row_of: dict[int, Words] = {}
        self._forget()
        self._start = self._state(*self._settled(self.heads.start, _BOTTOM_ONLY), BETWEEN)

    @property
    def start(self) -> int:
        """The state before any token."""
        return self._start

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        head, frames, inside = self._states[state]
        if inside != BETWEEN:
            winners = self.lexer.wins[inside]
            if winners == NONE:
                return False
            head, _ = self._after(head, frames, winners)
        return head != REFUSED and self.heads.view(head).ends

    def step(self, state: int, token_id: int) -> int:
        """The state after a token. Raises ``ArtifactError`` if it does not fit."""
        known = self._steps.get((state, token_id))
        if known is not None:
            return known
        target = None
        if self._vocabulary.is_text(token_id) and self._vocabulary.token(token_id):
            target = self.read(state, self._vocabulary.token(token_id))
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        if len(self._steps) >= _KEPT:
            self._steps.clear()
        self._steps[state, token_id] = target
        return target

    def read(self, state: int, text: bytes) -> int | None:
        """The state after ``text``; None if it does not fit."""
        rows, wins, starting = self.lexer.rows, self.lexer.wins, self._starting
        head, frames, inside = self._states[state]
        if inside == BETWEEN and text:
            inside = starting(head)
        for octet in text:
            target = rows[inside][octet]
            if target == DEAD:
                winners = wins[inside]
                if winners == NONE:
                    return None
                head, frames = self._after(head, frames, winners)
                if head == REFUSED:
                    return None
                target = rows[starting(head)][octet]
                if target == DEAD:
                    return None
            inside = target
        return self._state(head, frames, inside)

    def row(self, state: int) -> Words:
        """The allowed tokens; worked out once for each state."""
        row = self._row_of.get(state)
        if row is None:
            if self.is_full:
                self._forget()
            row = self.walks.rows[self._row(state)]
            if self.is_accepting(state):
                row = row | self._eos
                row.flags.writeable = False
            self._row_of[state] = row
        return row

    @property
    def is_full(self) -> bool:
        """Whether so much was found at run time that it is forgotten before the next row."""
        return len(self._row_of) >= _KEPT or len(self.walks.rows) - self._given >= _KEPT_ROWS

    def keep(self) -> None:
        """Count what was worked out so far as given, so that it does not make the machine full."""
        self._given = len(self.walks.rows)

    def memo(self) -> GreedyMemo:
        """What was worked out so far, for another machine to begin with."""
        residual, walks = self.residual, self.walks
        stacks = laid_out(self.heads.stacks.entries, 2)
        heads = laid_out(self.heads.threads, 2)
        answers = sorted(residual.answers.items(), key=lambda pair: (len(pair[0]), pair[0]))
        firsts = [(*key, answer) for key, answer in answers if len(key) == 3]
        feeds = [(*key, answer) for key, answer in answers if len(key) == 2]
        return GreedyMemo(
            np.array(walks.rows, dtype=np.uint32),
            *stacks,
            *heads,
            *laid_out(self.lexer.sets),
            *laid_out([exits.tolist() for exits in walks.exits]),
            np.array([known.row for known in residual.known], dtype=np.int32),
            *laid_out([known.pending for known in residual.known], 2),
            np.array(firsts, dtype=np.int32).reshape(-1, 4),
            np.array(feeds, dtype=np.int32).reshape(-1, 3),
        )

    def _row(self, state: int) -> int:
        head, frames, inside = self._states[state]
        residual = self.residual
        found = residual.first(head, inside)
        while residual.known[found].pending:
            frame, frames = self._frames[frames]
            found = residual.feed(found, frame)
        return residual.known[found].row

    def _starting(self, head: int) -> int:
        return self.lexer.start(self.heads.view(head).allowed)

    def _after(self, head: int, frames: int, winners: int) -> tuple[int, int]:
        """The head and the frames behind a lexeme."""
        known = self._behind.get((head, frames, winners))
        if known is None:
            if len(self._behind) >= _KEPT:
                self._behind.clear()
            lexer = self.lexer
            target = self.heads.read(head, lexer.winners[winners], lexer.ignored)
            known = self._behind[head, frames, winners] = self._settled(target, frames)
        return known

    def _settled(self, head: int, frames: int) -> tuple[int, int]:
        """The closed and shortest head, with the frames that then lie below it."""
        if head == REFUSED:
            return REFUSED, _NO_FRAMES
        while self.heads.view(head).is_open:
            frame, frames = self._frames[frames]
            head = self.heads.plug(head, frame)
        head, cut = self.heads.cut(head)
        for frame in cut:
            frames = self._pushed(frame, frames)
        return head, frames

    def _pushed(self, frame: int, frames: int) -> int:
        if frame == BELOW_ALL:
            return _BOTTOM_ONLY
        key = frame, frames
        number = self._frame_numbers.get(key)
        if number is None:
            number = self._frame_numbers[key] = len(self._frames)
            self._frames.append(key)
        return number

    def _state(self, head: int, frames: int, inside: int) -> int:
        key = head, frames, inside
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(key)
        return number

    def _forget(self) -> None:
        """Go back to the rows that were given; states, heads and frames stay."""
        self._row_of.clear()
        rest = self._vocab_size, self._slices, self._memo
        self.walks = Walks(self.lexer, self._trie, *rest)
        self.residual = GreedyResidual(self.heads, self.lexer, self.walks, self.runs, self._memo)
        self.keep()
