"""Encoding a text of any length in bounded memory, with the ids of the whole text.

    chunks of text  ->  split where that is safe  ->  encode each part  ->  ids

A text is split between two characters only if nothing of the encoding spans them, or depends on
what is after the second from before it: no added token holds them side by side, normalizers
rewrite each by itself, and the first pre-tokenizer that splits always has a boundary there. Where a
text has no such place (or a tokenizer has steps for which this is not decided), it is buffered
until there is one.

Whether a pattern's match can hold two characters side by side is decided by ``Adjacency``: the
instructions of its program that read characters, and which may follow which, as in Glushkov's
automaton (V. M. Glushkov, The abstract theory of automata, Russian Mathematical Surveys 16(5),
1961). Look-ahead, at one character, is taken for the empty text, so the result may be true once too
often, never too seldom. Where a look might find nothing after the second character, a match must
begin there without any look.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ...diagnostics import TokenizerError
from ...wordpiece.normalizer import BertNormalizer
from ..definition import (
    AddedToken,
    Behaviour,
    Lowercase,
    Metaspace,
    Nmt,
    Normalize,
    Prepend,
    Replace,
    StripAccents,
)
from .encode import Encoder
from .pattern_program import CharSet, Op, Program, compile_program, ends
from .patterns import Item, as_cut, items
from .steps import normalize

if TYPE_CHECKING:
    import regex

# Characters that are buffered before a place to split is looked for.
CHUNK = 1 << 18

# Places that are tried: before a space, and after one of these. No normalization form composes any
# of them with a neighbour.
_BREAKS = "\n。，、！？"

# Positions of a pattern that are followed; those of real tokenizers have some dozens.
_MOST_POSITIONS = 100

# Normalizers that write each character, or a run of marks, by itself.
_OF_CHARACTERS = Normalize | Prepend | Lowercase | Nmt | StripAccents | BertNormalizer

Part = AddedToken | list[str]


def stream_parts(encoder: Encoder, chunks: Iterable[str]) -> Iterator[Part]:
    """The parts of the concatenation of ``chunks``, as of ``Encoder.parts``."""
    places = _SafePlaces(encoder)
    buffer, continued, wanted = "", False, CHUNK
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= wanted:
            place = places.last_in(buffer)
            # The character after the place is read as well; it is a pre-token of its own here.
            parts = list(encoder.parts(buffer[: place + 1], continued=continued)) if place else []
            if not parts or not isinstance(parts[-1], list) or len(parts[-1][-1]) != 1:
                wanted = 2 * len(buffer)
                break
            parts[-1] = parts[-1][:-1]
            yield from parts
            buffer, continued, wanted = buffer[place:], True, CHUNK
    yield from encoder.parts(buffer, continued=continued)


class _SafePlaces:
    """Where a text can be split without changing its encoding."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._tokenizer = encoder, encoder.tokenizer
        tokenizer = self._tokenizer
        supported = all(
            isinstance(step, _OF_CHARACTERS)
            or (isinstance(step, Replace) and len(step.pattern) == 1 and not step.is_regex)
            for step in tokenizer.normalizers
        )
        added = tokenizer.added_tokens
        plain = not any(token.lstrip or token.rstrip or token.single_word for token in added)
        self._is_safe = cache(self._safe) if supported and plain else (lambda left, right: False)

    def last_in(self, text: str) -> int:
        """The last place where the text can be split, 0 if there is none."""
        for place in range(len(text) - 1, 0, -1):
            left, right = text[place - 1], text[place]
            if (right == " " or left in _BREAKS) and self._is_safe(left, right):
                return place
        return 0

    def _safe(self, left: str, right: str) -> bool:
        """Whether a text can be split between these two characters, whatever is around them."""
        texts = [*self._encoder.verbatim.texts, *self._encoder.rewritten.texts]
        steps = self._tokenizer.normalizers
        # subtle: the character after must stay one, since the caller removes one pre-token.
        left_end = normalize(left, steps, continued=True)[-1:]
        right_begin = normalize(right, steps, continued=True)
        if not left_end or len(right_begin) != 1:
            return False
        if any(pair in text for text in texts for pair in (left + right, left_end + right_begin)):
            return False
        for step in self._tokenizer.pre_tokenizers:
            if isinstance(step, Metaspace):
                return step.splits and right_begin == " "
            split = step.split
            if split is not None:
                if split.behaviour is not Behaviour.ISOLATED or split.invert:
                    return False
                left_end, right_begin = as_cut(left_end), as_cut(right_begin)
                pattern = split.pattern
                return begins_match(pattern, right_begin) and not adjacency_of(pattern).may_hold(
                    left_end, right_begin
                )
        return self._encoder.is_seam(left_end, right_begin)


class Adjacency:
    """The pairs of adjacent characters inside matches of a pattern.

    ``looks_far``: the pattern looks behind, has more than ``_MOST_POSITIONS``, whose pairs would
    take too long, or something of which no program is made.
    """

    def __init__(self, pattern: str) -> None:
        characters = sum(kind is Item.CHARACTER for kind, _ in items(pattern))
        program: Program = ()
        if characters <= _MOST_POSITIONS:
            with suppress(TokenizerError):
                program = compile_program(pattern)
        behind = (Op.BEHIND, Op.NOT_BEHIND)
        self.looks_far = not program or any(step.op in behind for step in program)
        # The sets of characters that may stand side by side.
        self._follow: set[tuple[CharSet, CharSet]] = set()
        if self.looks_far:
            return

        def onward(place: int) -> tuple[int, ...] | None:
            # A look ahead is taken for the empty text.
            return None if program[place].op in (Op.CHAR, Op.MATCH) else program[place].targets

        for step in program:
            if step.op is Op.CHAR and step.chars is not None:
                after = (program[place].chars for place in ends(step.targets, onward))
                self._follow |= {(step.chars, each) for each in after if each is not None}

    def may_hold(self, left: str, right: str) -> bool:
        """Whether a match can hold ``left`` with ``right`` after it, or looks further than that.

        If not, no attempt that begins before them reads anything after ``right``.
        """
        if self.looks_far:
            return True
        return any(a.holds(left) and b.holds(right) for a, b in self._follow)


@lru_cache(maxsize=64)
def adjacency_of(pattern: str) -> Adjacency:
    """The adjacency of a pattern, cached."""
    return Adjacency(pattern)


def begins_match(pattern: str, char: str) -> bool:
    """Whether a match begins at a character whatever is after it, or that depends on no look."""
    matcher = _without_looks(pattern)
    return matcher is None or matcher.match(char) is not None


@lru_cache(maxsize=64)
def _without_looks(pattern: str) -> "regex.Pattern[str] | None":
    """The pattern with looks that never hold, None if it has none."""
    import regex

    parts, depth = list[str](), 0
    for kind, text in items(pattern):
        if depth or (kind is Item.OPEN and text[2:] in ("=", "!", "<=", "<!")):
            if not depth:
                parts.append("(?!)")
            depth += (kind is Item.OPEN) - (kind is Item.CLOSE)
        else:
            parts.append(text)
    return regex.compile("".join(parts), regex.VERSION0) if "(?!)" in parts else None
