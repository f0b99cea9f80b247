"""A tokenizer's tables: built when they are first needed, kept in memory and on disk."""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.trie import Trie

from ..cache import Cache, Tables
from ..normalizer.character_properties import CharacterProperties, text_normalizers
from ..normalizer.inert_tokens import SplitCharacters
from ..normalizer.normalized_members import NormalFormTables, build_normal_form_tables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import MarkedDfa
from ..tokenizers import Tokenizer
from .forbidden_pairs import ForbiddenPairTables
from .tokenizer_tables import PairTables, build_pairs, build_pretokenizer_tables

# Goes up with every change of what the tables hold or how they are found.
_VERSION = 7


_CHARACTERS = ("classes", "combining", "second", "row", "seconds")


class TokenizerTables:
    """The tables of one tokenizer; hand the same object to several compilations.

    Attributes raise ``TokenizerError`` for what the tables cannot express.
    """

    def __init__(self, tokenizer: Tokenizer, cache: Cache | None = None) -> None:
        self.tokenizer = tokenizer
        self._cache = cache or Cache(None)
        self._key = f"version {_VERSION}, tokenizer {tokenizer.sha256}"

    @cached_property
    def cuts(self) -> PretokenizerTables:
        """Which texts have an encoding, and where it cuts them."""
        return _cuts_of(
            self._cache.cached(
                "cuts", self._key, lambda: _cut_arrays(build_pretokenizer_tables(self.tokenizer))
            )
        )

    @cached_property
    def pairs(self) -> PairTables:
        """Which tokens may follow which inside a piece."""
        return _pairs_of(
            self._cache.cached(
                "pairs", self._key, lambda: _pair_arrays(build_pairs(self.tokenizer))
            )
        )

    @cached_property
    def stable(self) -> NormalFormTables | None:
        """Which texts the normalizers leave alone; None if they change no character."""
        if not text_normalizers(self.tokenizer.normalizers):
            return None
        return _stable_of(
            self._cache.cached(
                "stable",
                self._key,
                lambda: _stable_arrays(build_normal_form_tables(self.tokenizer)),
            )
        )


def _stable_arrays(tables: NormalFormTables) -> dict[str, NDArray[Any]]:
    characters = tables.characters
    return {
        **{name: getattr(characters, name) for name in _CHARACTERS},
        "changes": characters.changes.astype(np.uint8),
        "table": tables.table,
        "byte_classes": tables.classes,
        "numbers": np.array([tables.start, tables.between, tables.inert_start], dtype=np.int32),
        "tokens": tables.tokens,
        "edges": tables.edges,
        "opened.tails": tables.split.tails,
        "opened.tokens": tables.split.tokens,
        "opened.offsets": tables.split.offsets,
        "opened.sets": tables.split.sets.astype(np.uint8),
        "inert": tables.inert,
        "inert_classes": tables.inert_classes,
        "bound": tables.bound,
    }


def _stable_of(arrays: Tables) -> NormalFormTables:
    fields = {name: arrays[name] for name in _CHARACTERS}
    start, between, inert_start = arrays["numbers"].tolist()
    tails, tokens, offsets, sets = (
        arrays[f"opened.{name}"] for name in ("tails", "tokens", "offsets", "sets")
    )
    return NormalFormTables(
        CharacterProperties(**fields, changes=arrays["changes"].astype(np.bool_)),
        arrays["table"],
        arrays["byte_classes"],
        start,
        between,
        arrays["tokens"],
        arrays["edges"],
        SplitCharacters(tails, tokens, offsets, sets.astype(np.bool_)),
        arrays["inert"],
        arrays["inert_classes"],
        inert_start,
        arrays["bound"],
    )


def _pair_arrays(tables: PairTables) -> dict[str, NDArray[Any]]:
    trie = tables.trie
    return {
        **tables.rectangles.rows.arrays("rows."),
        **tables.rectangles.columns.arrays("columns."),
        "trie.octets": trie.octets,
        "trie.first": trie.first,
        "trie.ids": trie.ids,
        "trie.held": trie.held,
    }


def _pairs_of(arrays: Tables) -> PairTables:
    rows = ForbiddenPairs.from_arrays(arrays, "rows.")
    columns = ForbiddenPairs.from_arrays(arrays, "columns.")
    trie = Trie(*(arrays[f"trie.{name}"] for name in ("octets", "first", "ids", "held")))
    return PairTables(ForbiddenPairTables(rows, columns), trie)


def _cut_arrays(tables: PretokenizerTables) -> dict[str, NDArray[Any]]:
    return {
        **_dfa_arrays("dfa.", tables.dfa),
        **_dfa_arrays("texts.", tables.texts),
        "classes": tables.classes,
        "fallback": tables.fallback,
        "prefix": np.frombuffer(tables.prefix, dtype=np.uint8),
        "unless_begun": np.array([tables.unless_begun], dtype=np.uint8),
        "whole": tables.whole,
        "whole_bytes": np.frombuffer(
            b"".join(octets for _, octets in sorted(tables.whole_pieces.items())), dtype=np.uint8
        ),
        "whole_ends": np.cumsum(
            [len(octets) for _, octets in sorted(tables.whole_pieces.items())], dtype=np.int64
        ),
    }


def _cuts_of(arrays: Tables) -> PretokenizerTables:
    return PretokenizerTables(
        _dfa_of("dfa.", arrays),
        arrays["classes"],
        arrays["fallback"],
        arrays["prefix"].tobytes(),
        _dfa_of("texts.", arrays),
        _pieces_of(arrays),
        bool(arrays["unless_begun"][0]),
    )


def _pieces_of(arrays: Tables) -> dict[int, bytes]:
    data, ends = arrays["whole_bytes"].tobytes(), arrays["whole_ends"].tolist()
    bounds = pairwise([0, *ends])
    ids = arrays["whole"].tolist()
    return {token: data[low:high] for token, (low, high) in zip(ids, bounds, strict=True)}


def _dfa_arrays(prefix: str, dfa: MarkedDfa) -> dict[str, NDArray[Any]]:
    return {
        f"{prefix}table": dfa.table,
        f"{prefix}final": dfa.final.astype(np.uint8),
        f"{prefix}start": np.array([dfa.start], dtype=np.int32),
    }


def _dfa_of(prefix: str, arrays: Tables) -> MarkedDfa:
    final = arrays[f"{prefix}final"].astype(np.bool_)
    return MarkedDfa(arrays[f"{prefix}table"], final, int(arrays[f"{prefix}start"][0]))
