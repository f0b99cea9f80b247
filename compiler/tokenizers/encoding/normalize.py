"""Rewriting text before it is cut: the normalizers of ``steps.py``."""

from collections.abc import Iterable

from ..definition import Lowercase, Normalize, Normalizer, Prepend, Replace, Strip
from ..patterns import matches
from ..unicode_versions import WHITE_SPACE, as_cut, normalized


def normalize(text: str, steps: Iterable[Normalizer], *, continued: bool = False) -> str:
    """Apply all steps. ``continued``: the text goes on from an earlier part of its own."""
    for step in steps:
        match step:
            case Normalize(form):
                text = normalized(form.value, text)
            case Replace(pattern, content, is_regex):
                text = (
                    _replaced(text, pattern, content)
                    if is_regex
                    else text.replace(pattern, content)
                )
            case Prepend(prefix):
                text = prefix + text if text and not continued else text
            case Lowercase():
                # Each character for itself: str.lower gives a final sigma another form.
                text = text.lower() if text.isascii() else "".join(map(str.lower, text))
            case Strip(left, right):
                text = text.lstrip(WHITE_SPACE) if left else text
                text = text.rstrip(WHITE_SPACE) if right else text
    return text


def _replaced(text: str, pattern: str, content: str) -> str:
    """The text with ``content`` for each match of a regular expression."""
    parts, end = [], 0
    for start, stop in matches(pattern, as_cut(text)):
        parts += [text[end:start], content]
        end = stop
    return "".join([*parts, text[end:]])
