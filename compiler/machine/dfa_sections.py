"""Sections and manifest of artifacts of regular grammars: a byte DFA, which is a network without
calls, or a DFA over tokens."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import (
    EXACT,
    NETWORK,
    TOKEN_DFA,
    Manifest,
    Origin,
    ParserNames,
)

from ..automata.dfa import Dfa, TokenIds
from ..frontend import Automaton
from ..grammar.tree import Grammar
from ..options import CANONICAL, AnyTokenizer, ArtifactRequest
from ..progress import Step
from ..token_ids import TokenColumns
from ..tokenizers import Tokenizer

if TYPE_CHECKING:
    from ..merge.direct_merge import CanonicalDfa

Sections = dict[str, NDArray[Any]]


@Step("encode")
def encode(columns: TokenColumns, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of a byte DFA and the vocabulary."""
    return byte_dfa_sections(columns.dfa, columns.classes) | vocabulary_sections(request)


@Step("encode")
def encode_merged(
    columns: TokenColumns, found: "CanonicalDfa", request: ArtifactRequest[Tokenizer]
) -> Sections:
    """The same, and those of the DFA over canonical token sequences."""
    return encode(columns, request) | _token_dfa(found, request.vocab_size)


@Step("assemble")
def assemble(
    automaton: Automaton,
    columns: TokenColumns,
    sections: Mapping[str, NDArray[Any]],
    found: Mapping[str, int],
    request: ArtifactRequest[Tokenizer],
    tokenization: str,
    merged: "CanonicalDfa | None" = None,
) -> Artifact:
    """The artifact whose masks follow the byte DFA, or the DFA over canonical token sequences if
    there is one, with the ``sections`` of its masks. ``found``: counts of what was precomputed."""
    counts = {"dfa_states": columns.dfa.states - 1}
    if merged is not None:
        counts |= {"token_states": merged.dfa.states, "token_transitions": merged.transitions}
    manifest = manifest_of(
        automaton.grammar,
        request,
        kind=NETWORK if merged is None else TOKEN_DFA,
        tokenization=tokenization,
        splits_applied=tokenization == CANONICAL and request.tokenizer.splits,
        byte_start=columns.dfa.start,
        token_start=0 if merged is None else merged.dfa.start,
        counts=counts | dict(found),
        origins=origins_of(automaton),
        meaning=automaton.choice.semantics,
    )
    return Artifact(manifest, sections)


# --- what artifacts of all engines have


def manifest_of(
    grammar: Grammar,
    request: ArtifactRequest[Any],
    *,
    kind: str,
    tokenization: str,
    counts: dict[str, int],
    splits_applied: bool = False,
    byte_start: int = 0,
    token_start: int = 0,
    splits: bool | None = None,
    origins: tuple[Origin, ...] = (),
    parser: ParserNames | None = None,
    meaning: str = EXACT,
) -> Manifest:
    """The manifest: what the grammar and the request say of it, and the rest as given.

    ``splits``: whether the tokenizer splits text; by default as a BPE tokenizer says.
    """
    source = grammar.source
    return Manifest(
        kind=kind,
        tokenization=tokenization,
        dialect=source.dialect,
        start=grammar.start,
        source=None if request.options.strip else source.text,
        grammar_sha256=sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        tokenizer_sha256=request.tokenizer.sha256,
        vocab_size=request.vocab_size,
        eos=request.eos,
        splits=request.tokenizer.splits if splits is None else splits,
        splits_applied=splits_applied,
        byte_start=byte_start,
        token_start=token_start,
        counts=counts,
        origins=origins,
        parser=parser,
        meaning=meaning,
        schema=request.options.said_of_schemas(holds=grammar.marks_equal)
        if grammar.has_schema
        else {},
        define=dict(request.options.define),
        lexer=request.options.lexer or "",
    )


def origins_of(automaton: Automaton) -> tuple[Origin, ...]:
    """The rules that states refer to, and their places in the grammar's text."""
    return tuple(Origin(rule, ((start, end),)) for rule, start, end in automaton.origins)


def size_of(sections: Mapping[str, NDArray[Any]]) -> int:
    """The bytes of all arrays."""
    return sum(array.nbytes for array in sections.values())


def vocabulary_sections(request: ArtifactRequest[AnyTokenizer]) -> Sections:
    """The sections of the vocabulary."""
    return request.vocabulary.arrays("vocab.")


def byte_dfa_sections(dfa: Dfa, terminals: Sequence[TokenIds]) -> Sections:
    """The grammar's own automaton and where its states come from."""
    tables = dfa.tables(terminals)
    ids = [sorted(found) for found in dfa.origins]
    offsets = np.concatenate(([0], np.cumsum([len(found) for found in ids])))
    named: Sections = {"dfa.terminals": tables.terminals.ids}
    if len(terminals):
        # Stored under other names, so that a reader that expects one token a column refuses it.
        named = {
            "dfa.token_ids": tables.terminals.ids,
            "dfa.token_offsets": tables.terminals.offsets,
        }
    return {
        **named,
        "dfa.table": tables.stored_table(),
        "dfa.classes": tables.classes,
        "dfa.accepting": tables.accepting,
        "origins.ids": np.array([i for found in ids for i in found], dtype=np.int32),
        "origins.offsets": offsets.astype(np.int64),
    }


def _token_dfa(canonical: "CanonicalDfa", vocab_size: int) -> Sections:
    dfa, pairs = canonical.dfa, canonical.pairs
    assert pairs is not None
    sections: Sections = pairs.padded(vocab_size).arrays("pairs.") | dfa.sections()
    if canonical.family_states is not None:
        sections["tokens.family_states"] = canonical.family_states
    return sections
