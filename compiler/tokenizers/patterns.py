r"""Oniguruma's regular expressions, translated for the ``regex`` module.

Tokenizer files have patterns in Oniguruma's syntax. Most of it means the same in the ``regex``
module and is passed on; what differs slightly is rewritten, and all else is refused by name:

    ``\w+``  ->  ``[\p{L}\p{M}\p{Nd}…]+``        ``(?<name>a)``  ->  TokenizerError

Character classes are those of Unicode 16.0 (``unicode_versions``).
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Never

from ..diagnostics import TokenizerError

if TYPE_CHECKING:
    import regex

# General categories, and scripts that patterns name.
_CLASSES = re.compile(
    r"L[utlmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?"
    r"|Arabic|Cyrillic|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai"
)

# Oniguruma's word characters; outside a class in brackets it adds the numbers of Latin-1.
_WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u24B6-\u24E9"
    r"\U0001F130-\U0001F149\U0001F150-\U0001F169\U0001F170-\U0001F189"
)
_LATIN_NUMBERS = r"\xB2\xB3\xB9\xBC-\xBE"


# The deepest nesting of brackets, and the most characters and classes with all counts expanded.
_MAX_DEPTH, _MAX_LENGTH = 50, 100_000

# At most so many characters of a pattern are shown in a message.
_MAX_SHOWN = 60


class Item(Enum):
    """The kind of an item of a pattern; CHARACTER matches one character of the text."""

    CHARACTER = auto()
    OPEN = auto()
    CLOSE = auto()
    OR = auto()
    QUANTIFIER = auto()


# One item of the syntax. The order matters: of forms with a common prefix the longest comes first.
_ITEM = re.compile(
    r"""
    (?P<property> \\[pP]\{(?P<negated>\^?)(?P<name>\w+)\} )
  | (?P<code> \\x\{(?P<long>[0-9A-Fa-f]{1,6})\} | \\x(?P<two>[0-9A-Fa-f]{2})
            | \\u(?P<four>[0-9A-Fa-f]{4}) )
  | (?P<shorthand> \\[sSdDwW] )
  | (?P<control> \\[rntfv] )
  | (?P<escaped> \\[^\w] )
  | (?P<group> \(\?(?: : | i: | = | ! | <= | <! | > ) )
  | (?P<unknown_group> \(\? [^)]{0,3} )
  | (?P<quantifier> [*+?][?+]? | \{\d{1,4}(?:,\d{0,4})?\}(?![+?]) )
  | (?P<plain> [^\\\[\]{}^$] )
    """,
    re.VERBOSE | re.DOTALL,
)

# Texts of several characters that one character matches when case is ignored, such as "ß" or "ﬁ":
# Oniguruma does that, the ``regex`` module does not.
_FOLDED_PAIRS = re.compile("ss|st|ff|fi|fl|i̇|ʼn", re.IGNORECASE)


def check_pattern(pattern: str) -> None:
    """Raise ``TokenizerError`` if a pattern is not understood."""
    compile_pattern(pattern)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> "regex.Pattern[str]":
    """Compile a pattern in Oniguruma's syntax. Raises ``TokenizerError``."""
    import regex

    _check_size(pattern)
    try:
        return regex.compile(translated(pattern), regex.VERSION0)
    except regex.error as error:
        raise TokenizerError(f"the pattern {pattern!r} is not understood ({error})") from None


def matches(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """The spans of a pattern's matches, in order; ``text``: as of ``as_cut``.

    Like Oniguruma, without empty matches at the end of another match.
    """
    end = -1
    for match in compile_pattern(pattern).finditer(text):
        if not match.start() == match.end() == end:
            yield match.span()
            end = match.end()


def _check_size(pattern: str) -> None:
    """Raise ``TokenizerError`` for brackets so deep that recursive readers of patterns could
    overflow the stack, and for counts that multiply beyond any use."""
    sizes, last = [0], 0
    for item, text in items(pattern):
        if item is Item.OPEN:
            sizes.append(0)
        elif item is Item.CLOSE and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif item is Item.CHARACTER:
            last = 1
            sizes[-1] += 1
        elif item is Item.QUANTIFIER:
            copies = max([1, *map(int, re.findall(r"\d+", text))])
            sizes[-1] += last * (copies - 1)
            last *= copies
        if len(sizes) > _MAX_DEPTH or sizes[-1] > _MAX_LENGTH:
            limits = f"{_MAX_DEPTH} deep, or counts for more than {_MAX_LENGTH:,} items"
            shown = pattern if len(pattern) <= _MAX_SHOWN else f"{pattern[:_MAX_SHOWN]}…"
            raise TokenizerError(f"the pattern {shown!r} has brackets more than {limits}")


def translated(pattern: str) -> str:
    """The pattern in the syntax of the ``regex`` module. Raises ``TokenizerError``."""
    if "(?i:" in pattern and _FOLDED_PAIRS.search(pattern):
        raise TokenizerError(
            f"the pattern {pattern!r} ignores the case of letters that Unicode has ligatures of"
        )
    return "".join(text for _, text in items(pattern))


def items(pattern: str) -> Iterator[tuple[Item, str]]:
    """The pattern's items in order, translated; a class in brackets is one item.

    Raises ``TokenizerError`` for what is not understood.
    """
    position = 0
    while position < len(pattern):
        if pattern[position] == "[":
            text, position = _class(pattern, position)
            yield Item.CHARACTER, text
            continue
        found = _ITEM.match(pattern, position)
        if found is None or found["unknown_group"]:
            _refuse(pattern, position)
        position = found.end()
        yield _kind(found), _translated(found, pattern, in_class=False)


def _class(pattern: str, start: int) -> tuple[str, int]:
    """A class in brackets, translated, and where it ends."""
    opening = "[^" if pattern.startswith("[^", start) else "["
    parts, position = [opening], start + len(opening)
    while not pattern.startswith("]", position):
        found = _ITEM.match(pattern, position) if pattern.startswith("\\", position) else None
        if found is not None:
            parts.append(_translated(found, pattern, in_class=True))
            position = found.end()
        elif (
            position == len(pattern)
            or pattern[position] in "[\\"
            or pattern.startswith("&&", position)
        ):
            _refuse(pattern, position)
        else:
            parts.append("\\^" if pattern[position] == "^" else pattern[position])
            position += 1
    return "".join([*parts, "]"]), position + 1


def _kind(found: "re.Match[str]") -> Item:
    if found["group"] or found.group() == "(":
        return Item.OPEN
    if found["quantifier"]:
        return Item.QUANTIFIER
    return {")": Item.CLOSE, "|": Item.OR}.get(found.group(), Item.CHARACTER)


def _translated(found: "re.Match[str]", pattern: str, *, in_class: bool) -> str:
    """An item in the syntax of the ``regex`` module."""
    text = found.group()
    if found["property"]:
        if not _CLASSES.fullmatch(found["name"]):
            raise TokenizerError(f"the class {text!r} of the pattern {pattern!r} is not supported")
        negated = (text[1] == "P") != bool(found["negated"])
        return rf"\{'P' if negated else 'p'}{{{found['name']}}}"
    if found["code"]:
        digits = found["long"] or found["two"] or found["four"]
        return rf"\U{int(digits, 16):08X}"
    if found["shorthand"] and text in (r"\w", r"\W"):
        if in_class and text == r"\W":
            _refuse(pattern, found.start())
        if in_class:
            return _WORD
        return f"[^{_WORD}]" if text == r"\W" else f"[{_WORD}{_LATIN_NUMBERS}]"
    return text


def _refuse(pattern: str, position: int) -> Never:
    rest = pattern[position : position + 8]
    raise TokenizerError(f"the pattern {pattern!r} is not understood, from {rest!r} on")
