"""CartesianMerge, Algorithm 5: all rows of a network without calls, before decoding.

    product      the network × the pre-tokenizer DFA
    lift         DFA₁: which tokens each product state p reads; row 2p those that continue a
                 pre-token, row 2p + 1 those that start one
    relevance    which of these transitions lead to an end
    rows         δ₁ restricted to those (section 5.4), each distinct row once

DFA₂, the tokenizer's own automaton, is the table of forbidden pairs (``bpe.forbidden_pairs``).
Algorithm 6 walks both while decoding: ``constrain.artifacts.canonical_network.masks``. Source:
Tran-Thien, "Technical Appendix" (2024), section 5.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.token_liveness import Summaries
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.precomputed_rows import UNKNOWN
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.tokenset import Words

from ..automata.dfa import Dfa
from ..bpe.forbidden_pairs import only_followed_by
from ..bpe.tokenizer_tables import TokenizerTables
from ..limits import Limits
from ..progress import Progress, silent
from ..tokenizer_steps.normalized_members import NormalFormTables
from .lift import Lift, lift
from .normalized import live_by_inert
from .product import Product, build_product
from .relevance import Relevance

# Up to so many tokens of a grammar have their rows of forbidden pairs compared, to fuse classes.
_MAX_FUSED = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CartesianDfa:
    """The result of Algorithm 5.

    ``lift``: of ``product``, with the transitions that lead to an end alone. ``inside``: states
    that are not at a free boundary, int64, each with a token that leads there, int64.
    ``live_by_inert``: see ``normalized``.
    """

    product: Product
    lift: Lift
    inside: tuple[NDArray[np.int64], NDArray[np.int64]]
    live_by_inert: bool = True

    def add_to(self, summaries: Summaries) -> None:
        """The rows as summaries above the empty stack."""
        rows, suffix = summaries.rows, summaries.suffix(UNKNOWN, TEXT_END)
        numbers: dict[int, tuple[int, int]] = {}
        states, pre_states = self.product.byte_state.tolist(), self.product.pre_state.tolist()
        for row, held in self.lift.rows:
            # Equal rows share an array.
            found = numbers.get(id(held))
            if found is None:
                if held.dtype == np.uint32:
                    number = rows.add_bits(held.view(np.uint32))
                else:
                    number = rows.add_ascending(held.view(np.int32))
                found = numbers[id(held)] = number, 0
            entry = summaries.root_entry(pre_states[row // 2], row % 2)
            summaries.found[entry, states[row // 2], suffix] = found

    def tokens(self, kind: int) -> NDArray[np.bool_]:
        """The tokens that some row holds, bool (V,); ``kind``: 0 for rows of tokens that continue
        a pre-token, 1 for those that start one."""
        found, lift = np.zeros(self.lift.size, dtype=np.bool_), self.lift
        # Equal rows share an array.
        listed = {id(ids): ids for row, ids in lift.lists.items() if row % 2 == kind}
        found[np.concatenate([np.zeros(0, dtype=np.int32), *listed.values()])] = True
        packed = {id(words): words for row, words in lift.bits.items() if row % 2 == kind}
        for words in packed.values():
            found |= tokenset.to_flags(words)[: len(found)]
        return found


def product_of(
    network: PretokenizedNetwork,
    tables: TokenizerTables,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Product:
    """The product of a network without calls, also for what begins after a prompt. Raises
    ``LimitError``."""
    t = network.network.tables
    accepting = t.accepting != 0
    accepting[t.start] |= t.nullable_start
    dfa = Dfa(t.table, t.classes, accepting, t.start, ())
    return build_product(dfa, tables.pretokenizer, limits, progress, network.continued)


def cartesian_merge(
    product: Product,
    tables: TokenizerTables,
    limits: Limits | None = None,
    normal_form: NormalFormTables | None = None,
    progress: Progress = silent,
) -> CartesianDfa:
    """Algorithm 5 for the texts of ``product``, of which those in ``normal_form`` are followed
    beside it. Raises ``LimitError``."""
    limits = (limits or Limits()).started()
    pretokenizer, pairs = tables.pretokenizer, tables.pairs
    lifted = lift(product, pretokenizer, pairs, limits, progress)
    usable = None
    if normal_form is not None:
        usable = np.ones(lifted.size, dtype=np.bool_)
        usable[normal_form.bound] = False
    relevance = Relevance(product, lifted, pretokenizer, pairs, progress, usable)
    is_live = normal_form is None or live_by_inert(normal_form, relevance)
    _restrict(lifted, relevance.dead())
    claims, live = relevance.claims, relevance.live
    return CartesianDfa(product, lifted, (claims.state_of[live], claims.token_of[live]), is_live)


def pairs_of(found: CartesianDfa, pairs: ForbiddenPairs) -> ForbiddenPairs:
    """The forbidden pairs that masks of these rows are asked for: of second tokens that continue a
    pre-token somewhere, with one class for tokens with equal rows, as section 5.3 fuses states."""
    continuing, starting = found.tokens(0), found.tokens(1)
    return _fused(only_followed_by(pairs, continuing), np.flatnonzero(continuing | starting))


def _restrict(lifted: Lift, dead: NDArray[np.int32]) -> None:
    """Remove transitions to dead ends, int32 (2, m), row and token, from the rows in place."""
    rows, tokens = dead[:, np.argsort(dead[0], kind="stable")]
    found, bounds = np.unique(rows, return_index=True)
    parts = np.split(tokens, bounds[1:])
    # Rows of which the same is left share an array again. The first array of a value is held, so
    # that no other has its id.
    left: dict[tuple[int, bytes], tuple[Words, Words]] = {}
    for row, gone in zip(found.tolist(), parts, strict=False):
        if row in lifted.bits:
            whole = lifted.bits[row]
            key = id(whole), gone.tobytes()
            if key not in left:
                left[key] = whole, whole & ~tokenset.from_ids(gone, lifted.size)
            lifted.bits[row] = left[key][1]
        else:
            lifted.lists[row] = np.setdiff1d(lifted.lists[row], gone, assume_unique=True)


def _fused(pairs: ForbiddenPairs, read: NDArray[np.int64]) -> ForbiddenPairs:
    """The same table with one class for tokens with equal rows.

    ``read``: the tokens that members have; if they are many, classes stay as they are. Other tokens
    keep the classes of the whole table, numbered after those of ``read``.
    """
    if len(read) > _MAX_FUSED:
        return pairs
    numbers: dict[bytes, int] = {}
    rows = (np.sort(pairs.ids(token)).tobytes() for token in read.tolist())
    classes = [numbers.setdefault(row, len(numbers)) for row in rows]
    row_class = np.unique(pairs.row_class, return_inverse=True)[1].reshape(-1).astype(np.int32)
    row_class += len(numbers)
    row_class[read] = classes
    return replace(pairs, row_class=row_class)
