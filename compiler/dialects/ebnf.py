"""What the builders of all EBNF dialects share: names of tokens, and the nodes of operators.

A dialect overrides what means something else there.
"""

from collections.abc import Mapping, Sequence

from lark import Token

from ..diagnostics import Span
from ..grammar.tree import Expr, Repetition
from .builder import (
    QUANTITIES,
    Builder,
    Item,
    choice_or_nothing,
    inner,
    nothing_at,
    quantified,
    reference_to,
    sequence_of,
    span_of,
    span_over,
)

# What messages call the tokens that are the same in several dialects.
USUAL_TOKENS: Mapping[str, str] = {
    "BAR": "'|'",
    "COMMA": "','",
    "MINUS": "'-'",
    "POSTFIX": "'?', '*' or '+'",
    "COUNT": "a count {m,n}",
    "ROUND_OPEN": "'('",
    "ROUND_CLOSE": "')'",
    "SQUARE_OPEN": "'['",
    "SQUARE_CLOSE": "']'",
    "CURLY_OPEN": "'{'",
    "CURLY_CLOSE": "'}'",
    "NAME": "a rule name",
    "STRING": "a string",
    "CLASS": "a class […]",
    "NEWLINE": "a line break",
    "$END": "the end of the file",
}

# Digits of the longest number in a count that is read.
LONGEST_NUMBER = 9


class EbnfBuilder(Builder):
    """Base of the builders of dialects with rules; ``regex`` alone has none."""

    def choice(self, items: list[Item | None]) -> Expr | None:
        """sequence | sequence …; None for one that is empty."""
        return choice_or_nothing(items)

    def sequence(self, items: list[Item]) -> Expr | None:
        """item item …, with commas or without; None if there is no item."""
        return sequence_of(items) if items else None

    def postfix(self, items: list[Item]) -> Expr:
        """item with the operators behind it that say how often it stands there"""
        return quantified(inner(items)[0], [t for t in items if isinstance(t, Token)], self.times)

    def reference(self, items: list[Token]) -> Expr:
        """A rule's name."""
        return reference_to(items[0])

    def group(self, items: list[Item | None]) -> Expr:
        """( choice )"""
        _, body, closing = items
        self.last_group_end = span_of(closing).end
        assert not isinstance(body, Token)
        return nothing_at(span_of(closing).start) if body is None else body

    def option(self, items: list[Item | None]) -> Expr:
        """[ choice ]"""
        return Repetition(self.group(items), 0, 1, _over_brackets(items))

    def repetition(self, items: list[Item | None]) -> Expr:
        """{ choice }"""
        return Repetition(self.group(items), 0, None, _over_brackets(items))

    def times(self, text: str, span: Span) -> tuple[int, int | None]:
        """How often ``?``, ``*``, ``+`` or a count repeats; a wrong count is reported."""
        if text in QUANTITIES:
            return QUANTITIES[text]
        numbers = [n.strip() for n in text.strip("~{} \t").replace("..", ",").split(",")]
        if any(len(number) > LONGEST_NUMBER for number in numbers):
            self.report("the count is too large", span)
            return 0, None
        low, high = int(numbers[0] or 0), int(numbers[-1]) if numbers[-1] else None
        if high is not None and high < low:
            self.report(f"the count {text} runs backwards", span)
            high = low
        return low, high


def _over_brackets(items: Sequence[Item | None]) -> Span:
    return span_over([items[0], items[-1]])
