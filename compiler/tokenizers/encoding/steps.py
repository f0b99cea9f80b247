"""The steps of a tokenizer that change or split text: normalizers, then pre-tokenizers.

    normalize      " Ab"  ->  Lowercase, Replace(" ", "▁")  ->  "▁ab"
    pretokenize    "I'm ok"  ->  ByteLevel (GPT-2's pattern)  ->  "I", "'m", " ok"

``definition`` describes the steps as data; each is done as the reference implementation does it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from ...wordpiece.normalizer import BertNormalizer
from .. import byte_alphabet
from ..definition import (
    Behaviour,
    ByteLevel,
    Lowercase,
    Metaspace,
    Nmt,
    Normalize,
    Normalizer,
    Precompiled,
    Prepend,
    PrependScheme,
    PreTokenizer,
    Replace,
    Split,
    Strip,
    StripAccents,
)
from .allowance import Allowance, is_linear
from .character_maps import images
from .charsmap import replaced
from .patterns import WHITE_SPACE, as_cut, compile_pattern, matches, normalized
from .scripts import as_scripts

# A segment of a text: (start, end, whether the pattern matched it).
_Segment = tuple[int, int, bool]

# Whether two adjacent segments are one pre-token, by whether each of them is a match.
_JOINS: dict[Behaviour, Callable[[bool, bool], bool]] = {
    Behaviour.MERGED_WITH_PREVIOUS: lambda before, after: after and not before,
    Behaviour.MERGED_WITH_NEXT: lambda before, after: before and not after,
    Behaviour.CONTIGUOUS: lambda before, after: before == after,
}


def normalize(
    text: str,
    steps: Iterable[Normalizer],
    *,
    continued: bool = False,
    allowance: Allowance | None = None,
) -> str:
    """The text after all steps. ``continued``: an earlier part of the text came before.

    ``allowance``: that of the whole text, None for that of this one. Raises
    ``TokenizerLimitError`` where it is used up.
    """
    allowance = allowance or Allowance(len(text))
    for step in steps:
        match step:
            case Normalize(form):
                text = normalized(form.value, text)
            case Replace(pattern, content, is_regex):
                if is_regex:
                    text = _replaced(text, pattern, content, allowance)
                    continue
                if len(content) > len(pattern):
                    more = text.count(pattern) * (len(content) - len(pattern))
                    allowance.check_characters(len(text) + more)
                text = text.replace(pattern, content)
            case Prepend(prefix):
                text = prefix + text if text and not continued else text
            case Lowercase():
                # Character by character: str.lower gives a final sigma another form.
                text = text.lower() if text.isascii() else "".join(map(str.lower, text))
            case Nmt() | StripAccents():
                text = text.translate(images(step))
            case BertNormalizer():
                text = step.normalize(text)
            case Strip(left, right):
                text = text.lstrip(WHITE_SPACE) if left else text
                text = text.rstrip(WHITE_SPACE) if right else text
            case Precompiled():
                text = replaced(text, step)
        allowance.check_characters(len(text))
    return text


def _replaced(text: str, pattern: str, content: str, allowance: Allowance) -> str:
    """The text with ``content`` for each match of a regular expression."""
    parts, end, length = [], 0, len(text)
    for start, stop in timed_matches(pattern, as_cut(text), allowance):
        parts += [text[end:start], content]
        end = stop
        length += len(content) + start - stop
        allowance.check_characters(length)
    return "".join([*parts, text[end:]])


def timed_matches(pattern: str, text: str, allowance: Allowance) -> Iterator[tuple[int, int]]:
    """As ``matches``, within an allowance. Raises ``TokenizerLimitError``."""
    try:
        yield from matches(pattern, text, allowance.timeout(pattern))
    except TimeoutError:
        raise allowance.over(pattern) from None


def pretokenize(
    text: str,
    steps: Sequence[PreTokenizer],
    *,
    first: bool = True,
    continued: bool = False,
    allowance: Allowance | None = None,
) -> list[str]:
    """The pre-tokens in order. A last step ``ByteLevel`` does not rewrite them.

    ``first``: the text is at the start of the whole text. ``continued``: an earlier part of the
    text came before, so that no step puts anything before it. ``allowance``: as of ``normalize``.
    """
    allowance = allowance or Allowance(len(text))
    pieces = [text] if text else []
    for number, step in enumerate(steps):
        if isinstance(step, Metaspace) or (isinstance(step, ByteLevel) and step.add_prefix_space):
            pieces = [
                _prefixed(piece, step, first and not place, continued and not place)
                for place, piece in enumerate(pieces)
            ]
        split = step.split
        if split is not None:
            pieces = [piece for whole in pieces for piece in split_text(whole, split, allowance)]
            continued = False  # Later steps see each pre-token as a text of its own.
        if isinstance(step, ByteLevel) and number + 1 < len(steps):
            pieces = [byte_alphabet.encode(piece.encode("utf-8")) for piece in pieces]
            # Each further one makes two characters of most.
            allowance.check_characters(sum(map(len, pieces)))
    return pieces


def split_text(text: str, split: Split, allowance: Allowance | None = None) -> list[str]:
    """The pre-tokens of a text by one step, in order; none is empty. ``allowance``: as of
    ``normalize``."""
    allowance = allowance or Allowance(len(text))
    matched = as_scripts(text) if split.of_scripts else as_cut(text)
    pattern = compile_pattern(split.pattern)
    if matched is text and split.behaviour is Behaviour.ISOLATED:
        # Without a group, findall gives the matches; if they are all of the text, these are the
        # pre-tokens.
        if pattern.groups:
            pieces = []
        elif is_linear(split.pattern):
            pieces = pattern.findall(text)
        else:
            pieces = _all_matches(split.pattern, text, allowance)
        if sum(map(len, pieces)) == len(text):
            return list(filter(None, pieces))
    found = _segments(matched, split, allowance)
    return [text[start:end] for start, end in _behave(found, split.behaviour) if start < end]


def _all_matches(pattern: str, text: str, allowance: Allowance) -> list[str]:
    """The texts of a pattern's matches."""
    try:
        return compile_pattern(pattern).findall(text, timeout=allowance.timeout(pattern))
    except TimeoutError:
        raise allowance.over(pattern) from None


