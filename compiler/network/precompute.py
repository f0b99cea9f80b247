"""What the masks and steps of a network begin with, as far as an artifact has room for it.

    network, vocabulary  ->  effects of tokens  ->  summaries  ->  mask automaton (Moore machine)

Each takes what the one before has left of the memory. What is missing is computed lazily.

The mask of a stack is put together frame by frame from summaries F(e, p)
(``constrain.artifacts.network.summaries``). Those that stacks need
(``constrain.artifacts.network.closure``) are found breadth first, the root of the token trie at
every state before all that is suspended, up to limits that count. The mask automaton
(``constrain.artifacts.network.mask_automaton``) is made of them as far as there is room.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.closure import frames_below, mask_automaton
from constrain.artifacts.network.mask_automaton import MaskAutomaton
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.summary_tables import SummaryTables
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects
from constrain.artifacts.summaries.node_sets import NOTHING, ROOT
from constrain.artifacts.tokens.watch import Watch, unwatched

from ..limits import Effort, Exhausted
from ..options import PREWARM, ArtifactRequest
from ..progress import Progress, Step, silent
from .token_effects import token_effects

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# Bytes of the mask automaton and the rows that it unites, and of the table of token effects. What
# there is no room for is united, and read, while decoding.
_AUTOMATON_BYTES = 1 << 24
_EFFECTS_BYTES = 1 << 24

# How often a row is in memory at most: as itself, as the key of its number, in the table, and in
# the file that is being written.
_COPIES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Precomputed:
    """What a network's masks and steps begin with. ``is_complete``: no summary is missing."""

    summaries: SummaryTables
    automaton: MaskAutomaton
    effects: TokenEffects
    is_complete: bool

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections of an artifact."""
        return self.summaries.arrays() | self.automaton.arrays() | self.effects.arrays()

    @property
    def counts(self) -> dict[str, int]:
        """For people: summaries, and different rows."""
        return {"answers": len(self.summaries.keys), "rows": len(self.summaries.rows)}


@Step("precompute")
def precompute(
    tables: NetworkTables,
    terminals: Sequence[NDArray[np.int32]],
    request: ArtifactRequest["Tokenizer"],
    taken: int,
    progress: Progress = silent,
) -> Precomputed:
    """Effects of tokens, summaries of masks, and their mask automaton, as far as there is room.

    ``terminals``: the ids of each token terminal, ascending. ``taken``: bytes that the artifact's
    other sections have. Raises ``LimitError`` for time and resident memory.
    """
    options, limits, size = request.options, request.limits, request.vocab_size
    effort = Effort(limits, tables.names[:1], progress)
    summaries = PREWARM if options.prewarm is None else options.prewarm
    memory = min(options.max_artifact_bytes - taken, limits.memory // _COPIES)
    automaton = MaskAutomaton.of(tables, {}, {})
    if not summaries or memory <= 0:
        empty = SummaryTables.empty(size)
        return Precomputed(empty, automaton, TokenEffects.empty(), not summaries)
    vocabulary, trie = request.vocabulary, request.trie
    found = Summaries(tables, lambda: trie, size)
    effort.begin("the effects of the tokens")
    effects = token_effects(tables, vocabulary, terminals, min(memory, _EFFECTS_BYTES), effort)
    memory -= effects.nbytes
    effort.begin("the masks of the network", options.rows_work)
    # The last summary may add a row, and two sets of nodes.
    room = options.rows_bytes(memory - found.nbytes - 8 * len(trie.octets))
    is_complete = precompute_summaries(tables, found, summaries, room, effort)
    effort.end()
    if is_complete:
        room = options.rows_bytes(memory) - found.nbytes
        automaton, _ = precompute_mask_automaton(tables, found, min(room, _AUTOMATON_BYTES), effort)
    return Precomputed(found.tables(), automaton, effects, is_complete)


def precompute_summaries(
    tables: NetworkTables, summaries: Summaries, most: int, memory: int, effort: Effort
) -> bool:
    """Fill ``summaries``; whether all that any stack needs is there.

    Stops beyond ``most`` summaries, so many bytes of ``memory`` or the effort's work: at the same
    place on each machine. Raises ``LimitError`` for time and resident memory.
    """

    def watch(work: int, size: int) -> None:
        effort.spend(work, size)
        if len(summaries.results) >= most or summaries.nbytes > memory:
            raise Exhausted

    summaries.watch = watch
    try:
        _fill(tables, summaries, watch)
    except Exhausted:
        return False
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
