"""The pieces of a text in EBNF, where what the text alone does not say is given.

x = [a-z] "\n" y ;     ->    HEAD x   DEFINES =   CLASS [a-z]   STRING "\n"   NAME y   ;

A rule begins with a name, first on its line or after what ends a rule, and ``=``, ``:=``, ``::=``,
``:`` or an arrow after it. What may be a class or an option is a piece of its own kind, EITHER,
until somebody has decided which it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..lalr_driver import CLOCK_STRIDE

_COMMENT = (
    r"\(\*[\s\S]*?\*\)|/\*[\s\S]*?\*/|//[^\r\n]*|(?<!\S)--(?!\S)[^\r\n]*"
    r"""|\#(?!x[0-9A-Fa-f]|["'])[^\r\n]*"""
)
# The number of a rule, as specifications print it.
_LABEL = r"\[[0-9][\w.]*\](?=[ \t]+[^\W\d][\w-]*\s*::=)"
_NAME = r"[^\W\d]\w*(?:-\w+)*"
_ANGLED = r"""<[^\s<>|"'][^<>|\r\n]*>"""
_DEFINES = r"::=|:=|=(?!=)|:(?!:)|->|→"
_SHORT = "\"'`"

# Strings and classes with escapes, and without.
_QUOTED = {
    True: r""""(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*'|`[^`\r\n]*`""",
    False: r""""[^"\r\n]*"|'[^'\r\n]*'|`[^`\r\n]*`""",
}
# A class has an end nearby, so that none is looked for after every bracket of a long line.
_CLASS = {
    True: r"\[\^?(?:[^\]\\\r\n]|\\[^\r\n]){1,2000}\]",
    False: r"\[\^?[^\]\r\n]{1,2000}\]",
}

_HEADS = re.compile(
    rf"(?:^|;)[ \t]*(?:\[[0-9][\w.]*\][ \t]*)?({_ANGLED}|{_NAME})\s*(?:{_DEFINES})", re.M
)
_DEFINED = re.compile(rf"\s*({_DEFINES})")

# What the inside of an option may hold besides strings.
_OPTION = re.compile(r"[\w\s<>|,(){}\[\]?*+.;/-]*")
_HYPHENATED = re.compile(r"([0-9])-([0-9])|([a-z])-([a-z])|([A-Z])-([A-Z])|.", re.DOTALL)


