"""Precomputes the summaries of all heads (``worklist.py``), as far as there is room in an artifact:
those about the fewest frames first, the same on each machine."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie, trie_arrays

from ..limits import MOST_WORK, Effort, Exhausted, Limits
from ..options import PREWARM_OVER_LEXEMES, ArtifactRequest
from ..progress import Progress, Step, silent
from .found_summaries import nothing
from .worklist import MOST_HEADS, Worklist

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# Rows that are precomputed at most; at 150,000 tokens a row has 19 kB.
MOST_ROWS = 1 << 14

# How often a row is in memory at most: by itself, in a table, as hashes, and as blocks.
_COPIES = 4

# What counted work is made of, some 25 ns each: trie nodes that are met, lexemes that end at them,
# results, and heads. What is done between two looks at the limits.
_NODE_WORK, _LEXEME_WORK, _RESULT_WORK, _HEAD_WORK = 8, 650, 400, 48_000
_WORK_BETWEEN_LOOKS = 1_000_000

_STAGE = "the masks of the lexemes"


@dataclass(frozen=True)
class Precomputed:
    """``complete``: every mask of every text is precomputed. ``heads``: how many were visited.
    ``summaries``: those that masks begin or go on with: from the root of the token trie, and on by
    frames."""

    complete: bool
    heads: int
    summaries: HeadSummaryTables

    @property
    def results(self) -> int:
        """How many of ``first`` and ``feed`` there are."""
        return len(self.summaries.firsts) + len(self.summaries.feeds)


def precompute(
    masks: MaximalMunchMasks,
    limits: Limits | None = None,
    most_rows: int = MOST_ROWS,
    most_results: int | None = None,
    effort: Effort | None = None,
    most_work: int = MOST_WORK,
    within: Limits | None = None,
) -> Precomputed:
    """The summaries of ``masks`` until all are there, there are too many, or ``most_work``, which
    ``effort`` counts, is done.

    ``effort``: raises ``LimitError`` for time and memory, unless ``within`` ends the work by them.
    ``most_results``: of ``first`` and ``feed``; the task that finds so many is finished.
    """
    limits = (limits or Limits()).started()
    effort = effort or Effort(limits, masks.configurations.heads.network.names[:1])
    effort.begin(_STAGE, most_work, within)
    walks, is_complete, before = masks.walks, False, 0

    def look() -> None:
        nonlocal before
        done = _NODE_WORK * walks.visited + _LEXEME_WORK * walks.parsed
        done += _RESULT_WORK * work.found.results + _HEAD_WORK * work.visited
        if done - before >= _WORK_BETWEEN_LOOKS:
            before, spent = done, done - before
            effort.spend(spent)

    work = Worklist(masks, look)
    with suppress(Exhausted):
        while not (
            work.is_complete
            or work.visited > MOST_HEADS
            or (most_results is not None and work.found.results >= most_results)
            or work.seen > limits.states
            or len(work.found.rows) > most_rows
        ):
            work.step()
            look()
        is_complete = work.is_complete
    effort.end()
    return Precomputed(is_complete, work.visited, work.found.tables())


@dataclass(frozen=True, eq=False)
class StoredMasks:
    """What an artifact stores of its masks. ``reached``: how far they are precomputed.
    ``lexer_states``: of the lexer, without the dead one. ``trie``: to compute the rest with, None
    if there is none."""

    reached: Precomputed
    transitions: ParserTransitionTables
    lexer_states: int
    trie: Trie | None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections of an artifact."""
        arrays = self.reached.summaries.arrays() | self.transitions.arrays()
        return arrays if self.trie is None else arrays | trie_arrays(self.trie, "trie.")


def _nbytes(stored: StoredMasks) -> int:
    return sum(array.nbytes for array in stored.arrays().values())


@Step("precompute")
def precompute_within(
    tables: MaximalMunchTables,
    request: ArtifactRequest["Tokenizer"],
    taken: int,
    progress: Progress = silent,
) -> StoredMasks:
    """The masks of a grammar over a vocabulary, precomputed as far as the artifact has room.

    ``taken``: bytes of its other sections. Where all together are too many, half as many results
    are computed once more: those that are found first are those about the fewest frames.
    """
    options, limits, size = request.options, request.limits, request.vocab_size
    most_results = PREWARM_OVER_LEXEMES if options.prewarm is None else options.prewarm
    vocabulary, trie = request.vocabulary, request.trie
    most_rows = min(MOST_ROWS, limits.memory // (_COPIES * 4 * tokenset.word_count(size)))
    effort = Effort(limits, tables.network.names[:1], progress, _STAGE)
    within = options.rows_limits
    # Heads near the ends are many, or states of the lexer, and any mask is found in milliseconds.
    are_many = tables.network.counters is not None or tables.lexer.is_lazy
    while True:
        if are_many or not most_results:
            none, transitions = nothing(tables, size)
            reached = Precomputed(complete=False, heads=0, summaries=none)
            found = StoredMasks(reached, transitions, 0, trie)
            if are_many:
                return found
        else:
            masks = MaximalMunchMasks(tables, lambda: trie, vocabulary, request.eos, size)
            work = options.rows_work
            reached = precompute(masks, limits, most_rows, most_results, effort, work, within)
            configurations = masks.configurations
            found = StoredMasks(
                reached,
                configurations.transitions.tables(),
                configurations.lexer.states - 1,
                None if reached.complete else trie,
            )
        most = options.max_artifact_bytes
        # The trie may be built while decoding, too.
        alone = replace(found, trie=None)
        is_within = _nbytes(alone) <= options.rows_bytes(most - taken)
        for stored in (found, alone):
            if not most or (is_within and taken + _nbytes(stored) <= most):
                return stored
        if not most_results:
            return stored
        most_results = min(most_results, reached.results) // 2
