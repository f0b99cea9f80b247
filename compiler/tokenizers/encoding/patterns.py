"""Oniguruma's regular expressions, translated for the ``regex`` module and its version of Unicode.

Tokenizer files have patterns in Oniguruma's syntax. Most of it means the same in the ``regex``
module and is passed on; what differs slightly is rewritten, and all else is refused by name:

    ``\\w+``  ->  ``[\\p{L}\\p{M}\\p{Nd}…]+``        ``(?<name>a)``  ->  TokenizerError

Hugging Face's library splits text by the character classes of Unicode 16.0 and normalizes by
Unicode 9.0, whatever versions Python and ``regex`` have. Newer characters are unassigned for it: in
no class, and inert in normalization. The tables list such characters up to Unicode 18.0, as found
by querying the library for every code point. (Its ``Digits`` alone is one version newer: the ten
digits U+11DE0 to U+11DE9 of Unicode 17.0.) Code points that 18.0 does not assign need no mention:
classes and normalization leave them alone anyway.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from enum import Enum, auto
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Never

from ...diagnostics import TokenizerError

if TYPE_CHECKING:
    import regex

# The 25 characters of the property White_Space; Python's own str.strip has four more.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)

# Assigned after Unicode 16.0.
_AFTER_16 = """
    558 58B-58C 5C8-5C9 88F B53-B54 C5C CDC 1ACF-1AF0 208F 209D-209F 20C1-20C4 2B96 2E60-2E63
    A7CE-A7CF A7D2 A7D4 A7DD A7E2 A7F1 AB6C-AB6D FBC3-FBD2 FD90-FD91 FDC8-FDCE 107BB-107BF
    10940-10959 10EC5-10EC7 10EC9-10EEE 10EF0-10EFB 11B0A 11B60-11B67 11DB0-11DDB 11DE0-11DE9
    11DF0-11DF1 1246F 12475-1247F 12550-12686 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF
    18CD6-18CDA 18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128 1B168 1CCFA-1CCFC
    1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128 1D1EB-1D1FF 1D250-1D281 1D6A6 1DB00-1DB1C
    1DF1F-1DF24 1DF2B-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 1F1AE
    1F6D8-1F6D9 1F777-1F77A 1F7DA-1F7DB 1F7F1-1F7FF 1F8D0-1F8D8 1FA54-1FA57 1FA8A-1FA8E 1FAC8
    1FACC-1FACD 1FADD 1FAEA-1FAEB 1FAEF 1FAF9-1FAFA 1FBFA 2B73A-2B73F 2B81E 2CEA2-2CEAD
    323B0-33479 3D000-3FC3F
"""

# Assigned after Unicode 9.0, as far as normalization could touch them.
_INERT = """
    558 58B-58C 5C8-5C9 7FD 88F 897-89F 8CA-8D3 9FE B53-B54 C3C C5C CDC CF3 D3B-D3C EBA ECE 1715
    1ABF-1AF0 1B4E-1B4F 1B7F 1C89-1C8A 1DF6-1DFA 208F 209D-209F 20C1-20C4 2427-2429 2B96
    2E60-2E63 2FFC-2FFF 31E4-31E5 31EF 32FF A7CB-A7CF A7D2 A7D4 A7DA-A7DD A7E2 A7F1-A7F4 A82C
    AB69 AB6C-AB6D FBC3-FBD2 FD90-FD91 FDC8-FDCE 105C0-105F3 10781-10785 10787-107B0 107B2-107BF
    10940-10959 10D24-10D27 10D40-10D65 10D69-10D85 10D8E-10D8F 10EAB-10EAC 10EC2-10EC7
    10EC9-10EEE 10EF0-10EFF 10F46-10F50 10F82-10F85 11070 1123F-11241 1133B 11380-11389 1138B
    1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2
    1145E 116D0-116E3 11839-1183A 11930 11935 11938 1193D-1193E 11943 119E0 11A34 11A47 11A99
    11B00-11B0A 11B60-11B67 11BC0-11BE1 11BF0-11BF9 11D42 11D44-11D45 11D97 11DB0-11DDB
    11DE0-11DE9 11DF0-11DF1 11F00-11F10 11F12-11F3A 11F3E-11F5A 1246F 12475-1247F 12550-12686
    1342F 13439-13455 13460-143FA 16100-16139 16D40-16D79 16EA0-16EB8 16EBB-16ED3 16FF0-16FF6
    187F8-187FF 18CD6-18CDA 18CFF 18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128
    1B132 1B155 1B168 1CC00-1CCFC 1CD00-1CEB3 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128
    1D1EB-1D1FF 1D250-1D281 1D2C0-1D2D3 1D6A6 1DB00-1DB1C 1DF1F-1DF81 1DF90-1DF96 1DFCD-1DFFF
    1E030-1E06D 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4D0-1E4F9 1E5D0-1E5FA 1E5FF 1E6C0-1E6DE
    1E6E0-1E6F5 1E6FE-1E6FF 1F16C 1F1AE 1F6D8-1F6D9 1F6DC 1F774-1F77F 1F7D9-1F7DB 1F7F1-1F7FF
    1F8B2-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8 1FA54-1FA57 1FA75-1FA77 1FA87-1FA8F 1FAAD-1FAAF
    1FABB-1FABF 1FAC6 1FAC8 1FACC-1FACF 1FADA-1FADD 1FADF 1FAE8-1FAEB 1FAEF 1FAF7-1FAFA
    1FBCB-1FBFA 2B739-2B73F 2B81E 2CEA2-2CEAD 2EBF0-2EE5D 31350-33479 3D000-3FC3F
