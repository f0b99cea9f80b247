"""All tables of a BPE tokenizer that canonical masks depend on, computed lazily and cached.

    TokenizerTables.pretokenizer    which texts have an encoding, and where they are split
    TokenizerTables.pairs           which tokens cannot be adjacent inside a pre-token
    TokenizerTables.normal_form     which texts the normalizers leave alone
    TokenizerTables.tokens          bytes of the tokens, their trie and its subtrees

They depend on the tokenizer alone and take a second to compute (Qwen 2.5), so they are shared by
compilations, and stored as arrays in a cache folder. ``tokenizer_sections`` gives the same tables
as sections of an artifact.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokenizer_steps.split_characters import SplitCharacters
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs

from ..files.cache import Cache
from ..limits import making_tables
from ..tokenizer_steps.boundary_tables import (
    PretokenizerTables,
    build_pretokenizer_tables,
    unspelled_characters,
)
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
from .derivations import Derivations, derive, spelled, whole_pieces
from .forbidden_pairs import ForbiddenPairTables, PairTables, build_pairs
from .special_in_merges import without_special_tokens

# Goes up with every change of what the tables hold or how they are computed.
_VERSION = 16

# What is cached, and what is in it.
_CLASSES = (
    PretokenizerTables,
    MarkedDfa,
    ForbiddenPairTables,
    ForbiddenPairs,
    NormalFormTables,
    CharacterProperties,
    SplitCharacters,
)

T = TypeVar("T")


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
        return self._made("pretokenizer", self._build_pretokenizer)

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
        found = self._made("pairs", lambda: build_pairs(self.tokenizer, self._derivations))
        # Those that artifacts have of the same arrays are the same objects.
        both = (ForbiddenPairs.from_arrays(t.arrays(""), "") for t in (found.rows, found.columns))
        forbidden = ForbiddenPairTables(*both)
        # Nothing asks for them again.
        vars(self).pop("_derivations", None)
        return PairTables(forbidden, self.tokens.trie.restricted(forbidden.rows.order))

    @cached_property
    def unspelled(self) -> NDArray[np.int64]:
        """The code points that no token spells, or that stand for another."""
        return np.flatnonzero(unspelled_characters(self.tokenizer))

    @cached_property
    @making_tables()
    def normal_form(self) -> NormalFormTables | None:
        """Which texts the normalizers leave alone; None if they change no character."""
        if not text_normalizers(self.tokenizer.normalizers):
            return None
        return self._made("normal-form", lambda: build_normal_form_tables(self.tokenizer))

    def _made(self, kind: str, build: Callable[[], T]) -> T:
        return self._cache.made(kind, self._key, build, _CLASSES)


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