class Piece(NamedTuple):
    """A part of a text. ``spaced``: whether something stands between it and the one before."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


@dataclass(frozen=True)
class Lexing:
    """``escapes``: a backslash in quotes and classes takes the next character with it. ``names``:
    those of rules. ``angled``: they stand in ``< >``; ``bare``: what stands outside is text.
    ``classes``: of the brackets that may be either, whether one that begins there is a class."""

    escapes: bool
    names: frozenset[str]
    angled: bool = False
    bare: bool = False
    classes: Mapping[int, bool] | None = None

    @cached_property
    def _piece(self) -> re.Pattern[str]:
        if self.bare:
            # What begins a comment elsewhere is text but at the beginning of a line.
            kinds = {
                "SPACE": r"\s+",
                "COMMENT": rf"(?m:^)[ \t]*(?:{_COMMENT})",
                "UNENDED": r"(?m:^)[ \t]*(?:\(\*|/\*)",
                "NAME": _ANGLED,
                "BAR": r"\|",
                "TEXT": rf"(?:(?!{_ANGLED})[^\s|])+",
            }
        else:
            kinds = {
                "SPACE": r"\s+",
                "COMMENT": f"{_COMMENT}|{_LABEL}",
                "UNENDED": r"\(\*(?!\s*\))|/\*",
                "STRING": _QUOTED[self.escapes],
                "CODE": r"\#x[0-9A-Fa-f]+",
                "SPECIAL": r"(?<![^\s=|,(\[{/])\?[^?\r\n]+\?",
                "RANGE": r"\.\.\.?|…",
                "COUNT": rf"(?<=[\w)\]}}>{_SHORT}])\{{\s*[0-9]+\s*(?:,\s*[0-9]*\s*)?\}}",
                "NAME": _ANGLED if self.angled else _NAME,
                "WORD": _NAME if self.angled else "(?!)",
                "INTEGER": "[0-9]+",
                "MARK": r"[|/,;.()\[\]{}?*+-]",
                "OTHER": r"[\s\S]",
            }
        return re.compile("|".join(f"(?P<{kind}>{what})" for kind, what in kinds.items()))

    def pieces(self, text: str, check: Callable[[], None]) -> list[Piece]:
        """All pieces, without spaces and comments, up to a comment without an end. ``check`` is
        called now and then."""
        found: list[Piece] = []
        place, first, spaced, number = 0, True, True, 0
        while place < len(text):
            if (number := number + 1) % CLOCK_STRIDE == 0:
                check()
            match = self._piece.match(text, place)
            assert match is not None
            kind, begin, place = match.lastgroup or "", place, match.end()
            if kind in ("SPACE", "COMMENT"):
                first |= "\n" in match[0]
                spaced = True
                continue
            if kind == "UNENDED":
                return [*found, Piece("OTHER", match[0], begin, place, spaced)]
            if kind == "NAME" and first and (defines := _DEFINED.match(text, place)):
                found.append(Piece("HEAD", match[0], begin, place, spaced))
                begin, place = defines.span(1)
                found.append(Piece("DEFINES", defines[1], begin, place, True))
            elif match[0] == "[" and not self.bare:
                kind, place = self._bracket(text, begin)
                found.append(Piece(kind, text[begin:place], begin, place, spaced))
            else:
                found.append(
                    Piece(kind if kind != "MARK" else match[0], match[0], begin, place, spaced)
                )
            first, spaced = match[0] in (";", "."), False
        return found

    def _bracket(self, text: str, begin: int) -> tuple[str, int]:
        """What a bracket begins, and where that ends."""
        known = (self.classes or {}).get(begin)
        found = re.compile(_CLASS[self.escapes]).match(text, begin)
        if found is None or known is False:
            return "[", begin + 1
        inside = found[0][1:-1]
        is_class = known or self._is_class(text, begin, inside)
        if is_class is None:
            return "EITHER", found.end()
        return ("CLASS", found.end()) if is_class else ("[", begin + 1)

    def _is_class(self, text: str, begin: int, inside: str) -> bool | None:
        """Whether brackets with that inside are a class; None if that is not certain."""
        quoted = re.compile(_QUOTED[self.escapes])
        if inside.startswith("^"):
            return True
        if self.angled and re.search(_ANGLED, inside):
            return False
        string = quoted.match(text, begin + 1 + len(inside) - len(inside.lstrip()))
        if string is not None:
            return None if "]" in string[0] and string[0][1:-1] != "]" else False
        outside = quoted.sub("", inside)
        words = re.findall(r"\w+", outside)
        if not _OPTION.fullmatch(outside) or (not words and outside == inside):
            return True
        if inside != inside.strip() or outside != inside:
            return False if words or outside != inside else None
        if re.fullmatch(_NAME, inside) and inside in self.names:
            return None
        ranges = [found for found in _HYPHENATED.finditer(inside) if found.lastindex]
        if ranges and all(found[0][0] <= found[0][2] for found in ranges):
            others = _HYPHENATED.sub(lambda f: "" if f.lastindex else f[0], inside)
            return True if not re.search(r"[^\W\d_]{2}|\s", others) else None
        return None


def names_of(text: str) -> tuple[str, ...]:
    """What stands where rules begin, comments included."""
    return tuple(found[1] for found in _HEADS.finditer(text))


def is_read(pieces: Iterable[Piece]) -> bool:
    """Whether each piece is something, and none a quote that does not end."""
    return all(piece.kind != "OTHER" for piece in pieces)
