"""Encoding a text of any length in bounded memory, with the ids of the whole text.

    chunks of text  ->  split where that is safe  ->  encode each part  ->  ids

A text is split between two characters only if nothing of the encoding spans them, or depends on
what is after the second from before it: no added token holds them side by side, normalizers
rewrite each by itself, and the first pre-tokenizer that splits always has a boundary there. Where a
text has no such place (or a tokenizer has steps for which this is not decided), it is buffered
until there is one.

Whether a pattern's match can hold two characters side by side is decided by ``Adjacency``: the
positions of the pattern's characters and which may follow which, as in Glushkov's automaton (V. M.
Glushkov, The abstract theory of automata, Russian Mathematical Surveys 16(5), 1961). Look-ahead is
taken for the empty text, so the result may be true once too often, never too seldom. Where a look
might find nothing after the second character, a match must begin there without any look.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

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
from ..patterns import Item, as_cut, items
from .encode import Encoder
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


@dataclass(slots=True)
class _Part:
    """A subpattern: whether it matches the empty text, its first and its last positions."""

    empty: bool = True
    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Group:
    """An unclosed group: its opening, its finished alternatives, the parts of the current one."""

    opening: str
    done: list[_Part] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)


class Adjacency:
    """The pairs of adjacent characters inside matches of a pattern.

    ``looks_far``: the pattern looks behind, or ahead at more than one character, or has more than
    ``_MOST_POSITIONS``, whose pairs would take too long.
    """

    def __init__(self, pattern: str) -> None:
        characters = sum(kind is Item.CHARACTER for kind, _ in items(pattern))
        self.looks_far = characters > _MOST_POSITIONS
        if self.looks_far:
            return
        self._classes: list[str] = []
        self._follow: set[tuple[int, int]] = set()
        groups = [_Group("")]
        for kind, text in items(pattern):
            here = groups[-1]
            match kind:
                case Item.OPEN:
                    groups.append(_Group(text))
                case Item.CLOSE if len(groups) > 1:
                    groups.pop()
                    groups[-1].parts.append(self._closed(here))
                case Item.OR:
                    here.done.append(self._joined(here.parts))
                    here.parts = []
                case Item.QUANTIFIER:
                    here.parts.append(self._repeated(here.parts.pop(), text))
                case _:
                    here.parts.append(self._character(text, groups))
        self._closed(groups[0])

    def may_hold(self, left: str, right: str) -> bool:
        """Whether a match can hold ``left`` with ``right`` after it, or looks further than that.

        If not, no attempt that begins before them reads anything after ``right``.
        """
        if self.looks_far:
            return True
        matches = _matcher(self._classes)
        return any(matches(a, left) and matches(b, right) for a, b in self._follow)

    def _character(self, text: str, groups: Iterable[_Group]) -> _Part:
        ignoring_case = any(group.opening == "(?i:" for group in groups)
        self._classes.append(f"(?i:{text})" if ignoring_case else text)
        place = {len(self._classes) - 1}
        return _Part(False, set(place), set(place))

    def _closed(self, group: _Group) -> _Part:
        alternatives = [*group.done, self._joined(group.parts)]
        part = _Part(
            any(a.empty for a in alternatives),
            set().union(*(a.first for a in alternatives)),
            set().union(*(a.last for a in alternatives)),
        )
        if group.opening in ("(?=", "(?!"):
            # A look at one character ahead is harmless; one at more is not.
            inside = part.first | part.last
            self.looks_far |= any(a in inside or b in inside for a, b in self._follow)
            return _Part()
        self.looks_far |= group.opening in ("(?<=", "(?<!")
        return part

    def _joined(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part()
        for part in parts:
            self._follow |= {(a, b) for a in whole.last for b in part.first}
            whole = _Part(
                whole.empty and part.empty,
                whole.first | part.first if whole.empty else whole.first,
                whole.last | part.last if part.empty else part.last,
            )
        return whole

    def _repeated(self, part: _Part, quantifier: str) -> _Part:
        if quantifier[0] != "?":
            self._follow |= {(a, b) for a in part.last for b in part.first}
        may_skip = quantifier[0] in "*?" or quantifier.startswith(("{0}", "{0,"))
        return _Part(part.empty or may_skip, part.first, part.last)


def _matcher(classes: list[str]) -> Callable[[int, str], bool]:
    """Whether the class at a position holds a character."""
    import regex

    def matches(position: int, char: str) -> bool:
        return regex.fullmatch(classes[position], char, regex.VERSION0) is not None

    return matches


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
