"""Tokens that end one text instead of those that the artifact was compiled with.

where the text may end      its row without the artifact's EOS, with the stop ids
elsewhere                   its row without the stop ids, even if they are text
"""

from collections.abc import Sequence

from . import tokenset
from .tokenset import Words


class StopRows:
    """Rows with other ends.

    ``stop_ids`` end the text in the place of ``eos``, which the rows of machines hold where it may
    end. An id of ``eos`` that is none of them is a token that grammars may name, but not where the
    text may end: there it cannot be distinguished from the end. Raises ``ValueError`` for an id
    outside the vocabulary, of ``vocab_size`` tokens.
    """

    def __init__(self, stop_ids: Sequence[int], eos: Sequence[int], vocab_size: int) -> None:
        for token_id in stop_ids:
            if not 0 <= token_id < vocab_size:
                raise ValueError(f"stop id {token_id} is outside the vocabulary")
        self.stop_ids = frozenset(stop_ids)
        self._replaced = frozenset(eos) - self.stop_ids
        self._stops = tokenset.from_ids(sorted(self.stop_ids), vocab_size)
        self._others = ~self._stops
        self._others_but_ends = ~tokenset.from_ids(sorted(self.stop_ids | set(eos)), vocab_size)

    def row(self, row: Words, is_accepting: bool) -> Words:
        """The row of a text that may end here, or may not: read-only uint32 (ceil(V / 32),)."""
        found = row & self._others_but_ends | self._stops if is_accepting else row & self._others
        found.flags.writeable = False
        return found

    def hides(self, token_id: int, is_accepting: bool) -> bool:
        """Whether a token that is no stop id is left out of such a row."""
        return is_accepting and token_id in self._replaced
