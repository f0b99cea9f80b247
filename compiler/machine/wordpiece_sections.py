"""Sections and manifest of artifacts for WordPiece tokenizers."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact

from ..frontend import Automaton
from ..options import CANONICAL, ArtifactRequest
from ..progress import Step
from ..wordpiece.tokenizer import WordPieceTokenizer
from ..wordpiece.tokenizer_dfa import CanonicalWords
from .dfa_sections import Sections, byte_dfa_sections, manifest_of, origins_of, vocabulary_sections


@Step("encode")
def encode(
    automaton: Automaton, words: CanonicalWords, request: ArtifactRequest[WordPieceTokenizer]
) -> Sections:
    """The sections of the grammar's own DFA and of the words that its texts become."""
    return {
        **byte_dfa_sections(automaton.dfa, ()),
        **vocabulary_sections(request),
        **words.arrays(),
    }


@Step("assemble")
def assemble(
    automaton: Automaton,
    words: CanonicalWords,
    sections: Mapping[str, NDArray[Any]],
    request: ArtifactRequest[WordPieceTokenizer],
) -> Artifact:
    """The artifact."""
    manifest = manifest_of(
        automaton.grammar,
        request,
        kind="word-dfa",
        tokenization=CANONICAL,
        splits=True,
        splits_applied=True,
        byte_start=automaton.dfa.start,
        token_start=words.dfa.start,
        counts={"dfa_states": automaton.dfa.states - 1, "word_states": words.dfa.states - 1},
        origins=origins_of(automaton),
        meaning=automaton.choice.semantics,
    )
    return Artifact(manifest, sections)
