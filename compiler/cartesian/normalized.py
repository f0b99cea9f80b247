"""Whether what a normalization form forbids can lead to a dead end.

While decoding, stable texts are followed beside the product
(``constrain.artifacts.cartesian.normalized_machine``).
That takes tokens out of masks, and a mask could run empty. It cannot where each transition of
the product that is relevant is so by characters that are stable behind any text:

    open      the text may end, or a piece may start that inert characters lead to an end
    else      a token may follow the last one and leads to where this holds, which ends the
              character that has begun and holds inert ones beside that

A sufficient condition, which nearly all grammars meet that leave such characters a choice.

What decoding has to know of the tokens of stable texts, for one grammar.

    tokens = those of the tokenizer's that some row of the product holds
    unsure = of them those that begin inside a character
           | those t for which some product state p behind t leaves none of a set of tails

where a tail is left if it starts a piece at p, or continues one there and may follow t. The sets
are of ``normalizer.inert_tokens``: behind the other tokens each state of the stable texts lets some
tail
lead to a free state, and decoding need not look for an end.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.cartesian.machine import ProductRows

from ..normalizer.normalized_members import NormalFormTables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD, reaching, synchronous_product
from .cartesian_merge import CartesianDfa
from .product import Product
from .relevance import Relevance


def ends_freely(stable: NormalFormTables, relevance: Relevance) -> bool:
    """Whether nothing relevant depends on characters that are not inert."""
    product = relevance.product
    entered = np.zeros(product.states, dtype=np.bool_)
    entered[product.table] = True
    entered[[product.start, *product.after_cut]] = True
    entered[DEAD] = False
    if (entered & product.is_open & ~_freely_open(product, stable)).any():
        return False
    usable = np.ones(relevance.lift.size, dtype=np.bool_)
    usable[stable.bound] = False
    return relevance.is_so_by(usable)


def _freely_open(product: Product, stable: NormalFormTables) -> NDArray[np.bool_]:
    """States where the text may end or a piece may start that inert characters lead to an end."""
    keys = product.classes.astype(np.int64) * 256 + stable.inert_classes
    joint = np.unique(keys, return_index=True)[1]
    width = np.int64(len(stable.inert))
    begin = np.flatnonzero(product.is_open) * width + stable.inert_start
    pairs, table = synchronous_product(
        product.table[:, :, product.classes[joint]],
        stable.inert[:, None, stable.inert_classes[joint]],
        begin,
    )
    states, texts = np.divmod(pairs, width)
    ends = reaching(table, product.accepting[states] & (texts == stable.inert_start))
    starts = ends[table[: len(begin) + 1, 1::2]].any(axis=(1, 2))
    opened: NDArray[np.bool_] = product.accepting.copy()
    opened[states[: len(begin) + 1]] |= starts
    return opened


def undecided_tokens(
    cartesian: CartesianDfa,
    cuts: PretokenizerTables,
    stable: NormalFormTables,
    octets: Mapping[int, bytes],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """``tokens`` and ``unsure``, int32, ascending. ``octets``: the bytes of each token.

    For prompts alone, all tokens at the edge of a character: each is followed there.
    """
    product, rows, opened = cartesian.product, cartesian.rows, stable.split
    if stable.prompts:
        return stable.edges[_held(rows, stable.edges).any(axis=0)], np.zeros(0, dtype=np.int32)
    leading, tails = _held(rows, opened.tokens), _held(rows, opened.tails)
    allowed = ~cartesian.pairs.forbidden(opened.tokens.tolist(), opened.tails.tolist())
    unsure = opened.tails[tails.any(axis=0)].tolist()
    for place in np.flatnonzero(leading.any(axis=0)).tolist():
        token = int(opened.tokens[place])
        sources = np.flatnonzero(leading[rows.row_of, place])
        targets = _targets(product, cuts, sources, token, octets[token])
        continuing, starting = tails[rows.row_of[2 * targets]], tails[rows.row_of[2 * targets + 1]]
        left = continuing & allowed[place] | starting
        met = left.astype(np.float32) @ opened.sets_of(place).T.astype(np.float32)
        if not met.all():
            unsure.append(token)
    return stable.tokens[_held(rows, stable.tokens).any(axis=0)], np.array(sorted(unsure), np.int32)


def _held(rows: ProductRows, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of some tokens the distinct rows hold, bool (R + L + 1, len(tokens)); the last
    row, which -1 stands for, is empty. ``tokens``: ascending."""
    lists = len(rows.offsets) - 1
    found = np.zeros((len(rows.rows) + lists + 1, len(tokens)), dtype=np.bool_)
    found[: len(rows.rows)] = rows.rows[:, tokens >> 5] >> (tokens & 31).astype(np.uint32) & 1
    owners = len(rows.rows) + np.repeat(np.arange(lists), np.diff(rows.offsets))
    # Both are ascending.
    places = np.searchsorted(tokens, rows.ids)
    places[places == len(tokens)] = 0
    is_one = tokens[places] == rows.ids if len(tokens) else np.zeros(len(places), dtype=np.bool_)
    found[owners[is_one], places[is_one]] = True
    return found


def _targets(
    product: Product, cuts: PretokenizerTables, rows: NDArray[np.int64], token: int, octets: bytes
) -> NDArray[np.int64]:
    """Where a token leads, as ``ProductMachine.step`` has it, from some rows of a lift."""
    states, kinds = np.divmod(rows, 2)
    bytewise = len(octets) == 1 and int(cuts.fallback[octets[0]]) == token
    plane = 2 if bytewise or token in cuts.whole_pieces else 0
    states = product.table[states, plane + kinds, product.classes[octets[0]]]
    for octet in octets[1:]:
        states = product.table[states, 0, product.classes[octet]]
    return np.unique(states).astype(np.int64)
