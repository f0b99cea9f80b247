"""Whether the sections of a product fit together."""

import numpy as np

from ..container.manifest import Manifest
from ..container.requirements import Arrays, check_types, require, require_offsets, require_range
from ..tokens import tokenset

# Sections of the forbidden pairs, of the whole tokenizer, and those that only a product has: dtype
# and number of axes.
PAIRS = {
    "pairs.begin": ("i4", 1),
    "pairs.bound": ("i4", 1),
    "pairs.class": ("i4", 1),
    "pairs.end": ("i4", 1),
    "pairs.index": ("i4", 1),
    "pairs.offsets": ("i8", 1),
    "pairs.order": ("i4", 1),
    "pairs.part": ("i4", 1),
}
TOKENIZER = {
    **PAIRS,
    "cuts.classes": ("u1", 1),
    "cuts.fallback": ("i4", 1),
    "cuts.prefix": ("u1", 1),
    "cuts.start": ("i4", 1),
    "cuts.table": ("i4", 3),
}
PRODUCT = {
    **TOKENIZER,
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

# Sections of stable texts, all or none; beside them maybe ``stable.prompts``.
STABLE = {
    "stable.classes": ("u1", 1),
    "stable.start": ("i4", 1),
    "stable.table": ("u2", 2),
    "stable.tokens": ("i4", 1),
    "stable.unsure": ("i4", 1),
}


def check_product(manifest: Manifest, arrays: Arrays, byte_states: int) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    states = len(arrays["product.table"])
    _check_automaton(arrays, "product", states)
    check_tokenizer(manifest, arrays)
    require(arrays["cuts.table"].shape[1] == arrays["product.table"].shape[1], "cuts.table")
    require(0 < manifest.token_start < states, "product.table")
    require(len(arrays["product.accepting"]) == states, "product.accepting")
    require(len(arrays["product.byte_state"]) == states, "product.byte_state")
    require_range(arrays, "product.byte_state", 0, byte_states)
    require(len(arrays["product.after_cut"]) == len(arrays["cuts.table"]), "product.after_cut")
    require_range(arrays, "product.after_cut", 0, states)
    _check_rows(manifest, arrays, states)


def check_tokenizer(manifest: Manifest, arrays: Arrays) -> None:
    """The same for the sections of the tokenizer."""
    _check_automaton(arrays, "cuts", len(arrays["cuts.table"]))
    require(len(arrays["cuts.start"]) == 1, "cuts.start")
    require_range(arrays, "cuts.start", 0, len(arrays["cuts.table"]))
    require(len(arrays["cuts.fallback"]) == 256, "cuts.fallback")
    # Byte tokens are read in planes of their own.
    planes = arrays["cuts.table"].shape[1]
    require_range(arrays, "cuts.fallback", -1, manifest.vocab_size if planes == 4 else 0)
    check_pairs(manifest, arrays)
    if "cuts.whole" in arrays:
        check_types(arrays, {"cuts.whole": ("i4", 1)})
        require(planes == 4, "cuts.whole")
        require_range(arrays, "cuts.whole", 0, manifest.vocab_size)
    if "cuts.unless_begun" in arrays:
        check_types(arrays, {"cuts.unless_begun": ("u1", 1)})
        require(len(arrays["cuts.unless_begun"]) == 1, "cuts.unless_begun")
        require(len(arrays["cuts.prefix"]) == 1, "cuts.unless_begun")
    if any(name in arrays for name in STABLE):
        prompts = {"stable.prompts": ("u1", 1)} if "stable.prompts" in arrays else {}
        check_types(arrays, {**STABLE, **prompts})
        _check_stable(manifest, arrays)


def _check_stable(manifest: Manifest, arrays: Arrays) -> None:
    states, columns = arrays["stable.table"].shape
    require(states > 1 and columns > 0, "stable.table")
    require_range(arrays, "stable.table", 0, states)
    require(not arrays["stable.table"][0].any(), "stable.table")
    require(len(arrays["stable.classes"]) == 256, "stable.classes")
    require_range(arrays, "stable.classes", 0, columns)
    require(len(arrays["stable.start"]) == 1, "stable.start")
    require_range(arrays, "stable.start", 1, states)
    require_range(arrays, "stable.tokens", 0, manifest.vocab_size)
    require_range(arrays, "stable.unsure", 0, manifest.vocab_size)


def _check_automaton(arrays: Arrays, name: str, states: int) -> None:
    table = arrays[f"{name}.table"]
    require(states > 0 and table.shape[1] in (2, 4) and table.shape[2] > 0, f"{name}.table")
    require_range(arrays, f"{name}.table", 0, states)
    require(not table[0].any(), f"{name}.table")
    require(len(arrays[f"{name}.classes"]) == 256, f"{name}.classes")
    require_range(arrays, f"{name}.classes", 0, table.shape[2])


def _check_rows(manifest: Manifest, arrays: Arrays, states: int) -> None:
    rows, offsets = arrays["product.rows"], arrays["product.id_offsets"]
    require(rows.shape[1] == tokenset.word_count(manifest.vocab_size), "product.rows")
    require(len(offsets) > 0, "product.id_offsets")
    require_offsets(arrays, "product.id_offsets", len(offsets) - 1, len(arrays["product.ids"]))
    require_range(arrays, "product.ids", 0, manifest.vocab_size)
    require(len(arrays["product.row_of"]) == 2 * states, "product.row_of")
    require_range(arrays, "product.row_of", -1, len(rows) + len(offsets) - 1)


def check_pairs(manifest: Manifest, arrays: Arrays) -> None:
    """The same for the forbidden pairs. The right spine of a token ends: the bound of its part is
    below its own."""
    size, merges = manifest.vocab_size, len(arrays["pairs.index"])
    for name in ("part", "bound", "class"):
        require(len(arrays[f"pairs.{name}"]) == size, f"pairs.{name}")
    part, bound = arrays["pairs.part"], arrays["pairs.bound"]
    require_range(arrays, "pairs.part", -1, size)
    require(bool((bound[part] < bound)[part >= 0].all()), "pairs.part")
    require_range(arrays, "pairs.class", 0, 2 * size + 1)
    require_offsets(arrays, "pairs.offsets", size, merges)
    order = arrays["pairs.order"]
    require_range(arrays, "pairs.order", 0, size)
    # Several times faster than sorting them.
    held = np.zeros(size, dtype=np.bool_)
    held[order] = True
    require(np.count_nonzero(held) == len(order), "pairs.order")
    for name in ("begin", "end"):
        require(len(arrays[f"pairs.{name}"]) == merges, f"pairs.{name}")
        require_range(arrays, f"pairs.{name}", 0, len(order) + 1)
    require(bool((arrays["pairs.begin"] < arrays["pairs.end"]).all()), "pairs.end")
