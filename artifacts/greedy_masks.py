"""Masks of a grammar read by longest matches: the machine that a matcher steps, and its rows."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from . import tokenset
from .block_rows import shared_blocks
from .earley_tables import DEAD
from .errors import ArtifactError
from .greedy_memo import GreedyMemo, laid_out, pairs_of
from .greedy_reader import GreedyReader
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

# Remembered steps, answers and rows by state; when there are more, they are worked out anew.
_KEPT = 1 << 20

# Bytes of rows beyond those that were given.
_KEPT_BYTES = 1 << 26

# States, heads and frames from which on a new matcher is given a new machine.
_STATES = 1 << 20

# The stacks below all frames, and with ``BELOW_ALL`` alone.
_NO_FRAMES, _BOTTOM_ONLY = 0, 1


class GreedyMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    A state is a number for (head, frames below it, state of the lexer). ``trie`` and ``slices``,
    which make walks shorter: made where ``memo`` lacks something.
    """

    def __init__(
        self,
        tables: GreedyTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        slices: Callable[[], Slices] | None = None,
        memo: GreedyMemo | None = None,
    ) -> None:
        if memo is None:
            self.heads, self.lexer = Heads(tables.network), Lexer(tables.lexer)
        else:
            stacks = Stacks(pairs_of(memo.stacks, memo.stacks_offsets))
            self.heads = Heads(tables.network, stacks, pairs_of(memo.heads, memo.heads_offsets))
            self.lexer = Lexer(tables.lexer, memo.lexer_sets, memo.steps)
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
        head = self.ended(state)
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
        length, target = self.follow(state, text)
        return target if length == len(text) else None

    def follow(self, state: int, text: Iterable[int]) -> tuple[int, int]:
        """How many bytes of ``text`` can be read, and the state behind them."""
        rows, wins, starting = self.lexer.rows, self.lexer.wins, self._starting
        head, frames, inside = self._states[state]
        length = 0
        for octet in text:
            target = DEAD if inside == BETWEEN else rows[inside][octet]
            if target == DEAD:
                ended = head, frames
                if inside != BETWEEN:
                    winners = wins[inside]
                    if winners == NONE:
                        break
                    ended = self._after(head, frames, winners)
                    if ended[0] == REFUSED:
                        break
                target = rows[starting(ended[0])][octet]
                if target == DEAD:
                    break
                head, frames = ended
            inside = target
            length += 1
        return length, self._state(head, frames, inside)

    def inside(self, state: int) -> int:
        """The state of the lexer, or ``BETWEEN``."""
        return self._states[state][2]

    def ended(self, state: int) -> int:
        """The head if the lexeme that is being read ends here, or ``REFUSED``."""
        head, frames, inside = self._states[state]
        if inside == BETWEEN:
            return head
        winners = self.lexer.wins[inside]
        return REFUSED if winners == NONE else self._after(head, frames, winners)[0]

    def row(self, state: int) -> Words:
        """The allowed tokens; worked out once for each state."""
        row = self._row_of.get(state)
        if row is None:
            held = (self.walks.held_rows - self._given) * self._eos.nbytes
            kept = max(len(self._row_of), len(self.residual.answers))
            if kept >= _KEPT or held > _KEPT_BYTES:
                self._forget()
            number = self._row(state)
            if self.is_accepting(state):
                number = self.walks.union(number, self.walks.row_number(self._eos))
            row = self._row_of[state] = self.walks.row(number)
        return row

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have its own."""
        met = len(self._states), len(self._frames), len(self.heads.threads), self.lexer.states
        return max(met) > _STATES

    def keep(self) -> None:
        """Count what was worked out so far as given, so that it is not forgotten."""
        self._given = self.walks.held_rows

    def memo(self) -> GreedyMemo:
        """What was worked out so far, for another machine to begin with."""
        residual, walks, lexer = self.residual, self.walks, self.lexer
        known = [residual.known(number) for number in range(len(residual))]
        answers = dict(residual.answers)
        if self._memo is not None:
            for *key, answer in (*self._memo.firsts.tolist(), *self._memo.feeds.tolist()):
                answers[tuple(key)] = answer
        firsts = sorted((*key, answer) for key, answer in answers.items() if len(key) == 3)
        feeds = sorted((*key, answer) for key, answer in answers.items() if len(key) == 2)
        rows = shared_blocks(np.array([walks.row(i) for i in range(walks.row_count)]))
        return GreedyMemo(
            rows.codes,
            rows.blocks,
            rows.offsets,
            *laid_out(self.heads.stacks.entries, 2),
            *laid_out(self.heads.threads, 2),
            *laid_out(lexer.sets),
            lexer.table,
            *laid_out([exits.tolist() for exits in walks.exits]),
            np.array([one.row for one in known], dtype=np.int32),
            *laid_out([one.pending for one in known], 2),
            np.array(firsts, dtype=np.int32).reshape(-1, 4),
            np.array(feeds, dtype=np.int32).reshape(-1, 3),
        )

    def _row(self, state: int) -> int:
        head, frames, inside = self._states[state]
        residual = self.residual
        found = residual.first(head, inside)
        while residual.known(found).pending:
            frame, frames = self._frames[frames]
            found = residual.feed(found, frame)
        return residual.known(found).row

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
        self.residual.single = GreedyReader(self.residual, self._vocab_size).answer
        self.keep()
