"""GBNF, the grammars of llama.cpp.

As there, ``.`` is any character, line feeds included; ``[x]`` is a class and ``{m,n}`` a
count; escapes are code points, never bytes; an alternative may be empty. Stricter than
there: strings and classes end on the line they begin on, and no rule is defined twice.
"""

import re
from collections.abc import Iterator
from typing import ClassVar

from lark import Token
from lark.lark import PostLex

from ..automata import regex_ir as ir
from ..diagnostics import Span
from ..grammar.tree import Expr, Literal, Pattern, Rule
from ..grammar.tree import Token as TokenNode
from .builder import (
    USUAL_TOKENS,
    EbnfBuilder,
    is_scalar,
    literal_of,
    nothing_at,
    pattern_of,
    span_of,
)
from .characters import Character, class_pattern

_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_WIDTHS = {"x": 2, "u": 4, "U": 8}
_ESCAPE = re.compile(r"\\(?:x.{0,2}|u.{0,4}|U.{0,8}|.)", re.DOTALL)

# Strings and classes that do not end.
_STRING_START = r'"(?!(?:\\[^\r\n]|[^"\\\r\n]+)*+")'
_CLASS_START = r"\[(?!(?:\\[^\r\n]|[^\]\\\r\n]+)*+\])"

_TOKENS = "a token is written <name>, <[id]> with its number, !<name> or !<[id]>"

_ONE_LINE = "a line break ends a rule: end the line before with '|' or put the rule in ( )"


