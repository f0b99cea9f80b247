"""Run Lark's LALR parser over a text, and say in words what it did not expect."""

from contextvars import ContextVar
from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lark import PostLex
from lark.parsers.lalr_interactive_parser import InteractiveParser

from ..diagnostics import Diagnostic, DialectError, Span, visible
from ..grammar.tree import Rule
from .builder import Builder

# Tokens between two looks at the clock.
_CLOCK_STRIDE = 1024

# How many of the possible continuations a message lists.
_LISTED = 8

_building: ContextVar[Builder] = ContextVar("_building")


class UnexpectedError(DialectError):
    """The parser met what it did not expect."""


def parse(builder: Builder) -> tuple[Rule, ...]:
    """The rules that a builder makes of its source.

    Raises ``UnexpectedError`` with what the parser did not expect, or else ``DialectError``
    with all that the builder found; ``LimitError`` on brackets nested too deep.
    """
    source = builder.source
    interactive = _parser(builder.grammar_file, builder.postlex).parse_interactive(source.text)
    token = None
    depth = count = 0
    reset = _building.set(builder)
    try:
        for token in builder.tokens(interactive):
            depth += (token.type in builder.opening) - (token.type in builder.closing)
            builder.limits.check_nesting(depth, "the grammar")
            count += 1
            if count % _CLOCK_STRIDE == 0:
                builder.limits.check_time("reading the grammar")
        rules: tuple[Rule, ...] = interactive.feed_eof(token)  # type: ignore[no-untyped-call]
    except UnexpectedInput as error:
        found = _explain(error, interactive, builder)
        raise UnexpectedError(source, [*builder.diagnostics, found]) from None
    finally:
        _building.reset(reset)
    if builder.diagnostics:
        raise DialectError(source, builder.diagnostics)
    return rules


class _Forward:
    """Passes Lark's calls on to the builder of the parse that is going on.

    Lark binds its callbacks when a grammar is compiled, which takes longer than most parses;
    so one compiled parser serves all builders of a dialect.
    """

    def __getattr__(self, name: str) -> Any:
        if not name.islower() or name.startswith("_"):
            raise AttributeError(name)  # Terminals and inlined rules have no callback.

        def forward(children: list[Any]) -> Any:
            return getattr(_building.get(), name)(children)

        return forward


@cache
def _parser(grammar_file: str, postlex: PostLex | None) -> Lark:
    text = Builder.folder().joinpath(grammar_file).read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        transformer=_Forward(),
        keep_all_tokens=True,
        maybe_placeholders=False,
        postlex=postlex,
    )


def _explain(
    error: UnexpectedInput, interactive: InteractiveParser, builder: Builder
) -> Diagnostic:
    """What stands there, what could have stood there, and a help line if one is known."""
    text = builder.source.text
    hint = None
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        token: Token = error.token
        span = Span(token.start_pos or 0, token.end_pos or 0)
        found, hint = _quoted(str(token)), builder.hints.get(token.type)
    elif isinstance(error, UnexpectedCharacters):
        offset = error.pos_in_stream or 0
        span = Span(offset, offset + 1)
        found = _quoted(text[offset])
    else:
        # The caret goes behind the last thing that was read, not to the empty last line.
        end = len(text.rstrip())
        span = Span(end, end + 1)
        found, hint = builder.expected["$END"].removeprefix("the "), builder.hints.get("$END")
    found, hint = builder.known_mistake(text, span.start) or (found, hint)
    possible = interactive.accepts()  # type: ignore[no-untyped-call]
    expected = sorted({builder.expected[name] for name in possible if name in builder.expected})
    listed = ", ".join(expected[:_LISTED]) + (", …" if len(expected) > _LISTED else "")
    message = f"unexpected {found} (read as {builder.source.dialect})"
    if expected:
        message += f"; expected {listed}"
    return Diagnostic(message, span, hint)


def _quoted(text: str) -> str:
    if text[:1] in ("\n", "\r"):
        return "line break"
    line = visible(text.split("\n")[0])
    return f"'{line[:40]}{'…' if line[:40] != text else ''}'"
