"""One text that a schema says itself, in the spellings that JSON has of it.

é/x   usual     ->   "(é|\\u00[eE]9)/x"
"""

import re

from ...automata import regex_ir as regex
from ..options import ANY_ESCAPES, SHORTEST

# Characters with escapes of a letter.
_LETTERS = dict(zip('"\\/\b\f\n\r\t', '"\\/bfnrt', strict=True))

# Texts of which JSON needs no escape, of characters that few writers escape.
_AS_IT_IS = re.compile(r"[ !#-\[\]-~]*")


def fixed_text(text: str, ascii: bool, escapes: str) -> regex.Node:  # noqa: A002
    """As ``strings.as_json`` of a text that is fixed, as an expression: a literal where there is
    one spelling. Raises ``UnicodeEncodeError`` for a lone surrogate."""
    if escapes != ANY_ESCAPES and _AS_IT_IS.fullmatch(text):
        return regex.lit(f'"{text}"'.encode())
    quote = regex.lit(b'"')
    return regex.seq(quote, *(_spellings(char, ascii, escapes) for char in text), quote)


def _spellings(char: str, is_ascii: bool, escapes: str) -> regex.Node:
    ways = []
    if char >= " " and char not in '"\\' and not (is_ascii and char > "\x7f"):
        ways.append(regex.lit(char.encode()))
    if char in _LETTERS and (char != "/" or escapes == ANY_ESCAPES):
        ways.append(regex.lit(b"\\" + _LETTERS[char].encode()))
    is_beyond = char > "~" and (is_ascii or escapes != SHORTEST)
    if char < " " or is_beyond or escapes == ANY_ESCAPES:
        octets = char.encode("utf-16-be")
        units = (octets[i : i + 2] for i in range(0, len(octets), 2))
        ways.append(regex.seq(*(part for unit in units for part in _unit(unit))))
    return regex.alt(*ways)


def _unit(octets: bytes) -> list[regex.Node]:
    """A code unit as ``\\uXXXX``, the digits in either case."""
    digits = (f"{digit}{digit.upper()}" for digit in octets.hex())
    return [
        regex.lit(rb"\u"),
        *(regex.byte_class((ord(d), ord(d)) for d in each) for each in digits),
    ]