"""

# Unassigned in every version, and a lower-case letter that no pattern singles out.
_UNASSIGNED, _LOWER_CASE = "\u0378", "\u0239"


# Characters whose normal form is asked for together.
_BLOCK = 64


def as_cut(text: str) -> str:
    """The text with a substitute for each character whose class has changed after Unicode 16.0.

    Character for character, so that indices of the result are indices of ``text``.
    """
    if text.isascii():
        return text
    changed = substitutes()
    if changed.keys().isdisjoint(set(text)):
        return text
    return "".join(changed.get(char, char) for char in text)


def normalized(form: str, text: str) -> str:
    """``unicodedata.normalize`` as of Unicode 9.0."""
    if text.isascii():
        return text
    inert = _inert()
    if inert.isdisjoint(text):
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]
    parts, start = [], 0
    for place, char in enumerate(text):
        if char in inert:
            parts += [unicodedata.normalize(form, text[start:place]), char]  # type: ignore[arg-type]
            start = place + 1
    return "".join([*parts, unicodedata.normalize(form, text[start:])])  # type: ignore[arg-type]


def is_normalized(form: str, text: str) -> bool:
    """Whether ``normalized`` leaves a text as it is."""
    if _inert().isdisjoint(text):
        return unicodedata.is_normalized(form, text)  # type: ignore[arg-type]
    return normalized(form, text) == text


def each_normalized(form: str, characters: str) -> list[bool]:
    """``is_normalized`` of each character alone. Of a text that is, all characters are."""
    inert, found = _inert(), list[bool]()
    of_form = partial(unicodedata.is_normalized, form)  # type: ignore[arg-type]
    for low in range(0, len(characters), _BLOCK):
        block = characters[low : low + _BLOCK]
        is_whole = of_form(block)
        found += [is_whole or of_form(char) or char in inert for char in block]
    return found


def combining_classes(characters: str) -> list[int]:
    """``unicodedata.combining`` of each character as of Unicode 9.0."""
    inert = _inert()
    found = list(map(unicodedata.combining, characters))
    return [0 if c and char in inert else c for c, char in zip(found, characters, strict=True)]


@cache
def substitutes() -> dict[str, str]:
    """By character what ``as_cut`` has in place of it, of those that it changes."""
    # U+0295 has been a letter without case since Unicode 17.0.
    return {**dict.fromkeys(characters_of(_AFTER_16), _UNASSIGNED), "\u0295": _LOWER_CASE}


@cache
def _inert() -> frozenset[str]:
    return frozenset(characters_of(_INERT))


def characters_of(table: str) -> list[str]:
    """All characters of a table of hexadecimal ranges."""
    found: list[str] = []
    for entry in table.split():
        first, _, last = entry.partition("-")
        found += map(chr, range(int(first, 16), int(last or first, 16) + 1))
    return found


# General categories, and scripts that patterns name.
_CLASSES = re.compile(
    r"L[utlmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?"
    r"|Arabic|Cyrillic|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai"
)

# Oniguruma's word characters; outside a class in brackets it adds the numbers of Latin-1.
_WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u24B6-\u24E9"
    "\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189"
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
  | (?P<anchor> \\[bBAz] | [$^] )
  | (?P<group> \(\?(?: : | i: | = | ! | <= | <! | > ) )
  | (?P<unknown_group> \(\? [^)]{0,3} )
  | (?P<quantifier> [*+?][?+]? | \{\d{1,4}(?:,\d{0,4})?\}(?![+?]) )
  | (?P<plain> [^\\\[\]{}^$] )
    """,
    re.VERBOSE | re.DOTALL,
)

# Any character.
_ANY = r"[\s\S]"

