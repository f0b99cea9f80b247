"""Masks of heads, whatever frames lie below: the residual automaton of longest matches.

A *residual* is what is known of a mask before the frames below a head are looked at:

    (row, {(head, exits), …})

``row``: the tokens that fit so far. The pairs are *pending*: in the middle of the tokens at
these exits a lexeme has ended, and the head behind it is open, so that the frame below decides
what the lexer may begin with. ``feed`` puts a frame into the holes of all pending heads. From
head p and state s of the lexer

    first(p, s);  feed(·, g1);  feed(·, g2);  …    until nothing is pending

gives the mask of p over the frames g1 g2 …, p being short (``runs.py``). Both are memoised. A
head that is closed is cut first, worked out for its short form and fed what was cut off: equal
work is done once.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple

from ..errors import ArtifactError
from ..tokens.memo import solve_recursive
from .lexer import Lexer
from .lexer_walk import NOTHING, ROOT, LexerWalks
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import REFUSED, Heads
from .summary_tables import FEED, FIRST, HeadSummaryTables, Pairs, feed_key, first_key

# The state of the lexer between two lexemes: what it reads is told by the head. No text leads
# to the lexer's own state 0.
BETWEEN = 0

# A step asks for F of (exits, head, state), or for a residual fed a frame.
_Key = tuple[int, ...]
_Steps = Generator[_Key, int, int]

# The node of frames that has none.
NO_FRAMES = 0

# In place of the row of a residual in which something is pending.
PENDING = -1

# Answers of a memo that are unpacked when it is begun with: fewer cost less time than a first
# mask does.
_UNPACKED = 4096


class Known(NamedTuple):
    """A row's number, and (head, exits) pairs, by head."""

    row: int
    pending: Pairs


class HeadSummaries:
    """Residuals are integers, equal ones the same.

    ``answers``: feeds and firsts by their keys (``summary_tables.py``), as far as they were asked
    for. ``single``: what finds an answer by itself, where not many are wanted.
    """

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        walks: LexerWalks,
        runs: NullableFrameRuns,
        memo: HeadSummaryTables | None = None,
    ) -> None:
        self.heads, self.lexer, self.walks, self.runs = heads, lexer, walks, runs
        self._memo = memo
        self._first = 0 if memo is None else len(memo.known)
        self._finished_ahead: Sequence[int] = () if memo is None else memo.finished.data
        self._looked_at: dict[int, Known] = {}
        self._added: list[Known] = []
        # By content; filled when the first new one is numbered.
        self._numbers: dict[Known, int] = {}
        self.answers: tuple[dict[int, int], dict[int, int]] = {}, {}
        if memo is not None:
            self.answers = memo.answers(FEED, _UNPACKED), memo.answers(FIRST, _UNPACKED)
        self.single: Callable[[_Key], Known] | None = None

    def __len__(self) -> int:
        """How many residuals have a number."""
        return self._first + len(self._added)

    def known(self, residual: int) -> Known:
        """What a residual is."""
        if residual >= self._first:
            return self._added[residual - self._first]
        found = self._looked_at.get(residual)
        if found is None:
            assert self._memo is not None
            found = self._looked_at[residual] = Known(*self._memo.residual(residual))
        return found

    def row(self, head: int, inside: int, frames: int, below: Sequence[tuple[int, int]]) -> int:
        """The number of a mask's row: of ``first(head, inside)`` fed ``frames``, a node of
        ``below`` (``parser_transitions.py``), until nothing is pending."""
        feeds, firsts = self.answers
        finished, given = self._finished_ahead, self._first
        known = firsts.get(first_key(ROOT, head, inside))
        found = self._answer((ROOT, head, inside)) if known is None else known
        while (row := finished[found] if found < given else self._finished(found)) == PENDING:
            if frames == NO_FRAMES:
                name = "greedy.feeds"
                raise ArtifactError(f"section {name!r} is damaged: nothing lies below all frames")
            frame, frames = below[frames]
            known = feeds.get(feed_key(found, frame))
            found = self._answer((found, frame)) if known is None else known
        return row

    def first(self, head: int, inside: int) -> int:
        """The residual of a closed and short head, the lexer being in ``inside``, or 0."""
        return self._answer((ROOT, head, inside))

    def feed(self, residual: int, frame: int) -> int:
        """The residual when it is known that ``frame`` lies below."""
        return self._answer((residual, frame))

    @property
    def answered(self) -> int:
        """How many answers are in memory."""
        return sum(map(len, self.answers))

    def find(self, key: _Key) -> int | None:
        """An answer if it is known."""
        kind = len(key) == 3
        number = first_key(*key) if kind else feed_key(*key)
        known = self.answers[kind].get(number)
        if known is None and self._memo is not None:
            known = self._memo.find(kind, number)
            if known is not None:
                self.answers[kind][number] = known
        return known

    def _finished(self, residual: int) -> int:
        """The number of the row of one that was added; ``PENDING`` if that is not all."""
        known = self._added[residual - self._first]
        return PENDING if known.pending else known.row

    def _answer(self, key: _Key) -> int:
        known = self.find(key)
        if known is None and self.single is not None:
            known = self._number(self.single(key))
            self._remember(key, known)
        return solve_recursive(key, self.find, self._steps) if known is None else known

    def _steps(self, key: _Key) -> _Steps:
        """Steps ask each other as deep as tokens have lexemes."""
        found = yield from self._fed(*key) if len(key) == 2 else self._walked(*key)
        self._remember(key, found)
        return found

    def _remember(self, key: _Key, found: int) -> None:
        if len(key) == 2:
            self.answers[FEED][feed_key(*key)] = found
        else:
            self.answers[FIRST][first_key(*key)] = found

    def _walked(self, exits: int, head: int, inside: int) -> _Steps:
        """F: the tokens from ``exits`` on, with ``head`` before the lexeme that is read."""
        heads, lexer = self.heads, self.lexer
        state = inside if inside != BETWEEN else lexer.start(heads.view(head).allowed)
        row, ends = self.walks.walk(exits, state)
        behind = [
            (heads.read(head, lexer.winners[winners], lexer.ignored), rest)
            for winners, rest in ends
        ]
        return (yield from self._gathered(row, behind))

    def _fed(self, residual: int, frame: int) -> _Steps:
        row, pending = self.known(residual)
        behind = [(self.heads.plug(head, frame), rest) for head, rest in pending]
        return (yield from self._gathered(row, behind))

    def _gathered(self, row: int, behind: Iterable[tuple[int, int]]) -> _Steps:
        """All that follows (head, exits) pairs, together with ``row``."""
        walks = self.walks
        joined: dict[int, int] = {}
        pending: dict[int, int] = {}
        for longer, exits in behind:
            head = self.runs.shortened(longer)
            joined[head] = walks.join(joined.get(head, NOTHING), exits)
        for head, exits in joined.items():
            if head == REFUSED:
                continue
            if self.heads.view(head).is_open:
                pending[head] = walks.join(pending.get(head, NOTHING), exits)
                continue
            short, frames = self.heads.cut(head)
            found = yield exits, short, BETWEEN
            for frame in reversed(frames):
                found = yield found, frame
            row = walks.union(row, self.known(found).row)
            for other, rest in self.known(found).pending:
                pending[other] = walks.join(pending.get(other, NOTHING), rest)
        return self._number(Known(row, tuple(sorted(pending.items()))))

    def _number(self, known: Known) -> int:
        if not self._numbers:
            self._numbers = {self.known(number): number for number in range(self._first)}
        number = self._numbers.get(known)
        if number is None:
            number = self._numbers[known] = len(self)
            self._added.append(known)
        return number
