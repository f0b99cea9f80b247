"""How tokens are written in a text, and which sequences of allowed tokens spell a text.

Most tokens spell their own bytes. Those of WordPiece stand in words between single spaces: one that
begins a word stands after a space there, but for the first.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from constrain.artifacts import Artifact, Matcher
from constrain.artifacts.container.manifest import WORD_DFA
from constrain.artifacts.kinds.wordpiece import WordPieceRuntime
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import TEXT
from constrain.artifacts.wordpiece.machine import WordMachine

# Tokens before the last that may be written otherwise together with it, and masks that are looked
# at to find how.
_MOST_REWRITTEN, _MOST_MASKS = 12, 400

# More than any byte of a text.
_BEHIND = b"\xff\xff"


class Spellings:
    """How an artifact's tokens are written."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._vocabulary = artifact.vocabulary

    @property
    def is_words(self) -> bool:
        """Whether tokens are of words."""
        return self._artifact.manifest.kind == WORD_DFA

    @cached_property
    def word_machine(self) -> WordMachine:
        """What reads words."""
        runtime = self._artifact.runtime
        assert isinstance(runtime, WordPieceRuntime)
        return runtime.machine()

    def spelled(self, token: int, begun: bool) -> bytes:
        """How a token of text is written; ``begun``: after others."""
        if not self.is_words:
            return self._vocabulary.token(token)
        text = self.word_machine.text(token)
        return text if not begun or self.word_machine.is_suffix(token) else b" " + text

    def ends(self, ids: Sequence[int], begun: bool) -> list[int]:
        """The offsets at which tokens end, from the beginning of the first."""
        return [*accumulate(len(self.spelled(i, begun or k > 0)) for k, i in enumerate(ids))]

    def missing_before(self, text: bytes) -> bytes:
        """What the tokenizer puts before a text and ``text`` does not begin with."""
        put = self._artifact.text_prefix
        return b"" if text.startswith(put) or put.startswith(text) else put

    def instead(self, matcher: Matcher, token: int) -> tuple[int, tuple[int, ...]]:
        """How many of the tokens that a matcher has taken are written otherwise if the text of
        ``token`` follows, and what may come in their place and the token's: up to its last byte or
        beyond. Of the shortest such sequences the one with the lowest ids; none if a bounded
        search has found none."""
        taken, left = matcher.taken, _MOST_MASKS
        trial = matcher.fork()
        for rewritten in range(min(len(taken), _MOST_REWRITTEN) + 1):
            if rewritten:
                trial.rollback(1)
            begun = rewritten < len(taken)
            wanted = [*taken[len(taken) - rewritten :], token]
            if not all(map(self._vocabulary.is_text, wanted)):
                break
            text = b"".join(self.spelled(i, begun or k > 0) for k, i in enumerate(wanted))
            if not begun:
                text = self.missing_before(text) + text
            found, tried = self._spelling(trial, text, begun, left)
            left -= tried
            if found or left <= 0:
                return rewritten if found else 0, found
        return 0, ()

    def _spelling(
        self, matcher: Matcher, text: bytes, begun: bool, most: int
    ) -> tuple[tuple[int, ...], int]:
        """The sequence, and how many masks that took, at most ``most``."""
        level: list[tuple[tuple[int, ...], bytes]] = [((), text)]
        base, tried = matcher.position, 0
        try:
            while level:
                following = []
                for ids, rest in level:
                    if tried >= most:
                        return (), tried
                    tried += 1
                    matcher.rollback(matcher.position - base)
                    matcher.accept(ids)
                    within, beyond = self._fitting(matcher, rest, begun or bool(ids))
                    if beyond is not None:
                        return (*ids, beyond), tried
                    following += [((*ids, i), rest[length:]) for i, length in within]
                level = following
        finally:
            matcher.rollback(matcher.position - base)
        return (), tried

    def _fitting(
        self, matcher: Matcher, rest: bytes, begun: bool
    ) -> tuple[list[tuple[int, int]], int | None]:
        """The allowed tokens that ``rest`` begins with, with their lengths, and the lowest of those
        that begin with ``rest``."""
        mask, texts = matcher.mask(), self._sorted[begun]
        ends = set(self._artifact.manifest.eos) if matcher.is_accepting else set()

        def allowed(token: int) -> bool:
            return tokenset.contains(mask, token) and token not in ends

        begin = bisect_left(texts, (rest, -1))
        end = bisect_left(texts, (rest + _BEHIND, -1))
        beyond = min((i for _, i in texts[begin:end] if allowed(i)), default=None)
        if beyond is not None:
            return [], beyond
        within = []
        for length in range(1, len(rest)):
            place = bisect_left(texts, (rest[:length], -1))
            while place < len(texts) and texts[place][0] == rest[:length]:
                if allowed(texts[place][1]):
                    within.append((texts[place][1], length))
                place += 1
        return within, None

    @cached_property
    def _sorted(self) -> tuple[list[tuple[bytes, int]], list[tuple[bytes, int]]]:
        """All tokens by their texts, at the start and after others."""
        ids = self._vocabulary.text_ids().tolist()
        if not self.is_words:
            found = sorted(zip(self._vocabulary.tokens(ids), ids, strict=True))
            return found, found
        nodes = self.word_machine.nodes
        ids = [i for i in range(len(nodes)) if nodes[i] >= 0 and self._vocabulary.kinds[i] == TEXT]
        first, other = (sorted((self.spelled(i, begun), i) for i in ids) for begun in (False, True))
        return first, other
