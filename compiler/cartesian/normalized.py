"""What a normalization form leaves to decoding: tokens to follow, and whether masks can run empty.

Where a normalization form is not part of the grammar's automaton, texts in normal form are followed
beside the product while decoding (``constrain.artifacts.normalizer.machine``). That takes
tokens out of masks, and a mask could become empty. ``live_by_inert`` proves that it cannot, if each
relevant claim of the product is so by *inert* characters, which no character before them changes:

    at a free boundary    the text may end, or a pre-token may start that inert characters lead to
                          an end
    elsewhere             a token may follow the last one, leads to where this holds, ends the
                          character that has begun, and holds inert characters besides

Nearly all grammars that leave such characters a choice meet this sufficient condition. For these
``undecided_tokens`` finds what is left to decoding:

    tokens    = those of the tokenizer's that some row of the product holds
    undecided = of them those that begin inside a character, and those t for which some product
                state p behind t leaves none of a set of tails

where a tail, a token that ends a character, is left if it starts a pre-token at p, or continues one
there and may follow t. The sets are of ``normalizer.inert_tokens``: behind all other tokens each
state of the normal-form automaton lets some tail lead on, and decoding need not search for an end.
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


def live_by_inert(normal_form: NormalFormTables, relevance: Relevance) -> bool:
    """Whether each relevant claim is relevant by inert characters alone."""
    product = relevance.product
    entered = np.zeros(product.states, dtype=np.bool_)
    entered[product.table] = True
    entered[[product.start, *product.start_after]] = True
    entered[DEAD] = False
    if (entered & product.at_boundary & ~_at_inert_boundary(product, normal_form)).any():
        return False
    usable = np.ones(relevance.lift.size, dtype=np.bool_)
    usable[normal_form.bound] = False
    return relevance.holds_with(usable)


def _at_inert_boundary(product: Product, normal_form: NormalFormTables) -> NDArray[np.bool_]:
    """States where the text may end, or a pre-token start that inert characters lead to an end."""
    keys = product.classes.astype(np.int64) * 256 + normal_form.inert_classes
    joint = np.unique(keys, return_index=True)[1]
    width = np.int64(len(normal_form.inert))
    begin = np.flatnonzero(product.at_boundary) * width + normal_form.inert_start
    pairs, table = synchronous_product(
        product.table[:, :, product.classes[joint]],
        normal_form.inert[:, None, normal_form.inert_classes[joint]],
        begin,
    )
    states, texts = np.divmod(pairs, width)
    ends = reaching(table, product.accepting[states] & (texts == normal_form.inert_start))
    starts = ends[table[: len(begin) + 1, 1::2]].any(axis=(1, 2))
    found: NDArray[np.bool_] = product.accepting.copy()
    found[states[: len(begin) + 1]] |= starts
    return found


def undecided_tokens(
    cartesian: CartesianDfa,
    pretokenizer: PretokenizerTables,
    normal_form: NormalFormTables,
    octets: Mapping[int, bytes],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The ``tokens`` that are followed and the ``undecided`` ones of them, int32, ascending.

    ``octets``: the bytes of each token. Where a normal form counts behind prompts only, ``tokens``
    are all at the edge of a character, and none is undecided.
    """
    product, rows, opened = cartesian.product, cartesian.rows, normal_form.split
    if normal_form.prompts:
        followed = normal_form.edges[_held(rows, normal_form.edges).any(axis=0)]
        return followed, np.zeros(0, dtype=np.int32)
    leading, tails = _held(rows, opened.tokens), _held(rows, opened.tails)
    allowed = ~cartesian.pairs.forbidden(opened.tokens.tolist(), opened.tails.tolist())
    undecided = opened.tails[tails.any(axis=0)].tolist()
    for place in np.flatnonzero(leading.any(axis=0)).tolist():
        token = int(opened.tokens[place])
        sources = np.flatnonzero(leading[rows.row_of, place])
        targets = _targets(product, pretokenizer, sources, token, octets[token])
        continuing, starting = tails[rows.row_of[2 * targets]], tails[rows.row_of[2 * targets + 1]]
        left = continuing & allowed[place] | starting
        met = left.astype(np.float32) @ opened.sets_of(place).T.astype(np.float32)
        if not met.all():
            undecided.append(token)
    followed = normal_form.tokens[_held(rows, normal_form.tokens).any(axis=0)]
    return followed, np.array(sorted(undecided), np.int32)


def _held(rows: ProductRows, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of some tokens the distinct rows hold, bool (R + L + 1, len(tokens)).

    ``tokens``: ascending. The last row is empty: -1 stands for it.
    """
    lists = len(rows.offsets) - 1
    found = np.zeros((len(rows.rows) + lists + 1, len(tokens)), dtype=np.bool_)
    words = rows.rows.words(tokens >> 5)
    found[: len(rows.rows)] = words >> (tokens & 31).astype(np.uint32) & 1
    owners = len(rows.rows) + np.repeat(np.arange(lists), np.diff(rows.offsets))
    # Both are ascending.
    places = np.searchsorted(tokens, rows.ids)
    places[places == len(tokens)] = 0
    is_one = tokens[places] == rows.ids if len(tokens) else np.zeros(len(places), dtype=np.bool_)
    found[owners[is_one], places[is_one]] = True
    return found


def _targets(
    product: Product,
    pretokenizer: PretokenizerTables,
    rows: NDArray[np.int64],
    token: int,
    octets: bytes,
) -> NDArray[np.int64]:
    """The states that a token leads to from some rows of a lift, as by ``ProductMachine.step``."""
    states, kinds = np.divmod(rows, 2)
    bytewise = len(octets) == 1 and int(pretokenizer.fallback[octets[0]]) == token
    offset = 2 if bytewise or token in pretokenizer.whole_pieces else 0
    states = product.table[states, offset + kinds, product.classes[octets[0]]]
    for octet in octets[1:]:
        states = product.table[states, 0, product.classes[octet]]
    return np.unique(states).astype(np.int64)
