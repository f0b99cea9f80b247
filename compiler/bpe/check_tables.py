"""Whether cached tables of a BPE tokenizer fit together: any file may have their name.

Each function raises ``ArtifactError`` naming the first array that does not fit.
"""

import numpy as np

from constrain.artifacts.container.sections import Arrays, check_sections, require
from constrain.artifacts.kinds.check_tokenizer import check_pairs_of
from constrain.artifacts.tokens.forbidden_pairs import SECTIONS

_PRETOKENIZER = {
    "changes": "uint8 (1) 0..2",
    "dfa.table": "int32 (states, planes, columns) 0..states dead",
    "dfa.final": "uint8 (states) 0..2",
    "dfa.start": "int32 (1) 0..states",
    "classes": "uint8 (256) 0..columns",
    "fallback": "int32 (256) -1..vocab",
    "prefix": "uint8 (bytes)",
    "texts.table": "int32 (text_states, text_planes, 256) 0..text_states dead",
    "texts.final": "uint8 (text_states) 0..2",
    "texts.start": "int32 (1) 0..text_states",
    "unless_begun": "uint8 (1) 0..2",
    "whole": "int32 (whole) 0..vocab ascending",
    "whole_bytes": "uint8 (whole_bytes)",
    "whole_ends": "int64 (whole)",
}
_CODE_POINTS = 0x110000

_NORMAL_FORM = {
    "combining": "int32 (kinds) 0..256",
    "seconds": "int32 (seconds) 0..256",
    "second": "int32 (kinds) -1..seconds",
    "changes": "uint8 (rows, seconds) 0..2",
    "row": "int32 (kinds) 0..rows",
    "classes": f"uint16 ({_CODE_POINTS}) 0..kinds",
    "table": "uint16 (states, columns) 0..states dead",
    "byte_classes": "uint8 (256) 0..columns",
    "inert": "uint16 (inert_states, inert_columns) 0..inert_states dead",
    "inert_classes": "uint8 (256) 0..inert_columns",
    "numbers": "int32 (3)",
    "tokens": "int32 (tokens) 0..vocab ascending",
    "bound": "int32 (bound) 0..vocab ascending",
    "opened.tails": "int32 (tails) 0..vocab ascending",
    "opened.tokens": "int32 (opened) 0..vocab ascending",
    "opened.sets": "uint8 (sets, tails) 0..2",
    "opened.offsets": "int64 (opened+1) to:sets",
}


def check_pretokenizer_tables(arrays: Arrays, vocab_size: int) -> None:
    """``PretokenizerTables``."""
    sizes = check_sections(arrays, _PRETOKENIZER, vocab=vocab_size)
    require(sizes["planes"] in (2, 4), "dfa.table")
    require(sizes["text_planes"] in (2, 4), "texts.table")
    for name in ("dfa.final", "texts.final"):
        require(not arrays[name][0], name)
    ends = arrays["whole_ends"]
    bounds = np.concatenate(([0], ends))
    require(bool((bounds[1:] > bounds[:-1]).all()), "whole_ends")
    require(int(bounds[-1]) == len(arrays["whole_bytes"]), "whole_ends")


def check_pair_tables(arrays: Arrays, vocab_size: int, merges: int) -> None:
    """``ForbiddenPairTables`` of so many merges."""
    for prefix in ("rows.", "columns."):
        missing = [name for name in SECTIONS if prefix + name not in arrays]
        require(not missing, prefix + "order")
        check_pairs_of({f"pairs.{name}": arrays[prefix + name] for name in SECTIONS}, vocab_size)
        index = {f"{prefix}index": f"int32 (index) 0..{max(merges, 1)}"}
        check_sections(arrays, index)
    # Both orders are of the same tokens.
    rows, columns = (np.sort(arrays[f"{prefix}order"]) for prefix in ("rows.", "columns."))
    require(np.array_equal(rows, columns), "columns.order")
    check_sections(arrays, {"rows.bound": f"int32 (bounds) -1..{max(merges, 1)}"})


def check_normal_form_tables(arrays: Arrays, vocab_size: int) -> None:
    """``NormalFormTables``."""
    sizes = check_sections(arrays, _NORMAL_FORM, vocab=vocab_size)
    start, between, inert_start = arrays["numbers"].tolist()
    require(0 <= start < between <= sizes["states"], "numbers")
    require(0 <= inert_start < sizes["inert_states"], "numbers")
