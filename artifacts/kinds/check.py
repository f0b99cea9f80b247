"""Whether the arrays of an artifact fit together, so that no walk leaves them.

A checksum says that a file is what was written; this says that what was written makes
sense, whoever wrote it.
"""

import numpy as np

from ..container.manifest import EARLEY, GREEDY, NETWORK, Manifest
from ..container.requirements import Arrays, check_types, require, require_offsets, require_range
from ..errors import ArtifactError
from ..tokens import tokenset

# Sections that artifacts have: dtype and number of axes.
_VOCABULARY = {
    "vocab.data": ("u1", 1),
    "vocab.kinds": ("u1", 1),
    "vocab.offsets": ("i8", 1),
}
_COMMON = {
    "dfa.accepting": ("u1", 1),
    "dfa.classes": ("u1", 1),
    "dfa.table": ("i4", 2),
    "origins.ids": ("i4", 1),
    "origins.offsets": ("i8", 1),
}
_TOKENS = {
    "tokens.accepting": ("u1", 1),
    "tokens.edge_offsets": ("i8", 1),
    "tokens.edge_targets": ("i4", 1),
    "tokens.edge_tokens": ("i4", 1),
    "tokens.family": ("i4", 1),
}
_TERMINALS = {"dfa.token_ids": ("i4", 1), "dfa.token_offsets": ("i8", 1)}
_NO_TERMINALS = {"dfa.terminals": ("i4", 1)}
_ROWS = {"row_of": ("i4", 1), "rows": ("u4", 2)}
_ALLOWED = {"tokens.allowed": ("u1", 1), "tokens.allowed_offsets": ("i8", 1)}
_LIVE = {"dfa.live": ("u1", 1)}


