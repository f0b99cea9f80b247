"""Procedure summaries of heads: what fits whatever frames lie below, of which masks are composed.

A *summary* is what is known of a mask before the frames below a head are looked at:

    (row, {(head, suspended nodes), …})

``row``: the tokens that fit over any frames. The pairs are *pending*: in the middle of the tokens
of these trie nodes a lexeme has ended and the head behind it needs a frame, so that the frame below
decides what the lexer reads next. ``feed`` plugs a frame into all pending heads. From head p, state
s of the lexer and frames g1 g2 … below

    first(p, s);  feed(·, g1);  feed(·, g2);  …    until nothing is pending

gives the mask, p being shortened (``nullable_frame_runs.py``). Both are memoised, and recursive: in
the middle of a token a complete head is split, its short form is summarised, and the result is fed
the frames that were split off. So summaries are few, and serve stacks of any depth.

Sources: procedure summaries, Sharir and Pnueli, "Two approaches to interprocedural data flow
analysis" (1981); Reps, Horwitz and Sagiv, "Precise interprocedural dataflow analysis via graph
reachability" (1995). A procedure is the rest of a head, its return the hole.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple

from ..errors import ArtifactError
from ..tokens.memo import ENTRY_BYTES, solve_recursive
from .interned import EMPTY, NOTHING, ROOT
from .lexer import BETWEEN, Lexer
from .lexer_walk import LexerWalks
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import NO_FRAMES, REFUSED, Heads
from .summary_tables import FEED, FIRST, HeadSummaryTables, Pairs, feed_key, first_key

# Arguments of ``first`` behind suspended nodes, (nodes, head, state), or of ``feed``, (summary,
# frame).
Key = tuple[int, ...]
_Steps = Generator[Key, int, int]

# In place of the row of a summary in which something is pending.
_PENDING = -1

# Up to so many stored results are decoded at once: fewer take less time than a first mask does.
_MOST_DECODED_AT_ONCE = 4096


class Summary(NamedTuple):
    """A row's number, and (head, set of suspended nodes) pairs, by head."""

    row: int
    pending: Pairs


