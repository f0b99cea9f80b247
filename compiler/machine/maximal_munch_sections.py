"""Sections and manifest of artifacts of grammars read by maximal munch."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import (
    GREEDY,
    MAXIMAL_MUNCH,
    ParserNames,
)
from constrain.artifacts.dfa.conjunctions import to_sections
from constrain.artifacts.lazy_lexer.check import LEXEMES, TERMINALS
from constrain.artifacts.lazy_lexer.lexer import LazyLexerTables
from constrain.artifacts.maximal_munch.check import REFUSED
from constrain.artifacts.maximal_munch.lexer import LexerTables

from ..frontend import MaximalMunchGrammar
from ..maximal_munch.precompute import StoredMasks
from ..options import ANY, ArtifactRequest
from ..progress import Step
from ..tokenizers import Tokenizer
from .dfa_sections import Sections, manifest_of, vocabulary_sections


@Step("encode")
def encode(parser: MaximalMunchGrammar, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of the vocabulary, the network over lexemes and the lexer."""
    return {
        **vocabulary_sections(request),
        **parser.tables.network.sections(),
        **_lexer(parser.tables.lexer),
    }


@Step("assemble")
def assemble(
    parser: MaximalMunchGrammar,
    sections: Mapping[str, NDArray[Any]],
    masks: StoredMasks,
    request: ArtifactRequest[Tokenizer],
) -> Artifact:
    """The artifact."""
    tables = parser.tables
    counters = tables.network.counters
    lazily = tables.lexer.lazily if isinstance(tables.lexer, LazyLexerTables) else {}
    texts = tuple("" if request.options.strip else text for text in tables.lexer.texts)
    manifest = manifest_of(
        parser.grammar,
        request,
        kind=GREEDY,
        tokenization=ANY,
        byte_start=tables.network.start,
        counts={
            "network_states": tables.network.states - 1,
            "calls": len(tables.network.call_starts),
            **({} if counters is None else {"counters": len(counters)}),
            "lexemes": tables.lexer.lexemes,
            **({"lazy_lexemes": len(lazily)} if lazily else {}),
            "lexer_states": masks.lexer_states,
            "answers": masks.reached.results,
            "rows": len(masks.reached.summaries.codes),
        },
        parser=ParserNames(
            start=0,
            nullable_start=tables.network.nullable_start,
            rules=(),
            texts=texts,
            called=tuple(tables.network.names),
        ),
        meaning=MAXIMAL_MUNCH,
    )
    return Artifact(manifest, {**sections, **masks.arrays()})


def _lexer(tables: LexerTables) -> Sections:
    lazily = dict[str, NDArray[Any]]()
    if isinstance(tables, LazyLexerTables):
        lexemes = sorted(tables.lazily)
        parts = [tables.lazily[lexeme] for lexeme in lexemes]
        lazily = {
            **to_sections([each for part in parts for each in part]),
            LEXEMES: np.array(lexemes, dtype=np.int32),
            TERMINALS: np.cumsum([0, *map(len, parts)]).astype(np.int64),
        }
    return {
        **lazily,
        **tables.dfas.arrays(),
        "lexer.ignored": tables.ignored,
        "lexer.priorities": tables.priorities,
        **({REFUSED: np.array(sorted(tables.refused), np.int32)} if tables.refused else {}),
        **({"lexer.shortest": tables.shortest} if tables.shortest.any() else {}),
    }
