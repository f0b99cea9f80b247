"""The lines of a statement: on one, if it fits; else its alternatives one a line.

    value ::= object | array | string;

    value ::= object
            | "[" ( long_rule_name_of_items
                  | other_items
                  )* "]"
            | string;

Brackets that do not fit are opened the same way, from the outside in; sequences are filled
(Oppen 1980, with consistent breaks before bars and inconsistent ones between items). One pass and
no recursion: how wide each part is without breaks is known before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..dialects.builder import CLOSING, OPENING, Token
from .statements import Comment, Statement
from .token_styles import Style

# A name so long that what stands after it does not begin below it, and where that begins instead.
_LONGEST_HEAD, _INDENT = 24, 6

# More than any line has: what holds a line break.
_ENDLESS = 1 << 30

_SPACE = re.compile(r"\s+")

# Comments among the words.
_COMMENT, _LAST_COMMENT, _OWN_COMMENT = "comment", "comment that ends a line", "comment on a line"


class _Word(NamedTuple):
    """``space``: before it, where both stand on one line."""

    kind: str
    text: str
    space: bool


class _Frame(NamedTuple):
    """Where the bars and items of brackets begin, those of the rule itself included."""

    bar: int
    item: int


@dataclass(slots=True)
class Layout:
    """``head``: the name of a rule with what belongs to it, ``sign``: what stands after that, both
    empty for what is no rule."""

    head: str
    sign: str
    words: list[_Word]
    is_spread: bool


def laid_out(statement: Statement, style: Style) -> Layout:
    """The words of a statement."""
    tokens, head, sign = statement.tokens, "", ""
    body = 0
    for place, token in enumerate(tokens):
        if token.type in style.signs:
            head, sign = _head(tokens[: place + 1], style)
            body = place + 1
            break
    head = f"{statement.label} {head}" if statement.label else head
    words: list[_Word] = []
    before, behind, inside = style.before, style.behind, statement.inside
    last = ""
    for place in range(body if inside == {} else 0, len(tokens)):
        if place in inside:
            for each in inside[place]:
                words.append(_comment(each))
            last = ""
        if place < body:
            continue
        token = tokens[place]
        kind = token.type
        if kind == "MINUS" and last == "CURLY_CLOSE" and _ends(tokens, place + 1):
            kind = "POSTFIX"  # Of ISO 14977: once or more.
        text = _squeezed(token, style)
        words.append(
            _Word(kind, text, bool(last == "" or (last not in before and kind not in behind)))
        )
        last = kind
    return Layout(head, sign, words, statement.is_spread)


def _comment(comment: Comment) -> _Word:
    kind = _COMMENT
    if comment.ends_line:
        kind = _OWN_COMMENT if comment.breaks else _LAST_COMMENT
    return _Word(kind, comment.text, True)


def _ends(tokens: Sequence[Token], place: int) -> bool:
    return place == len(tokens) or tokens[place].type in CLOSING | {"COMMA", "BAR", "TERMINATOR"}


def _squeezed(token: Token, style: Style) -> str:
    if token.type in style.squeezed:
        return _SPACE.sub(style.squeezed[token.type], token)
    return token


def _head(tokens: Sequence[Token], style: Style) -> tuple[str, str]:
    """The name and the sign of a rule."""
    *names, last = tokens
    if not names:  # One token is both, or it is a statement of its own.
        found = _NAMED.fullmatch(last)
        return (found[1], found[2]) if found else ("", _SPACE.sub(" ", last))
    parts = [_squeezed(token, style) for token in names]
    if not style.tight:
        attributes, bracket, sign = last.rpartition("]")  # Of GBNF, right after the name.
        return " ".join(parts) + attributes + bracket, sign.strip()
    spaced = ("COMMA", "OVERRIDE")
    return "".join(p + " " * (t.type in spaced) for p, t in zip(parts, names, strict=True)), last


_NAMED = re.compile(r"([^\s=:]+)\s*(::=|=/?)")


def lines(layout: Layout, style: Style, width: int, pad: int = 0, newline: str = "\n") -> str:
    """The text of a statement. ``pad``: spaces after the name, for signs in one column."""
    head, sign = layout.head, layout.sign
    space = " " if head and not style.tight else ""
    first = head + space + sign + " " * pad if style.tight else head + " " * pad + space + sign
    words = layout.words
    if not words:
        return first
    ends = _ends_of(words)
    column = len(first) + (1 if first else 0)
    if ends[-1] + column <= width and not layout.is_spread:
        return (first + " " if first else "") + _joined(words, 0, len(words))
    item = column if column - 1 <= _LONGEST_HEAD + pad else _INDENT
    frame = _Frame(max(0, item - 2), item)
    return _broken(first, words, ends, frame, style, width, newline)


def _joined(words: Sequence[_Word], begin: int, end: int) -> str:
    rest = [" " + word.text if word.space else word.text for word in words[begin + 1 : end]]
    return words[begin].text + "".join(rest)


def _ends_of(words: Sequence[_Word]) -> list[int]:
    """Where each word ends, all on one line."""
    ends, end = [], 0
    for place, word in enumerate(words):
        end += len(word.text) + (word.space and place > 0)
        if word.kind in (_LAST_COMMENT, _OWN_COMMENT) or "\n" in word.text:
            end += _ENDLESS
        ends.append(end)
    return ends


def _units(words: Sequence[_Word]) -> list[int]:
    """Where what begins with each word ends, brackets and what stands right after included."""
    found, closed = [0] * len(words), list[int]()
    for place in range(len(words) - 1, -1, -1):
        kind, end = words[place].kind, place + 1
        if kind in CLOSING:
            closed.append(place)
        elif kind in OPENING and closed:
            close = closed.pop()
            end = found[close]
        while end < len(words) and not words[end].space and words[end].kind not in CLOSING:
            if kind in OPENING and end == place + 1:
                break
            end = found[end]
        found[place] = end
    return found


def _broken(
    first: str,
    words: Sequence[_Word],
    ends: Sequence[int],
    frame: _Frame,
    style: Style,
    width: int,
    newline: str,
) -> str:
    """The lines, with all bars outside of brackets on lines of their own."""
    units = _units(words)
    parts, frames = [first], [frame]
    # What stands before the next word: nothing where a line or a bracket begins.
    fresh = not first
    must_break = behind_bar = False
    column = len(first)

    def to(place: int) -> None:
        nonlocal column, fresh, must_break
        while parts and not parts[-1].strip(" "):
            parts.pop()
        parts.append(newline + " " * place)
        column, fresh, must_break = place, True, False

    def write(text: str) -> None:
        nonlocal column, fresh
        parts.append(text)
        end = max(text.rfind("\n"), text.rfind("\r"))
        column = column + len(text) if end < 0 else len(text) - end - 1
        fresh = False

    i = 0
    while i < len(words):
        word, frame = words[i], frames[-1]
        kind = word.kind
        if kind == "BAR":
            if style.bars_end_lines and len(frames) == 1:
                write("|" if fresh else " |")
                must_break = behind_bar = True
            else:
                to(frame.bar)
                write(word.text)
                write(" " * (frame.item - frame.bar - len(word.text)))
                fresh = True
            i += 1
            continue
        if kind in CLOSING and len(frames) > 1:
            frames.pop()
            to(frame.bar)
            write(word.text)
            i += 1
            continue
        if kind in (_OWN_COMMENT, _LAST_COMMENT):
            is_own = kind == _OWN_COMMENT and not (fresh and column == frame.item)
            if is_own or (must_break and not behind_bar):
                to(frame.item)
            write(word.text if fresh else " " + word.text)
            must_break, behind_bar = True, False
            i += 1
            continue
        behind_bar = False
        size = ends[units[i] - 1] - ends[i] + len(word.text)
        gap = 0 if fresh or not word.space else 1
        may_break = style.free or len(frames) > 1
        too_wide = column + gap + size > width and may_break and word.space and column > frame.item
        if must_break or (too_wide and not fresh):
            to(frame.item)
            gap = 0
        if column + gap + size <= width and kind not in CLOSING:
            write(" " * gap + _joined(words, i, units[i]))
            i = units[i]
            continue
        begin = column + gap
        write(" " * gap + word.text)
        if kind in OPENING:
            frames.append(_Frame(begin, begin + len(word.text) + 1))
            write(" ")
            fresh = True
        i += 1
    return "".join(parts).rstrip(" ")
