"""Whether what a normalization form forbids can lead to a dead end.

While decoding, stable texts are followed beside the product (``constrain.artifacts.stable``).
That takes tokens out of masks, and a mask could run empty. It cannot where each transition of
the product that is relevant is so by characters that are stable behind any text:

    open      the text may end, or a piece may start that inert characters lead to an end
    else      a token may follow the last one and leads to where this holds, which ends the
              character that has begun and holds inert ones beside that

A sufficient condition, which nearly all grammars meet that leave such characters a choice.
"""

import numpy as np
from numpy.typing import NDArray

from .in_step import in_step
from .marked_dfa import DEAD, reaching
from .product import Product
from .relevance import Relevance
from .stable_text import StableTables


def ends_freely(stable: StableTables, relevance: Relevance) -> bool:
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


def _freely_open(product: Product, stable: StableTables) -> NDArray[np.bool_]:
    """States where the text may end or a piece may start that inert characters lead to an end."""
    keys = product.classes.astype(np.int64) * 256 + stable.inert_classes
    joint = np.unique(keys, return_index=True)[1]
    width = np.int64(len(stable.inert))
    begin = np.flatnonzero(product.is_open) * width + stable.inert_start
    pairs, table = in_step(
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
