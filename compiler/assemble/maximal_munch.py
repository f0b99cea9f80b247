"""Lay a grammar read by maximal munch, and the masks that were worked out, out as an artifact."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import GREEDY, MAXIMAL_MUNCH, ParserNames
from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.slices import Slice, Slices
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie

from ..diagnostics import CheckError, Diagnostic
from ..limits import Limits
from ..maximal_munch.lexer_tables import json_slices
from ..maximal_munch.precompute import MOST_ROWS, Closure, close, reachable
from ..meanings import MaximalMunchGrammar
from .dfa import ArtifactRequest, manifest_of, vocabulary_arrays
from .parser import check_spelling, network_sections

# Answers of the residual automaton that are worked out ahead.
PREWARM = 500_000


def assemble_maximal_munch(
    parser: MaximalMunchGrammar,
    request: ArtifactRequest,
    limits: Limits,
    notes: list[str],
    answers: int | None = None,
) -> tuple[Artifact, Closure]:
    """The artifact, and how far its masks were worked out; what the user should know is added
    to ``notes``.

    ``answers``: how many are worked out ahead, 0 for none and None for ``PREWARM``. Raises
    ``LimitError`` and ``TokenizerError``.
    """
    answers = PREWARM if answers is None else answers
    tables, tokenizer = parser.tables, request.tokenizer
    check_spelling(tables.lexer.dfas, request)
    slices = json_slices()
    fixed = {
        **vocabulary_arrays(request),
        **network_sections(tables.network),
        **_lexer(tables.lexer),
        **_slices(slices),
    }
    vocabulary = tokenizer.vocabulary(request.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    taken = Slices(slices, trie, request.vocab_size)
    row_bytes = 4 * tokenset.word_count(request.vocab_size)
    most_rows = min(MOST_ROWS, limits.memory // row_bytes)
    while True:
        masks = MaximalMunchMasks(
            tables,
            lambda: trie,
            vocabulary,
            request.eos,
            request.vocab_size,
            lambda: taken,
        )
        closure = close(masks, limits, most_rows, answers)
        limits.check_time("the masks of the lexemes", tables.network.names[:1])
        memo = masks.memo()
        arrays = fixed | (reachable(memo) if closure.complete else memo).arrays()
        arrays |= masks.moves.tables().arrays()
        if not closure.complete:
            arrays |= _trie(trie)
        size = sum(array.nbytes for array in arrays.values())
        if size <= request.max_bytes or not answers:
            break
        # The answers that were found first are those about the fewest frames.
        answers = min(answers, closure.answers) // 2
    if answers and not closure.complete:
        notes.append(
            "not all masks were worked out ahead: the rest is at run time (--prewarm, "
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
            "lexer_states": masks.lexer.states - 1,
            "answers": closure.answers,
            "rows": len(arrays["greedy.codes"]),
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
    return Artifact(manifest, arrays), closure


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
    """The automata of the slices, one behind the other; state 0 is dead in all."""
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


def _trie(trie: Trie) -> dict[str, NDArray[Any]]:
    return {
        "trie.first": trie.first,
        "trie.held": trie.held,
        "trie.ids": trie.ids,
        "trie.octets": trie.octets,
    }
