"""The rows of a network without calls by CartesianMerge: one walk of the token trie for all states
together, as many tokens do the same."""

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.joint_walks import joint_table
from constrain.artifacts.canonical_network.closure.token_liveness import Summaries
from constrain.artifacts.canonical_network.contexts import TEXT_END

from ..diagnostics import LimitError
from ..merge.cartesian_merge import cartesian_merge, pairs_of, product_of
from .precompute import Precomputed
from .tables import CanonicalTables


def by_cartesian_merge(
    merged: CanonicalTables, most: int | None, memory: int
) -> Precomputed | None:
    """All rows: at most ``most`` of them, None for any number, and at most ``memory`` bytes.

    None where there would be more, where the network has calls, where tokens may be dead beside
    a normal form, or where time and memory do not suffice.
    """
    network, tables, limits = merged.network, merged.tables, merged.request.options.rows_limits
    if len(network.network.tables.call_starts):
        return None
    progress = merged.effort.progress
    try:
        # Where the product alone takes more, so would the rows of its states.
        within = replace(limits, memory=min(memory, limits.memory))
        product = product_of(network, tables, within, progress)
        if most is not None and 2 * product.states > most:
            return None
        found = cartesian_merge(product, tables, limits, merged.normal_form, progress)
    except LimitError:
        return None
    if not found.live_by_inert:
        return None
    summaries = Summaries(network.vocabulary.size, network.planes, len(network.pretokenizer.table))
    found.add_to(summaries)
    if summaries.nbytes > memory:
        return None
    arrays: dict[str, NDArray[Any]] = {
        "closed.all": np.ones(2, dtype=np.uint8),
        "closed.contexts": np.zeros((0, 3), dtype=np.int32),
        **summaries.arrays(network.network.tables.states),
    }
    if (ends := merged.ends) is not None:
        states, tokens = found.inside
        states, tokens = states[ends.is_split[tokens]], tokens[ends.is_split[tokens]]
        places = product.byte_state[states], product.pre_state[states]
        pairs_behind = network.contexts.numbers(*places).tolist()
        for pair, token in zip(pairs_behind, tokens.astype(np.int32), strict=True):
            ends.meet((pair, ()), token[None], TEXT_END)
        joint = cache(partial(joint_table, network))
        arrays["stable.unsure"] = ends.undecided(summaries, joint, set())
    if not merged.request.options.thin:
        size = merged.request.vocab_size
        pairs = pairs_of(found, tables.pairs.forbidden.rows)
        arrays |= pairs.padded(max(size, len(pairs.part))).arrays("pairs.")
    return Precomputed(arrays, len(summaries.found), is_complete=True)
