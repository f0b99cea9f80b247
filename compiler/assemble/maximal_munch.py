"""Puts a grammar that is read by maximal munch into an artifact of the kind ``greedy``.

network over lexemes, lexer, slices, vocabulary      sections that depend on no mask
summaries, transitions (and the token trie)          as ``maximal_munch.precompute`` made them
"""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import GREEDY, MAXIMAL_MUNCH, ParserNames
from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.maximal_munch.slices import Slice

from ..diagnostics import CheckError, Diagnostic
from ..limits import Limits
from ..maximal_munch.lexer_tables import json_slices
from ..maximal_munch.precompute import Precomputed, precompute_within
from ..meanings import MaximalMunchGrammar
from .dfa import ArtifactRequest, manifest_of, vocabulary_arrays
from .parser import check_spelling, network_sections


def assemble_maximal_munch(
    parser: MaximalMunchGrammar,
    request: ArtifactRequest,
    limits: Limits,
    notes: list[str],
    most_results: int | None = None,
) -> tuple[Artifact, Precomputed]:
    """The artifact, and how far its masks are precomputed; what the user should know is added to
    ``notes``.

    ``most_results``: how many results are precomputed, 0 for none and None for the default. Raises
    ``LimitError`` and ``TokenizerError``.
    """
    tables, tokenizer = parser.tables, request.tokenizer
    check_spelling(tables.lexer.dfas, request)
    slices = json_slices()
    arrays = {
        **vocabulary_arrays(request),
        **network_sections(tables.network),
        **_lexer(tables.lexer),
        **_slices(slices),
    }
    masks = precompute_within(
        tables,
        tokenizer.vocabulary(request.vocab_size),
        request.eos,
        request.vocab_size,
        limits,
        request.max_bytes - sum(array.nbytes for array in arrays.values()),
        most_results,
        slices,
    )
    arrays |= masks.arrays()
    reached = masks.reached
    if most_results != 0 and not reached.complete:
        notes.append(
            "not all masks were precomputed: the rest is computed at run time (--prewarm, "
            "--max-artifact-bytes)"
        )
    texts = tuple("" if request.strip else text for text in tables.lexer.texts)
    manifest = manifest_of(
        parser.grammar,
        request,
        kind=GREEDY,
        tokenization="any",
        splits_applied=False,
        byte_start=tables.network.start,
        token_start=0,
        counts={
            "network_states": tables.network.states - 1,
            "calls": len(tables.network.call_starts),
            "lexemes": tables.lexer.lexemes,
            "lexer_states": masks.lexer_states,
            "answers": reached.results,
            "rows": len(masks.summaries.codes),
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
    return Artifact(manifest, arrays), reached


def refuse_canonical(parser: MaximalMunchGrammar) -> NoReturn:
    """There are no canonical masks over lexemes: raises ``CheckError``."""
    message = f"there are no canonical masks by maximal munch where {parser.reason}"
    hint = "say --meaning exact, or --tokenization any"
    raise CheckError(parser.grammar.source, [Diagnostic(message, help=hint)])


def _lexer(tables: LexerTables) -> dict[str, NDArray[Any]]:
    return {
        "lexer.accepting": tables.dfas.accepting,
        "lexer.columns": tables.dfas.columns,
        "lexer.ignored": tables.ignored,
        "lexer.priorities": tables.priorities,
        "lexer.starts": tables.dfas.starts,
        "lexer.table": tables.dfas.table,
    }


def _slices(slices: list[Slice]) -> dict[str, NDArray[Any]]:
    """The DFAs of the slices, stacked over shared byte classes; state 0 is dead in all."""
    distinct, classes = np.unique(
        np.concatenate([part.table[:, part.classes] for part in slices]),
        axis=1,
        return_inverse=True,
    )
    tables, starts, base = [distinct[:1]], [], 0
    end = 0
    for part in slices:
        rows = distinct[end + 1 : end + len(part.table)]
        end += len(part.table)
        tables.append(np.where(rows, rows + base, 0))
        starts.append(part.start + base)
        base += len(rows)
    return {
        "slices.classes": classes.reshape(-1).astype(np.uint8),
        "slices.starts": np.array(starts, dtype=np.int32),
        "slices.table": np.concatenate(tables).astype(np.int32),
    }
