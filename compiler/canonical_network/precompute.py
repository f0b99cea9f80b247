"""Precompute the rows of all threads on all stacks (``artifacts/canonical_network/closure``), as
far as there is room in an artifact: the same on each machine."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.all_rows import AllRows
from constrain.artifacts.canonical_network.closure.token_liveness import Liveness
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork

from ..limits import MOST_WORK, Effort, Exhausted, Limits

_STAGE = "the canonical masks of the network"

# The share of the work that is done: a trie node takes longer here than in a walk by bytes alone.
_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Precomputed:
    """``arrays``: the sections ``closed.*``. ``summaries``: how many. ``is_complete``: whether no
    row will be missing while decoding."""

    arrays: dict[str, NDArray[Any]]
    summaries: int
    is_complete: bool


def precompute_rows(
    network: PretokenizedNetwork,
    liveness: Callable[[], Liveness],
    summaries: int,
    memory: int,
    effort: Effort,
    most_work: int = MOST_WORK,
    within: Limits | None = None,
) -> Precomputed:
    """Stops beyond so many ``summaries``, bytes of ``memory``, or ``most_work``, which ``effort``
    counts; it watches the network: the same grammar gives the same rows. Time and resident memory
    end it as well where they are those of ``within``, else raise ``LimitError``. ``liveness``:
    of the network; its tables are part of the work."""
    effort.begin(_STAGE, int(_SHARE * most_work), within)
    rows = None
    with suppress(Exhausted):
        rows = AllRows(network, liveness(), effort.spend, summaries, memory)
        rows.find()
    effort.end()
    if rows is None:
        return Precomputed({}, 0, is_complete=False)
    return Precomputed(rows.arrays(), len(rows.summaries.found), rows.is_complete)
