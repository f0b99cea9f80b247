"""Regular expressions: a dialect of their own, and the terminals of other dialects."""

import re
from dataclasses import replace
from typing import ClassVar

from lark import Token

from ..automata import regex as ir
from ..automata.unicode import code_points
from ..diagnostics import Diagnostic, DialectError, Source, Span
from ..grammar.tree import Pattern, Rule
from ..limits import Limits
from .builder import Builder, pattern_of, span_of
from .escapes import HEX_DIGITS, Unescaped, is_scalar
from .parse import parse

_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_CLASSES = {"d": "digit", "s": "space", "w": "word"}
_KINDS = {"d": "DIGIT", "s": "WHITESPACE", "w": "WORD"}
# The first end of a range; a hyphen may stand inside the braces of an escape.
_ATOM = re.compile(r"\\(?:[xuU]\{[^}]*\}|x..|u.{4}|U.{8}|.)|.", re.DOTALL)

# Characters of the longest {m,n} that is read: two numbers of nine digits.
_LONGEST_COUNT = 22

_UNSUPPORTED = {
    "(?=": "look-ahead asks about text that is not matched yet",
    "(?!": "look-ahead asks about text that is not matched yet",
    "(?<=": "look-behind is not supported",
    "(?<!": "look-behind is not supported",
    "(?>": "atomic groups depend on the order of a search, which a mask has not",
    "^": "the whole text must match: '^' is allowed only as the first character",
    "$": "the whole text must match: '$' is allowed only as the last character",
}


class RegexBuilder(Builder):
    """Builds an IR node from ``regex.lark``, and the one rule ``start`` around it."""

    grammar_file: ClassVar[str] = "regex.lark"
    expected: ClassVar[dict[str, str]] = {
        "BAR": "'|'",
        "GROUP_CLOSE": "')'",
        "CLASS_CLOSE": "']'",
        "CHAR": "a character",
        "QUANTIFIER": "a quantifier",
        "CLASS_CHAR": "a character",
        "CLASS_RANGE": "a range",
        "ESCAPE": "an escape",
        "$END": "the end of the regex",
    }
    hints: ClassVar[dict[str, str]] = {
        "QUANTIFIER": r"a quantifier stands behind what it repeats; write \*, \+, \? or \{ for "
        "the character",
        "GROUP_CLOSE": r"write \) for the character",
    }
    opening: ClassVar[frozenset[str]] = frozenset({"GROUP_OPEN", "UNSUPPORTED_OPEN"})
    closing: ClassVar[frozenset[str]] = frozenset({"GROUP_CLOSE"})

    def __init__(self, source: Source, limits: Limits, flags: str = "") -> None:
        super().__init__(source, limits)
        self.flags = flags

    def start(self, items: list[Token | ir.Node]) -> tuple[Rule, ...]:
        """The whole expression as the rule ``start``."""
        node = _nodes(items)[0]
        span = Span(0, len(self.source.text))
        body = pattern_of(node, self.source.text, span)
        return (Rule("start", span, body, span),)

    def alternation(self, items: list[Token | ir.Node]) -> ir.Node:
        """sequence | sequence …"""
        return ir.alt(*_nodes(items))

    def sequence(self, items: list[ir.Node]) -> ir.Node:
        """One after the other; none is ε."""
        return ir.seq(*items)

    def quantified(self, items: list[Token | ir.Node]) -> ir.Node:
        """An item with * + ? {m} {m,} {m,n} behind it; lazy forms mean the same language."""
        node = _nodes(items)[0]
        for token in items[1:]:
            assert isinstance(token, Token)
            if token == "+" and token is not items[1]:
                message = "a possessive quantifier depends on the order of a search"
                self.report(message, span_of(token), "for a repetition of a repetition, group it")
            if len(token) > _LONGEST_COUNT:
                self.report("the count is too large", span_of(token))
                continue
            low, high = _counts(token)
            if high is not None and high < low:
                self.report(f"the count {token} runs backwards", span_of(token))
                high = low
            node = ir.repeat(node, low, high)
        return node

    def group(self, items: list[Token | ir.Node]) -> ir.Node:
        """( … ), (?: … ) and (?P<name> … ) are all plain groups."""
        return _nodes(items)[0]

    def any_char(self, _: list[Token]) -> ir.Node:
        """Any character but a line feed."""
        return ir.CharClass(ir.complement([(10, 10)]), "ANY")

    def literal(self, items: list[Token]) -> ir.Node:
        """A character that stands for itself."""
        return ir.lit(str(items[0]).encode("utf-8"))

    def escape(self, items: list[Token]) -> ir.Node:
        """\\d, \\n, \\x41, \\. …"""
        kind = _KINDS.get(items[0][1].lower(), "BRACKET")
        if kind != "BRACKET" and items[0][1].isupper():
            kind = f"NOT_{kind}"
        return ir.char_class(self._escaped(str(items[0]), span_of(items[0])), kind)

    def char_class(self, items: list[Token]) -> ir.Node:
        """[…] and [^…]"""
        opening, *members, _ = items
        ranges: list[tuple[int, int]] = [(0x5D, 0x5D)] if opening.endswith("]") else []
        for token in members:
            if token.type == "CLASS_CHAR":
                ranges.append((ord(token), ord(token)))
            elif token.type == "CLASS_ESCAPE":
                ranges.extend(self._escaped(str(token), span_of(token)))
            else:
                ranges.extend(self._range(token))
        if opening.startswith("[^"):
            ranges = list(ir.complement(ranges))
        return ir.char_class(ranges)

    def unsupported(self, items: list[Token | ir.Node]) -> ir.Node:
        """What would need another machine than a finite automaton over the text."""
        text = str(items[0])
        self.report(_UNSUPPORTED.get(text, f"{text} is not supported"), span_of(items[0]))
        return ir.EPSILON

    def _range(self, token: Token) -> ir.CodePoints:
        text = str(token)
        first = _ATOM.match(text)
        assert first is not None
        dash = first.end()
        span = span_of(token)
        ends: list[int] = []
        for part in (text[:dash], text[dash + 1 :]):
            found = self._escaped(part, span) if part[0] == "\\" else ((ord(part), ord(part)),)
            if len(found) != 1 or found[0][0] != found[0][1]:
                self.report(f"{part} is a class and cannot end a range", span)
                return ()
            ends.append(found[0][0])
        if ends[0] > ends[1]:
            self.report(f"the range {text} runs backwards", span)
            return ()
        return ((ends[0], ends[1]),)

    def _escaped(self, text: str, span: Span) -> ir.CodePoints:
        """The code points of an escape, with its backslash."""
        letter = text[1]
        if letter.lower() in _CLASSES:
            ranges = code_points(_CLASSES[letter.lower()])
            return ir.complement(ranges) if letter.isupper() else ranges
        if letter in _CONTROL and text[2:] == "":
            return _single(ord(_CONTROL[letter]))
        if letter in "xuU":
            return self._code_point(text, span)
        if letter.isascii() and letter.isalnum():
            self.report(_why_not(letter, text), span)
            return ()
        return _single(ord(letter))

    def _code_point(self, text: str, span: Span) -> ir.CodePoints:
        width = {"x": 2, "u": 4, "U": 8}[text[1]]
        digits = text[3:-1] if text[2:3] == "{" else text[2:]
        if text[2:3] != "{" and len(digits) != width:
            self.report(f"\\{text[1]} needs {width} hexadecimal digits, or braces", span)
            return ()
        code = int(digits, 16) if digits and HEX_DIGITS.issuperset(digits) else -1
        if code < 0 or not is_scalar(code):
            self.report(f"{text} is no code point that UTF-8 can encode", span)
            return ()
        return _single(code)


