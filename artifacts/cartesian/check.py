"""Whether the sections of a product fit together, and the pre-tokenizer DFA beside it."""

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import (
    Arrays,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..tokens import tokenset
from ..tokens.block_rows import BLOCK

# Sections: dtype and number of axes.
PRODUCT = {
    "product.accepting": ("u1", 1),
    "product.after_cut": ("i4", 1),
    "product.block_offsets": ("i8", 1),
    "product.blocks": ("u4", 2),
    "product.byte_state": ("i4", 1),
    "product.classes": ("u1", 1),
    "product.codes": ("u2", 2),
    "product.id_offsets": ("i8", 1),
    "product.ids": ("i4", 1),
    "product.image_offsets": ("i8", 1),
    "product.images": ("i4", 1),
    "product.kernel_of": ("i4", 1),
    "product.kernels": ("u2", 3),
    "product.row_of": ("i4", 1),
}


def check_product(manifest: Manifest, arrays: Arrays, byte_states: int) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit.

    ``byte_states``: of the byte DFA, which has been checked, as has the pre-tokenizer DFA.
    """
    check_types(arrays, PRODUCT)
    states = _check_transitions(arrays)
    require(arrays["cuts.table"].shape[1] == arrays["product.kernels"].shape[1], "cuts.table")
    require(0 < manifest.token_start < states, "product.kernel_of")
    require(len(arrays["product.accepting"]) == states, "product.accepting")
    require(len(arrays["product.byte_state"]) == states, "product.byte_state")
    require_range(arrays, "product.byte_state", 0, byte_states)
    require(len(arrays["product.after_cut"]) == len(arrays["cuts.table"]), "product.after_cut")
    require_range(arrays, "product.after_cut", 0, states)
    _check_rows(manifest, arrays, states)


def _check_transitions(arrays: Arrays) -> int:
    """The number of states, none of which leads elsewhere."""
    kernels, kernel_of = arrays["product.kernels"], arrays["product.kernel_of"]
    images, offsets = arrays["product.images"], arrays["product.image_offsets"]
    states, planes, columns = len(kernel_of), *kernels.shape[1:]
    require(states > 0 and planes in (2, 4) and columns > 0, "product.kernels")
    require_range(arrays, "product.kernel_of", 0, len(kernels))
    require_offsets(arrays, "product.image_offsets", states, len(images))
    largest = kernels.reshape(len(kernels), -1).max(axis=1, initial=0)
    require(bool((largest[kernel_of] < np.diff(offsets)).all()), "product.image_offsets")
    require_range(arrays, "product.images", 0, states)
    require(not images[offsets[:-1]].any(), "product.images")
    require(not kernels[kernel_of[0]].any(), "product.kernel_of")
    require(len(arrays["product.classes"]) == 256, "product.classes")
    require_range(arrays, "product.classes", 0, columns)
    return states


def _check_rows(manifest: Manifest, arrays: Arrays, states: int) -> None:
    rows, offsets = arrays["product.codes"], arrays["product.id_offsets"]
    blocks, places = arrays["product.blocks"], arrays["product.block_offsets"]
    count = -(-tokenset.word_count(manifest.vocab_size) // BLOCK)
    require(rows.shape[1] == count, "product.codes")
    require(blocks.shape[1] == BLOCK, "product.blocks")
    require_offsets(arrays, "product.block_offsets", count, len(blocks))
    require(bool((rows < np.diff(places)).all()), "product.codes")
    require(len(offsets) > 0, "product.id_offsets")
    require_offsets(arrays, "product.id_offsets", len(offsets) - 1, len(arrays["product.ids"]))
    require_range(arrays, "product.ids", 0, manifest.vocab_size)
    require(len(arrays["product.row_of"]) == 2 * states, "product.row_of")
    require_range(arrays, "product.row_of", -1, len(rows) + len(offsets) - 1)
