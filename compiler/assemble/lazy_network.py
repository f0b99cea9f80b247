"""Sections and manifest of artifacts of networks with terminals whose states are made while
decoding."""

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import LAZY_NETWORK, ParserNames
from constrain.artifacts.kinds.lazy_network import TERMINALS
from constrain.artifacts.lazy_dfa.tables import to_sections

from ..diagnostics import CheckError, Diagnostic
from ..frontend import Parser
from ..lazy_dfa.conjunctions import joined
from ..lazy_network.terminals import LazyTerminals
from ..options import ANY, ArtifactRequest
from ..progress import Step
from ..token_ids import listed, unspelled_bytes
from ..tokenizers import Tokenizer
from .dfa import Sections, manifest_of, vocabulary_sections
from .parser import network_sections


@Step("encode")
def encode(lazily: LazyTerminals, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of the network, of its terminals and of the vocabulary. Raises ``CheckError``
    where the tokenizer has no token for a byte of them."""
    conjunctions = joined(lazily.conjunctions)
    columns = int(lazily.network.classes.max()) + 1
    lost = unspelled_bytes(lazily.network.table[:, :columns], lazily.network.classes, request)
    for each in conjunctions:
        lost = lost | unspelled_bytes(each.table, each.classes, request)
    if lost.any():
        message = (
            f"the tokenizer has no token for {listed(lost)}, which a grammar with terminals whose "
            "states are made while decoding needs"
        )
        raise CheckError(lazily.grammar.source, [Diagnostic(message)])
    counts = [len(terminal.conjunctions) for terminal in lazily.terminals]
    return {
        **vocabulary_sections(request),
        **network_sections(lazily.network),
        **to_sections(conjunctions),
        TERMINALS: np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    }


@Step("assemble")
def assemble(
    parser: Parser, lazily: LazyTerminals, sections: Sections, request: ArtifactRequest[Tokenizer]
) -> Artifact:
    """The artifact of any token sequences that spell a member."""
    tables = lazily.network
    manifest = manifest_of(
        parser.grammar,
        request,
        kind=LAZY_NETWORK,
        tokenization=ANY,
        splits_applied=False,
        byte_start=tables.start,
        token_start=0,
        counts={
            "network_states": tables.states - 1,
            "calls": len(tables.call_starts),
            "lazy_terminals": len(lazily.terminals),
            "dfa_states": sum(len(each.table) - 1 for each in lazily.conjunctions),
        },
        parser=ParserNames(0, tables.nullable_start, (), (), tuple(tables.names)),
    )
    return Artifact(manifest, sections)
