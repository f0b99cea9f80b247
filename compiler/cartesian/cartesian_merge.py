"""CartesianMerge, Algorithm 5: all that is computed before decoding.

    product      the grammar's byte DFA × the pre-tokenizer DFA
    lift         DFA₁: which tokens each product state reads
    relevance    which of these transitions lead to an end
    rows         δ₁ restricted to those (section 5.4), each distinct row once

DFA₂, the tokenizer's own automaton, is the table of forbidden pairs (``bpe.forbidden_pairs``).
Algorithm 6, which walks both while decoding, is ``constrain.artifacts.cartesian.machine``. Source:
Tran-Thien, "Technical Appendix" (2024), section 5.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.cartesian.machine import ProductRows
from constrain.artifacts.cartesian.transitions import Transitions
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import MOST_ROWS, shared_blocks
from constrain.artifacts.tokens.tokenset import Words

from ..bpe.forbidden_pairs import PairTables, only_followed_by
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..progress import Progress, silent
from .compressed import compressed_table
from .lift import Lift, lift, no_rules
from .product import Product
from .relevance import Relevance

# Up to so many tokens of a grammar have their rows of forbidden pairs compared, to fuse classes.
_MAX_FUSED = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CartesianDfa:
    """The result of Algorithm 5.

    ``product``, its ``table`` as it is stored, and its ``rows``, 2p for the tokens that continue a
    pre-token at state p and 2p + 1 for those that start one. ``pairs``: the forbidden pairs of
    second tokens that continue a pre-token somewhere. ``transitions``: number of relevant
    transitions of DFA₁. ``live_by_inert``: see ``normalized``.
    """

    product: Product
    table: Transitions
    rows: ProductRows
    pairs: ForbiddenPairs
    transitions: int
    live_by_inert: bool = True


def cartesian_merge(
    product: Product,
    pretokenizer: PretokenizerTables,
    pairs: PairTables,
    vocab_size: int,
    limits: Limits | None = None,
    rules_of: Callable[[int], Iterable[str]] = no_rules,
    check: Callable[[Relevance], bool] | None = None,
    most: int | None = None,
    progress: Progress = silent,
    *,
    whole_pairs: bool = False,
) -> CartesianDfa:
    """Algorithm 5 for the texts of ``product``. Raises ``LimitError``, also where the table takes
    more than ``most`` bytes.

    ``rules_of``: the grammar rules behind a product state, which errors name. ``check``: computes
    ``live_by_inert`` from what is relevant; without it the result is True. ``whole_pairs``: keep
    the forbidden pairs of all tokens, which are the same for every grammar.
    """
    limits = (limits or Limits()).started()
    table = compressed_table(product, limits, rules_of, most, progress)
    lifted = lift(product, pretokenizer, pairs, limits, rules_of, progress)
    relevance = Relevance(product, lifted, pretokenizer, pairs, progress)
    live_by_inert = check is None or check(relevance)
    dead = relevance.dead()
    _restrict(lifted, dead)
    rows = pairs.forbidden.rows
    if not whole_pairs:
        rows = only_followed_by(rows, _tokens_of(lifted, (0,)))
        rows = _fused(rows, np.flatnonzero(_tokens_of(lifted, (0, 1))))
    transitions = _counted(lifted.bits)
    return CartesianDfa(
        product=product,
        table=table,
        rows=_packed(lifted, product.states, vocab_size, limits),
        pairs=rows,
        transitions=transitions + sum(map(len, lifted.lists.values())),
        live_by_inert=live_by_inert,
    )


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


def _counted(rows: dict[int, NDArray[np.uint32]]) -> int:
    """The number of tokens of all rows; equal ones share an array."""
    counts: dict[int, int] = {}
    for found in rows.values():
        if id(found) not in counts:
            counts[id(found)] = len(tokenset.to_ids(found))
    return sum(counts[id(found)] for found in rows.values())


def _packed(lifted: Lift, states: int, vocab_size: int, limits: Limits) -> ProductRows:
    """Each distinct row once: long ones as packed sets, short ones as lists of ids."""
    row_of = np.full(2 * states, -1, dtype=np.int32)
    words = tokenset.word_count(vocab_size)
    dense: dict[bytes, int] = {}
    whole = np.zeros(words, dtype=np.uint32)
    shared: dict[int, int] = {}
    for row, found in sorted(lifted.bits.items()):
        if id(found) not in shared:
            whole[: len(found)] = found
            shared[id(found)] = dense.setdefault(whole.tobytes(), len(dense))
        row_of[row] = shared[id(found)]
    limits.within(MOST_ROWS).check_states(len(dense), "the table of each state's tokens")
    lists: dict[bytes, int] = {}
    for row, ids in sorted(lifted.lists.items()):
        if len(ids):
            row_of[row] = lists.setdefault(ids.astype("<i4").tobytes(), len(lists)) + len(dense)
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(key) // 4 for key in lists], out=offsets[1:])
    return ProductRows(
        row_of,
        shared_blocks(np.frombuffer(b"".join(dense), dtype="<u4").reshape(-1, words)),
        np.frombuffer(b"".join(lists), dtype="<i4"),
        offsets,
    )


def _tokens_of(lifted: Lift, kinds: tuple[int, ...]) -> NDArray[np.bool_]:
    """The tokens that some row holds, bool (V,); ``kinds``: 0 continuing rows, 1 starting ones."""
    found = np.zeros(lifted.size, dtype=np.bool_)
    # Equal rows share an array.
    dense = {id(a): a for row, a in lifted.bits.items() if row % 2 in kinds}.values()
    if dense:
        found |= tokenset.to_flags(reduce(np.bitwise_or, dense))[: lifted.size]
    for ids in {id(a): a for row, a in lifted.lists.items() if row % 2 in kinds}.values():
        found[ids] = True
    return found


def _fused(pairs: ForbiddenPairs, read: NDArray[np.int64]) -> ForbiddenPairs:
    """The same table with one class for tokens with equal rows, as section 5.3 fuses states.

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
