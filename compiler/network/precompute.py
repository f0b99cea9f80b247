"""Masks of a network that an artifact begins with, as far as it has room for them.

The mask of a stack is put together frame by frame from summaries F(e, p)
(``constrain.artifacts.walk.summaries``). Those that stacks need
(``constrain.artifacts.network.closure``) are found breadth first, the root of the token trie at
every state before all that is left, up to limits that count. What is missing is found while
decoding.
"""

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.closure import frames_below
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.summaries.node_sets import NOTHING, ROOT
from constrain.artifacts.walk.summaries import Summaries
from constrain.artifacts.walk.summary_tables import SummaryTables

from ..limits import Effort, Exhausted
from ..options import PREWARM, ArtifactRequest
from ..progress import Progress, Step, silent

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# How often a row is in memory at most: as itself, as the key of its number, in the table, and in
# the file that is being written.
_COPIES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Precomputed:
    """The masks that a network begins with. ``is_complete``: no summary is missing."""

    summaries: SummaryTables
    is_complete: bool

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections of an artifact."""
        return self.summaries.arrays()

    @property
    def counts(self) -> dict[str, int]:
        """For people: summaries, and different rows."""
        return {"answers": len(self.summaries.keys), "rows": len(self.summaries.rows)}


@Step("precompute")
def precompute(
    tables: NetworkTables,
    request: ArtifactRequest["Tokenizer"],
    taken: int,
    progress: Progress = silent,
) -> Precomputed:
    """Summaries of masks, as far as there is room. ``taken``: bytes that the artifact's other
    sections have. Raises ``LimitError`` for time and resident memory."""
    options, limits, size = request.options, request.limits, request.vocab_size
    most = PREWARM if options.prewarm is None else options.prewarm
    memory = min(options.max_artifact_bytes - taken, limits.memory // _COPIES)
    found = Summaries(TableStates(tables), lambda: request.trie, size)
    is_complete = not most
    if most and memory > 0:
        effort = Effort(limits, tables.names[:1], progress)
        effort.begin("the masks of the network", options.rows_work)
        is_complete = precompute_summaries(tables, found, most, options.rows_bytes(memory), effort)
        effort.end()
    return Precomputed(SummaryTables.of(found.rows, found.found), is_complete)


def precompute_summaries(
    tables: NetworkTables, found: Summaries, most: int, memory: int, effort: Effort
) -> bool:
    """Fill ``found``; whether all that any stack needs is there.

    Stops beyond ``most`` summaries, so many bytes of ``memory`` or the effort's work: at the same
    place on each machine. Raises ``LimitError`` for time and resident memory.
    """
    todo = deque((ROOT, state) for state in range(1, tables.states))
    seen = set(todo)
    try:
        below = frames_below(tables, effort.spend)
        while todo:
            # The next summary may add a row.
            if len(found.found) >= most or found.table_bytes + found.rows.row_bytes > memory:
                return False
            before = found.work
            nodes, state = todo.popleft()
            _, left = found.summary(nodes, state)
            effort.spend(1 + found.work - before)
            for frame in below[state] if left != NOTHING else ():
                if (left, frame) not in seen:
                    seen.add((left, frame))
                    todo.append((left, frame))
    except Exhausted:
        return False
    return True
