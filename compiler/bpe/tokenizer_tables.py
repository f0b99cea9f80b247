"""All tables of a BPE tokenizer that canonical masks depend on, computed lazily and cached.

    TokenizerTables.pretokenizer    which texts have an encoding, and where they are split
    TokenizerTables.pairs           which tokens cannot be adjacent inside a pre-token
    TokenizerTables.normal_form     which texts the normalizers leave alone
    TokenizerTables.tokens          bytes of the tokens, their trie and its subtrees

They depend on the tokenizer alone and take a second to compute (Qwen 2.5), so they are shared by
compilations, and stored as arrays in a cache folder. ``tokenizer_sections`` gives the same tables
as sections of an artifact.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokenizer_steps.split_characters import SplitCharacters
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs

from ..files.cache import Cache, Tables
from ..limits import making_tables
from ..tokenizer_steps.boundary_tables import PretokenizerTables, build_pretokenizer_tables
from ..tokenizer_steps.character_properties import (
    CHANGED,
    CharacterProperties,
    character_properties,
    text_normalizers,
)
from ..tokenizer_steps.marked_dfa import MarkedDfa
from ..tokenizer_steps.normalized_members import NormalFormTables, build_normal_form_tables
from ..tokenizers import Tokenizer
from ..tokenizers.cached_arrays import fingerprint
from ..tokenizers.vocabulary_tables import VocabularyTables
from .check_tables import (
    check_normal_form_tables,
    check_pair_tables,
    check_pretokenizer_tables,
)
from .derivations import Derivations, derive, spelled, whole_pieces
from .forbidden_pairs import ForbiddenPairTables, PairTables, build_pairs
from .special_in_merges import without_special_tokens

# Goes up with every change of what the tables hold or how they are computed.
_VERSION = 15

_CHARACTERS = ("classes", "combining", "second", "row", "seconds")


class TokenizerTables:
    """The tables of one tokenizer; pass the same object to several compilations.

    ``cache``: where tables are looked up and stored, None for nowhere. ``tokens``: tables of its
    tokens, if there are any already. The attributes raise ``TokenizerError`` for tokenizers that
    the tables cannot express.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        cache: Cache | None = None,
        tokens: VocabularyTables | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.tokens = tokens or VocabularyTables(tokenizer, cache)
        self._cache = cache or Cache(None)
        # The tables with sentinels that were asked for last, and what they were made for.
        self.with_sentinels: tuple[tuple[object, ...], TokenizerTables] | None = None

    @cached_property
    def _key(self) -> str:
        return f"version {_VERSION}, tokenizer {fingerprint(self.tokenizer)}"

    @cached_property
    @making_tables()
    def pretokenizer(self) -> PretokenizerTables:
        """Which texts have an encoding, and where the tokenizer splits them."""
        return self._cache.made(
            "pretokenizer",
            self._key,
            lambda: _pretokenizer_arrays(self._build_pretokenizer()),
            _pretokenizer_of,
            self._check_pretokenizer,
        )

    def _check_pretokenizer(self, found: Tables) -> None:
        check_pretokenizer_tables(found, self.tokenizer.vocab_size)

    def _build_pretokenizer(self) -> PretokenizerTables:
        # Grammars that nest learn here of characters that are changed by themselves.
        steps = text_normalizers(self.tokenizer.normalizers)
        changed = character_properties(steps).classes == CHANGED if steps else None
        whole = whole_pieces(self.tokenizer, lambda: self._derivations)
        found = build_pretokenizer_tables(self.tokenizer, changed, whole)
        return without_special_tokens(found, self.tokenizer, lambda: self.pairs)

    @cached_property
    def _derivations(self) -> Derivations:
        return derive(spelled(self.tokenizer), self.tokenizer.merges)

    @cached_property
    @making_tables()
    def pairs(self) -> PairTables:
        """Which tokens cannot be adjacent inside a pre-token."""
        tokenizer = self.tokenizer
        forbidden = self._cache.made(
            "pairs",
            self._key,
            lambda: _pair_arrays(build_pairs(tokenizer, self._derivations)),
            _pairs_of,
            lambda found: check_pair_tables(found, tokenizer.vocab_size, len(tokenizer.merges)),
        )
        # Nothing asks for them again.
        vars(self).pop("_derivations", None)
        return PairTables(forbidden, self.tokens.trie.restricted(forbidden.rows.order))

    @cached_property
    @making_tables()
    def normal_form(self) -> NormalFormTables | None:
        """Which texts the normalizers leave alone; None if they change no character."""
        if not text_normalizers(self.tokenizer.normalizers):
            return None
        return self._cache.made(
            "normal-form",
            self._key,
            lambda: _normal_form_arrays(build_normal_form_tables(self.tokenizer)),
            _normal_form_of,
            lambda found: check_normal_form_tables(found, self.tokenizer.vocab_size),
        )


