"""Characters and classes as GBNF and W3C EBNF write them, and texts in either case.

[a-z -]    ->    the range a-z, a space, and a hyphen
"ab"i      ->    [aA] [bB]
"""

import re
from collections.abc import Callable

from ..automata import regex_ir as ir
from ..diagnostics import Span
from ..grammar.tree import Pattern
from ..limits import Limits
from .builder import Token
from .lalr_driver import CLOCK_STRIDE


def either_case(text: str) -> ir.Node:
    """The node of a text with each letter in either case, where that is one character."""
    return ir.seq(*(ir.char_class([(code, code) for code in _variants(char)]) for char in text))


def _variants(char: str) -> set[int]:
    return {ord(other) for other in (char, char.lower(), char.upper()) if len(other) == 1}


Report = Callable[[str, Span, str | None], None]


def class_pattern(
    token: Token,
    member: re.Pattern[str],
    code_of: Callable[[str, int], int],
    report: Report,
    limits: Limits,
) -> Pattern:
    """The node of a token ``[…]`` or ``[^…]``; a plain hyphen between two members makes a range.

    A hyphen at either end stands for itself: ``a - z -`` is the range a-z and a hyphen. ``member``:
    one member, or two and the hyphen between them, in two groups. ``code_of``: the code point of
    what is written in more than one character at a place, -1 if it is wrong and was reported.
    """
    span = token.span
    negated = token.startswith("[^")
    ranges: list[tuple[int, int]] = []
    backwards: list[Span] = []
    count = 0
    members = member.finditer(token, 2 if negated else 1, len(token) - 1)
    for count, found in enumerate(members, 1):
        first, last = found.groups()
        low = high = ord(first) if len(first) == 1 else code_of(first, span.start + found.start())
        if last is not None:
            high = ord(last) if len(last) == 1 else code_of(last, span.start + found.start(2))
        if 0 <= low <= high:
            ranges.append((low, high))
        elif 0 <= high < low:
            backwards.append(Span(span.start + found.start(), span.start + found.end()))
        if count % CLOCK_STRIDE == 0:
            limits.check_resources("reading the grammar")
    if not count:
        report("a character class needs a member", span, None)
    for place in backwards:
        report("the range runs backwards", place, None)
    node = ir.char_class(ir.complement(ranges) if negated else ranges)
    return Pattern(node, str(token), span)
