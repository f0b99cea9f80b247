"""Precompute a network's masks, for every stack that any text can lead to.

The mask of a stack is put together frame by frame from summaries F(e, p)
(``constrain.artifacts.network.summaries``). Those that stacks need
(``constrain.artifacts.network.closure``) are found breadth first, the root of the token trie at
every state before all that is suspended, up to limits that count. The mask automaton
(``constrain.artifacts.network.mask_automaton``) is made of them as far as there is room.
"""

from collections import deque

from constrain.artifacts.counting_network.closure import needed_keys
from constrain.artifacts.counting_network.summaries import CountingSummaries
from constrain.artifacts.network.closure import frames_below, mask_automaton
from constrain.artifacts.network.mask_automaton import MaskAutomaton
from constrain.artifacts.network.sets import AmbiguousPartsError
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.summaries.node_sets import NOTHING, ROOT
from constrain.artifacts.tokens.watch import Watch, unwatched

from ..diagnostics import LimitError
from ..limits import Effort, Exhausted


def precompute_summaries(
    tables: NetworkTables, summaries: Summaries, most: int, memory: int, effort: Effort
) -> bool:
    """Fill ``summaries``; whether all that any stack needs is there, with counters of few counts.

    Stops beyond ``most`` summaries, so many bytes of ``memory`` or the effort's work: at the same
    place on each machine. Raises ``LimitError`` for time and resident memory.
    """

    def watch(work: int, size: int) -> None:
        effort.spend(work, size)
        if len(summaries.results) >= most or summaries.nbytes > memory:
            raise Exhausted

    summaries.watch = watch
    try:
        if isinstance(summaries, CountingSummaries):
            for key in needed_keys(tables, range(1, tables.states), summaries):
                effort.spend(1, 0)
                summaries.left(*key)
        else:
            _fill(tables, summaries, watch)
    except Exhausted:
        return False
    except AmbiguousPartsError as error:
        # Texts would come to such a mask, too.
        stage = "a mask behind parts of a permutation that cannot be distinguished"
        raise LimitError(stage, "states", error.most, is_fixed=True) from error
    finally:
        summaries.watch = unwatched
    return True


def _fill(tables: NetworkTables, summaries: Summaries, watch: Watch) -> None:
    below = frames_below(tables)
    todo = deque((ROOT, state) for state in range(1, tables.states))
    seen = set(todo)
    while todo:
        watch(1, 0)
        nodes, state = todo.popleft()
        _, suspended = summaries.summary(nodes, state)
        for frame in below[state] if suspended != NOTHING else ():
            if (suspended, frame) not in seen:
                seen.add((suspended, frame))
                todo.append((suspended, frame))


def precompute_mask_automaton(
    tables: NetworkTables, summaries: Summaries, memory: int, effort: Effort
) -> tuple[MaskAutomaton, bool]:
    """The mask automaton over ``summaries``, which are precomputed, and whether it is complete:
    whether it has the masks of all single stacks.

    Stops beyond so many bytes of ``memory`` for it and the rows that it adds.
    """
    return mask_automaton(tables, frames_below(tables), summaries, memory, effort.spend)
