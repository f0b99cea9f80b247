"""Encoding a text of any length in bounded memory, with the ids of the whole.

The text is cut between two characters only if nothing about the encoding spans them, or sees
beyond the second from before it: no added token holds them side by side, normalizers rewrite
each for itself, and the first step that cuts always cuts there. Where a text has no such
place (or a tokenizer has steps of which this is not known), it is kept until there is one.
"""

from collections.abc import Iterable, Iterator
from functools import cache

from ..definition import AddedToken, Behaviour, Lowercase, Metaspace, Normalize, Prepend, Replace
from ..tokenizer import Tokenizer
from ..unicode_versions import as_cut
from .adjacency import adjacency_of
from .encode import Encoder
from .normalize import normalize

# Characters that are read before a cut is looked for.
CHUNK = 1 << 18

# Cuts are tried before a space and behind these. No normalization form joins any of them with
# a neighbour.
_BREAKS = "\n。，、！？"

Part = AddedToken | list[str]


def stream_parts(tokenizer: Tokenizer, chunks: Iterable[str]) -> Iterator[Part]:
    """The parts of the text that ``chunks`` are together, as ``Encoder.parts`` gives them."""
    encoder = tokenizer.encoder
    seams = _Cuts(tokenizer, encoder)
    kept, continued, wanted = "", False, CHUNK
    for chunk in chunks:
        kept += chunk
        while len(kept) >= wanted:
            place = seams.last_in(kept)
            # The character behind the cut is read along, and is a piece of its own.
            parts = list(encoder.parts(kept[: place + 1], continued=continued)) if place else []
            if not parts or not isinstance(parts[-1], list) or len(parts[-1][-1]) != 1:
                wanted = 2 * len(kept)
                break
            parts[-1] = parts[-1][:-1]
            yield from parts
            kept, continued, wanted = kept[place:], True, CHUNK
    yield from encoder.parts(kept, continued=continued)


class _Cuts:
    """Where a text may be cut for a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, encoder: Encoder) -> None:
        self._tokenizer, self._encoder = tokenizer, encoder
        known = all(
            isinstance(step, Normalize | Prepend | Lowercase)
            or (isinstance(step, Replace) and len(step.pattern) == 1 and not step.is_regex)
            for step in tokenizer.normalizers
        )
        added = tokenizer.added_tokens
        plain = not any(token.lstrip or token.rstrip or token.single_word for token in added)
        self._is_safe = cache(self._safe) if known and plain else (lambda left, right: False)

    def last_in(self, text: str) -> int:
        """The last place in the text where it may be cut, 0 if there is none."""
        for place in range(len(text) - 1, 0, -1):
            left, right = text[place - 1], text[place]
            if (right == " " or left in _BREAKS) and self._is_safe(left, right):
                return place
        return 0

    def _safe(self, left: str, right: str) -> bool:
        texts = [*self._encoder.verbatim.texts, *self._encoder.rewritten.texts]
        steps = self._tokenizer.normalizers
        # subtle: the character behind the cut must stay one, to be left out as one piece.
        left_end = normalize(left, steps, continued=True)[-1:]
        right_begin = normalize(right, steps, continued=True)
        if not left_end or len(right_begin) != 1:
            return False
        if any(pair in text for text in texts for pair in (left + right, left_end + right_begin)):
            return False
        for step in self._tokenizer.pre_tokenizers:
            if isinstance(step, Metaspace):
                return step.cuts and right_begin == " "
            split = step.split
            if split is not None:
                if split.behaviour is not Behaviour.ISOLATED or split.invert:
                    return False
                left_end, right_begin = as_cut(left_end), as_cut(right_begin)
                return not adjacency_of(split.pattern).may_hold(left_end, right_begin)
        return self._encoder.is_seam(left_end, right_begin)
