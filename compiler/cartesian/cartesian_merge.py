"""CartesianMerge, Algorithm 5: everything that is computed before decoding.

    product     the grammar's byte DFA in step with the tokenizer's cuts
    lift        DFA₁: which tokens each product state reads
    relevance   which of them lead to an end
    rows        δ₁ restricted to those (section 5.4), each distinct row once

DFA₂, the tokenizer's own automaton, is ``rectangles``. Algorithm 6 is
``constrain.artifacts.cartesian.machine``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.cartesian.machine import ProductRows
from constrain.artifacts.tokens import tokenset

from ..bpe.forbidden_pairs import PairTables, only_followed_by
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from .lift import Lift, lift, no_rules
from .product import Product
from .relevance import Relevance

# Rows of more tokens are not compared.
_FUSED = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CartesianDfa:
    """``product`` and its ``rows``; ``pairs``: forbidden pairs of tokens that continue a
    piece somewhere. ``transitions``: of DFA₁ that are relevant. ``dropped``: dead ends taken
    out. ``ends_freely``: see ``cartesian.normalized``.
    """

    product: Product
    rows: ProductRows
    pairs: ForbiddenPairs
    transitions: int
    dropped: int
    ends_freely: bool = True


def cartesian_merge(
    product: Product,
    cuts: PretokenizerTables,
    pairs: PairTables,
    vocab_size: int,
    limits: Limits | None = None,
    rules_of: Callable[[int], Iterable[str]] = no_rules,
    check: Callable[[Relevance], bool] | None = None,
) -> CartesianDfa:
    """Algorithm 5 for the texts of ``product``.

    ``rules_of``: the rules behind a product state, which ``LimitError`` names. ``check``: what
    says ``ends_freely`` of what is relevant.
    """
    limits = (limits or Limits()).started()
    lifted = lift(product, cuts, pairs, limits, rules_of)
    relevance = Relevance(product, lifted, cuts, pairs)
    free = check is None or check(relevance)
    dead = relevance.dead()
    _restrict(lifted, dead)
    used = _tokens_of(lifted, (0,))
    transitions = sum(int(np.count_nonzero(flags)) for flags in lifted.bits.values())
    return CartesianDfa(
        product=product,
        rows=_packed(lifted, product.states, vocab_size),
        pairs=_fused(
            only_followed_by(pairs.forbidden.rows, used),
            np.flatnonzero(_tokens_of(lifted, (0, 1))),
        ),
        transitions=transitions + sum(map(len, lifted.lists.values())),
        dropped=dead.shape[1],
        ends_freely=free,
    )


def _restrict(lifted: Lift, dead: NDArray[np.int32]) -> None:
    """Take transitions to dead ends, row and token, out of the rows."""
    rows, tokens = dead[:, np.argsort(dead[0], kind="stable")]
    found, bounds = np.unique(rows, return_index=True)
    parts = np.split(tokens, bounds[1:])
    for row, gone in zip(found.tolist(), parts, strict=False):
        if row in lifted.bits:
            lifted.bits[row] = lifted.bits[row].copy()
            lifted.bits[row][gone] = False
        else:
            lifted.lists[row] = np.setdiff1d(lifted.lists[row], gone, assume_unique=True)


def _packed(lifted: Lift, states: int, vocab_size: int) -> ProductRows:
    """Each distinct row once: long ones packed, short ones as lists."""
    row_of = np.full(2 * states, -1, dtype=np.int32)
    words = tokenset.word_count(vocab_size)
    dense: dict[bytes, int] = {}
    flags = np.zeros(words * 32, dtype=np.bool_)
    shared: dict[int, int] = {}
    for row, found in sorted(lifted.bits.items()):
        if id(found) not in shared:
            flags[: len(found)] = found
            packed = tokenset.from_flags(flags).tobytes()
            shared[id(found)] = dense.setdefault(packed, len(dense))
        row_of[row] = shared[id(found)]
    lists: dict[bytes, int] = {}
    for row, ids in sorted(lifted.lists.items()):
        if len(ids):
            row_of[row] = lists.setdefault(ids.astype("<i4").tobytes(), len(lists)) + len(dense)
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(key) // 4 for key in lists], out=offsets[1:])
    return ProductRows(
        row_of,
        np.frombuffer(b"".join(dense), dtype="<u4").reshape(-1, words),
        np.frombuffer(b"".join(lists), dtype="<i4"),
        offsets,
    )


def _tokens_of(lifted: Lift, kinds: tuple[int, ...]) -> NDArray[np.bool_]:
    """The tokens that some row of the kinds holds, 0 continuing and 1 starting a piece."""
    found = np.zeros(lifted.size, dtype=np.bool_)
    # Equal rows share an array.
    for flags in {id(a): a for row, a in lifted.bits.items() if row % 2 in kinds}.values():
        found |= flags
    for ids in {id(a): a for row, a in lifted.lists.items() if row % 2 in kinds}.values():
        found[ids] = True
    return found


def _fused(pairs: ForbiddenPairs, read: NDArray[np.int64]) -> ForbiddenPairs:
    """Tokens with equal rows in one class, as section 5.3 fuses states; if they are few.

    Tokens that no member has keep the classes of the whole table, behind those.
    """
    if len(read) > _FUSED:
        return pairs
    known: dict[bytes, int] = {}
    classes = [known.setdefault(np.sort(pairs.ids(t)).tobytes(), len(known)) for t in read.tolist()]
    row_class = np.unique(pairs.row_class, return_inverse=True)[1].reshape(-1).astype(np.int32)
    row_class += len(known)
    row_class[read] = classes
    return replace(pairs, row_class=row_class)
