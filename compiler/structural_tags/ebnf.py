r"""The EBNF of xgrammar's grammars as GBNF, character by character.

    root ::= "a"        ->    root ::= "a"
      | "b"  # or b             | "b"

There a line break ends a rule only where the next line begins another one, ``name ::=``; in GBNF
each one does that stands in no brackets and after no ``|``. So line breaks inside rules become
spaces, and places stay what they are. What the two read differently is refused: ``\x41b`` is one
character there, and two in GBNF.
"""

import re
from collections.abc import Iterator

from ..diagnostics import Diagnostic, Span

_PIECE = re.compile(
    r'(?P<quoted>"(?:[^"\\\r\n]|\\.)*"|\[(?:[^\]\\\r\n]|\\.)*\])'
    r"|(?P<dotted>[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]*)"
    r"|(?P<blank>(?:[ \t]|\r\n|\r|\n|\#[^\r\n]*)+)"
)
_HEAD = re.compile(r"[A-Za-z0-9_.-]+(\[[^\]\r\n]+\])?[ \t]*::=")
_LONG_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\x[0-9a-fA-F]{3,})")


def as_gbnf(text: str) -> str:
    """The same rules, each on one line, every character where it was."""

    def spaced(found: re.Match[str]) -> str:
        blank = found["blank"]
        if blank is None:
            return found[0]
        # A rule begins here, or the text ends.
        if found.end() == len(text) or _HEAD.match(text, found.end()):
            return " " * (len(blank) - 1) + "\n" if re.search(r"[\r\n]", blank) else blank
        return " " * len(blank)

    return _PIECE.sub(spaced, text)


def read_differently(text: str) -> Iterator[Diagnostic]:
    """What stands for one thing there and for another in GBNF."""
    for piece in _PIECE.finditer(text):
        if piece["dotted"] is not None:
            message = f"{piece['dotted']} is one name to some readers, and names and any characters"
            hint = "write names without dots, and a space before one that is any character"
            yield Diagnostic(f"{message} to others", Span(*piece.span()), hint)
        if piece["quoted"] is not None:
            for found in _LONG_ESCAPE.finditer(text, piece.start(), piece.end()):
                message = f"{found[1]} is one character to some readers and several to others"
                hint = r"write \uXXXX or \UXXXXXXXX, and the digits after it as they are"
                yield Diagnostic(message, Span(*found.span(1)), hint)
