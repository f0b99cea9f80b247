"""The tokens of regular expressions, each with the flags that hold where it stands.

Flags are scoped by groups, and they decide what a token is: under x white space is none. So
the lexer keeps the flags, and the builder finds them on the tokens.
"""

import re
from collections.abc import Callable, Generator, Iterator
from functools import cache

from ..diagnostics import Diagnostic, Span

Flags = frozenset[str]
Report = Callable[[str, Span, str | None], None]

# u: by characters, not bytes; a: ASCII classes; R: lines may end with CR LF. U, which makes
# counts lazy, says nothing about a language.
KNOWN = frozenset("imsxuaRU")

# Flags that no text can set: the syntax is that of Python, or of ECMA-262 in unicode mode. Where
# that makes an error of what browsers read without it and what people do write, ECMA is as there
# (annex B): marks after a backslash, ``{`` and ``]`` as themselves, ``[\\w-.]``.
PLAIN, ECMA = "plain", "ecma"

HEX_DIGITS = frozenset("0123456789abcdefABCDEF")

QUANTITIES: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}

# The highest count: no limit lets through what stands so often.
HIGHEST_COUNT = 10**18

CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7}

_ESCAPE = r"""
    \\ (?: [xuU]\{[^}]*\} | x[0-9A-Fa-f]{0,2} | u[0-9A-Fa-f]{0,4} | U[0-9A-Fa-f]{0,8}
         | [pPyN]\{[^}]*\} | [pP]. | b\{[a-z-]+\} | [kg](?:<[^>]*>|'[^']*'|\{[^}]*\})
         | 0[0-7]{0,2} | [1-3][0-7]{2} | [1-9][0-9]? | c[A-Za-z] | . )
"""
_ECMA_ESCAPE = r"""
    \\ (?: u\{[0-9A-Fa-f]+\} | u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}
         | u[0-9A-Fa-f]{4} | x[0-9A-Fa-f]{2} | c[A-Za-z] | [pP]\{[^}]*\} | k<[^>]*> | 0[0-9]?
         | . )
"""
_COUNT, _ECMA_COUNT = r"[0-9]+(?:,[0-9]*)?|,[0-9]+", "[0-9]+(?:,[0-9]*)?"
# Characters that stand for themselves under all flags, none of which is quantified: one token, for
# the parser takes as long for one as for many characters.
_RUN = r"(?P<RUN> [A-Za-z0-9_,:;@%!\"'/<>=-]{2,}(?![*+?{]) )"
_OUTSIDE = r"""
      (?P<LOOK_OPEN> \(\?<?[=!] )
    | (?P<UNSUPPORTED_OPEN> \(\? (?: > | \| | \([^)]*\) ) )
    | (?P<UNSUPPORTED> \(\? (?: P[=>][^)]* | &[^)]* | [+-]?[0-9]+ | R ) \) )
    | (?P<COMMENT> \(\?\# [^)]* \) )
    | (?P<GROUP_OPEN> \((?!\?) | \(\? (?: P?<(?P<name>[^>]*)> | '(?P<quoted>[^']*)'
                                        | (?P<scoped>[A-Za-z-]*): ) )
    | (?P<FLAGS> \(\? (?P<flags>[A-Za-z-]*) \) )
    | (?P<GROUP_CLOSE> \) )
    | (?P<QUANTIFIER> (?: [*+?] | \{(?:COUNT)\} ) MORE )
    | (?P<CLASS_OPEN> \[\^? )
    | (?P<BAR> \| )
    | (?P<DOT> \. )
    | (?P<ANCHOR> [\^$] )
    | (?P<ESCAPE> SLASH )
    | (?P<CHAR> [^\\(?BRACE] )
"""
_INSIDE = re.compile(
    rf"""
      (?P<POSIX> \[:\^?[A-Za-z]+:\] )
    | (?P<CLASS_OPEN> \[\^? )
    | (?P<CLASS_CLOSE> \] )
    | (?P<SET_OPERATOR> && | -- | ~~ )
    | (?P<CLASS_ESCAPE> {_ESCAPE} )
    | (?P<CLASS_CHAR> [^\\] )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = re.compile(r"(?P<CLASS_OPEN>\[\^?)")
_INSIDE_PLAIN, _INSIDE_ECMA = (
    re.compile(
        rf"(?P<CLASS_CLOSE> \] ) | (?P<CLASS_ESCAPE> {escape} ) | (?P<CLASS_CHAR> [^\\] )",
        re.VERBOSE | re.DOTALL,
    )
    for escape in (_ESCAPE, _ECMA_ESCAPE)
)
_VERBOSE_SPACE = re.compile(r"(?:\s|#[^\n]*)+")
_HEAD = re.compile(r"\]|-+(?!\])")
_HEAD_PLAIN, _HEAD_ECMA = re.compile(r"\]"), re.compile(r"(?!)")
_EXTENDED = {"&": "AND", "~": "NOT"}
_OPENINGS = frozenset({"GROUP_OPEN", "LOOK_OPEN", "UNSUPPORTED_OPEN"})
_SCOPES = _OPENINGS | {"GROUP_CLOSE", "FLAGS"}
_NAME, _ECMA_NAME = re.compile(r"[^\W\d][\w.\[\]]*"), re.compile(r"[\w$]+")


class UnexpectedError(Exception):
    """What cannot stand where it does."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(message, span, hint)


def count_of(digits: str) -> int:
    """The number of a count. It may have any number of digits: limits refuse what is too much."""
    digits = digits.lstrip("0")
    return min(int(digits or "0"), HIGHEST_COUNT) if len(digits) < 20 else HIGHEST_COUNT


@cache
def _outside(extended: bool, syntax: str) -> Callable[[str, int], re.Match[str] | None]:
    """What reads a token outside of classes. In the extended syntax '~' is of one character alone,
    so there are no runs."""
    outside = _OUTSIDE.replace("COUNT", _ECMA_COUNT if syntax == ECMA else _COUNT)
    outside = outside.replace("MORE", "[?]?" if syntax == ECMA else "[?+]?")
    outside = outside.replace("SLASH", _ECMA_ESCAPE if syntax == ECMA else _ESCAPE)
    outside = outside.replace("BRACE", "" if syntax else "{")
    whole = outside if extended else f"{_RUN} | {outside}"
    return re.compile(whole, re.VERBOSE | re.DOTALL).match


class RegexToken(str):
    """A piece of a text, what it is, its place, and the flags that hold there."""

    __slots__ = ("flags", "span", "type")

    type: str
    span: Span
    flags: Flags

    @property
    def counts(self) -> tuple[int, int | None]:
        """The fewest and the most times of a quantifier."""
        text = self[:-1] if self.is_more else str(self)
        if text in QUANTITIES:
            return QUANTITIES[text]
        low, comma, high = text[1:-1].partition(",")
        return count_of(low), count_of(high) if high else (None if comma else count_of(low))

    @property
    def is_more(self) -> bool:
        """Whether a quantifier has a mark after it: it is lazy or possessive."""
        return len(self) > 1 and self[-1] in "?+"


class RegexLexer:
    """One pass over ``text``. Wrong flags and names of groups go to
    ``report``; a name may be used twice, for it says nothing about a language.

    Under ``PLAIN`` and ``ECMA`` classes do not nest, and ``&&``, ``--``, ``~~``, ``[:`` and ``[``
    are characters in them.
    """

    def __init__(
        self,
        text: str,
        flags: Flags,
        extended: bool,
        report: Report,
    ) -> None:
        self._text = text
        self._extended = extended
        self._syntax = next((syntax for syntax in (PLAIN, ECMA) if syntax in flags), "")
        self._opening = _OPENING if self._syntax else _INSIDE
        self._inside = {PLAIN: _INSIDE_PLAIN, ECMA: _INSIDE_ECMA}.get(self._syntax, _INSIDE)
        self._head = {PLAIN: _HEAD_PLAIN, ECMA: _HEAD_ECMA}.get(self._syntax, _HEAD)
        self._report = report
        self._flags = flags
        # The flags outside each open group.
        self._outer: list[Flags] = []
        # How many classes are open, and where the last one within the outermost begins.
        self.open_classes = 0
        self.nested: int | None = None

    def tokens(self) -> Iterator[RegexToken]:
        """All tokens in order. What is no token becomes one that no grammar expects."""
        text, place, read = self._text, 0, _outside(self._extended, self._syntax)
        while place < len(text):
            if "x" in self._flags and (space := _VERBOSE_SPACE.match(text, place)):
                place = space.end()
                continue
            found = read(text, place)
            kind = found.lastgroup if found else None
            if found is None or kind is None:
                yield self._token("NOTHING", place, place + 1)
                return
            begin, place = found.span()
            if kind == "CLASS_OPEN":
                place = yield from self._class(begin)
                continue
            if kind == "COMMENT" and self._syntax != ECMA:
                continue
            if self._extended and found[0] in _EXTENDED:
                kind = _EXTENDED[found[0]]
            if kind in _SCOPES:
                self._scope(kind, found)
            yield self._token(kind, begin, place)

    def _scope(self, kind: str, found: re.Match[str]) -> None:
        """Follow the flags into and out of groups."""
        if kind in _OPENINGS:
            self._outer.append(self._flags)
            self._name(found)
            if found["scoped"]:
                self._change(found["scoped"], found.start("scoped"))
        elif kind == "GROUP_CLOSE" and self._outer:
            self._flags = self._outer.pop()
        elif kind == "FLAGS":
            self._change(found["flags"], found.start("flags"))

    def _name(self, found: re.Match[str]) -> None:
        group = "name" if found["name"] is not None else "quoted"
        name = found[group]
        if name is None:
            return
        span = Span(*found.span(group)) if name else Span(*found.span())
        known = _ECMA_NAME if self._syntax == ECMA else _NAME
        if not known.fullmatch(name):
            self._report("a group's name begins with a letter or '_'", span, None)

    def _change(self, text: str, place: int) -> None:
        """Set the flags in front of a hyphen, clear those after it."""
        added, hyphen, removed = text.partition("-")
        span = Span(place, place + len(text))
        if not added + removed or (hyphen and not removed):
            self._report("flags are missing here", Span(place, place + max(1, len(text))), None)
        for flag in (*added, *removed):
            if flag not in KNOWN:
                known = "known: i, m, s, x, u, a, R, U"
                self._report(f"there is no flag {flag!r}", span, known)
        for flag in sorted(set(added) & set(removed)):
            self._report(f"the flag {flag!r} is set and cleared", span, None)
        self._flags = (self._flags | set(added)) - set(removed)

    def _class(self, place: int) -> Generator[RegexToken, None, int]:
        """The tokens of a bracketed class that opens at ``place``; returns where it ends."""
        # Whether a hyphen here would make a range of what was read last.
        ready = False
        previous = ""
        while place < len(self._text):
            found = (self._inside if self.open_classes else self._opening).match(self._text, place)
            kind = found.lastgroup if found else None
            if found is None or kind is None:
                yield self._token("NOTHING", place, place + 1)
                return len(self._text)
            start, place = found.span()
            if kind == "SET_OPERATOR" and self._text[place : place + 1] == "]":
                # With nothing after it, it is two characters.
                kind, place = "CLASS_CHAR", start + 1
            if self._text[start:place] == "-" and ready and self._text[place : place + 1] != "]":
                kind = "RANGE"
            yield self._token(kind, start, place)
            ready = kind in ("CLASS_CHAR", "CLASS_ESCAPE") and previous != "RANGE"
            previous = kind
            if kind == "CLASS_OPEN":
                self.nested = start if self.open_classes else None
                self.open_classes += 1
                # A bracket or hyphens at the very beginning are characters.
                head = self._head.match(self._text, place)
                for at in range(place, head.end() if head else place):
                    yield self._token("CLASS_CHAR", at, at + 1)
                    ready, place = self._text[at] == "]", at + 1
            elif kind == "CLASS_CLOSE":
                self.open_classes -= 1
                if not self.open_classes:
                    return place
        return place

    def _token(self, kind: str, start: int, end: int) -> RegexToken:
        token = RegexToken(self._text[start:end])
        token.type, token.span, token.flags = kind, Span(start, end), self._flags
        return token
