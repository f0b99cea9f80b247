"""Sections of what no text changes, where masks are computed while decoding: the mask before any
token, which every text needs, and the token trie."""

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_trie_types, check_types, require
from ..tokens import tokenset

FIRST_ROW = "first.row"


def check_first_row(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a row that does not fit, if there is one."""
    if FIRST_ROW not in arrays:
        return
    check_types(arrays, {FIRST_ROW: ("u4", 1)})
    row = arrays[FIRST_ROW]
    require(len(row) == tokenset.word_count(manifest.vocab_size), FIRST_ROW)
    require(tokenset.is_within(row, manifest.vocab_size), FIRST_ROW)


def check_trie_sections(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a section of the token trie that is missing or of another type,
    if there is one. Its values are looked at when it is first walked."""
    if "trie.octets" in arrays:
        check_trie_types(arrays, "trie.")
