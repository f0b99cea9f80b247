"""What a machine of maximal munch begins with, as far as an artifact has room for it.

    network and lexer, vocabulary  ->  summaries of heads, parser transitions, states of the lexer

Where an artifact would be too large, half as many summaries are computed once more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.slices import Slice, Slices
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie

from ..options import PREWARM_OVER_LEXEMES, ArtifactRequest
from .precompute import MOST_ROWS, Closure, close, reachable

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Precomputed:
    """What a machine begins with.

    ``closure``: how far masks were precomputed, with at most ``most`` summaries. ``trie``: the
    vocabulary's, for masks that are computed lazily; None if there are none.
    """

    closure: Closure
    most: int
    summaries: HeadSummaryTables
    transitions: ParserTransitionTables
    lexer_states: int
    trie: Trie | None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections of an artifact."""
        walked: dict[str, NDArray[Any]] = {}
        if self.trie is not None:
            walked = {
                "trie.first": self.trie.first,
                "trie.held": self.trie.held,
                "trie.ids": self.trie.ids,
                "trie.octets": self.trie.octets,
            }
        return self.summaries.arrays() | self.transitions.arrays() | walked


def precompute(
    tables: MaximalMunchTables,
    slices: Sequence[Slice],
    request: ArtifactRequest["Tokenizer"],
    taken: int,
) -> Precomputed:
    """Masks of all heads, as many as the artifact has room for.

    ``taken``: bytes that its other sections have. Where all together are too many, half of the
    summaries are computed once more: those that were found first are those about the fewest
    frames. Raises ``LimitError`` on time.
    """
    options, limits, size = request.options, request.limits, request.vocab_size
    summaries = PREWARM_OVER_LEXEMES if options.prewarm is None else options.prewarm
    vocabulary = request.tokenizer.vocabulary(size)
    trie = Trie.from_vocabulary(vocabulary)
    covered = Slices(slices, trie, size)
    most_rows = min(MOST_ROWS, limits.memory // (4 * tokenset.word_count(size)))
    while True:
        masks = MaximalMunchMasks(
            tables, lambda: trie, vocabulary, request.eos, size, lambda: covered
        )
        closure = close(masks, limits, most_rows, summaries)
        limits.check_time("the masks of the lexemes", tables.network.names[:1])
        memo = masks.memo()
        found = Precomputed(
            closure,
            summaries,
            reachable(memo) if closure.complete else memo,
            masks.moves.tables(),
            masks.lexer.states - 1,
            None if closure.complete else trie,
        )
        bytes_taken = taken + sum(array.nbytes for array in found.arrays().values())
        if bytes_taken <= options.max_artifact_bytes or not summaries:
            return found
        summaries = min(summaries, closure.answers) // 2
