"""Lints that look at how characters and classes are written: escapes, brackets."""

import re
from collections.abc import Iterator

from ..diagnostics import Span
from ..grammar.tree import Grammar, Literal, Pattern, Rule, walk
from .finding import Finding

# The dialects in which \xHH is an escape, and those in which [x] is a class.
_WITH_ESCAPES = frozenset({"kbnf", "gbnf", "lark", "regex", "regex-plain"})
_WITH_CLASSES = frozenset({"gbnf", "w3c"})

_HEX = re.compile(r"(?<!\\)(\\++)x([0-9A-Fa-f]{2})(?=(.?))", re.DOTALL)
_STRING = r"""("[^"]*"|'[^']*')"""
_OPTION = re.compile(rf"\[\s*{_STRING}(.*{_STRING})?\s*\]|\[\s+\w.*\s\]", re.DOTALL)
_DIGITS = frozenset("0123456789abcdefABCDEF")


def hex_escapes(grammar: Grammar) -> Iterator[Finding]:
    """``"\\x41B"``, which is ``AB``, and ``"\\xFF"``, which is U+00FF and no byte."""
    if grammar.source.dialect not in _WITH_ESCAPES:
        return
    for rule, node in _terminals(grammar):
        text = grammar.source.text[node.span.start : node.span.end]
        quoted_regex = isinstance(node, Pattern) and text.startswith("#")
        for found in _HEX.finditer(text):
            slashes = len(found[1])
            # A regex in quotes is a string first: two backslashes are one there.
            if slashes % 2 == 0 and not (quoted_regex and slashes // 2 % 2 == 1):
                continue
            start = node.span.start + found.end(1) - 1
            span = Span(start, node.span.start + found.end())
            if int(found[2], 16) >= 0x80:
                message = f"\\x{found[2]} is the character U+00{found[2].upper()}, not a byte"
                hint = f"write \\u00{found[2].upper()} if the character is meant"
                yield Finding("high-hex-escape", message, span, rule.name, hint)
            if isinstance(node, Literal) and found[3] in _DIGITS and found[3]:
                message = f"\\x takes two digits: this is \\x{found[2]} and the text {found[3]!r}"
                hint = (
                    f"write \\u0{(found[2] + found[3]).upper()} if one character is meant, else "
                    f"two strings"
                )
                yield Finding(
                    "hex-escape-digit", message, Span(start, span.end + 1), rule.name, hint
                )


def options_as_classes(grammar: Grammar) -> Iterator[Finding]:
    """``["a" | "b"]`` and ``[ x ]``, options elsewhere, where ``[…]`` is a class."""
    if grammar.source.dialect not in _WITH_CLASSES:
        return
    for rule, node in _terminals(grammar):
        text = grammar.source.text[node.span.start : node.span.end]
        if isinstance(node, Pattern) and _OPTION.fullmatch(text):
            message = "[ ] is a class of characters here: it matches one of those inside it"
            hint = "an option is written ( … )?"
            yield Finding("option-as-class", message, node.span, rule.name, hint)


def _terminals(grammar: Grammar) -> Iterator[tuple[Rule, Literal | Pattern]]:
    for rule in grammar.rules:
        for expr in walk(rule.body):
            if isinstance(expr, Literal | Pattern):
                yield rule, expr
