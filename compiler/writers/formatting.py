"""Format a text: its statements one below the other, and the tokens compared at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from constrain.artifacts.errors import ConstrainError, visible

from ..diagnostics import DialectError, Source
from ..dialects import DIALECTS, read_grammar
from ..dialects.parse import tokens_of
from ..limits import Limits
from .layout import Layout, laid_out, lines
from .statements import Statement, statements
from .token_styles import STYLES, Style

# Before a comment that stands after a statement.
_COMMENT_GAP = "  "

# Names that are longer do not move the signs of their neighbours.
_LONGEST_ALIGNED = 32


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """``line_length``: characters that a line may have. ``align``: the signs of definitions below
    each other stand in one column."""

    line_length: int = 100
    align: bool = False


class FormattingError(ConstrainError):
    """The text cannot be formatted: its dialect has no layout here, or (an error of this program)
    the result would not be the same grammar."""


def format_text(
    text: str,
    dialect: str,
    options: FormatOptions = FormatOptions(),
    *,
    name: str = "<grammar>",
    limits: Limits | None = None,
    is_guessed: bool = False,
) -> str:
    """The text in the one layout, with the same tokens and comments.

    ``name``: what errors call it. ``is_guessed``: as of ``read_grammar``. Undefined rules, wrong
    escapes and what else needs no parser to be seen are left as they are.

    Raises ``GrammarError`` with places where the text cannot be read, ``FormattingError`` for
    dialects without a layout, ``LimitError``.
    """
    style = STYLES.get(dialect)
    if style is None:
        known = ", ".join(STYLES)
        raise FormattingError(f"{visible(name)}: {dialect} has no layout; those that have: {known}")
    limits = limits or Limits()
    source = Source(text, name, dialect)
    try:
        read = _statements(source, style, limits)
    except DialectError:
        # Says what is wrong, or that the text is of no dialect but its own.
        grammar = read_grammar(text, dialect, name=name, limits=limits, is_guessed=is_guessed)
        if grammar.source.dialect == dialect:
            raise
        return format_text(text, grammar.source.dialect, options, name=name, limits=limits)
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    written = _written(read, style, options, newline)
    try:
        again = _statements(Source(written, name, dialect), style, limits)
    except DialectError:
        again = []
    if [_said(each, style) for each in read] != [_said(each, style) for each in again]:
        raise FormattingError(
            f"{visible(name)}: formatted it would not be the same grammar, so it is left as it is; "
            "please report this text"
        )
    return written


def _statements(source: Source, style: Style, limits: Limits) -> list[Statement]:
    row = DIALECTS[source.dialect]
    assert row.builder is not None
    return statements(source.text, tokens_of(row.builder(source, limits)), style)


def _said(statement: Statement, style: Style) -> tuple[list[str], ...]:
    """What must not change: tokens and comments."""
    kinds = [token.type for token in statement.tokens]
    texts = [
        "".join(token.split()) if kind in style.squeezed or kind in style.signs else str(token)
        for kind, token in zip(kinds, statement.tokens, strict=True)
    ]
    return kinds, texts, [statement.label]


def _written(read: Sequence[Statement], style: Style, options: FormatOptions, newline: str) -> str:
    layouts = [laid_out(each, style) for each in read]
    pads = _pads(read, layouts) if options.align else [0] * len(read)
    out: list[str] = []
    for statement, layout, pad in zip(read, layouts, pads, strict=True):
        for comment in statement.above:
            out += [newline] * (comment.breaks > 1 and bool(out))
            out += [comment.text, newline]
        if not statement.tokens:
            break
        out += [newline] * (statement.breaks > 1 and bool(out))
        out.append(lines(layout, style, options.line_length, pad, newline))
        out += [part for each in statement.behind for part in (_COMMENT_GAP, each.text)]
        out.append(newline)
    return "".join(out)


def _pads(read: Sequence[Statement], layouts: Sequence[Layout]) -> list[int]:
    """How many spaces stand after each name: rules without a line between them are aligned."""
    pads, block = [0] * len(read), list[int]()
    for place, (statement, layout) in enumerate(zip(read, layouts, strict=True)):
        if statement.above or statement.breaks > 1:
            block = []
        if layout.head and len(layout.head) <= _LONGEST_ALIGNED:
            block.append(place)
            widest = max(len(layouts[each].head) for each in block)
            for each in block:
                pads[each] = widest - len(layouts[each].head)
    return pads
