"""Regular expressions as a dialect of their own, and as terminals of other dialects.

``compiler/grammar/regex_parser.py`` reads them; here they become rules and patterns of a grammar.
"""

from dataclasses import replace
from typing import ClassVar

from ..automata import regex_ir as ir
from ..diagnostics import Diagnostic, Source, Span
from ..grammar.regex_lexer import PLAIN, UnexpectedError
from ..grammar.regex_parser import Parser
from ..grammar.tree import Pattern, Rule
from ..limits import Limits
from .builder import Builder, Unescaped


class RegexBuilder(Builder):
    """A text that is one regular expression, which the whole of a member must match."""

    only_rule: ClassVar[str] = "start"
    flags: ClassVar[frozenset[str]] = frozenset()
    is_extended: ClassVar[bool] = False

    def whole(self) -> tuple[Rule, ...]:
        """The expression as the rule ``start``. Raises ``UnexpectedError``."""
        text = self.source.text
        parser = Parser(text, self.limits, self.flags, extended=self.is_extended)
        try:
            node = ir.without_outer_anchors(parser.parse())
        finally:
            self.diagnostics += parser.found
        span = Span(0, len(text))
        return (Rule("start", span, Pattern(node, text, span), span),)


class RegexFileBuilder(RegexBuilder):
    """The same for a file, which ends with a line break that its author does not mean."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(replace(source, text=_without_last_break(source.text)), limits)


class PlainRegexBuilder(RegexBuilder):
    """The same for a text whose author has Python's or ECMAScript's syntax in mind."""

    flags: ClassVar[frozenset[str]] = frozenset({PLAIN})


class PlainRegexFileBuilder(RegexFileBuilder, PlainRegexBuilder):
    """The same for a file."""


class ExtendedRegexFileBuilder(RegexFileBuilder):
    """The same with intersections and complements."""

    is_extended: ClassVar[bool] = True


def _without_last_break(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def parse_pattern(
    text: Unescaped,
    limits: Limits,
    diagnostics: list[Diagnostic],
    flags: str = "",
    *,
    plain_classes: bool = False,
) -> ir.Node:
    """The expression inside a quoted regex of another dialect.

    ``flags``: those that hold from its beginning, as in ``(?i)``: any of ``imsxu``.
    ``plain_classes``: the syntax is Python's.
    What is wrong goes to ``diagnostics``, its carets mapped back through the quotes' escapes.
    """
    parser = Parser(text.text, limits, frozenset(flags) | ({PLAIN} if plain_classes else set()))
    found = parser.found
    try:
        node = ir.without_outer_anchors(parser.parse())
    except UnexpectedError as error:
        node, found = ir.EPSILON, [error.diagnostic, *found]
    for each in found:
        span = each.span and text.span(each.span.start, each.span.end)
        diagnostics.append(Diagnostic(each.message, span, each.help))
    return node