# What anchors look at, at one character before or after a place. A line begins after its end.
_ANCHORS = {
    "$": rf"(?:(?=\n)|(?!{_ANY}))",
    "^": rf"(?:(?<=\n)|(?<!{_ANY}))",
    r"\z": rf"(?!{_ANY})",
    r"\A": rf"(?<!{_ANY})",
    r"\b": r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    r"\B": r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
}

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
        raise TokenizerError(f"the pattern {shown(pattern)} is not understood ({error})") from None


def matches(pattern: str, text: str, timeout: float | None = None) -> Iterator[tuple[int, int]]:
    """The spans of a pattern's matches, in order; ``text``: as of ``as_cut``.

    Like Oniguruma, without empty matches at the end of another match. Raises ``TimeoutError`` after
    ``timeout`` seconds of CPU.
    """
    end = -1
    for match in compile_pattern(pattern).finditer(text, timeout=timeout):
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
            raise TokenizerError(f"the pattern {shown(pattern)} has brackets more than {limits}")


def shown(pattern: str) -> str:
    """A pattern in quotes, as messages show it; of a long one the beginning."""
    return repr(pattern if len(pattern) <= _MAX_SHOWN else f"{pattern[:_MAX_SHOWN]}…")


def translated(pattern: str) -> str:
    """The pattern in the syntax of the ``regex`` module. Raises ``TokenizerError``."""
    if "(?i:" in pattern and _FOLDED_PAIRS.search(pattern):
        raise TokenizerError(
            f"the pattern {shown(pattern)} ignores the case of letters that Unicode has ligatures "
            f"of"
        )
    return "".join(text for _, text in items(pattern))


def items(pattern: str) -> Iterator[tuple[Item, str]]:
    """The pattern's items in order, translated; a class in brackets is one item, an anchor a look
    at one character.

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
        if found["anchor"]:
            yield from items(_ANCHORS[found.group()])
        else:
            yield _kind(found), _translated(found, pattern, in_class=False)


def _class(pattern: str, start: int, depth: int = 1) -> tuple[str, int]:
    """A class in brackets, translated, and where it ends.

    ``[a-d&&[^b]]  ->  (?:(?=[a-d])[^b])``, ``[a[^b]]  ->  (?:[a]|[^b])``
    """
    opening = "[^" if pattern.startswith("[^", start) else "["
    parts, classes, sets = list[str](), list[str](), list[str]()
    position = start + len(opening)
    while True:
        is_over = pattern.startswith("]", position)
        if is_over or pattern.startswith("&&", position):
            if not (parts or classes):
                _refuse(pattern, position)
            sets.append(_either([f"[{''.join(parts)}]"] * bool(parts) + classes))
            parts, classes = [], []
            position += 1 if is_over else 2
            if is_over:
                break
            continue
        found = _ITEM.match(pattern, position) if pattern.startswith("\\", position) else None
        if found is not None and not found["anchor"]:
            parts.append(_translated(found, pattern, in_class=True))
            position = found.end()
        elif position == len(pattern) or pattern[position] == "\\":
            _refuse(pattern, position)
        elif pattern[position] == "[":
            if depth > _MAX_DEPTH or parts[1:][-1:] == ["-"] or pattern.startswith("[:", position):
                _refuse(pattern, position)
            inner, position = _class(pattern, position, depth + 1)
            classes.append(inner)
        else:
            parts.append("\\^" if pattern[position] == "^" else pattern[position])
            position += 1
    whole = sets[-1]
    if len(sets) > 1:
        whole = f"(?:{''.join(f'(?={each})' for each in sets[:-1])}{whole})"
    if opening == "[^":
        is_plain = whole.startswith("[") and whole[1] != "^"
        whole = f"[^{whole[1:]}" if is_plain else f"(?:(?!{whole}){_ANY})"
    return whole, position


def _either(classes: list[str]) -> str:
    return classes[0] if len(classes) == 1 else f"(?:{'|'.join(classes)})"


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
            raise TokenizerError(
                f"the class {shown(text)} of the pattern {shown(pattern)} is not supported"
            )
        negated = (text[1] == "P") != bool(found["negated"])
        return rf"\{'P' if negated else 'p'}{{{found['name']}}}"
    if found["code"]:
        digits = found["long"] or found["two"] or found["four"]
        if int(digits, 16) > sys.maxunicode:
            _refuse(pattern, found.start())
        char = chr(int(digits, 16))
        return char if char.isalnum() or char == "_" else f"\\{char}"
    if found["shorthand"] and text in (r"\w", r"\W"):
        if in_class and text == r"\W":
            _refuse(pattern, found.start())
        if in_class:
            return _WORD
        return f"[^{_WORD}]" if text == r"\W" else f"[{_WORD}{_LATIN_NUMBERS}]"
    return text


def _refuse(pattern: str, position: int) -> Never:
    rest = pattern[position : position + 8]
    raise TokenizerError(f"the pattern {shown(pattern)} is not understood, from {rest!r} on")
