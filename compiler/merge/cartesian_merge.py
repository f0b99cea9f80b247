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
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.token_liveness import Summaries
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.precomputed_rows import UNKNOWN
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import distinct, numbered_keys
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs

from ..automata.dfa import Dfa
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
        lift, add = self.lift, summaries.rows
        kept = np.array([len(held) > 0 for held in lift.sets])[lift.numbers]
        rows = np.flatnonzero(kept)
        answers: dict[int, tuple[int, int]] = {}
        # Rows that are met first have the first numbers.
        for number in dict.fromkeys(lift.numbers[rows].tolist()):
            held = lift.sets[number]
            is_packed = held.dtype == np.uint32
            row = add.add_bits(held.view(np.uint32)) if is_packed else add.add_ascending(held)
            answers[number] = row, 0
        pre_states, states = self.product.pre_state[rows // 2], self.product.byte_state[rows // 2]
        entries = map(summaries.root_entry, pre_states.tolist(), (rows % 2).tolist())
        suffix = repeat(summaries.suffix(UNKNOWN, TEXT_END))
        keys = zip(entries, states.tolist(), suffix, strict=False)
        found = map(answers.__getitem__, lift.numbers[rows].tolist())
        summaries.found.update(zip(keys, found, strict=True))

    def tokens(self, kind: int) -> NDArray[np.bool_]:
        """The tokens that some row holds, bool (V,); ``kind``: 0 for rows of tokens that continue
        a pre-token, 1 for those that start one."""
        words = np.zeros(tokenset.word_count(self.lift.size), dtype=np.uint32)
        sets = [self.lift.sets[number] for number in distinct(self.lift.numbers[kind::2]).tolist()]
        for held in sets:
            if held.dtype == np.uint32:
                words |= held.view(np.uint32)
        found = tokenset.to_flags(words)[: self.lift.size]
        found[np.concatenate([held for held in sets if held.dtype != np.uint32])] = True
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
    return _fused(pairs.followed_by(continuing), np.flatnonzero(continuing | starting))


def _restrict(lifted: Lift, dead: NDArray[np.int32]) -> None:
    """Remove transitions to dead ends, int32 (2, m), row and token, from the rows in place."""
    rows, tokens = dead[:, np.argsort(dead[0], kind="stable")]
    found, bounds = np.unique(rows, return_index=True)
    parts = np.split(tokens, bounds[1:])
    # Rows of which the same is left have one number again.
    left: dict[tuple[int, bytes], int] = {}
    for row, gone in zip(found.tolist(), parts, strict=False):
        key = int(lifted.numbers[row]), gone.tobytes()
        if key not in left:
            left[key], whole = len(lifted.sets), lifted.sets[key[0]]
            if whole.dtype == np.uint32:
                lifted.sets.append(whole.view(np.uint32) & ~tokenset.from_ids(gone, lifted.size))
            else:
                lifted.sets.append(np.setdiff1d(whole.view(np.int32), gone, assume_unique=True))
        lifted.numbers[row] = left[key]


def _fused(pairs: ForbiddenPairs, read: NDArray[np.int64]) -> ForbiddenPairs:
    """The same table with one class for tokens with equal rows.

    ``read``: the tokens that members have; if they are many, classes stay as they are. Other tokens
    keep the classes of the whole table, numbered after those of ``read``.
    """
    if len(read) > _MAX_FUSED:
        return pairs
    first, classes = numbered_keys(np.sort(pairs.ids(token)).tobytes() for token in read.tolist())
    row_class = np.unique(pairs.row_class, return_inverse=True)[1].reshape(-1).astype(np.int32)
    row_class += len(first)
    row_class[read] = classes
    return replace(pairs, row_class=row_class)
