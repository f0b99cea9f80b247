"""The tokens of a text with its comments between them, a statement at a time.

    a ::= b; (* 1 *)         Statement(a ::= b ;, behind=1)
    (* 2 *)             ->   Statement(c ::= d ;, above=2, inside={3: 3})
    c ::= (* 3 *) d;         Statement()

A comment belongs to the statement on whose line it stands, or to the one below. Before a token that
has no space before it, as ``;``, it goes after that.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..dialects.builder import CLOSING, OPENING, Token
from .token_styles import Style

_BREAK = re.compile(r"\r\n|\r|\n")
_ENDS_LINE = re.compile(r"[^\S\r\n]*[\r\n]")

# How comments begin that have an end of their own.
_ENDED = ("(*", "/*", "[")


class Comment(NamedTuple):
    """``breaks``: the line breaks before it; ``ends_line``: whether one stands after it."""

    text: str
    breaks: int
    ends_line: bool


@dataclass(slots=True)
class Statement:
    """``above``: comments on lines of their own, ``behind``: those on the line where it ends,
    ``inside``: others, by the place of the token that they stand before. ``label``: the number of a
    rule. ``breaks``: the line breaks before it. ``is_spread``: its alternatives stand on lines of
    their own."""

    tokens: list[Token] = field(default_factory=list)
    above: list[Comment] = field(default_factory=list)
    behind: list[Comment] = field(default_factory=list)
    inside: dict[int, list[Comment]] = field(default_factory=dict)
    label: str = ""
    breaks: int = 0
    is_spread: bool = False

    @property
    def comments(self) -> list[str]:
        """The texts of all, in their order."""
        inside = [each for place in sorted(self.inside) for each in self.inside[place]]
        return [each.text for each in (*self.above, *inside, *self.behind)]


def statements(text: str, tokens: Sequence[Token], style: Style) -> list[Statement]:
    """All of them; the last one has no tokens, but the comments at the end."""
    current = Statement()
    found = [current]
    place = depth = 0
    ended, was_bar = True, False
    for token in tokens:
        kind, (start, end) = token.type, token.span
        if kind == "NEWLINE":
            ended = True
            continue
        gap, place = text[place:start], end
        if ended or kind in style.heads:
            current = _next(found, gap, style)
            depth, was_bar = 0, False
        elif gap and gap != " ":
            if depth == 0 and (was_bar or kind == "BAR") and _BREAK.search(gap):
                current.is_spread = True
            if not gap.isspace():
                moves = kind in style.behind and kind not in CLOSING | OPENING
                moves |= kind == "DEFINES"
                moves |= kind == "BAR" and depth == 0 and style.bars_end_lines
                at = len(current.tokens) + moves
                current.inside.setdefault(at, []).extend(_comments(gap, style))
        current.tokens.append(token)
        ended, was_bar = kind in style.ends, kind == "BAR"
        depth += (kind in OPENING) - (kind in CLOSING)
    _next(found, text[place:], style)
    return found[1:]


def _next(found: list[Statement], gap: str, style: Style) -> Statement:
    """A new statement after the others, with the comments of the gap before it."""
    last, new = found[-1], Statement()
    # What was moved after the last token.
    for comment in last.inside.pop(len(last.tokens), ()):
        (new.above if comment.breaks else last.behind).append(comment)
    found.append(new)
    if gap.isspace() or not gap:
        new.breaks = len(_BREAK.findall(gap))
        return new
    on_line = bool(last.tokens)
    end = 0
    for piece in style.trivia.finditer(gap):
        if piece["label"]:
            new.label = piece[0]
        end = piece.end()
    for comment in _comments(gap, style):
        on_line = on_line and comment.breaks == 0
        (last.behind if on_line else new.above).append(comment)
        on_line = on_line and not comment.ends_line
    new.breaks = len(_BREAK.findall(gap, end))
    return new


def _comments(gap: str, style: Style) -> Iterator[Comment]:
    place = 0
    for piece in style.trivia.finditer(gap):
        breaks = len(_BREAK.findall(gap, place, piece.start()))
        place = piece.end()
        if not piece["label"]:
            is_last = not piece[0].startswith(_ENDED) or _ENDS_LINE.match(gap, place) is not None
            yield Comment(piece[0].rstrip(), breaks, is_last)
