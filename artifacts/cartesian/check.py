"""Whether the sections of a product fit together, and the pre-tokenizer DFA beside it."""

from ..container.manifest import Manifest
from ..container.sections import (
    Arrays,
    check_marked_dfa,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..tokens import tokenset

# Sections: dtype and number of axes.
PRODUCT = {
    "product.accepting": ("u1", 1),
    "product.after_cut": ("i4", 1),
    "product.byte_state": ("i4", 1),
    "product.classes": ("u1", 1),
    "product.id_offsets": ("i8", 1),
    "product.ids": ("i4", 1),
    "product.row_of": ("i4", 1),
    "product.rows": ("u4", 2),
    "product.table": ("i4", 3),
}


def check_product(manifest: Manifest, arrays: Arrays, byte_states: int) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit.

    ``byte_states``: of the byte DFA, which has been checked, as has the pre-tokenizer DFA.
    """
    check_types(arrays, PRODUCT)
    states = len(arrays["product.table"])
    check_marked_dfa(arrays, "product")
    require(arrays["cuts.table"].shape[1] == arrays["product.table"].shape[1], "cuts.table")
    require(0 < manifest.token_start < states, "product.table")
    require(len(arrays["product.accepting"]) == states, "product.accepting")
    require(len(arrays["product.byte_state"]) == states, "product.byte_state")
    require_range(arrays, "product.byte_state", 0, byte_states)
    require(len(arrays["product.after_cut"]) == len(arrays["cuts.table"]), "product.after_cut")
    require_range(arrays, "product.after_cut", 0, states)
    _check_rows(manifest, arrays, states)


def _check_rows(manifest: Manifest, arrays: Arrays, states: int) -> None:
    rows, offsets = arrays["product.rows"], arrays["product.id_offsets"]
    require(rows.shape[1] == tokenset.word_count(manifest.vocab_size), "product.rows")
    require(len(offsets) > 0, "product.id_offsets")
    require_offsets(arrays, "product.id_offsets", len(offsets) - 1, len(arrays["product.ids"]))
    require_range(arrays, "product.ids", 0, manifest.vocab_size)
    require(len(arrays["product.row_of"]) == 2 * states, "product.row_of")
    require_range(arrays, "product.row_of", -1, len(rows) + len(offsets) - 1)
