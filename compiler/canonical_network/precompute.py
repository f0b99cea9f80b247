"""Precompute the rows of all threads on all stacks (``artifacts/canonical_network/closure``), as
far as there is room in an artifact: the same on each machine."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.all_rows import AllRows
from constrain.artifacts.canonical_network.closure.token_liveness import Liveness
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork

from ..limits import MOST_WORK, Effort, Exhausted

_STAGE = "the canonical masks of the network"


@dataclass(frozen=True, slots=True)
class Precomputed:
    """``arrays``: the sections ``closed.*``. ``summaries``: how many. ``is_complete``: whether no
    row will be missing while decoding."""

    arrays: dict[str, NDArray[Any]]
    summaries: int
    is_complete: bool


def precompute_rows(
    network: PretokenizedNetwork,
    liveness: Liveness,
    summaries: int,
    memory: int,
    effort: Effort,
    most_work: int = MOST_WORK,
) -> Precomputed:
    """Stops beyond so many ``summaries``, bytes of ``memory``, or ``most_work``, which ``effort``
    counts; it watches the network: the same grammar gives the same rows. Raises ``LimitError`` for
    time and resident memory."""
    effort.begin(_STAGE, most_work)
    rows = None
    with suppress(Exhausted):
        rows = AllRows(network, liveness, effort.spend, summaries, memory)
        rows.find()
    effort.end()
    if rows is None:
        return Precomputed({}, 0, is_complete=False)
    return Precomputed(rows.arrays(), len(rows.summaries.found), rows.is_complete)