def check_structure(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if manifest.kind in (NETWORK, EARLEY, GREEDY):
        check_types(arrays, _VOCABULARY)
        _check_vocabulary(manifest, arrays)
        _check_parser(manifest, arrays)
        return
    if manifest.kind not in ("token-dfa", "byte-dfa", "product", "word-dfa"):
        raise ArtifactError(f"an artifact of kind {manifest.kind!r} cannot be read by this release")
    by_tokens = manifest.kind == "token-dfa"
    check_types(arrays, {**_COMMON, **_VOCABULARY})
    _check_vocabulary(manifest, arrays)
    states = _check_byte_dfa(manifest, arrays)
    if manifest.kind == "word-dfa":
        from ..wordpiece.check import check_words

        check_words(manifest, arrays)
        return
    if manifest.kind == "product":
        from .check_cartesian import PRODUCT, check_product

        check_types(arrays, PRODUCT)
        check_product(manifest, arrays, states)
        return
    if by_tokens:
        from .check_cartesian import PAIRS, check_pairs

        check_types(arrays, {**_TOKENS, **PAIRS})
        check_pairs(manifest, arrays)
        states = _check_token_dfa(manifest, arrays, states)
    if "rows" in arrays:
        check_types(arrays, _ROWS)
        words = tokenset.word_count(manifest.vocab_size)
        require(arrays["rows"].shape[1] == words, "rows")
        require(len(arrays["row_of"]) == states, "row_of")
        require_range(arrays, "row_of", 0, len(arrays["rows"]))
    elif by_tokens:
        check_types(arrays, _ALLOWED)
        _check_allowed_bits(arrays)
    else:
        check_types(arrays, _LIVE)
        require(len(arrays["dfa.live"]) == states, "dfa.live")
        require_range(arrays, "dfa.live", 0, 2)


def _check_parser(manifest: Manifest, arrays: Arrays) -> None:
    if manifest.kind == GREEDY:
        from .check_maximal_munch import check_greedy

        check_greedy(manifest, arrays)
    else:
        from .check_parser import check_parser

        check_parser(manifest, arrays)


def _check_vocabulary(manifest: Manifest, arrays: Arrays) -> None:
    size = manifest.vocab_size
    require(len(arrays["vocab.kinds"]) == size, "vocab.kinds")
    require_range(arrays, "vocab.kinds", 0, 3)
    require_offsets(arrays, "vocab.offsets", size, len(arrays["vocab.data"]))
    if not manifest.eos or not all(0 <= i < size for i in manifest.eos):
        raise ArtifactError("the manifest is damaged: bad 'eos'")


def _check_byte_dfa(manifest: Manifest, arrays: Arrays) -> int:
    states, columns = arrays["dfa.table"].shape
    classes = columns - _check_terminals(manifest, arrays)
    require(states > 0 and classes > 0, "dfa.table")
    require_range(arrays, "dfa.table", 0, states)
    require(not arrays["dfa.table"][0].any(), "dfa.table")
    require(len(arrays["dfa.classes"]) == 256, "dfa.classes")
    require_range(arrays, "dfa.classes", 0, classes)
    require(len(arrays["dfa.accepting"]) == states, "dfa.accepting")
    require(0 <= manifest.byte_start < states, "byte_start")
    require_offsets(arrays, "origins.offsets", states, len(arrays["origins.ids"]))
    require_range(arrays, "origins.ids", 0, len(manifest.origins))
    return int(states)


def _check_terminals(manifest: Manifest, arrays: Arrays) -> int:
    """The number of classes of tokens: they are not empty, ascend, and share no token."""
    if "dfa.token_ids" not in arrays:
        check_types(arrays, _NO_TERMINALS)
        require(len(arrays["dfa.terminals"]) == 0, "dfa.terminals")
        return 0
    check_types(arrays, _TERMINALS)
    ids, offsets = arrays["dfa.token_ids"], arrays["dfa.token_offsets"]
    require_offsets(arrays, "dfa.token_offsets", max(len(offsets) - 1, 0), len(ids))
    require(bool((offsets[1:] > offsets[:-1]).all()), "dfa.token_offsets")
    require_range(arrays, "dfa.token_ids", 0, manifest.vocab_size)
    require(len(np.unique(ids)) == len(ids), "dfa.token_ids")
    first_of_class = np.zeros(len(ids) + 1, dtype=np.bool_)
    first_of_class[offsets] = True
    ascending = ids[1:] > ids[:-1]
    require(bool((ascending | first_of_class[1:-1]).all()), "dfa.token_ids")
    return len(offsets) - 1


def _check_token_dfa(manifest: Manifest, arrays: Arrays, families: int) -> int:
    states, edges = len(arrays["tokens.family"]), len(arrays["tokens.edge_tokens"])
    if "tokens.family_states" in arrays:
        check_types(arrays, {"tokens.family_states": ("i4", 1)})
        require_range(arrays, "tokens.family_states", 0, families)
        families = len(arrays["tokens.family_states"])
    require(0 <= manifest.token_start < states, "token_start")
    require_range(arrays, "tokens.family", 0, families)
    require(len(arrays["tokens.accepting"]) == states, "tokens.accepting")
    require_offsets(arrays, "tokens.edge_offsets", families, edges)
    require(len(arrays["tokens.edge_targets"]) == edges, "tokens.edge_targets")
    require_range(arrays, "tokens.edge_targets", 0, states)
    require_range(arrays, "tokens.edge_tokens", 0, manifest.vocab_size)
    _check_edge_order(arrays)
    return states


def _check_edge_order(arrays: Arrays) -> None:
    """The tokens of a family ascend: they are searched by halving."""
    tokens, offsets = arrays["tokens.edge_tokens"], arrays["tokens.edge_offsets"]
    first_of_family = np.zeros(len(tokens) + 1, dtype=np.bool_)
    first_of_family[offsets] = True
    ascending = tokens[1:] > tokens[:-1]
    require(bool((ascending | first_of_family[1:-1]).all()), "tokens.edge_tokens")


def _check_allowed_bits(arrays: Arrays) -> None:
    family, edge_offsets = arrays["tokens.family"], arrays["tokens.edge_offsets"]
    offsets = arrays["tokens.allowed_offsets"]
    require_offsets(arrays, "tokens.allowed_offsets", len(family), len(arrays["tokens.allowed"]))
    needed = (np.diff(edge_offsets)[family] + 7) // 8
    require(bool((np.diff(offsets) == needed).all()), "tokens.allowed_offsets")