class LineBreaks(PostLex):
    """Keeps the line breaks that end rules: none in parentheses, behind ``|`` or ``::=``, or
    behind another."""

    always_accept = ("NEWLINE",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens without the line breaks that mean nothing."""
        depth = 0
        last = "NEWLINE"
        for token in stream:
            depth += (token.type == "ROUND_OPEN") - (token.type == "ROUND_CLOSE")
            if token.type == "NEWLINE" and (depth > 0 or last in ("NEWLINE", "BAR", "DEFINES")):
                continue
            last = token.type
            yield token


class GbnfBuilder(EbnfBuilder):
    """Builds rules from ``gbnf.lark``."""

    grammar_file: ClassVar[str] = "gbnf.lark"
    postlex: ClassVar[PostLex | None] = LineBreaks()
    expected: ClassVar[dict[str, str]] = {
        **USUAL_TOKENS,
        "DEFINES": "'::='",
        "DOT": "'.'",
    }
    hints: ClassVar[dict[str, str]] = {
        "DEFINES": "a rule begins on a line of its own, once the one before it is complete",
        "NEWLINE": "a rule is written name ::= …",
        "POSTFIX": "'?', '*' and '+' stand behind what they repeat",
        "COUNT": "a count stands behind what it repeats",
        "STRING": _ONE_LINE,
        "CLASS": _ONE_LINE,
        "DOT": _ONE_LINE,
        "ROUND_OPEN": _ONE_LINE,
        "ROUND_CLOSE": "no '(' is open here",
        "TOKEN": f"the name of a rule stands without < >; {_ONE_LINE}",
    }
    opening: ClassVar[frozenset[str]] = frozenset({"ROUND_OPEN"})
    rule_ends: ClassVar[frozenset[str]] = frozenset({"NEWLINE"})
    next_rule: ClassVar[str | None] = r"^[ \t]*(?P<rule>[A-Za-z0-9_-]+[ \t]*::=)"
    comment: ClassVar[tuple[str, str]] = ("#", "\n")
    closing: ClassVar[frozenset[str]] = frozenset({"ROUND_CLOSE"})
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (
            _STRING_START,
            "string without an end",
            r'it ends with " on the same line; a line break is \n',
        ),
        (
            _CLASS_START,
            "class without an end",
            r"it ends with ] on the same line; write \[ for '['",
        ),
        ("'", "", 'strings stand in double quotes: "…"'),
        (";", "", "rules do not end with ';' here: a line break ends a rule"),
        ("(?!::=)(::?=?|=)", "", "a rule is written name ::= …"),
        (r"\{[ \t]*,", "", "a count needs its lower end: {0,n}"),
        (r"\{(?![ \t]*[0-9])", "", "{m,n} is a count here; a repetition is written ( … )*"),
        (r"\|", "'|' at the beginning of a rule or line", "put '|' at the end of the line before"),
        (r"//|/\*|\(\*", "", "comments begin with '#'"),
        (",", "", "items stand side by side, without ','"),
    )

    def start(self, items: list[Token | Rule]) -> tuple[Rule, ...]:
        """All rules."""
        rules = tuple(item for item in items if isinstance(item, Rule))
        self.report_redefinitions(rules)
        return rules

    def rule(self, items: list[Token | Expr | None]) -> Rule:
        """NAME ::= choice"""
        name, defines, body = items
        assert isinstance(name, Token)
        assert not isinstance(body, Token)
        if body is None:
            body = nothing_at(span_of(defines).end)
        span = Span(span_of(name).start, max(body.span.end, self.last_group_end))
        return Rule(str(name), span_of(name), body, span)

    def string(self, items: list[Token]) -> Literal:
        """A quoted text."""
        token, span = items[0], span_of(items[0])
        text = token[1:-1]
        if "\\" in text:
            first = span.start + 1

            def undone(found: re.Match[str]) -> str:
                code = self._escape(found[0], Span(first + found.start(), first + found.end()))
                return chr(code) if code >= 0 else ""

            text = _ESCAPE.sub(undone, text)
        return literal_of(text, span)

    def char_class(self, items: list[Token]) -> Pattern:
        """[…] and [^…]"""
        return class_pattern(items[0], self._characters, self.report, self.limits)

    def any_char(self, items: list[Token]) -> Pattern:
        """Any character, line feeds included."""
        return pattern_of(ir.char_class(ir.complement(()), "ANY"), ".", span_of(items[0]))

    def token(self, items: list[Token]) -> TokenNode:
        """<name>, <[id]> and their negations."""
        text, span = str(items[0]), span_of(items[0])
        negated = text.startswith("!")
        name = text.removeprefix("!")
        if not name.startswith("<["):
            if name == "<>":
                self.report("a token needs a name", span, _TOKENS)
            return TokenNode(name, (), negated, span)
        number = re.fullmatch(r"<\[([0-9]{1,9})\]>", name)
        if number is None:
            self.report(f"{name} names no token", span, _TOKENS)
            return TokenNode(name, (), negated, span)
        token_id = int(number[1])
        return TokenNode(None, ((token_id, token_id),), negated, span)

    def _characters(self, text: str, offset: int) -> Iterator[Character]:
        """The characters of a string or class that stands at ``offset``, escapes undone."""
        i = 0
        while i < len(text):
            length, code = 1, ord(text[i])
            if text[i] == "\\":
                length = 2 + _WIDTHS.get(text[i + 1], 0)
                code = self._escape(text[i : i + length], Span(offset + i, offset + i + length))
            yield Character(code, Span(offset + i, offset + i + length), length == 1)
            i += length

    def _escape(self, text: str, span: Span) -> int:
        """The code point of an escape, with its backslash; -1 if there is none."""
        letter = text[1]
        if letter in _SIMPLE:
            return ord(_SIMPLE[letter])
        span = Span(span.start, span.start + len(text))
        width = _WIDTHS.get(letter)
        if width is None:
            known = r"known: \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH"
            self.report(f"unknown escape {text}", span, known)
        elif not re.fullmatch(f"[0-9A-Fa-f]{{{width}}}", text[2:]):
            self.report(f"\\{letter} needs {width} hexadecimal digits", Span(span.start, span.end))
        elif not is_scalar(int(text[2:], 16)):
            self.report(f"{text} is no code point that UTF-8 can encode", span)
        else:
            return int(text[2:], 16)
        return -1