class HeadSummaries:
    """Summaries are integers, equal ones the same.

    ``stored``: those to begin with. ``compute_alone``: computes one summary by itself, where few
    are needed; if it is None, summaries are composed of others, all of which are cached.
    ``results``: feeds and firsts by key (``summary_tables.py``), as far as they were needed.
    """

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        walks: LexerWalks,
        runs: NullableFrameRuns,
        stored: HeadSummaryTables | None = None,
    ) -> None:
        self.heads, self.lexer, self.walks, self.runs = heads, lexer, walks, runs
        self._stored = stored
        self._first = 0 if stored is None else len(stored.known)
        self._stored_rows: Sequence[int] = () if stored is None else stored.finished_rows.data
        self._decoded: dict[int, Summary] = {}
        self._added: list[Summary] = []
        # By content; filled when the first new one is numbered.
        self._numbers: dict[Summary, int] = {}
        self.results: tuple[dict[int, int], dict[int, int]] = {}, {}
        if stored is not None:
            most = _MOST_DECODED_AT_ONCE
            self.results = stored.results(FEED, most), stored.results(FIRST, most)
        self.compute_alone: Callable[[Key], Summary] | None = None

    def __len__(self) -> int:
        """How many summaries have a number."""
        return self._first + len(self._added)

    def summary(self, number: int) -> Summary:
        """The content of a summary."""
        if number >= self._first:
            return self._added[number - self._first]
        found = self._decoded.get(number)
        if found is None:
            assert self._stored is not None
            found = self._decoded[number] = Summary(*self._stored.summary(number))
        return found

    def row(self, head: int, state: int, frames: int, entries: Sequence[tuple[int, int]]) -> int:
        """The number of a mask's row: of ``first(head, state)`` fed ``frames``, a node of a
        ``FrameTree`` with these entries, until nothing is pending."""
        feeds, firsts = self.results
        stored_rows, first = self._stored_rows, self._first
        cached = firsts.get(first_key(ROOT, head, state))
        found = self._compute((ROOT, head, state)) if cached is None else cached
        while (row := stored_rows[found] if found < first else self._finished(found)) == _PENDING:
            if frames == NO_FRAMES:
                name = "greedy.feeds"
                raise ArtifactError(f"section {name!r} is damaged: nothing lies below all frames")
            frame, frames = entries[frames]
            cached = feeds.get(feed_key(found, frame))
            found = self._compute((found, frame)) if cached is None else cached
        return row

    def first(self, head: int, state: int) -> int:
        """The summary of a complete and shortened head, the lexer being in ``state`` or
        ``BETWEEN``."""
        return self._compute((ROOT, head, state))

    def feed(self, summary: int, frame: int) -> int:
        """The summary with ``frame`` below."""
        return self._compute((summary, frame))

    def feed_each(self, number: int, frames: Sequence[int]) -> list[int]:
        """``feed`` of each of ``frames``. Heads are pending beside many rows: what becomes of them
        is found once, and the row is added to that."""
        row, pending = self.summary(number)
        if row == EMPTY:
            return [self.feed(number, frame) for frame in frames]
        alone = self._number(Summary(EMPTY, pending))
        feeds, union, added = self.results[FEED], self.walks.rows.union, self._added
        first, numbers = self._first, self._numbers
        found = []
        for frame in frames:
            key = feed_key(number, frame)
            result = feeds.get(key)
            if result is None:
                part = feeds.get(feed_key(alone, frame))
                if part is None:
                    part = self.feed(alone, frame)
                content = added[part - first] if part >= first else self.summary(part)
                content = Summary(union(row, content.row), content.pending)
                result = numbers.get(content)
                if result is None:
                    result = self._number(content)
                feeds[key] = result
            found.append(result)
        return found

    @property
    def cached(self) -> int:
        """How many results of ``first`` and ``feed`` are in memory."""
        return sum(map(len, self.results))

    @property
    def nbytes(self) -> int:
        """About the size of all results of ``first`` and ``feed`` in memory, and of the summaries
        that they name."""
        summaries = len(self._added) + len(self._numbers) + len(self._decoded)
        return ENTRY_BYTES // 2 * self.cached + 2 * ENTRY_BYTES * summaries

    def find(self, key: Key) -> int | None:
        """A result if it is cached or stored."""
        kind = len(key) == 3
        number = first_key(*key) if kind else feed_key(*key)
        found = self.results[kind].get(number)
        if found is None and self._stored is not None:
            found = self._stored.find(kind, number)
            if found is not None:
                self.results[kind][number] = found
        return found

    def _finished(self, number: int) -> int:
        """The row of a summary that was added; ``_PENDING`` if that is not all."""
        summary = self._added[number - self._first]
        return _PENDING if summary.pending else summary.row

    def _compute(self, key: Key) -> int:
        found = self.find(key)
        if found is None and self.compute_alone is not None:
            found = self._number(self.compute_alone(key))
            self._cache(key, found)
        return solve_recursive(key, self.find, self._steps) if found is None else found

    def _steps(self, key: Key) -> _Steps:
        """As deep as tokens have lexemes."""
        found = yield from self._fed(*key) if len(key) == 2 else self._walked(*key)
        self._cache(key, found)
        return found

    def _cache(self, key: Key, found: int) -> None:
        if len(key) == 2:
            self.results[FEED][feed_key(*key)] = found
        else:
            self.results[FIRST][first_key(*key)] = found

    def _walked(self, suspended: int, head: int, state: int) -> _Steps:
        """``first`` with suspended nodes in place of the first bytes of all tokens."""
        heads, lexer = self.heads, self.lexer
        begin = state if state != BETWEEN else lexer.start(heads.view(head).allowed)
        row, ends = self.walks.walk(suspended, begin)
        behind = [
            (heads.read(head, lexer.accept_sets[accept_set], lexer.ignored), nodes)
            for accept_set, nodes in ends
        ]
        return (yield from self._composed(row, behind))

    def _fed(self, number: int, frame: int) -> _Steps:
        row, pending = self.summary(number)
        behind = [(self.heads.plug(head, frame), nodes) for head, nodes in pending]
        return (yield from self._composed(row, behind))

    def _composed(self, row: int, behind: Iterable[tuple[int, int]]) -> _Steps:
        """The summary of ``row`` and of all that follows (head, suspended nodes) pairs."""
        rows, union = self.walks.rows, self.walks.suspended.union
        feeds, firsts = self.results
        by_head: dict[int, int] = {}
        pending: dict[int, int] = {}
        for longer, nodes in behind:
            head = self.runs.shortened(longer)
            by_head[head] = union(by_head.get(head, NOTHING), nodes)
        for head, nodes in by_head.items():
            if head == REFUSED:
                continue
            if self.heads.view(head).needs_frame:
                pending[head] = union(pending.get(head, NOTHING), nodes)
                continue
            short, frames = self.heads.split_off(head)
            # Most are known: no need to leave the generator.
            known = firsts.get(first_key(nodes, short, BETWEEN))
            found = (yield nodes, short, BETWEEN) if known is None else known
            for frame in reversed(frames):
                known = feeds.get(feed_key(found, frame))
                found = (yield found, frame) if known is None else known
            known_row, inside = self.summary(found)
            row = rows.union(row, known_row)
            for other, inner in inside:
                pending[other] = union(pending.get(other, NOTHING), inner)
        return self._number(Summary(row, tuple(sorted(pending.items()))))

    def _number(self, summary: Summary) -> int:
        if not self._numbers:
            self._numbers = {self.summary(number): number for number in range(self._first)}
        number = self._numbers.get(summary)
        if number is None:
            number = self._numbers[summary] = len(self)
            self._added.append(summary)
        return number
