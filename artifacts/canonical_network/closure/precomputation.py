"""Rows that are found beside the machine that decodes meanwhile."""

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

from ...tokens.allowance import Allowance, Ended
from ...tokens.watch import unwatched
from ..pretokenized import PretokenizedNetwork
from .all_rows import AllRows
from .inert_tokens import NormalizedLiveness
from .token_liveness import PlainLiveness

# Pairs whose rows are found together.
_AT_ONCE = 64


class Precomputation:
    """``network``, and ``inert`` beside a normal-form DFA: no one else uses them. ``memory``: bytes
    that all rows may have. ``is_complete``: whether nothing is left, of which the file may tell."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        inert: PretokenizedNetwork | None,
        memory: int,
        *,
        is_complete: bool,
    ) -> None:
        self._network, self._inert, self._memory = network, inert, memory
        self._rows: AllRows | None = None
        self._steps: Iterator[None] = iter(())
        self.is_complete = is_complete

    @property
    def results(self) -> int:
        """How many summaries were found."""
        return 0 if self._rows is None else len(self._rows.summaries.found)

    def go_on(self, met: Iterable[tuple[int, int]], allowance: Allowance) -> Ended | None:
        """Find more, first what is needed at the pairs of states that were ``met``; why it ended,
        None where searches are left to decoding. What is found together is finished."""
        if self.is_complete:
            return Ended.COMPLETE
        before, ended = self.results, allowance.spent(0)
        if ended is not None:
            return ended
        if self._rows is None:
            liveness: PlainLiveness | NormalizedLiveness = PlainLiveness(self._network)
            if self._inert is not None:
                liveness = NormalizedLiveness(self._network, self._inert)
            self._rows = AllRows(self._network, liveness, unwatched, None, self._memory)
            self._steps = self._rows.steps(_AT_ONCE)
        number = self._network.contexts.number
        self._rows.preferred = [number(state, pre_state) for state, pre_state in met]
        while (ended := allowance.spent(self.results - before)) is None:
            if next(self._steps, _FINISHED) is _FINISHED:
                if self._rows.is_full:
                    return Ended.MEMORY
                self.is_complete = self._rows.is_complete
                return Ended.COMPLETE if self.is_complete else None
        return ended

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What was found, as the sections of a file."""
        assert self._rows is not None
        return self._rows.arrays()


_FINISHED = object()
