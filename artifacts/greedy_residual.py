"""Masks of heads, whatever frames lie below: the residual automaton of longest matches.

A *residual* is what is known of a mask before the frames below a head are looked at:

    (row, {(head, exits), …})

``row``: the tokens that fit so far. The pairs are *pending*: in the middle of the tokens at
these exits a lexeme has ended, and the head behind it is open, so that the frame below decides
what the lexer may begin with. ``feed`` puts a frame into the holes of all pending heads. From
head p and state s of the lexer

    first(p, s);  feed(·, g1);  feed(·, g2);  …    until nothing is pending

gives the mask of p over the frames g1 g2 …. Both are memoised. A head that is closed is cut
first, worked out for its short form and fed what was cut off: equal work is done once.
"""

from collections.abc import Generator, Iterable
from typing import NamedTuple

from .greedy_memo import GreedyMemo, pairs_of
from .greedy_walk import NOTHING, ROOT, Walks
from .heads import REFUSED, Heads
from .lexer import Lexer
from .runs import Runs

# The state of the lexer between two lexemes: what it reads is told by the head.
BETWEEN = -1

Pending = tuple[tuple[int, int], ...]

# What a step asks for: F of (exits, head, state), or a residual fed a frame.
_Key = tuple[int, ...]
_Steps = Generator[_Key, int, int]


class Known(NamedTuple):
    """A row's number, and (head, exits) pairs, by head."""

    row: int
    pending: Pending


class GreedyResidual:
    """Residuals are integers, equal ones the same; ``known`` says what each is.

    ``answers``: by (exits, head, state of the lexer), and by (residual, frame).
    """

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        walks: Walks,
        runs: Runs,
        memo: GreedyMemo | None = None,
    ) -> None:
        self.heads, self.lexer, self.walks, self.runs = heads, lexer, walks, runs
        self.known: list[Known] = []
        self.answers: dict[_Key, int] = {}
        if memo is not None:
            pending = pairs_of(memo.pending, memo.pending_offsets)
            self.known = [Known(*both) for both in zip(memo.known.tolist(), pending, strict=True)]
            for *key, answer in (*memo.firsts.tolist(), *memo.feeds.tolist()):
                self.answers[tuple(key)] = answer
        self._numbers = {known: number for number, known in enumerate(self.known)}

    def first(self, head: int, state: int) -> int:
        """The residual of a closed head, the lexer being in ``state`` (or ``BETWEEN``)."""
        return self._answer((ROOT, self.runs.shortened(head), state))

    def feed(self, residual: int, frame: int) -> int:
        """The residual when it is known that ``frame`` lies below."""
        return self._answer((residual, frame))

    def _answer(self, key: _Key) -> int:
        """Steps ask each other as deep as tokens have lexemes, on a stack of our own."""
        known = self.answers.get(key)
        if known is not None:
            return known
        stack = [(key, self._steps(key))]
        result: int | None = None
        while stack:
            current, steps = stack[-1]
            try:
                needed = next(steps) if result is None else steps.send(result)
            except StopIteration as done:
                stack.pop()
                result = self.answers[current] = done.value
                continue
            result = self.answers.get(needed)
            if result is None:
                stack.append((needed, self._steps(needed)))
        assert result is not None
        return result

    def _steps(self, key: _Key) -> _Steps:
        if len(key) == 2:
            return self._fed(*key)
        return self._walked(*key)

    def _walked(self, exits: int, head: int, state: int) -> _Steps:
        """F: the tokens from ``exits`` on, with ``head`` before the lexeme that is read."""
        heads, lexer = self.heads, self.lexer
        if state == BETWEEN:
            state = lexer.start(heads.view(head).allowed)
        row, ends = self.walks.walk(exits, state)
        behind = [
            (heads.read(head, lexer.winners[winners], lexer.ignored), rest)
            for winners, rest in ends
        ]
        return (yield from self._gathered(row, behind))

    def _fed(self, residual: int, frame: int) -> _Steps:
        row, pending = self.known[residual]
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
            row = walks.union(row, self.known[found].row)
            for other, rest in self.known[found].pending:
                pending[other] = walks.join(pending.get(other, NOTHING), rest)
        return self._number(Known(row, tuple(sorted(pending.items()))))

    def _number(self, known: Known) -> int:
        number = self._numbers.get(known)
        if number is None:
            number = self._numbers[known] = len(self.known)
            self.known.append(known)
        return number
