"""Procedure summaries of heads: what fits whatever frames lie below, of which masks are composed.

A *summary* is what is known of a mask before the frames below a head are looked at:

    (row, {(head, suspended nodes), …})

``row``: the tokens that fit over any frames. The pairs are *pending*: in the middle of the tokens
of these trie nodes a lexeme has ended and the head after it needs a frame, so that the frame below
decides what the lexer reads next. ``feed`` plugs a frame into all pending heads. From head p, state
s of the lexer and frames g1 g2 … below

    first(p, s);  feed(·, g1);  feed(·, g2);  …    until nothing is pending

gives the mask, p being shortened (``nullable_frame_runs.py``). Both are memoised, and computed one
at a time where no file has them (``lazy_masks.py``).

Sources: procedure summaries, Sharir and Pnueli, "Two approaches to interprocedural data flow
analysis" (1981); Reps, Horwitz and Sagiv, "Precise interprocedural dataflow analysis via graph
reachability" (1995). A procedure is the rest of a head, its return the hole.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..errors import ArtifactError
from ..tokens.memo import ENTRY_BYTES
from ..walk.node_sets import ROOT
from ..walk.results import Results
from .lexer import BETWEEN, Lexer
from .lexer_trie import LexerTrie
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import NO_FRAMES, Heads
from .summary_tables import FEED, FIRST, HeadSummaryTables, Pairs, feed_key, first_key

# Arguments of ``first`` after suspended nodes, (nodes, head, state), or of ``feed``, (summary,
# frame).
Key = tuple[int, ...]

# In place of the row of a summary in which something is pending.
_PENDING = -1


class Summary(NamedTuple):
    """A row's number, and (head, set of suspended nodes) pairs, by head."""

    row: int
    pending: Pairs


class HeadSummaries:
    """Summaries are integers, equal ones the same; ``walks`` number the rows and sets that they
    name.

    ``stored``: those to begin with. ``compute``: finds one that is not among them.
    ``results``: feeds and firsts by key (``summary_tables.py``).
    """

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        walks: LexerTrie,
        runs: NullableFrameRuns,
        stored: HeadSummaryTables | None = None,
    ) -> None:
        self.heads, self.lexer, self.walks, self.runs = heads, lexer, walks, runs
        self.stored, self._states = stored, heads.tables.states
        self._first = 0 if stored is None else len(stored.known)
        self._stored_rows: Sequence[int] = () if stored is None else stored.finished_rows.data
        self.results: tuple[Results[int], Results[int]] = Results(), Results()
        if stored is not None:
            self.results = stored.results(FEED), stored.results(FIRST)
        self.forget()
        self.compute: Callable[[Key], Summary] | None = None

    def forget(self) -> None:
        """Go back to what is stored; numbers of other summaries are given again."""
        self._decoded: dict[int, Summary] = {}
        self._added: list[Summary] = []
        # By content; filled when the first new one is numbered.
        self._numbers: dict[Summary, int] = {}
        for results in self.results:
            results.forget()

    def __len__(self) -> int:
        """How many summaries have a number."""
        return self._first + len(self._added)

    def summary(self, number: int) -> Summary:
        """The content of a summary."""
        if number >= self._first:
            return self._added[number - self._first]
        found = self._decoded.get(number)
        if found is None:
            assert self.stored is not None
            found = self._decoded[number] = Summary(*self.stored.summary(number))
        return found

    def number(self, summary: Summary) -> int:
        """The number of a summary."""
        if not self._numbers:
            self._numbers = {self.summary(number): number for number in range(self._first)}
        number = self._numbers.get(summary)
        if number is None:
            number = self._numbers[summary] = len(self)
            self._added.append(summary)
        return number

    def row(self, head: int, state: int, frames: int, entries: Sequence[tuple[int, int]]) -> int:
        """The number of a mask's row: of ``first(head, state)`` fed ``frames``, a node of a
        ``FrameTree`` with these entries, until nothing is pending."""
        feeds, firsts = (results.found for results in self.results)
        stored_rows, first = self._stored_rows, self._first
        cached = firsts.get(first_key(ROOT, head, state))
        found = self._compute((ROOT, head, state)) if cached is None else cached
        while (row := stored_rows[found] if found < first else self._finished(found)) == _PENDING:
            if frames == NO_FRAMES:
                name = "greedy.feeds"
                raise ArtifactError(f"section {name!r} is damaged: nothing lies below all frames")
            frame, frames = entries[frames]
            if frame >= self._states:
                frame = self.runs.usual(frame)
            cached = feeds.get(feed_key(found, frame))
            found = self._compute((found, frame)) if cached is None else cached
        return row

    def first(self, head: int, state: int) -> int:
        """The summary of a complete and shortened head, the lexer being in ``state`` or
        ``BETWEEN``."""
        return self._compute((ROOT, head, state))

    def at(self, nodes: int, head: int) -> int:
        """The summary of a shortened head with which a lexeme may begin at suspended nodes."""
        return self._compute((nodes, head, BETWEEN))

    def feed(self, summary: int, frame: int) -> int:
        """The summary with ``frame`` below."""
        return self._compute((summary, frame))

    @property
    def nbytes(self) -> int:
        """About the size of the results of ``first`` and ``feed`` that were found, and of the
        summaries that are in memory."""
        summaries = len(self._added) + len(self._numbers) + len(self._decoded)
        results = sum(results.added for results in self.results)
        return ENTRY_BYTES // 2 * results + 2 * ENTRY_BYTES * summaries

    def _finished(self, number: int) -> int:
        """The row of a summary that was added; ``_PENDING`` if that is not all."""
        summary = self._added[number - self._first]
        return _PENDING if summary.pending else summary.row

    def find(self, key: Key) -> int | None:
        """A result if it is stored, or was found."""
        return self.results[len(key) == 3].get(_key_of(key))

    def _compute(self, key: Key) -> int:
        found = self.find(key)
        if found is None:
            assert self.compute is not None
            found = self.number(self.compute(key))
            self.results[len(key) == 3].found[_key_of(key)] = found
        return found


def _key_of(key: Key) -> int:
    return first_key(*key) if len(key) == 3 else feed_key(*key)
