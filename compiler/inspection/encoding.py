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
from constrain.artifacts.tokens.vocabulary import TEXT

from ..options import AnyTokenizer
from ..tokenizers import Tokenizer
from ..wordpiece.tokenizer import WordPieceTokenizer

TOKENIZER, FEWEST = "tokenizer", "fewest"


@dataclass(frozen=True, slots=True)
class Encoding:
    """``ids``: the tokens. ``ends``: the byte of the text after each. ``by``: ``tokenizer`` or
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
    if artifact.manifest.kind != WORD_DFA:
        ids = fewest_tokens(artifact, octets)
    else:
        ids = fewest_via_boundaries(artifact, octets)
    return None if ids is None else _spelled(artifact, octets, ids, FEWEST)


def fewest_via_boundaries(artifact: Artifact, octets: bytes) -> list[int] | None:
    """The fewest tokens that spell a text, which takes time by the square of its length."""
    seen = octets
    if artifact.manifest.kind == WORD_DFA:
        seen = canonical_text(artifact, octets.decode("utf-8", "replace"))
    found = boundaries(artifact, seen)
    return next((list(b.ids) for b in found if b.length == len(seen) and b.accepting), None)


def fewest_tokens(artifact: Artifact, octets: bytes) -> list[int] | None:
    """The same where tokens spell their bytes: at each byte the states that are reached, each with
    the last token of a shortest way to it."""
    machine, text = artifact.machine(), artifact.put_before(octets) + octets
    spelled, ends = _spelled_by(artifact), frozenset(artifact.manifest.eos)
    # Of each state at a byte: tokens so far, the last one, and the byte and state before that.
    reached: list[dict[int, tuple[int, int, int, int]]] = [{} for _ in range(len(text) + 1)]
    reached[0][machine.start] = (0, -1, -1, -1)
    for place in range(len(text)):
        for state, (count, *_) in reached[place].items():
            may_end = machine.is_accepting(state)
            for length, found in spelled.items():
                for token_id in found.get(text[place : place + length], ()):
                    ended = may_end and token_id in ends
                    target = None if ended else machine.take(state, token_id)
                    if target is not None:
                        way = (count + 1, token_id, place, state)
                        at = reached[place + length]
                        at[target] = min(at.get(target, way), way)
    last = [way for state, way in reached[-1].items() if machine.is_accepting(state)]
    if not last:
        return None
    ids, (_, token_id, place, state) = list[int](), min(last)
    while token_id >= 0:
        ids.append(token_id)
        _, token_id, place, state = reached[place][state]
    return ids[::-1]


def _spelled_by(artifact: Artifact) -> dict[int, dict[bytes, list[int]]]:
    """The tokens of text by length and bytes."""
    vocabulary, found = artifact.vocabulary, dict[int, dict[bytes, list[int]]]()
    is_text = (vocabulary.kinds == TEXT) & (vocabulary.lengths > 0)
    ids = np.flatnonzero(is_text)
    for token_id, token in zip(ids.tolist(), vocabulary.tokens(ids), strict=True):
        found.setdefault(len(token), {}).setdefault(token, []).append(token_id)
    return found


def _spelled(artifact: Artifact, octets: bytes, ids: list[int], by: str) -> Encoding:
    """Tokens that spell a text, after what the tokenizer puts before it."""
    before = len(artifact.put_before(octets))
    ends = np.maximum(np.cumsum(artifact.vocabulary.lengths[ids]) - before, 0)
    if artifact.manifest.kind == WORD_DFA:
        # They spell what the normalizer leaves of the text, and their marks.
        ends = np.minimum(ends, len(octets))
    return Encoding(tuple(ids), tuple(ends.tolist()), by)


def canonical_text(artifact: Artifact, text: str) -> bytes:
    """What the tokenizer of a WordPiece artifact sees of a text: words between single spaces."""
    from ..wordpiece.normalizer import BertNormalizer

    normalizer = BertNormalizer(*map(bool, artifact.arrays["words.normalizer"].tolist()))
    return normalizer.canonical(text).encode("utf-8")
