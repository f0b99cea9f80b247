"""Whether what an artifact holds of its tokenizer fits together.

    check_vocabulary      the tokens: every kind of artifact has them, and they are checked first
    check_pretokenizer    the pre-tokenizer DFA
    check_pairs           the forbidden pairs
    check_normal_form     the normal-form DFA, where there is one
    check_first_row       the mask before any token, which every text needs, where it is there
    check_trie_sections   the token trie, where it is there

Each raises ``ArtifactError`` naming the first section that does not fit.
"""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import (
    MOST_TOKEN_BYTES,
    Arrays,
    check_sections,
    check_trie_types,
    require,
)
from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.vocabulary import TEXT

FIRST_ROW = "first.row"

_VOCABULARY = {
    "vocab.data": "uint8 (bytes)",
    "vocab.kinds": "uint8 (vocab) 0..3",
    "vocab.offsets": "int64 (vocab+1) to:bytes",
}


def check_vocabulary(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    size = manifest.vocab_size
    check_sections(arrays, _VOCABULARY, vocab=size)
    lengths = np.diff(arrays["vocab.offsets"])
    longest = int(lengths.max(initial=0))
    if longest > MOST_TOKEN_BYTES:  # Only then is the slower look worth it.
        longest = int(lengths[arrays["vocab.kinds"] == TEXT].max(initial=0))
    if longest > MOST_TOKEN_BYTES:
        raise ArtifactError(
            f"section 'vocab.offsets': a token has {longest:,} bytes, and {MOST_TOKEN_BYTES:,} are "
            f"the most"
        )
    if not manifest.eos or not all(0 <= i < size for i in manifest.eos):
        raise ArtifactError("the manifest is damaged: bad 'eos'")


# A DFA over bytes with 2 or 4 planes of start marks.
BOUNDARIES = {
    "cuts.table": "int32 (states, planes, columns) 0..states dead",
    "cuts.classes": "uint8 (256) 0..columns",
    "cuts.fallback": "int32 (256) -1..vocab",
    "cuts.prefix": "uint8 (bytes)",
    "cuts.start": "int32 (1) 0..states",
}
_OPTIONAL = {
    "cuts.prompt": "int32 (1) 0..states optional",
    "cuts.unless_begun": "uint8 (1) optional",
    "cuts.whole": "int32 (tokens) 0..vocab optional",
}


def check_pretokenizer(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    sizes = check_sections(arrays, BOUNDARIES | _OPTIONAL, vocab=manifest.vocab_size)
    require(sizes["planes"] in (2, 4), "cuts.table")
    # Byte tokens are read in planes of their own.
    require(sizes["planes"] == 4 or not (arrays["cuts.fallback"] >= 0).any(), "cuts.fallback")
    require("cuts.unless_begun" not in arrays or sizes["bytes"] == 1, "cuts.unless_begun")


PAIRS = {
    "pairs.index": "int32 (merges)",
    "pairs.begin": "int32 (merges) 0..order+1",
    "pairs.bound": "int32 (vocab)",
    "pairs.class": "int32 (vocab) 0..vocab+vocab+1",
    "pairs.end": "int32 (merges) 0..order+1",
    "pairs.offsets": "int64 (vocab+1) to:merges",
    "pairs.order": "int32 (order) 0..vocab",
    "pairs.part": "int32 (vocab) -1..vocab",
}


def check_pairs(manifest: Manifest, arrays: Arrays) -> NDArray[np.bool_]:
    """The forbidden pairs, of which spines end. Returns the tokens that they are of, bool (V,).
    Raises ``ArtifactError`` naming the first section that does not fit."""
    check_sections(arrays, PAIRS, vocab=manifest.vocab_size)
    part, bound = arrays["pairs.part"], arrays["pairs.bound"]
    # Bounds nearly always fall along a spine: twice as fast as a selection of those with parts.
    below = (bound.take(part, mode="wrap") < bound) | (part < 0)
    require(bool(below.all()) or _ends(part), "pairs.part")
    order = arrays["pairs.order"]
    # Several times faster than sorting them.
    held: NDArray[np.bool_] = np.zeros(manifest.vocab_size, dtype=np.bool_)
    held[order] = True
    require(np.count_nonzero(held) == len(order), "pairs.order")
    require(bool((arrays["pairs.begin"] < arrays["pairs.end"]).all()), "pairs.end")
    return held


def _ends(part: NDArray[np.int32]) -> bool:
    """Whether parts of parts end for every token, in steps that double."""
    far = part
    for _ in range(len(part).bit_length()):
        far = np.where(far < 0, far, far.take(far, mode="wrap"))
    return bool((far < 0).all())


# All or none.
NORMAL_FORM = {
    "stable.table": "uint16 (states, columns) 0..states dead",
    "stable.classes": "uint8 (256) 0..columns",
    "stable.start": "int32 (1) 1..states",
    "stable.tokens": "int32 (tokens) 0..vocab",
    "stable.unsure": "int32 (unsure) 0..vocab",
}


def check_normal_form(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit, if there is any."""
    if any(name in arrays for name in NORMAL_FORM):
        check_sections(arrays, NORMAL_FORM, vocab=manifest.vocab_size)


def check_first_row(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a row that does not fit, if there is one."""
    if FIRST_ROW not in arrays:
        return
    words = tokenset.word_count(manifest.vocab_size)
    row = arrays[FIRST_ROW]
    check_sections(arrays, {FIRST_ROW: "uint32 (words)"}, words=words)
    require(tokenset.is_within(row, manifest.vocab_size), FIRST_ROW)


def check_trie_sections(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a section of the token trie that is missing or of another type,
    if there is one. Its values are looked at when it is first walked."""
    if "trie.octets" in arrays:
        check_trie_types(arrays, "trie.")
