"""Summaries and the mask automaton, found beside the machine that decodes meanwhile."""

from collections.abc import Sequence

from ..tokens.allowance import Allowance, Ended, Precomputed
from ..tokens.watch import Watch, unwatched
from .closure import frames_below, mask_automaton, nearest_first, needed_keys
from .mask_automaton import MaskAutomaton
from .summaries import Summaries
from .summary_tables import SummaryTables
from .tables import NetworkTables


class _SpentError(Exception):
    """``ended``: why no more may be found."""

    def __init__(self, ended: Ended) -> None:
        super().__init__()
        self.ended = ended


# Bytes of the mask automaton and the rows that it unites, at most.
_AUTOMATON_BYTES = 1 << 24


class Precomputation:
    """Summaries, and the mask automaton of all, beside the machine that decodes meanwhile.

    ``summaries``: those that are there at first; no one else uses them. ``memory``: bytes that they
    may have.
    """

    def __init__(self, tables: NetworkTables, summaries: Summaries, memory: int) -> None:
        self._tables, self._summaries, self._memory = tables, summaries, memory
        self._below = frames_below(tables)
        self._automaton: MaskAutomaton | None = None
        self.is_complete = False

    def go_on(
        self, states: Sequence[int], seconds: float | None, answers: int | None
    ) -> Precomputed:
        """Find more, what stacks on ``states`` need first."""
        summaries, allowance = self._summaries, Allowance(seconds, answers)
        before = summaries.computed

        def watch(work: int, size: int) -> None:
            ended = allowance.spent(summaries.computed - before)
            if summaries.nbytes > self._memory:
                ended = Ended.MEMORY
            if ended is not None:
                raise _SpentError(ended)

        summaries.watch = watch
        ended = Ended.COMPLETE
        try:
            if not self.is_complete:
                order = nearest_first(self._tables, states)
                for key in needed_keys(self._below.__getitem__, order, summaries.left):
                    if summaries.find(*key) is None:
                        watch(0, 0)
                        summaries.summary(*key)
                self._automaton = self._whole_automaton(watch)
                self.is_complete = True
        except _SpentError as spent:
            ended = spent.ended
        finally:
            summaries.watch = unwatched
        return Precomputed(summaries.computed - before, ended)

    def tables(self) -> tuple[SummaryTables, MaskAutomaton]:
        """What was found."""
        automaton = self._automaton or MaskAutomaton.of(self._tables, {}, {})
        return self._summaries.tables(), automaton

    def _whole_automaton(self, watch: Watch) -> MaskAutomaton:
        room = min(max(self._memory - self._summaries.nbytes, 0), _AUTOMATON_BYTES)
        found, _ = mask_automaton(self._tables, self._below, self._summaries, room, watch)
        return found
