"""Which conventions a text in EBNF keeps, told by the text itself.

    names       in < > where rules begin so; what stands outside is text where nothing is quoted
    quotes      with escapes or without: in which of the two all quotes end, and escapes are known
    brackets    options or classes: by what is inside, else as all others of the text are

Where two answers fit, ``Undecided`` names the place and both.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from ...diagnostics import Span
from .pieces import Lexing, Piece, is_read, names_of

# A backslash and what it takes with it, and where that is known; then where it is text as well.
ESCAPE = r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|.)"
_KNOWN = {"STRING": frozenset("nrtfvb0\\/'\""), "CLASS": frozenset("nrtfv0\\/'\"[]-^")}
_LETTER = re.compile(r"\\[nrtxuU]")

# What is marked as a terminal.
_QUOTED = frozenset({"STRING", "CLASS", "CODE", "SPECIAL"})


class Undecided(Exception):  # noqa: N818
    """A part of the text has two readings, or none: what it is, where, and how to write it."""

    def __init__(self, message: str, piece: Piece, help_: str) -> None:
        super().__init__(message)
        self.message, self.span, self.help = message, Span(piece.start, piece.end), help_


@dataclass(frozen=True)
class Conventions:
    """The pieces of a text, and how it was read: ``escapes`` in quotes (None: there is no
    backslash), names that are ``angled``, and ``bare`` text outside of them."""

    pieces: tuple[Piece, ...]
    names: frozenset[str]
    escapes: bool | None
    angled: bool
    bare: bool

    def has(self, *kinds: str) -> bool:
        """Whether there is a piece of such a kind."""
        return any(piece.kind in kinds for piece in self.pieces)

    @cached_property
    def groups(self) -> bool:
        """Whether alternatives stand in brackets that nothing quotes."""
        depth = 0
        for piece in self.pieces:
            depth = 0 if piece.kind == "HEAD" else depth
            if piece.kind == "BAR" and depth > 0:
                return True
            if piece.kind == "TEXT":
                depth += piece.text.count("(") - piece.text.count(")")
        return False

    def described(self) -> str:
        """What a note says of it."""
        defines = next((piece.text for piece in self.pieces if piece.kind == "DEFINES"), "=")
        ends = [f"'{mark}'" for mark in ";." if self.has(mark)]
        if not ends or not _all_end(self.pieces):
            ends.append("the next one")
        said = [f"names {'in < > ' * self.angled}before '{defines}'"]
        said.append(f"a rule ends with {' or '.join(ends)}")
        if self.bare:
            said.append("what stands outside < > is text")
        if self.has("["):
            said.append("[ ] is an option")
        if self.has("CLASS"):
            said.append("[…] is a class of characters")
        if self.has("{"):
            said.append("{ } is a repetition")
        if self.escapes is not None:
            said.append(f"a backslash in quotes is {'an escape' if self.escapes else 'itself'}")
        said.append("nothing is ignored between items")
        return "; ".join(said)


def _all_end(pieces: tuple[Piece, ...]) -> bool:
    heads = [i for i, piece in enumerate(pieces) if piece.kind == "HEAD" and i]
    return all(pieces[i - 1].kind in (";", ".") for i in heads)


def conventions_of(text: str, check: Callable[[], None]) -> Conventions:
    """Those of a text. ``check`` is called now and then. Raises ``Undecided``."""
    heads = names_of(text)
    angled = any(name.startswith("<") for name in heads)
    names = frozenset(name for name in heads if name.startswith("<") == angled)
    lexing = Lexing(False, names, angled)
    raw = lexing.pieces(text, check)
    if angled and not any(piece.kind in _QUOTED or piece.text in "\"'`" for piece in raw):
        bare = replace(lexing, bare=True).pieces(text, check)
        return Conventions(tuple(bare), names, None, angled, bare=True)
    pieces, escapes = raw, None
    if "\\" in text:
        escaped = replace(lexing, escapes=True)
        others = escaped.pieces(text, check)
        escapes = _has_escapes(raw, others)
        lexing, pieces = (escaped, others) if escapes else (lexing, raw)
    classes = {p.start: _decided(p, pieces, names) for p in pieces if p.kind == "EITHER"}
    if classes:
        pieces = replace(lexing, classes=classes).pieces(text, check)
    return Conventions(tuple(pieces), names, escapes, angled, bare=False)


def _has_escapes(raw: list[Piece], escaped: list[Piece]) -> bool | None:
    """Whether a backslash in quotes is an escape, by what the pieces are if it is and if it is
    not; None where there is none."""
    slashed = [p for p in (*raw, *escaped) if p.kind in _KNOWN and "\\" in p.text]
    if not slashed:
        return None
    if not is_read(raw):
        return True
    undecided: Iterable[Piece]
    if is_read(escaped):
        differing = (a for a, b in zip(raw, escaped, strict=False) if a != b)
        undecided = chain(differing, _unknown(escaped))
    else:
        undecided = (piece for piece in slashed if _LETTER.search(piece.text))
    for piece in undecided:
        message = (
            f"{piece.text} has two readings: the backslash is an escape, or a character itself"
        )
        hint = (
            "write no backslash: #x5C is the character, #xA a line feed, #xD a carriage return, "
            "#x9 a tab"
        )
        raise Undecided(message, piece, hint)
    return is_read(escaped)


def _unknown(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces with a backslash before what is no known escape."""
    for piece in pieces:
        if piece.kind in _KNOWN and not piece.text.startswith("`"):
            escapes = (found[0][1:] for found in re.finditer(ESCAPE, piece.text))
            if any(len(each) == 1 and each not in _KNOWN[piece.kind] for each in escapes):
                yield piece


def _decided(piece: Piece, pieces: list[Piece], names: frozenset[str]) -> bool:
    """Whether brackets that may be either are a class."""
    kinds = {each.kind for each in pieces}
    has_options, has_classes = not kinds.isdisjoint("[{"), "CLASS" in kinds
    inside = re.findall(r"[\w-]+", piece.text)
    if has_options and not has_classes:
        return False
    if has_classes and not has_options and names.isdisjoint(inside):
        return True
    if not has_classes and names.issuperset(inside) and len("".join(inside)) > 1:
        return False
    message = (
        f"{piece.text} has two readings: an option of what is inside, or one of its characters"
    )
    hint = 'write ( … )? for the option, or ( "a" | "b" ) for the characters'
    raise Undecided(message, piece, hint)