def tokenizer_sections(tables: TokenizerTables, vocab_size: int) -> dict[str, NDArray[Any]]:
    """An artifact's sections ``cuts.*`` and ``pairs.*``, the pairs for ``vocab_size`` ids.

    Raises ``TokenizerError`` for tokenizers that the tables cannot express.
    """
    pairs = tables.pairs.forbidden.rows.padded(vocab_size)
    return {**pretokenizer_sections(tables.pretokenizer), **pairs.arrays("pairs.")}


def pretokenizer_sections(tables: PretokenizerTables) -> dict[str, NDArray[Any]]:
    """An artifact's sections ``cuts.*``, of which ``unless_begun``, ``whole`` and ``prompt`` are
    optional."""
    once = {"cuts.unless_begun": np.ones(1, dtype=np.uint8)} if tables.unless_begun else {}
    whole = {"cuts.whole": tables.whole} if tables.whole_pieces else {}
    prompt = {"cuts.prompt": np.array([tables.prompt], dtype=np.int32)} if tables.prompt else {}
    return {
        **once,
        **whole,
        **prompt,
        "cuts.classes": tables.classes,
        "cuts.fallback": tables.fallback,
        "cuts.prefix": np.frombuffer(tables.prefix, dtype=np.uint8),
        "cuts.start": np.array([tables.dfa.start], dtype=np.int32),
        "cuts.table": tables.dfa.table,
    }


def _pretokenizer_arrays(tables: PretokenizerTables) -> dict[str, NDArray[Any]]:
    pieces = [octets for _, octets in sorted(tables.whole_pieces.items())]
    return {
        **_dfa_arrays("dfa.", tables.dfa),
        **_dfa_arrays("texts.", tables.texts),
        "classes": tables.classes,
        "fallback": tables.fallback,
        "prefix": np.frombuffer(tables.prefix, dtype=np.uint8),
        "unless_begun": np.array([tables.unless_begun], dtype=np.uint8),
        "changes": np.array([tables.changes], dtype=np.uint8),
        "whole": tables.whole,
        "whole_bytes": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        "whole_ends": np.cumsum([len(octets) for octets in pieces], dtype=np.int64),
    }


def _pretokenizer_of(arrays: Tables) -> PretokenizerTables:
    data, ends = arrays["whole_bytes"].tobytes(), arrays["whole_ends"].tolist()
    bounds = pairwise([0, *ends])
    ids = arrays["whole"].tolist()
    return PretokenizerTables(
        _dfa_of("dfa.", arrays),
        arrays["classes"],
        arrays["fallback"],
        arrays["prefix"].tobytes(),
        _dfa_of("texts.", arrays),
        {token: data[low:high] for token, (low, high) in zip(ids, bounds, strict=True)},
        bool(arrays["unless_begun"][0]),
        bool(arrays["changes"][0]),
    )


def _dfa_arrays(prefix: str, dfa: MarkedDfa) -> dict[str, NDArray[Any]]:
    return {
        f"{prefix}table": dfa.table,
        f"{prefix}final": dfa.final.astype(np.uint8),
        f"{prefix}start": np.array([dfa.start], dtype=np.int32),
    }


def _dfa_of(prefix: str, arrays: Tables) -> MarkedDfa:
    final = arrays[f"{prefix}final"].astype(np.bool_)
    return MarkedDfa(arrays[f"{prefix}table"], final, int(arrays[f"{prefix}start"][0]))


def _pair_arrays(tables: ForbiddenPairTables) -> dict[str, NDArray[Any]]:
    return {**tables.rows.arrays("rows."), **tables.columns.arrays("columns.")}


def _pairs_of(arrays: Tables) -> ForbiddenPairTables:
    rows = ForbiddenPairs.from_arrays(arrays, "rows.")
    columns = ForbiddenPairs.from_arrays(arrays, "columns.")
    return ForbiddenPairTables(rows, columns)


def _normal_form_arrays(tables: NormalFormTables) -> dict[str, NDArray[Any]]:
    characters = tables.characters
    return {
        **{name: getattr(characters, name) for name in _CHARACTERS},
        "changes": characters.changes.astype(np.uint8),
        "table": tables.table,
        "byte_classes": tables.classes,
        "numbers": np.array([tables.start, tables.between, tables.inert_start], dtype=np.int32),
        "tokens": tables.tokens,
        "opened.tails": tables.split.tails,
        "opened.tokens": tables.split.tokens,
        "opened.offsets": tables.split.offsets,
        "opened.sets": tables.split.sets.astype(np.uint8),
        "inert": tables.inert,
        "inert_classes": tables.inert_classes,
        "bound": tables.bound,
    }


def _normal_form_of(arrays: Tables) -> NormalFormTables:
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
        SplitCharacters(tails, tokens, offsets, sets.astype(np.bool_)),
        arrays["inert"],
        arrays["inert_classes"],
        inert_start,
        arrays["bound"],
    )
