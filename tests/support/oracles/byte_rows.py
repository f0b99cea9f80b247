"""The mask rows of a byte DFA by a walk of the token trie from each state, level by level."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie, walk


def row_via_levels(
    dfa: ByteDfa,
    trie: Trie,
    live: NDArray[np.bool_],
    eos: Sequence[int],
    vocab_size: int,
    state: int,
) -> tokenset.Words:
    """The tokens that lead from a state to one that is ``live``, bool (S,), those of terminals
    that do, and ``eos`` where a text may end."""
    hits = list(walk(trie, dfa.table, dfa.classes, np.array([state])))
    read = [hit.tokens[live[hit.states]] for hit in hits]
    named, _ = dfa.terminals.select(live[dfa.token_targets(state)])
    ends = list(eos) if dfa.accepting[state] else []
    return tokenset.from_ids(np.concatenate([*read, named, ends]), vocab_size)
