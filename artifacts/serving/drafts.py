"""Forced tokens as drafts of speculative decoding: a model takes several of them in one step.

    text so far   {            the mask holds one token, after it one, and so on
    drafts        "name": "    with canonical masks the tokenizer's own, which a model cannot refuse

Under any tokenization bytes are forced, and several tokens may spell them: an encoder says which
ones are likely. At both ends they may be joined with what stands there: the token before is encoded
with them, and the last token is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..matcher import Matcher
from ..tokens.vocabulary import Vocabulary

# Bytes of a token, as far as bytes are asked for by tokens.
_BYTES = 16


@dataclass(frozen=True, slots=True)
class Drafts:
    """What texts are to go on with. ``encode``: from a text to its tokens, by the tokenizer."""

    vocabulary: Vocabulary
    encode: Callable[[str], Sequence[int]] | None = None

    def after(self, matcher: Matcher, most: int) -> list[int]:
        """Tokens that a text goes on with, at most ``most``: those that it must and, if there are
        none, those that spell the bytes that it must. The matcher does not move."""
        forced = matcher.forced_tokens(most)
        if forced or self.encode is None or most < 1:
            return forced
        data = matcher.forced_bytes(_BYTES * most)
        found = list(self.encode(data.decode("utf-8", errors="ignore"))) if data else []
        for before in matcher.taken[-1:]:
            joined = self.vocabulary.token(before) + data
            first, *others = self.encode(joined.decode("utf-8", errors="ignore")) or (-1,)
            if first == before:
                found = others
        found = found[: min(most, len(found) - 1)]
        return found[: matcher.validate(found)]


def with_forced(matcher: Matcher, tokens: Sequence[int]) -> list[int]:
    """The drafts that a text may go on with; in the place of those after them the tokens that it
    then must go on with, so that there are no more than before. The matcher does not move."""
    taken = matcher.accept(tokens)
    try:
        return [*tokens[:taken], *matcher.forced_tokens(len(tokens) - taken)]
    finally:
        matcher.rollback(taken)