def _segments(text: str, split: Split, allowance: Allowance) -> list[_Segment]:
    """The matches and the text between them, in order and without gaps."""
    found: list[_Segment] = []
    end = 0
    for start, stop in timed_matches(split.pattern, text, allowance):
        if end < start:
            found.append((end, start, split.invert))
        found.append((start, stop, not split.invert))
        end = stop
    if end < len(text):
        found.append((end, len(text), split.invert))
    return found


def _behave(found: Sequence[_Segment], behaviour: Behaviour) -> Iterator[tuple[int, int]]:
    """The pre-tokens as (start, end), from the segments."""
    match behaviour:
        case Behaviour.ISOLATED:
            yield from ((start, end) for start, end, _ in found)
        case Behaviour.REMOVED:
            yield from ((start, end) for start, end, matched in found if not matched)
        case _:
            begin = 0
            for (_, end, before), (start, _, after) in pairwise(found):
                if not _JOINS[behaviour](before, after):
                    yield begin, end
                    begin = start
            if found:
                yield begin, found[-1][1]


def _prefixed(text: str, step: PreTokenizer, first: bool, continued: bool) -> str:
    """A pre-token with what a step writes before it and in place of its spaces."""
    match step:
        case ByteLevel() if not continued and not text.startswith(" "):
            return " " + text
        case Metaspace(replacement, prepend, _):
            text = text.replace(" ", replacement)
            wanted = prepend is PrependScheme.ALWAYS or (prepend is PrependScheme.FIRST and first)
            if wanted and not continued and not text.startswith(replacement):
                return replacement + text
    return text
