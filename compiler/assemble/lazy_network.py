"""Sections and manifest of artifacts of networks with terminals whose states are made while
decoding."""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import LAZY_NETWORK, ParserNames
from constrain.artifacts.kinds.lazy_network import TERMINALS
from constrain.artifacts.lazy_dfa.tables import to_sections

from ..diagnostics import CheckError, Diagnostic
from ..frontend import Parser
from ..grammar.tree import Grammar
from ..lazy_dfa.conjunctions import Operation, joined, without_bytes_of
from ..options import ANY, ArtifactRequest
from ..progress import Step
from ..token_ids import listed, unspelled_bytes
from ..tokenizers import Tokenizer
from .dfa import Sections, manifest_of, vocabulary_sections


def spelled(
    grammar: Grammar, operation: Operation, request: ArtifactRequest[Tokenizer]
) -> tuple[Operation, tuple[str, ...]]:
    """The members of bytes that are tokens, of a grammar that is one terminal, and notes.

    Raises ``CheckError`` where the tokenizer can spell none, ``LimitError``.
    """
    lost = _unspelled(operation, request)
    if not lost.any():
        return operation, ()
    bytes_ = f"the byte{'s' * bool(lost.sum() > 1)} {listed(lost)}"
    less = without_bytes_of(operation, lost, request.limits)
    if not less.conjunctions:
        message = f"the tokenizer can spell no member: it has no token for {bytes_}"
        raise CheckError(grammar.source, [Diagnostic(message)])
    return less, (f"members with {bytes_} are left out: the tokenizer has no token for them",)


def _unspelled(operation: Operation, request: ArtifactRequest[Tokenizer]) -> NDArray[np.bool_]:
    lost = np.zeros(256, dtype=np.bool_)
    for each in operation.conjunctions:
        lost |= unspelled_bytes(each.table, each.classes, request)
    return lost


@Step("encode")
def encode(parser: Parser, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of the network, of its terminals and of the vocabulary. Raises ``CheckError``
    where the tokenizer has no token for a byte of them."""
    met, lazily = parser.met, parser.lazily
    assert met is not None and lazily is not None
    lost = unspelled_bytes(*parser.reading, request)
    for terminal in lazily.terminals:
        lost = lost | _unspelled(terminal, request)
    if lost.any():
        message = (
            f"the tokenizer has no token for {listed(lost)}, which a grammar with terminals whose "
            "states are made while decoding needs"
        )
        raise CheckError(lazily.grammar.source, [Diagnostic(message)])
    counts = [len(terminal.conjunctions) for terminal in lazily.terminals]
    return {
        **vocabulary_sections(request),
        **met.stored.arrays(),
        **to_sections(joined(lazily.conjunctions)),
        TERMINALS: np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    }


@Step("assemble")
def assemble(
    grammar: Grammar,
    parser: Parser,
    sections: Sections,
    request: ArtifactRequest[Tokenizer],
) -> Artifact:
    """The artifact of any token sequences that spell a member."""
    met, lazily = parser.met, parser.lazily
    assert met is not None and lazily is not None
    conjunctions = lazily.conjunctions
    operands = [nfa for each in conjunctions for nfa in each.operands]
    manifest = manifest_of(
        grammar,
        request,
        kind=LAZY_NETWORK,
        tokenization=ANY,
        splits_applied=False,
        byte_start=0,
        token_start=0,
        counts={
            "positions": met.stored.states - 1,
            "calls": met.stored.calls,
            "lazy_terminals": len(lazily.terminals),
            "conjunctions": len(conjunctions),
            "dfa_states": sum(len(each.table) - 1 for each in conjunctions),
            "nfa_states": sum(len(nfa.accepting) for nfa in operands),
        },
        parser=ParserNames(0, met.stored.nullable_start, (), (), met.called),
    )
    return Artifact(manifest, sections)
