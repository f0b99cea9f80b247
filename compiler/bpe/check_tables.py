"""Whether cached tables of a BPE tokenizer fit together: any file may have their name.

Each function raises ``ArtifactError`` naming the first array that does not fit.
"""

import numpy as np

from constrain.artifacts.bpe.forbidden_pairs import SECTIONS
from constrain.artifacts.container.sections import (
    Arrays,
    check_types,
    require,
    require_offsets,
    require_range,
)
from constrain.artifacts.kinds.check_tokenizer import check_pairs_of

# Arrays: dtype and number of axes.
_PRETOKENIZER = {
    "changes": ("u1", 1),
    "classes": ("u1", 1),
    "dfa.final": ("u1", 1),
    "dfa.start": ("i4", 1),
    "dfa.table": ("i4", 3),
    "fallback": ("i4", 1),
    "prefix": ("u1", 1),
    "texts.final": ("u1", 1),
    "texts.start": ("i4", 1),
    "texts.table": ("i4", 3),
    "unless_begun": ("u1", 1),
    "whole": ("i4", 1),
    "whole_bytes": ("u1", 1),
    "whole_ends": ("i8", 1),
}
_NORMAL_FORM = {
    "bound": ("i4", 1),
    "byte_classes": ("u1", 1),
    "changes": ("u1", 2),
    "classes": ("u2", 1),
    "combining": ("i4", 1),
    "inert": ("u2", 2),
    "inert_classes": ("u1", 1),
    "numbers": ("i4", 1),
    "opened.offsets": ("i8", 1),
    "opened.sets": ("u1", 2),
    "opened.tails": ("i4", 1),
    "opened.tokens": ("i4", 1),
    "row": ("i4", 1),
    "second": ("i4", 1),
    "seconds": ("i4", 1),
    "table": ("u2", 2),
    "tokens": ("i4", 1),
}

_CODE_POINTS = 0x110000


def check_pretokenizer_tables(arrays: Arrays, vocab_size: int) -> None:
    """``PretokenizerTables``."""
    check_types(arrays, _PRETOKENIZER)
    for name, marks in (("dfa.", (2, 4)), ("texts.", (2, 4))):
        table, final = arrays[f"{name}table"], arrays[f"{name}final"]
        require(len(table) > 0 and table.shape[1] in marks, f"{name}table")
        require_range(arrays, f"{name}table", 0, len(table))
        require(not table[0].any(), f"{name}table")
        require(len(final) == len(table) and not final[0], f"{name}final")
        require_range(arrays, f"{name}final", 0, 2)
        require(len(arrays[f"{name}start"]) == 1, f"{name}start")
        require_range(arrays, f"{name}start", 0, len(table))
    require(arrays["texts.table"].shape[2] == 256, "texts.table")
    require(len(arrays["classes"]) == 256, "classes")
    require_range(arrays, "classes", 0, arrays["dfa.table"].shape[2])
    require(len(arrays["fallback"]) == 256, "fallback")
    require_range(arrays, "fallback", -1, vocab_size)
    for name in ("changes", "unless_begun"):
        require(len(arrays[name]) == 1, name)
        require_range(arrays, name, 0, 2)
    whole, ends = arrays["whole"], arrays["whole_ends"]
    require_range(arrays, "whole", 0, vocab_size)
    require(bool((whole[1:] > whole[:-1]).all()), "whole")
    require(len(ends) == len(whole), "whole_ends")
    bounds = np.concatenate(([0], ends))
    require(bool((bounds[1:] > bounds[:-1]).all()), "whole_ends")
    require(int(bounds[-1]) == len(arrays["whole_bytes"]), "whole_ends")


def check_pair_tables(arrays: Arrays, vocab_size: int, merges: int) -> None:
    """``ForbiddenPairTables`` of so many merges."""
    for prefix in ("rows.", "columns."):
        missing = [name for name in SECTIONS if prefix + name not in arrays]
        require(not missing, prefix + "order")
        check_pairs_of({f"pairs.{name}": arrays[prefix + name] for name in SECTIONS}, vocab_size)
        require_range(arrays, f"{prefix}index", 0, max(merges, 1))
    # Both orders are of the same tokens.
    rows, columns = (np.sort(arrays[f"{prefix}order"]) for prefix in ("rows.", "columns."))
    require(np.array_equal(rows, columns), "columns.order")
    require_range(arrays, "rows.bound", -1, max(merges, 1))


def check_normal_form_tables(arrays: Arrays, vocab_size: int) -> None:
    """``NormalFormTables``."""
    check_types(arrays, _NORMAL_FORM)
    kinds, seconds = len(arrays["combining"]), len(arrays["seconds"])
    require(len(arrays["classes"]) == _CODE_POINTS, "classes")
    require_range(arrays, "classes", 0, kinds)
    for name in ("second", "row"):
        require(len(arrays[name]) == kinds, name)
    require_range(arrays, "combining", 0, 256)
    require_range(arrays, "seconds", 0, 256)
    require_range(arrays, "second", -1, seconds)
    require_range(arrays, "row", 0, len(arrays["changes"]))
    require(arrays["changes"].shape[1] == seconds, "changes")
    require_range(arrays, "changes", 0, 2)
    for name, classes in (("table", "byte_classes"), ("inert", "inert_classes")):
        table = arrays[name]
        require(len(table) > 0 and not table[0].any(), name)
        require_range(arrays, name, 0, len(table))
        require(len(arrays[classes]) == 256, classes)
        require_range(arrays, classes, 0, table.shape[1])
    require(len(arrays["numbers"]) == 3, "numbers")
    start, between, inert_start = arrays["numbers"].tolist()
    require(0 <= start < between <= len(arrays["table"]), "numbers")
    require(0 <= inert_start < len(arrays["inert"]), "numbers")
    for name in ("tokens", "bound", "opened.tails", "opened.tokens"):
        require_range(arrays, name, 0, vocab_size)
        require(bool((arrays[name][1:] > arrays[name][:-1]).all()), name)
    require_offsets(
        arrays, "opened.offsets", len(arrays["opened.tokens"]), len(arrays["opened.sets"])
    )
    require(arrays["opened.sets"].shape[1] == len(arrays["opened.tails"]), "opened.sets")
    require_range(arrays, "opened.sets", 0, 2)
