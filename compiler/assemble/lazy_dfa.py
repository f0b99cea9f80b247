"""Sections and manifest of artifacts whose states are made while decoding."""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import LAZY_DFA, Origin
from constrain.artifacts.lazy_dfa.tables import DEAD, to_sections

from ..diagnostics import CheckError, Diagnostic
from ..frontend import Automaton
from ..grammar.tree import Grammar
from ..lazy_dfa.conjunctions import Operation, without_bytes_of
from ..options import ANY, ArtifactRequest
from ..progress import Step
from ..token_ids import listed
from ..tokenizers import Tokenizer
from .dfa import Sections, manifest_of, vocabulary_sections


def spelled(
    grammar: Grammar, operation: Operation, request: ArtifactRequest[Tokenizer]
) -> tuple[Operation, tuple[str, ...]]:
    """The members of bytes that are tokens, and notes.

    Raises ``CheckError`` where the tokenizer can spell none, ``LimitError``.
    """
    lost = _used_bytes(operation) & ~request.vocabulary.spelled_bytes
    if not lost.any():
        return operation, ()
    bytes_ = f"the byte{'s' * bool(lost.sum() > 1)} {listed(lost)}"
    less = without_bytes_of(operation, lost, request.limits)
    if not less.conjunctions:
        message = f"the tokenizer can spell no member: it has no token for {bytes_}"
        raise CheckError(grammar.source, [Diagnostic(message)])
    return less, (f"members with {bytes_} are left out: the tokenizer has no token for them",)


@Step("encode")
def encode(operation: Operation, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of the conjunctions and the vocabulary."""
    return to_sections(operation.conjunctions) | vocabulary_sections(request)


@Step("assemble")
def assemble(
    automaton: Automaton,
    operation: Operation,
    sections: Sections,
    request: ArtifactRequest[Tokenizer],
) -> Artifact:
    """The artifact of any token sequences that spell a member."""
    start, begin, end = automaton.grammar.place_of_start
    found = operation.conjunctions
    manifest = manifest_of(
        automaton.grammar,
        request,
        kind=LAZY_DFA,
        tokenization=ANY,
        splits_applied=False,
        byte_start=0,
        token_start=0,
        counts={
            "conjunctions": len(found),
            "dfa_states": sum(len(each.table) - 1 for each in found),
            "nfa_states": sum(len(nfa.accepting) for each in found for nfa in each.operands),
        },
        origins=(Origin(start, ((begin, end),)),),
        meaning=automaton.meaning,
    )
    return Artifact(manifest, sections)


def _used_bytes(operation: Operation) -> NDArray[np.bool_]:
    used = np.zeros(256, dtype=np.bool_)
    for each in operation.conjunctions:
        used |= (each.table != DEAD).any(axis=0)[each.classes]
    return used
