"""A product's table as kernels and images, and its rows of tokens as shared blocks."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.cartesian.transitions import Transitions

from ..diagnostics import LimitError
from ..limits import Limits
from ..progress import Progress, silent
from .lift import no_rules
from .product import Product

_STAGE = "the table of the product"

# States that are compressed at a time.
_STRIDE = 4096


def compressed_table(
    product: Product,
    limits: Limits | None = None,
    rules_of: Callable[[int], Iterable[str]] = no_rules,
    most: int | None = None,
    progress: Progress = silent,
) -> Transitions:
    """The transitions of a product. Raises ``LimitError``, also for more than ``most`` bytes."""
    limits = (limits or Limits()).started()
    states, flat = product.states, product.table.reshape(product.states, -1)
    numbers: dict[bytes, int] = {}
    kernel_of: list[int] = []
    images: list[NDArray[np.int32]] = []
    sizes: list[NDArray[np.integer]] = []
    held = 0
    for low in range(0, states, _STRIDE):
        rules = rules_of(low)
        limits.check_resources(_STAGE, rules)
        progress(_STAGE, low, states)
        kernels, found, counts = _divided(flat[low : low + _STRIDE], states)
        kernel_of += [numbers.setdefault(row.tobytes(), len(numbers)) for row in kernels]
        images.append(found)
        sizes.append(counts)
        held += found.nbytes + 12 * len(kernels)
        limits.check_memory(held + 2 * len(numbers) * flat.shape[1], _STAGE, rules)
        if most is not None and held + 2 * len(numbers) * flat.shape[1] > most:
            raise LimitError(_STAGE, "memory", most, rules)
    progress(_STAGE, states, states)
    shape = (len(numbers), *product.table.shape[1:])
    return Transitions(
        np.frombuffer(b"".join(numbers), dtype=np.uint16).reshape(shape),
        np.array(kernel_of, dtype=np.int32),
        np.concatenate(images),
        np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64),
    )


def _divided(
    rows: NDArray[np.int32], states: int
) -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.integer]]:
    """The kernels of some rows, uint16 of their shape, and their images, row after row, with the
    size of each; targets are below ``states``."""
    owners, cells = np.nonzero(rows)
    targets = rows[owners, cells]
    keys = owners * np.int64(states) + targets
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    # By row, and by where the row has a target first.
    order = np.argsort(first)
    owner = owners[first[order]]
    sizes = np.bincount(owner, minlength=len(rows)) + 1
    # The image of a row begins with the dead state.
    place = np.arange(len(order)) + owner + 1
    images = np.zeros(len(order) + len(rows), dtype=np.int32)
    images[place] = targets[first[order]]
    rank = np.empty(len(order), dtype=np.uint16)
    rank[order] = place - (np.cumsum(sizes) - sizes)[owner]
    kernels = np.zeros(rows.shape, dtype=np.uint16)
    kernels[owners, cells] = rank[places.reshape(-1)]
    return kernels, images, sizes
