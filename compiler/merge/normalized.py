"""What a normalization form leaves to decoding: whether masks can run empty.

Where a normalization form is not part of the grammar's automaton, texts in normal form are followed
beside the product while decoding (``constrain.artifacts.tokenizer_steps.normalizer``). That takes
tokens out of masks, and a mask could become empty. ``live_by_inert`` proves that it cannot, if each
relevant claim of the product is so by *inert* characters, which no character before them changes:

    at a free boundary    the text may end, or a pre-token may start that inert characters lead to
                          an end
    elsewhere             a token may follow the last one, leads to where this holds, ends the
                          character that has begun, and holds inert characters besides

Nearly all grammars that leave such characters a choice meet this sufficient condition. For these
the tokens that end inside a character and leave no end of it are found as for networks
(``artifacts/canonical_network/closure/character_ends.py``).
"""

import numpy as np
from numpy.typing import NDArray

from ..tokenizer_steps.marked_dfa import DEAD, reaching, synchronous_product
from ..tokenizer_steps.normalized_members import NormalFormTables
from .product import Product
from .relevance import Relevance


def live_by_inert(normal_form: NormalFormTables, relevance: Relevance) -> bool:
    """Whether each relevant claim is relevant by inert characters alone. ``relevance``: with the
    tokens of these as the usable ones."""
    product = relevance.product
    asked = product.at_boundary
    # Mostly ASCII leads to an end, of which nearly all is inert.
    if (asked & ~boundary_by_ascii(product, normal_form)).any() and (
        asked & ~boundary_by_inert(product, normal_form)
    ).any():
        return False
    return np.array_equal(relevance.live, relevance.by_usable)


def boundary_by_ascii(product: Product, normal_form: NormalFormTables) -> NDArray[np.bool_]:
    """States where the text may end, or a pre-token start that inert ASCII leads to an end; bool
    (N,)."""
    targets = normal_form.inert[normal_form.inert_start, normal_form.inert_classes[:0x80]]
    octets = np.flatnonzero(targets == normal_form.inert_start)
    table = product.table.take(np.unique(product.classes[octets]), axis=2)
    # Few states read any: those between two characters.
    kept = np.flatnonzero(product.accepting | (table.max(axis=(1, 2)) > DEAD))
    kept = np.append(DEAD, kept[kept > DEAD])
    number = np.zeros(product.states, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    table, found = number[table[kept]], product.accepting.copy()
    found[kept] |= reaching(table, found[kept])[table[:, 1::2]].any(axis=(1, 2))
    return found


def boundary_by_inert(product: Product, normal_form: NormalFormTables) -> NDArray[np.bool_]:
    """The same with any inert characters."""
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
