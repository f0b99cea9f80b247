"""Lay a WordPiece compilation out as an artifact."""

from collections.abc import Sequence
from hashlib import sha256

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import Manifest, Origin

from ..automata.dfa import Dfa
from ..grammar.tree import Grammar
from ..wordpiece import WordPieceTokenizer
from ..wordpiece.tokenizer_dfa import CanonicalWords
from .dfa import byte_dfa_sections


def assemble_wordpiece(
    grammar: Grammar,
    dfa: Dfa,
    origins: Sequence[tuple[str, int, int]],
    words: CanonicalWords,
    tokenizer: WordPieceTokenizer,
    eos: tuple[int, ...],
    vocab_size: int,
    strip: bool,
    meaning: str,
) -> Artifact:
    """The artifact. ``dfa``: the grammar's own, ``words``: what its texts become.

    ``eos``: token ids. ``vocab_size``: padded. ``strip``: leave the grammar's text out.
    ``meaning``: the grammar's.
    """
    vocabulary, source = tokenizer.vocabulary(vocab_size), grammar.source
    arrays = {
        **byte_dfa_sections(dfa, ()),
        "vocab.data": vocabulary.data,
        "vocab.offsets": vocabulary.offsets,
        "vocab.kinds": vocabulary.kinds,
        **words.arrays(),
    }
    manifest = Manifest(
        kind="word-dfa",
        tokenization="canonical",
        dialect=source.dialect,
        start=grammar.start,
        source=None if strip else source.text,
        grammar_sha256=sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        tokenizer_sha256=tokenizer.sha256,
        vocab_size=vocab_size,
        eos=eos,
        splits=True,
        splits_applied=True,
        byte_start=dfa.start,
        token_start=words.dfa.start,
        counts={"dfa_states": dfa.states - 1, "word_states": words.dfa.states - 1},
        origins=tuple(Origin(rule, ((start, end),)) for rule, start, end in origins),
        meaning=meaning,
    )
    return Artifact(manifest, arrays)
