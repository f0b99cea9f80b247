"""The tokens of one byte, and which of them may follow each token: as sets of bits, so that all
claims are tried with all of these tokens at once (``relevance``)."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import Trie

from ..bpe.forbidden_pairs import PairTables
from ..tokenizer_steps.boundary_tables import PretokenizerTables

# Bits of a word.
_WORD = 64


@dataclass(frozen=True, slots=True, eq=False)
class OctetTokens:
    """The tokens of one byte that may continue a pre-token: ``tokens``, ``marks`` and ``octets``,
    int64 (K,), each with the mark that its byte is read with. ``after``: uint64 (V, W), bit k of a
    row is set if the token may be followed by the k-th of these."""

    tokens: NDArray[np.int64]
    marks: NDArray[np.int64]
    octets: NDArray[np.int64]
    after: NDArray[np.uint64]


# By trie: the pre-tokenizer's tables that were asked with last, and what was made.
_MADE: WeakKeyDictionary[Trie, tuple[PretokenizerTables, OctetTokens]] = WeakKeyDictionary()


def octet_tokens(pairs: PairTables, pretokenizer: PretokenizerTables) -> OctetTokens:
    """Those of a tokenizer, made once."""
    made = _MADE.get(pairs.trie)
    if made is None or made[0] is not pretokenizer:
        made = _MADE[pairs.trie] = pretokenizer, _octet_tokens(pairs, pretokenizer)
    return made[1]


def _octet_tokens(pairs: PairTables, pretokenizer: PretokenizerTables) -> OctetTokens:
    trie, last = pairs.trie, int(pairs.trie.first[1])
    tokens = trie.ids[trie.held[1] : trie.held[last]].astype(np.int64)
    octets = np.repeat(trie.octets[1:last], np.diff(trie.held[1 : last + 1])).astype(np.int64)
    spelled = np.zeros(0, dtype=np.int64)
    if not pretokenizer.whole_pieces:
        spelled = np.flatnonzero(pretokenizer.fallback >= 0)
    marks = np.repeat([0, 2], [len(tokens), len(spelled)])
    tokens = np.append(tokens, pretokenizer.fallback[spelled])
    columns = pairs.forbidden.columns
    after = np.full((len(columns.part), -(-len(tokens) // _WORD)), ~np.uint64(0))
    for k, token in enumerate(tokens.tolist()):
        after[columns.ids(token), k // _WORD] &= ~(np.uint64(1) << np.uint64(k % _WORD))
    return OctetTokens(tokens, marks, np.append(octets, spelled), after)


def packed(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sets of these tokens, bool (n, K), as words, uint64 (n, W)."""
    padded = np.zeros((len(flags), -(-flags.shape[1] // _WORD) * _WORD), dtype=np.bool_)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view("<u8")


def meets(
    first: NDArray[np.uint64],
    left: NDArray[np.integer],
    second: NDArray[np.uint64],
    right: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Whether the sets ``first[left[i]]`` and ``second[right[i]]`` share a token, bool (n,)."""
    found = np.zeros(len(left), dtype=np.bool_)
    for word in np.flatnonzero(second.any(axis=0)).tolist():
        found |= (first[left, word] & second[right, word]) != 0
    return found
