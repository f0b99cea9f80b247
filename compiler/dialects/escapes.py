"""Undo escapes inside quoted text, with the place in the source of each character.

Undoing escapes moves characters; ``Unescaped.origins`` keeps for every resulting
character where it began in the source, so that a caret still points at it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..diagnostics import Diagnostic, Span

SIMPLE = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
}

# Escapes of plain text; in a regex the letter means something else, or itself.
PLAIN = {"b": "\b", "/": "/"}

HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


@dataclass(frozen=True, slots=True)
class Unescaped:
    """``text`` without escapes; character i began at source offset ``origins[i]``, and
    ``origins[len(text)]`` is where the text ended."""

    text: str
    origins: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Where the characters [start, end) stand in the source."""
        last = len(self.text)
        return Span(self.origins[min(start, last)], self.origins[min(max(end, start), last)])


def unescape(
    text: str,
    offset: int,
    diagnostics: list[Diagnostic],
    *,
    keep_unknown: bool,
    long_escapes: bool = False,
) -> Unescaped:
    """Undo ``\\n \\r \\t \\0 \\\\ \\' \\" \\xHH \\u{…}`` in ``text``, which stands at ``offset``;
    with ``long_escapes`` also ``\\UHHHHHHHH``.

    An unknown escape keeps its backslash if ``keep_unknown`` (a regex will read it), else it
    is reported to ``diagnostics``.
    """
    out: list[str] = []
    origins: list[int] = []
    i = 0
    while i < len(text):
        if text[i] != "\\" or i + 1 == len(text):
            out.append(text[i])
            origins.append(offset + i)
            i += 1
            continue
        letter = text[i + 1]
        value, length = _escape(text, i, SIMPLE if keep_unknown else {**SIMPLE, **PLAIN})
        if long_escapes and letter == "U":
            value, length = _long_escape(text, i)
        if value is None:
            if not keep_unknown or letter in "xu":
                span = Span(offset + i, offset + i + length)
                diagnostics.append(Diagnostic(*_complaint(letter, long_escapes), span=span))
            value, length = text[i : i + 2], 2
        for k, char in enumerate(value):
            out.append(char)
            origins.append(offset + i + (k if len(value) > 1 else 0))
        i += length
    origins.append(offset + len(text))
    return Unescaped("".join(out), tuple(origins))


def _complaint(letter: str, long_escapes: bool) -> tuple[str]:
    if letter == "x":
        return (r"\x needs two hexadecimal digits, as in \x41",)
    if letter == "u":
        return (r"\u needs four hexadecimal digits, or a code point in braces as in \u{1F600}",)
    if letter == "U" and long_escapes:
        return (r"\U needs the eight hexadecimal digits of a code point",)
    return (
        f"unknown escape \\{letter}: write \\\\{letter} for a backslash and the letter "
        r"(known: \n \r \t \f \v \b \0 \/ \\ \' \" \xHH \uHHHH \u{…})",
    )


def _escape(text: str, i: int, simple: Mapping[str, str]) -> tuple[str | None, int]:
    """The character of the escape at ``i`` and the length of the escape in the source."""
    letter = text[i + 1]
    if letter in simple:
        return simple[letter], 2
    if letter == "x":
        digits = text[i + 2 : i + 4]
        if len(digits) == 2 and HEX_DIGITS.issuperset(digits):
            return chr(int(digits, 16)), 4
        return None, 2
    if letter == "u" and text[i + 2 : i + 3] == "{":
        close = text.find("}", i)
        digits = text[i + 3 : close] if close >= 0 else ""
        if 1 <= len(digits) <= 6 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
            return chr(int(digits, 16)), close - i + 1
        return None, 3
    if letter == "u":
        digits = text[i + 2 : i + 6]
        if len(digits) == 4 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
            return chr(int(digits, 16)), 6
    return None, 2


def _long_escape(text: str, i: int) -> tuple[str | None, int]:
    """The same for eight digits."""
    digits = text[i + 2 : i + 10]
    if len(digits) == 8 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
        return chr(int(digits, 16)), 10
    return None, 2


def is_scalar(code: int) -> bool:
    """Whether a number is a code point that UTF-8 can encode."""
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
