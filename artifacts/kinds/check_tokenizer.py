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
    check_marked_dfa,
    check_trie_types,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.vocabulary import TEXT

FIRST_ROW = "first.row"

_VOCABULARY = {
    "vocab.data": ("u1", 1),
    "vocab.kinds": ("u1", 1),
    "vocab.offsets": ("i8", 1),
}


def check_vocabulary(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _VOCABULARY)
    size = manifest.vocab_size
    require(len(arrays["vocab.kinds"]) == size, "vocab.kinds")
    require_range(arrays, "vocab.kinds", 0, 3)
    require_offsets(arrays, "vocab.offsets", size, len(arrays["vocab.data"]))
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
    if "cuts.prompt" in arrays:
        check_types(arrays, {"cuts.prompt": ("i4", 1)})
        require(len(arrays["cuts.prompt"]) == 1, "cuts.prompt")
        require_range(arrays, "cuts.prompt", 0, len(arrays["cuts.table"]))
    if "cuts.whole" in arrays:
        check_types(arrays, {"cuts.whole": ("i4", 1)})
        require_range(arrays, "cuts.whole", 0, manifest.vocab_size)
    if "cuts.unless_begun" in arrays:
        check_types(arrays, {"cuts.unless_begun": ("u1", 1)})
        require(len(arrays["cuts.unless_begun"]) == 1, "cuts.unless_begun")
        require(len(arrays["cuts.prefix"]) == 1, "cuts.unless_begun")


# Sections: dtype and number of axes.
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


def check_pairs(manifest: Manifest, arrays: Arrays) -> NDArray[np.bool_]:
    """The forbidden pairs, of which spines end. Returns the tokens that they are of, bool (V,).
    Raises ``ArtifactError`` naming the first section that does
    not fit."""
    return check_pairs_of(arrays, manifest.vocab_size)


def check_pairs_of(arrays: Arrays, size: int) -> NDArray[np.bool_]:
    """The same for a vocabulary of ``size`` ids."""
    check_types(arrays, PAIRS)
    merges = len(arrays["pairs.index"])
    for name in ("part", "bound", "class"):
        require(len(arrays[f"pairs.{name}"]) == size, f"pairs.{name}")
    part, bound = arrays["pairs.part"], arrays["pairs.bound"]
    require_range(arrays, "pairs.part", -1, size)
    # Bounds nearly always fall along a spine: twice as fast as a selection of those with parts.
    below = (bound.take(part, mode="wrap") < bound) | (part < 0)
    require(bool(below.all()) or _ends(part), "pairs.part")
    require_range(arrays, "pairs.class", 0, 2 * size + 1)
    require_offsets(arrays, "pairs.offsets", size, merges)
    order = arrays["pairs.order"]
    require_range(arrays, "pairs.order", 0, size)
    # Several times faster than sorting them.
    held: NDArray[np.bool_] = np.zeros(size, dtype=np.bool_)
    held[order] = True
    require(np.count_nonzero(held) == len(order), "pairs.order")
    for name in ("begin", "end"):
        require(len(arrays[f"pairs.{name}"]) == merges, f"pairs.{name}")
        require_range(arrays, f"pairs.{name}", 0, len(order) + 1)
    require(bool((arrays["pairs.begin"] < arrays["pairs.end"]).all()), "pairs.end")
    return held


def _ends(part: NDArray[np.int32]) -> bool:
    """Whether parts of parts end for every token, in steps that double."""
    far = part
    for _ in range(len(part).bit_length()):
        far = np.where(far < 0, far, far.take(far, mode="wrap"))
    return bool((far < 0).all())


# Sections: dtype and number of axes. All or none.
NORMAL_FORM = {
    "stable.classes": ("u1", 1),
    "stable.start": ("i4", 1),
    "stable.table": ("u2", 2),
    "stable.tokens": ("i4", 1),
    "stable.unsure": ("i4", 1),
}


def check_normal_form(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit, if there is any."""
    if not any(name in arrays for name in NORMAL_FORM):
        return
    check_types(arrays, NORMAL_FORM)
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
