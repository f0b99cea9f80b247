"""Characters and classes as GBNF and W3C EBNF write them, and texts in either case.

[a-z -]    ->    the range a-z, a space, and a hyphen
"ab"i      ->    [aA] [bB]
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lark import Token

from ..automata import regex_ir as ir
from ..diagnostics import Span
from ..grammar.tree import Pattern
from ..limits import Limits
from .builder import pattern_of, span_of
from .lalr_driver import CLOCK_STRIDE


def either_case(text: str) -> ir.Node:
    """The node of a text with each letter in either case, where that is one character."""
    return ir.seq(*(ir.char_class([(code, code) for code in _variants(char)]) for char in text))


def _variants(char: str) -> set[int]:
    return {ord(other) for other in (char, char.lower(), char.upper()) if len(other) == 1}


Report = Callable[[str, Span, str | None], None]


@dataclass(frozen=True, slots=True)
class Character:
    """One character; ``plain`` if it stands for itself and is not written as an escape.
    ``code`` is -1 if the escape is wrong and has been reported."""

    code: int
    span: Span
    plain: bool

    @property
    def text(self) -> str:
        """The character, or nothing for a wrong escape."""
        return chr(self.code) if self.code >= 0 else ""


def class_pattern(
    token: Token,
    characters: Callable[[str, int], Iterable[Character]],
    report: Report,
    limits: Limits,
) -> Pattern:
    """The node of a token ``[…]`` or ``[^…]``; ``characters``: of a text at an offset."""
    span = span_of(token)
    head = 2 if token.startswith("[^") else 1
    members: list[Character] = []
    for member in characters(token[head:-1], span.start + head):
        members.append(member)
        if len(members) % CLOCK_STRIDE == 0:
            limits.check_resources("reading the grammar")
    return pattern_of(class_of(members, head == 2, span, report), str(token), span)


def class_of(members: Sequence[Character], negated: bool, span: Span, report: Report) -> ir.Node:
    """The node of ``[…]`` or ``[^…]``; a plain hyphen between two members makes a range.

    A hyphen at either end stands for itself: ``a - z -`` is the range a-z and a hyphen.
    """
    if not members:
        report("a character class needs a member", span, None)
    ranges: list[tuple[int, int]] = []
    i = 0
    while i < len(members):
        low = high = members[i]
        if i + 2 < len(members) and members[i + 1].plain and members[i + 1].code == ord("-"):
            high = members[i + 2]
            i += 2
        if low.code > high.code >= 0:
            report("the range runs backwards", low.span.cover(high.span), None)
        elif min(low.code, high.code) >= 0:
            ranges.append((low.code, high.code))
        i += 1
    return ir.char_class(ir.complement(ranges) if negated else ranges)
