"""Summaries that are found beside the machine that decodes meanwhile."""

from collections.abc import Iterable, Iterator

from ...tokens.allowance import Allowance, Ended
from ..configurations import Configurations
from ..machine import MaximalMunchMasks
from ..parser_transitions import ParserTransitionTables
from ..summary_tables import HeadSummaryTables
from . import worklist


class Precomputation:
    """``given``: masks that begin with what the file has; ``masks``: others, that begin with
    nothing. No one else uses either. ``memory``: bytes that all summaries may have.

    ``results``: how many were found. ``has_given_up``: heads grow with the depth of texts, so that
    no end is in sight.
    """

    def __init__(self, given: MaximalMunchMasks, masks: MaximalMunchMasks, memory: int) -> None:
        self._given: MaximalMunchMasks | None = given
        self._masks, self._memory = masks, memory
        self._work: worklist.Worklist | None = None
        self._step: Iterator[None] | None = None
        self.is_complete = False

    @property
    def results(self) -> int:
        """How many results of ``first`` and ``feed`` were found."""
        return 0 if self._work is None else self._work.found.results

    @property
    def has_given_up(self) -> bool:
        """Whether heads grow with the depth of texts, so that no end is in sight."""
        return self._work is not None and self._work.heads.visited > worklist.MOST_HEADS

    def go_on(
        self, begun: Configurations, met: Iterable[tuple[int, int]], allowance: Allowance
    ) -> Ended | None:
        """Find more, first what the heads and states of the lexer need that were ``met``, which are
        those of ``begun``; why it ended, None where it has given up. What is found together is
        finished."""
        before, ended = self.results, allowance.spent(0)
        if ended is not None:
            return ended
        if self._given is not None:
            self.is_complete = worklist.has_all(self._given)
            self._given = None
        if self.is_complete:
            return Ended.COMPLETE
        work = self._work = self._work or worklist.Worklist(self._masks, _unchecked)
        if self._step is None:
            heads, lexer = self._masks.configurations.heads, self._masks.configurations.lexer
            self._step = work.begin_with(
                (heads.same_head(begun.heads, head), lexer.same_state(begun.lexer, state))
                for head, state in met
            )
        while True:
            if self._step is None:
                if work.is_complete:
                    self.is_complete = True
                    return Ended.COMPLETE
                if self.has_given_up:
                    return None
                self._step = work.step(allowance.left(self.results - before))
            ended = allowance.spent(self.results - before)
            if work.found.nbytes > self._memory:
                ended = Ended.MEMORY
            if ended is not None:
                return ended
            if next(self._step, _FINISHED) is _FINISHED:
                self._step = None

    def tables(self) -> tuple[HeadSummaryTables, ParserTransitionTables]:
        """What was found."""
        assert self._work is not None
        return self._work.tables(), self._masks.configurations.transitions.tables()


_FINISHED = object()


def _unchecked() -> None:
    """Steps are short enough."""
