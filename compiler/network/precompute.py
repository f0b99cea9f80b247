"""Masks of a network that an artifact begins with, as far as it has room for them.

The mask of a stack is put together frame by frame from summaries F(e, p)
(``constrain.artifacts.walk.summaries``). Those that stacks need
(``constrain.artifacts.network.closure``) are found breadth first, the root of the token trie at
every state before all that is left, up to limits that count. What is missing is found while
decoding. The masks of single stacks are united of them, breadth first too, as far as there is room.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from constrain.artifacts.errors import WalkLimitError
from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.closure import frames_below, states_inside
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.walk.node_sets import NOTHING, ROOT
from constrain.artifacts.walk.summaries import Summaries
from constrain.artifacts.walk.summary_rows import EMPTY
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
    sections have."""
    options, limits, size = request.options, request.limits, request.vocab_size
    most = PREWARM if options.prewarm is None else options.prewarm
    memory = min(options.max_artifact_bytes - taken, limits.memory // _COPIES)
    found = Summaries(TableStates(tables), lambda: request.trie, size)
    is_complete = not most
    if most and memory > 0:
        effort = Effort(limits, tables.names[:1], progress)
        effort.begin("the masks of the network", options.rows_work, options.rows_limits)
        room = options.rows_bytes(memory)
        is_complete = precompute_summaries(tables, found, most, room, effort)
        if is_complete:
            precompute_stacks(tables, found, request.eos, most, room, effort)
        effort.end()
    return Precomputed(SummaryTables.of(found.rows, found.found), is_complete)


def precompute_summaries(
    tables: NetworkTables, found: Summaries, most: int, memory: int, effort: Effort
) -> bool:
    """Fill ``found``; whether all that any stack needs is there.

    Stops beyond ``most`` summaries, so many bytes of ``memory`` or the effort's work, or where a
    walk has too many threads: at the same place on each machine, if time and memory suffice.
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
    except (Exhausted, WalkLimitError):
        return False
    return True


def precompute_stacks(
    tables: NetworkTables,
    found: Summaries,
    eos: Sequence[int],
    most: int,
    memory: int,
    effort: Effort,
) -> None:
    """Add the masks of single stacks, as ``SummaryTables`` has them, to all summaries that were
    ``found``. Stops as ``precompute_summaries`` does."""
    rows, left_behind, begun = found.rows, dict[tuple[int, int], int](), len(found.sets)
    todo = deque((NOTHING, EMPTY, ROOT, state) for state in range(1, tables.states))
    seen = set[tuple[int, int]]()
    try:
        below = frames_below(tables, effort.spend)
        for state in states_inside(tables, tables.start):
            below[state].append(DEAD)
        ending = rows.number(tokenset.from_ids(eos, rows.row_bytes * 8))
        while todo and len(found.found) < most:
            effort.spend(1 + rows.row_bytes)
            if found.table_bytes + rows.row_bytes > memory:
                break
            number, row, nodes, state = todo.popleft()
            if state == DEAD:
                # At the root of the trie nothing was read: all calls may end.
                more, left = EMPTY if found.sets[nodes][0] else ending, NOTHING
            else:
                more, left = found.found[nodes, state]
            whole = rows.number(rows[row] | rows[more])
            after = NOTHING
            if left != NOTHING:
                after = left_behind.setdefault((whole, left), begun + len(left_behind))
                following = [(after, frame) for frame in below[state] if (after, frame) not in seen]
                seen.update(following)
                todo += [(after, whole, left, frame) for _, frame in following]
            found.found[number, state] = whole, after
    except Exhausted:
        pass
