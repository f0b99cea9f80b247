"""The mask before any token, which every text needs, where no other section says it."""

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require
from ..tokens import tokenset

FIRST_ROW = "first.row"


def check_first_row(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a row that does not fit, if there is one."""
    if FIRST_ROW not in arrays:
        return
    check_types(arrays, {FIRST_ROW: ("u4", 1)})
    row = arrays[FIRST_ROW]
    require(len(row) == tokenset.word_count(manifest.vocab_size), FIRST_ROW)
    spare = -manifest.vocab_size % 32
    require(not spare or not int(row[-1]) >> (32 - spare), FIRST_ROW)
