"""Encode a parser's tables and its precomputed masks as an artifact."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import ParserNames
from constrain.artifacts.dfa.stacked_dfas import StackedDfas
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.network.machine import NetworkMasks
from constrain.artifacts.network.mask_automaton import MaskAutomaton
from constrain.artifacts.network.summary_tables import SummaryTables
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import TEXT, TokenClasses

from ..diagnostics import LimitError, TokenizerError
from ..engines import Parser
from ..limits import Limits
from ..network.precompute import precompute_mask_automaton, precompute_summaries
from ..network.token_effects import token_effects
from ..token_ids import token_ids
from .dfa import ArtifactRequest, manifest_of, vocabulary_arrays

# Procedure summaries that are precomputed, unless ``--prewarm`` says otherwise.
PREWARM = 50_000

# The mask automaton and the rows that it adds. What there is no room for is united at run time.
MASK_AUTOMATON_BYTES = 1 << 24

# The table of token effects. Tokens that there is no room for are read at run time.
EFFECTS_BYTES = 1 << 24


def assemble_parser(
    parser: Parser,
    request: ArtifactRequest,
    limits: Limits,
    notes: list[str],
    answers: int = PREWARM,
    canonical: Mapping[str, NDArray[Any]] | None = None,
) -> Artifact:
    """The artifact; what the user should know is added to ``notes``.

    ``answers``: how many procedure summaries of a network are precomputed, 0 for none.
    ``canonical``: the tokenizer's sections, which make a network's masks canonical, and those of
    the precomputed rows.
    Raises ``LimitError``, ``CheckError`` and ``TokenizerError``.
    """
    check_spelling(parser.lexer, request)
    terminals = TokenClasses.of(token_ids(parser.grammar, request.tokenizer, request.eos))
    arrays: dict[str, NDArray[Any]] = {
        **vocabulary_arrays(request),
        **_earley(parser),
        "terminals.ids": terminals.ids,
        "terminals.offsets": terminals.offsets,
    }
    counts = {"productions": len(parser.layout.tables.bodies)}
    tables = parser.network
    if tables is not None:
        arrays |= network_sections(tables)
        counts |= {"network_states": tables.states - 1, "calls": len(tables.call_starts)}
        size = sum(array.nbytes for array in arrays.values())
        masks = _masks(tables, terminals, request)
        memory = min(request.max_bytes - size, limits.memory)
        summaries = SummaryTables.empty(request.vocab_size)
        automaton = MaskAutomaton.of(tables, {}, {})
        effects = TokenEffects.empty()
        if canonical is not None:
            arrays |= canonical
        elif answers and memory > 0:
            effects = _effects(tables, terminals, request, memory, limits)
            memory -= effects.nbytes
            if not precompute_summaries(tables, masks.summaries, answers, memory, limits):
                notes.append(
                    "not all masks were precomputed: the others are computed lazily (--prewarm, "
                    "--max-artifact-bytes)"
                )
            else:
                most = min(memory, MASK_AUTOMATON_BYTES)
                automaton, _ = precompute_mask_automaton(tables, masks.summaries, most, limits)
            summaries = masks.summaries.tables()
        arrays |= summaries.arrays() | automaton.arrays() | effects.arrays()
        if canonical is None:
            counts |= {"answers": len(summaries.keys), "rows": len(summaries.rows)}
        elif "closed.keys" in canonical:
            rows = len(canonical["closed.rows"]) + len(canonical["closed.id_offsets"]) - 1
            complete = int(canonical["closed.all"][1])
            counts |= {"answers": len(canonical["closed.keys"]), "rows": rows, "complete": complete}
    earley = parser.layout.tables
    manifest = manifest_of(
        parser.grammar,
        request,
        kind=parser.engine,
        tokenization="any" if canonical is None else "canonical",
        splits_applied=canonical is not None and request.tokenizer.splits,
        byte_start=tables.start if tables else 0,
        token_start=0,
        counts=counts,
        parser=ParserNames(
            start=earley.start,
            nullable_start=earley.nullable_start,
            rules=tuple(earley.names),
            texts=tuple("" if request.strip else text for text in earley.texts),
            called=tuple(tables.names) if tables else (),
        ),
    )
    try:
        return Artifact(manifest, arrays)
    except ArtifactError:
        if not _fits_items(parser):
            raise LimitError("the items of the Earley recogniser", "states", 1 << 44) from None
        raise


def _fits_items(parser: Parser) -> bool:
    earley = parser.layout.tables
    sizes = len(earley.symbols), len(parser.lexer.table), earley.nonterminals
    return sum(size.bit_length() for size in sizes) <= 44


def _masks(
    tables: NetworkTables, terminals: TokenClasses, request: ArtifactRequest
) -> NetworkMasks:
    vocabulary = request.tokenizer.vocabulary(request.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    named = [terminals.members(k) for k in range(len(terminals))]
    return NetworkMasks(tables, lambda: trie, vocabulary, request.eos, request.vocab_size, named)


def _effects(
    tables: NetworkTables,
    terminals: TokenClasses,
    request: ArtifactRequest,
    memory: int,
    limits: Limits,
) -> TokenEffects:
    vocabulary = request.tokenizer.vocabulary(request.vocab_size)
    named = [terminals.members(k) for k in range(len(terminals))]
    return token_effects(tables, vocabulary, named, min(memory, EFFECTS_BYTES), limits)


def check_spelling(lexer: StackedDfas, request: ArtifactRequest) -> None:
    """Each byte of the grammar's texts is a token: else a mask could lead into a dead end."""
    vocabulary = request.tokenizer.vocabulary(request.vocab_size)
    alone = (vocabulary.lengths == 1) & (vocabulary.kinds == TEXT)
    spelled = np.zeros(256, dtype=np.bool_)
    spelled[vocabulary.data[vocabulary.offsets[:-1][alone]]] = True
    used = (lexer.table[:, lexer.columns[:256]] != 0).any(axis=0)
    lost = np.flatnonzero(used & ~spelled)
    if len(lost):
        listed = ", ".join(f"0x{octet:02X}" for octet in lost[:8]) + ", …" * (len(lost) > 8)
        raise TokenizerError(
            f"{request.tokenizer.name}: the tokenizer has no token for {listed}; a grammar that "
            "is not regular needs one for each of its bytes"
        )


def _earley(parser: Parser) -> dict[str, NDArray[Any]]:
    tables, lexer = parser.layout.tables, parser.lexer
    return {
        "earley.bodies": tables.bodies,
        "earley.first": tables.first,
        "earley.path_offsets": tables.path_offsets,
        "earley.paths": tables.paths,
        "earley.rests": tables.rests,
        "earley.symbols": tables.symbols,
        "lexer.accepting": lexer.accepting,
        "lexer.columns": lexer.columns,
        "lexer.starts": lexer.starts,
        "lexer.table": lexer.table,
    }


def network_sections(tables: NetworkTables) -> dict[str, NDArray[Any]]:
    """The sections of a network."""
    return {
        "network.accepting": tables.accepting,
        "network.call_offsets": tables.call_offsets,
        "network.call_returns": tables.call_returns,
        "network.call_starts": tables.call_starts,
        "network.classes": tables.classes,
        "network.entries": tables.entries,
        "network.table": tables.table,
    }
