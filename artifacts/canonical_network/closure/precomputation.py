"""Rows that are found beside the machine that decodes meanwhile."""

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

from ...container.sections import Arrays
from ...normalizer.normal_form_dfa import NormalFormDfa
from ...normalizer.split_characters import SplitCharacters
from ...tokens.allowance import Allowance, Ended
from ...tokens.watch import unwatched
from ..pretokenized import PretokenizedNetwork
from .all_rows import AllRows
from .character_ends import SplitCharacterEnds
from .inert_tokens import NormalizedLiveness
from .token_liveness import Liveness, PlainLiveness

# Pairs whose rows are found together.
_AT_ONCE = 64


class Precomputation:
    """``network``: no one else uses it. ``sections``: of the file. ``memory``: bytes that all rows
    may have. ``is_complete``: whether nothing is left, of which the file may tell."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        sections: Arrays,
        memory: int,
        *,
        is_complete: bool,
    ) -> None:
        self._network, self._sections, self._memory = network, sections, memory
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
            liveness = _liveness(self._network, self._sections)
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


def _liveness(network: PretokenizedNetwork, sections: Arrays) -> Liveness:
    """By the pre-tokenizer DFA alone, or beside the normal-form DFA that the file has. Files of
    earlier releases do not have what ends of characters are decided by."""
    if "stable.table" not in sections:
        return PlainLiveness(network)
    ends = None
    if "split.tails" in sections:
        dfa, split = NormalFormDfa.from_arrays(sections), SplitCharacters.from_arrays(sections)
        ends = SplitCharacterEnds(network, dfa, split, int(sections["split.between"][0]))
    return NormalizedLiveness(network, network.inert(sections), ends)