class RegexFileBuilder(RegexBuilder):
    """The same for a file, which ends with a line break that its author does not mean."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(replace(source, text=_without_last_break(source.text)), limits)


def _without_last_break(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def parse_pattern(
    text: Unescaped,
    source: Source,
    limits: Limits,
    diagnostics: list[Diagnostic],
    flags: str = "",
) -> ir.Node:
    """The expression inside a quoted regex of another dialect.

    ``flags``: those that hold from its beginning, as in ``(?i)``: any of ``imsxu``.
    What is wrong goes to ``diagnostics``, its carets mapped back through the quotes' escapes.
    """
    builder = RegexBuilder(Source(text.text, source.name, "regex"), limits, flags)
    try:
        (rule,) = parse(builder)
    except DialectError as error:
        for found in error.diagnostics:
            span = found.span and text.span(found.span.start, found.span.end)
            diagnostics.append(Diagnostic(found.message, span, found.help))
        return ir.EPSILON
    assert isinstance(rule.body, Pattern)
    return rule.body.node


def _nodes(items: list[Token | ir.Node]) -> list[ir.Node]:
    return [item for item in items if not isinstance(item, Token)]


def _single(code: int) -> ir.CodePoints:
    return ((code, code),)


def _counts(token: Token) -> tuple[int, int | None]:
    text = str(token)
    if len(text) > 1 and text.endswith("?"):
        text = text[:-1]
    if text in "?*+":
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[text]
    low, _, high = text[1:-1].partition(",")
    return int(low), int(high) if high else (None if "," in text else int(low))


def _why_not(letter: str, text: str) -> str:
    if letter in "bBAzZG":
        return f"the assertion {text} is not supported inside an expression"
    if letter in "pP":
        return f"the property {text} is not supported"
    if letter == "0":
        return f"the octal escape {text} is not supported; write \\xHH"
    if letter.isdigit():
        return f"{text} is a back-reference, which no finite automaton can follow"
    return f"unknown escape {text}"
