"""Whether the pre-tokenizer DFA of an artifact fits together."""

from ..container.manifest import Manifest
from ..container.requirements import Arrays, check_types, require, require_range

# Sections: dtype and number of axes.
BOUNDARIES = {
    "cuts.classes": ("u1", 1),
    "cuts.fallback": ("i4", 1),
    "cuts.prefix": ("u1", 1),
    "cuts.start": ("i4", 1),
    "cuts.table": ("i4", 3),
}


def check_pretokenizer(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, BOUNDARIES)
    check_marked_dfa(arrays, "cuts")
    require(len(arrays["cuts.start"]) == 1, "cuts.start")
    require_range(arrays, "cuts.start", 0, len(arrays["cuts.table"]))
    require(len(arrays["cuts.fallback"]) == 256, "cuts.fallback")
    # Byte tokens are read in planes of their own.
    planes = arrays["cuts.table"].shape[1]
    require_range(arrays, "cuts.fallback", -1, manifest.vocab_size if planes == 4 else 0)
    if "cuts.whole" in arrays:
        check_types(arrays, {"cuts.whole": ("i4", 1)})
        require(planes == 4, "cuts.whole")
        require_range(arrays, "cuts.whole", 0, manifest.vocab_size)
    if "cuts.unless_begun" in arrays:
        check_types(arrays, {"cuts.unless_begun": ("u1", 1)})
        require(len(arrays["cuts.unless_begun"]) == 1, "cuts.unless_begun")
        require(len(arrays["cuts.prefix"]) == 1, "cuts.unless_begun")


def check_marked_dfa(arrays: Arrays, name: str) -> None:
    """``name.table`` and ``name.classes``: a DFA over bytes with 2 or 4 planes of start marks."""
    table = arrays[f"{name}.table"]
    states = len(table)
    require(states > 0 and table.shape[1] in (2, 4) and table.shape[2] > 0, f"{name}.table")
    require_range(arrays, f"{name}.table", 0, states)
    require(not table[0].any(), f"{name}.table")
    require(len(arrays[f"{name}.classes"]) == 256, f"{name}.classes")
    require_range(arrays, f"{name}.classes", 0, table.shape[2])
