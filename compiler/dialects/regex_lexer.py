"""The tokens of regular expressions, each with the flags that hold where it stands.

Flags are scoped by groups, and they decide what a token is: under x white space is none. So
the lexer keeps the flags, and the builder finds them on the tokens.
"""

import re
from collections.abc import Callable, Generator, Iterator
from functools import cache

from ..diagnostics import Span
from .builder import Token

Flags = frozenset[str]
Report = Callable[[str, Span, str | None], None]

# u: by characters, not bytes; a: ASCII classes; R: lines may end with CR LF. U, which makes
# counts lazy, says nothing about a language.
KNOWN = frozenset("imsxuaRU")

# Of an author who has Python's syntax in mind; no text can set it.
PLAIN = "plain"

CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7}

_ESCAPE = r"""
    \\ (?: [xuU]\{[^}]*\} | x[0-9A-Fa-f]{0,2} | u[0-9A-Fa-f]{0,4} | U[0-9A-Fa-f]{0,8}
         | [pPyN]\{[^}]*\} | [pP]. | b\{[a-z-]+\} | [kg](?:<[^>]*>|'[^']*'|\{[^}]*\})
         | 0[0-7]{0,2} | [1-3][0-7]{2} | [1-9][0-9]? | . )
"""
# Characters that stand for themselves under all flags, none of which is quantified: one token, for
# the parser takes as long for one as for many characters.
_RUN = r"(?P<RUN> [A-Za-z0-9_,:;@%!\"'/<>=-]{2,}(?![*+?{]) )"
# A member of a class that means one character under all flags, perhaps as an escape; two with a
# hyphen between them; a class of such, whose hyphens at its ends are characters.
_SIMPLE = (
    r"(?:[^\\\[\]&~\-\x80-\U0010FFFF]|&(?!&)|~(?!~)|"
    r"\\[nrtfva!-/:;=?@\[-`{-~]|\\x[0-7][0-9A-Fa-f])"
)
_SIMPLE_RANGE = f"{_SIMPLE}(?:-{_SIMPLE})?"
_SIMPLE_CLASS = rf"(?P<SIMPLE_CLASS> \[(?!:)\^?+ -? (?:{_SIMPLE_RANGE})+ -? \] )"
_OUTSIDE = rf"""
      (?P<LOOK_OPEN> \(\?<?[=!] )
    | (?P<UNSUPPORTED_OPEN> \(\? (?: > | \| | \([^)]*\) ) )
    | (?P<UNSUPPORTED> \(\? (?: P[=>][^)]* | &[^)]* | [+-]?[0-9]+ | R ) \) )
    | (?P<COMMENT> \(\?\# [^)]* \) )
    | (?P<GROUP_OPEN> \((?!\?) | \(\? (?: P?<(?P<name>[^>]*)> | '(?P<quoted>[^']*)'
                                        | (?P<scoped>[A-Za-z-]*): ) )
    | (?P<FLAGS> \(\? (?P<flags>[A-Za-z-]*) \) )
    | (?P<GROUP_CLOSE> \) )
    | (?P<QUANTIFIER> (?: [*+?] | \{{(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\}} ) [?+]? )
    | (?P<CLASS_OPEN> \[\^? )
    | (?P<BAR> \| )
    | (?P<DOT> \. )
    | (?P<ANCHOR> [\^$] )
    | (?P<ESCAPE> {_ESCAPE} )
    | (?P<CHAR> [^\\(?{{] )
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
_INSIDE_PLAIN = re.compile(
    rf"(?P<CLASS_CLOSE> \] ) | (?P<CLASS_ESCAPE> {_ESCAPE} ) | (?P<CLASS_CHAR> [^\\] )",
    re.VERBOSE | re.DOTALL,
)
_SIMPLE_MEMBER = re.compile(f"({_SIMPLE}|-)(?:-({_SIMPLE}))?", re.DOTALL)
_VERBOSE_SPACE = re.compile(r"(?:\s|#[^\n]*)+")
_HEAD = re.compile(r"\]|-+(?!\])")
_HEAD_PLAIN = re.compile(r"\]")
_EXTENDED = {"&": "AND", "~": "NOT"}
_OPENINGS = frozenset({"GROUP_OPEN", "LOOK_OPEN", "UNSUPPORTED_OPEN"})
_SCOPES = _OPENINGS | {"GROUP_CLOSE", "FLAGS"}
_NAME = re.compile(r"[^\W\d][\w.\[\]]*")


@cache
def _outside(extended: bool) -> Callable[[str, int], re.Match[str] | None]:
    """What reads a token outside of classes. In the extended syntax '~' is of one character alone,
    so there are no runs."""
    tokens = [_SIMPLE_CLASS, _OUTSIDE] if extended else [_RUN, _SIMPLE_CLASS, _OUTSIDE]
    return re.compile("|".join(tokens), re.VERBOSE | re.DOTALL).match


def _code(member: str) -> int:
    """The code point of a member of a simple class."""
    if len(member) == 1:
        return ord(member)
    return CONTROL.get(member[1]) or (int(member[2:], 16) if member[2:] else ord(member[1]))


class RegexToken(Token):
    """A token and the flags that hold there."""

    __slots__ = ("flags",)

    flags: Flags


class SimpleClass(RegexToken):
    """A class of characters that stand for themselves, and their ranges."""

    __slots__ = ("ranges",)

    ranges: list[tuple[int, int]]


class RegexLexer:
    """One pass over ``text``. Wrong flags and names of groups go to
    ``report``; a name may be used twice, for it says nothing about a language.

    Under ``PLAIN``, as in Python, classes do not nest, and ``&&``, ``--``, ``~~``, ``[:`` and
    ``[`` are characters in them.
    """

    def __init__(
        self,
        text: str,
        flags: Flags,
        extended: bool,
        report: Report,
    ) -> None:
        plain_classes = PLAIN in flags
        self._text = text
        self._extended = extended
        self._opening = _OPENING if plain_classes else _INSIDE
        self._inside = _INSIDE_PLAIN if plain_classes else _INSIDE
        self._head = _HEAD_PLAIN if plain_classes else _HEAD
        self._report = report
        self._flags = flags
        # The flags outside each open group.
        self._outer: list[Flags] = []
        # How many classes are open, and where the last one within the outermost begins.
        self.open_classes = 0
        self.nested: int | None = None

    def tokens(self) -> Iterator[RegexToken]:
        """All tokens in order. What is no token becomes one that no grammar expects."""
        text, place, read = self._text, 0, _outside(self._extended)
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
            if kind == "SIMPLE_CLASS":
                head = 2 if text[begin + 1] == "^" else 1
                members = _SIMPLE_MEMBER.findall(text, begin + head, place - 1)
                ranges = [(_code(low), _code(high or low)) for low, high in members]
                if all(low <= high for low, high in ranges):
                    simple = SimpleClass(found[0])
                    simple.type, simple.span, simple.flags = kind, Span(begin, place), self._flags
                    simple.ranges = ranges
                    yield simple
                    continue
                kind = "CLASS_OPEN"
            if kind == "CLASS_OPEN":
                place = yield from self._class(begin)
                continue
            if kind == "COMMENT":
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
        if not _NAME.fullmatch(name):
            self._report("a group's name begins with a letter or '_'", span, None)

    def _change(self, text: str, place: int) -> None:
        """Set the flags in front of a hyphen, clear those behind it."""
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
                # With nothing behind it, it is two characters.
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
