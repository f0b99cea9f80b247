"""A text as the tokens of an artifact, and where they end in it.

A text has the tokens that its tokenizer gives. Without the tokenizer, and where an artifact of any
token sequences does not allow these (the tokenizer puts a space before a text), it has the fewest
that the artifact allows; under canonical masks these are the tokenizer's own.
"""

from dataclasses import dataclass

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import WORD_DFA
from constrain.artifacts.prefix import boundaries

from ..options import AnyTokenizer
from ..tokenizers import Tokenizer
from ..wordpiece import WordPieceTokenizer

TOKENIZER, FEWEST = "tokenizer", "fewest"


@dataclass(frozen=True, slots=True)
class Encoding:
    """``ids``: the tokens. ``ends``: the byte of the text behind each. ``by``: ``tokenizer`` or
    ``fewest``."""

    ids: tuple[int, ...]
    ends: tuple[int, ...]
    by: str


def encoding_of(
    artifact: Artifact, octets: bytes, tokenizer: AnyTokenizer | None
) -> Encoding | None:
    """The tokens of a text; None if it has none: it is not UTF-8, or no member."""
    if tokenizer is not None:
        try:
            text = octets.decode("utf-8")
        except UnicodeDecodeError:
            return None
        if not isinstance(tokenizer, Tokenizer):
            return _of_words(text, tokenizer)
        ids = tokenizer.encode(text)
        if artifact.is_canonical or artifact.matcher().validate(ids) == len(ids):
            return _spelled(artifact, octets, ids, TOKENIZER)
    return _fewest(artifact, octets)


def _of_words(text: str, tokenizer: WordPieceTokenizer) -> Encoding:
    spans = tokenizer.spans(text)
    ends, byte, place = list[int](), 0, 0
    for span in spans:
        byte += len(text[place : span.end].encode("utf-8"))
        place = span.end
        ends.append(byte)
    return Encoding(tuple(span.token_id for span in spans), tuple(ends), TOKENIZER)


def _fewest(artifact: Artifact, octets: bytes) -> Encoding | None:
    seen = octets
    if artifact.manifest.kind == WORD_DFA:
        seen = _canonical(artifact, octets.decode("utf-8", "replace"))
    found = boundaries(artifact, seen)
    ids = next((list(b.ids) for b in found if b.length == len(seen) and b.accepting), None)
    return None if ids is None else _spelled(artifact, octets, ids, FEWEST)


def _spelled(artifact: Artifact, octets: bytes, ids: list[int], by: str) -> Encoding:
    """Tokens that spell a text, behind what the tokenizer puts before it."""
    before = len(artifact.put_before(octets))
    ends = np.maximum(np.cumsum(artifact.vocabulary.lengths[ids]) - before, 0)
    if artifact.manifest.kind == WORD_DFA:
        # They spell what the normalizer leaves of the text, and their marks.
        ends = np.minimum(ends, len(octets))
    return Encoding(tuple(ids), tuple(ends.tolist()), by)


def _canonical(artifact: Artifact, text: str) -> bytes:
    """What a WordPiece tokenizer sees of a text: words between single spaces."""
    from ..wordpiece.normalizer import BertNormalizer

    normalizer = BertNormalizer(*map(bool, artifact.arrays["words.normalizer"].tolist()))
    return normalizer.canonical(text).encode("utf-8")
