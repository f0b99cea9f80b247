"""What a machine of maximal munch begins with, as far as an artifact has room for it.

    network and lexer, vocabulary  ->  summaries of heads, parser transitions, states of the lexer

Where an artifact would be too large, half as many summaries are computed once more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.slices import Slice, Slices
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..limits import Limits
from ..options import PREWARM_OVER_LEXEMES
from .precompute import MOST_ROWS, Closure, close, reachable


@dataclass(frozen=True, slots=True, eq=False)
class StoredMasks:
    """What an artifact stores of its masks.

    ``reached``: how far they are precomputed. ``lexer_states``: of the lexer, without the dead
    one. ``trie``: the vocabulary's, for masks that are computed lazily; None if there are none.
    """

    reached: Closure
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


def precompute_within(
    tables: MaximalMunchTables,
    vocabulary: Vocabulary,
    eos: Sequence[int],
    vocab_size: int,
    limits: Limits,
    most_bytes: int,
    most_results: int | None = None,
    slices: Sequence[Slice] = (),
) -> StoredMasks:
    """The masks of all heads over a vocabulary, as far as the limits allow.

    ``most_bytes``: of the arrays; half as many results are tried until they fit, or there are
    none. ``most_results``: None for ``PREWARM_OVER_LEXEMES``, 0 for none. Raises ``LimitError`` on
    time.
    """
    most_results = PREWARM_OVER_LEXEMES if most_results is None else most_results
    trie = Trie.from_vocabulary(vocabulary)
    shared = Slices(slices, trie, vocab_size)
    most_rows = min(MOST_ROWS, limits.memory // (4 * tokenset.word_count(vocab_size)))
    while True:
        masks = MaximalMunchMasks(tables, lambda: trie, vocabulary, eos, vocab_size, lambda: shared)
        reached = close(masks, limits, most_rows, most_results)
        limits.check_time("the masks of the lexemes", tables.network.names[:1])
        memo = masks.memo()
        found = StoredMasks(
            reached,
            reachable(memo) if reached.complete else memo,
            masks.moves.tables(),
            masks.lexer.states - 1,
            None if reached.complete else trie,
        )
        size = sum(array.nbytes for array in found.arrays().values())
        if size <= most_bytes or not most_results:
            return found
        # The results that were found first are those about the fewest frames.
        most_results = min(most_results, reached.answers) // 2
