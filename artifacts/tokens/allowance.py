"""What a call that precomputes may spend, and how far it came."""

from dataclasses import dataclass
from enum import Enum
from time import monotonic


class Ended(Enum):
    """Why precomputing ended; the value says so to people."""

    COMPLETE = "all is precomputed"
    SECONDS = "the seconds were over"
    ANSWERS = "the answers that were asked for were found"
    MEMORY = "more would not fit into cache_bytes"
    NOTHING_NEW = "texts that follow the masks met no new ones"
    NOT_LAZY = "nothing of this kind of artifact is computed lazily and kept for other texts"


@dataclass(frozen=True, slots=True)
class Precomputed:
    """``answers``: how many a call has found: summaries of a network, masks of other kinds.
    ``ended``: why it ended."""

    answers: int
    ended: Ended

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left that a text could need."""
        return self.ended in (Ended.COMPLETE, Ended.NOT_LAZY)


NOT_LAZY = Precomputed(0, Ended.NOT_LAZY)


class Allowance:
    """What a call of ``precompute`` may spend."""

    def __init__(self, seconds: float | None, answers: int | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds
        self._answers = answers

    def left(self, answers: int) -> int | None:
        """How many more answers may be found behind so many; None for all."""
        return None if self._answers is None else max(0, self._answers - answers)

    def spent(self, answers: int) -> Ended | None:
        """Why no more may be found, after so many answers."""
        if self._answers is not None and answers >= self._answers:
            return Ended.ANSWERS
        return Ended.SECONDS if self._end is not None and monotonic() >= self._end else None
