"""What all dialects share when they turn Lark's tokens into nodes of the tree.

    token MINUS, node a, node b     ->  a builder's method  ->  Difference(a, b, span)
    token "a\\x41b"                 ->  unescape            ->  aAb, and where each character began

Lark calls the method that is named like a rule of the ``.lark`` file with the rule's children:
tokens, and what the methods returned for inner rules. No token is dropped, so the first and the
last child give the span. A method that finds something wrong adds to ``diagnostics`` and returns a
placeholder; the parse goes on, and all findings are raised together. ``Builder`` is the base of all
builders; ``EbnfBuilder`` that of the dialects with rules, with the operators that most of them
share: a dialect overrides what means something else there.

Undoing escapes moves characters; ``Unescaped.origins`` says for every resulting character where it
began in the source, so that a caret still points at it.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from lark import Token
from lark.lark import PostLex

from ..automata import regex_ir as regex
from ..diagnostics import Diagnostic, Source, Span
from ..grammar.tree import Choice, Embedded, Expr, Literal, Pattern, Reference, Repetition, Rule
from ..grammar.tree import Sequence as SequenceNode
from ..limits import Limits
from ..schema.options import SchemaOptions
from .lalr_driver import Driver

SIMPLE = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
}

# Escapes of plain text; in a regex the letter means something else, or itself.
PLAIN = {"b": "\b", "/": "/"}

# With both ends, the longest escape in braces: \u{10FFFF}.
_LONGEST_BRACED = len(r"\u{10FFFF}")

HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


@dataclass(frozen=True, slots=True)
class Unescaped:
    """``text`` without escapes; character i began at source offset ``origins[i]``, and
    ``origins[len(text)]`` is where the text ended."""

    text: str
    origins: Sequence[int]

    def span(self, start: int, end: int) -> Span:
        """Where the characters [start, end) stand in the source."""
        last = len(self.text)
        return Span(self.origins[min(start, last)], self.origins[min(max(end, start), last)])


def unescape(
    text: str,
    offset: int,
    diagnostics: list[Diagnostic],
    *,
    keep_unknown: bool,
    long_escapes: bool = False,
) -> Unescaped:
    """Undo ``\\n \\r \\t \\0 \\\\ \\' \\" \\xHH \\u{…}`` in ``text``, which stands at ``offset``;
    with ``long_escapes`` also ``\\UHHHHHHHH``.

    An unknown escape keeps its backslash if ``keep_unknown`` (a regex will read it), else it
    is reported to ``diagnostics``.
    """
    if "\\" not in text:
        return Unescaped(text, range(offset, offset + len(text) + 1))
    simple = SIMPLE if keep_unknown else {**SIMPLE, **PLAIN}
    out: list[str] = []
    origins = array("q")
    i = 0
    while i < len(text):
        if text[i] != "\\" or i + 1 == len(text):
            out.append(text[i])
            origins.append(offset + i)
            i += 1
            continue
        letter = text[i + 1]
        value, length = _escape(text, i, simple)
        if long_escapes and letter == "U":
            value, length = _long_escape(text, i)
        if value is None:
            if not keep_unknown or letter in "xu":
                span = Span(offset + i, offset + i + length)
                diagnostics.append(Diagnostic(*_complaint(letter, long_escapes), span=span))
            value, length = text[i : i + 2], 2
        for k, char in enumerate(value):
            out.append(char)
            origins.append(offset + i + (k if len(value) > 1 else 0))
        i += length
    origins.append(offset + len(text))
    return Unescaped("".join(out), origins)


def _complaint(letter: str, long_escapes: bool) -> tuple[str]:
    if letter == "x":
        return (r"\x needs two hexadecimal digits, as in \x41",)
    if letter == "u":
        return (r"\u needs four hexadecimal digits, or a code point in braces as in \u{1F600}",)
    if letter == "U" and long_escapes:
        return (r"\U needs the eight hexadecimal digits of a code point",)
    return (
        f"unknown escape \\{letter}: write \\\\{letter} for a backslash and the letter "
        r"(known: \n \r \t \f \v \b \0 \/ \\ \' \" \xHH \uHHHH \u{…})",
    )


def _escape(text: str, i: int, simple: Mapping[str, str]) -> tuple[str | None, int]:
    """The character of the escape at ``i`` and the length of the escape in the source."""
    letter = text[i + 1]
    if letter in simple:
        return simple[letter], 2
    if letter == "x":
        digits = text[i + 2 : i + 4]
        if len(digits) == 2 and HEX_DIGITS.issuperset(digits):
            return chr(int(digits, 16)), 4
        return None, 2
    if letter == "u" and text[i + 2 : i + 3] == "{":
        close = text.find("}", i, i + _LONGEST_BRACED)
        digits = text[i + 3 : close] if close >= 0 else ""
        if 1 <= len(digits) <= 6 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
            return chr(int(digits, 16)), close - i + 1
        return None, 3
    if letter == "u":
        digits = text[i + 2 : i + 6]
        if len(digits) == 4 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
            return chr(int(digits, 16)), 6
    return None, 2


def _long_escape(text: str, i: int) -> tuple[str | None, int]:
    """The same for eight digits."""
    digits = text[i + 2 : i + 10]
    if len(digits) == 8 and HEX_DIGITS.issuperset(digits) and is_scalar(int(digits, 16)):
        return chr(int(digits, 16)), 10
    return None, 2


def is_scalar(code: int) -> bool:
    """Whether a number is a code point that UTF-8 can encode."""
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF


Item: TypeAlias = Token | Expr

# How often an operator says that its item stands there; wrong counts are reported.
Times: TypeAlias = Callable[[str, Span], tuple[int, int | None]]

QUANTITIES: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class Builder:
    """Base of the builders; ``grammar_file`` stands beside this file.

    ``expected``: a terminal's name to what a message calls it; ``hints``: likewise to a help
    line for an unexpected token of that name; ``opening`` and ``closing``: brackets that nest;
    ``mistakes``: regexes of what people write by mistake, what to call it (by default the text
    itself), and a help line;
    ``rule_ends``: tokens behind which a rule begins, ``rule_heads``: tokens that begin one, and
    ``next_rule``: a regex (of whole lines) that finds a rule in text that cannot be read, its
    group ``rule`` at the name, but not inside a ``comment``; None where the text is one expression.
    ``only_rule``: what the one rule of a text without rules is called.
    ``postlex``: what stands between lexer and parser, if anything does.
    """

    grammar_file: ClassVar[str]
    postlex: ClassVar[PostLex | None] = None
    expected: ClassVar[dict[str, str]]
    hints: ClassVar[dict[str, str]] = {}
    opening: ClassVar[frozenset[str]] = frozenset()
    closing: ClassVar[frozenset[str]] = frozenset()
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    rule_ends: ClassVar[frozenset[str]] = frozenset()
    rule_heads: ClassVar[frozenset[str]] = frozenset()
    next_rule: ClassVar[str | None] = None
    comment: ClassVar[tuple[str, str]] = ("(*", "*)")
    only_rule: ClassVar[str] = ""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.diagnostics: list[Diagnostic] = []
        # Whether some rules could not be read, so that what is not seen may be defined there.
        self.partial = False
        # What may stand before each terminal, in dialects that have such a thing.
        self.ignored: list[Expr] = []
        # Whether a lexer would follow a string and a regex of one length both.
        self.follows_all = False
        # Parts in other languages, what is to be known of them, and how schemas are read.
        self.embedded: list[Embedded] = []
        self.notes: list[Diagnostic] = []
        self.schema: SchemaOptions | None = None
        # Where files lie that are imported; None where none may be.
        # Where imports of this file begin, and those of the first file, which they do not leave.
        self.import_folder: Path | None = None
        self.import_root: Path | None = None
        # Groups leave no node behind, so a rule that nothing ends asks where the last one ended.
        self.last_group_end = 0

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Of tokens whose end no regex finds, that end, by where they and their regex's match
        begin and end."""
        return {}

    def tokens(self, parser: Driver) -> Iterator[Token]:
        """Feed the parser with the source's tokens; each one that it has taken."""
        return parser.iter_parse()

    @staticmethod
    def folder() -> Traversable:
        """Where the ``.lark`` files are."""
        return files(__package__)

    def known_mistake(self, text: str, offset: int) -> tuple[str, str] | None:
        """What to call the thing at ``offset`` that the parser did not expect, and a help line
        for it; None for what the message says anyway."""
        for pattern, name, hint in self.mistakes:
            found = re.compile(pattern).match(text, offset)
            if found:
                return name or f"'{found[0]}'", hint
        return None

    def report(self, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Note something wrong and go on."""
        self.diagnostics.append(Diagnostic(message, span, help))

    def report_redefinitions(self, rules: Sequence[Rule]) -> None:
        """Note every rule whose name an earlier one has."""
        first_of: dict[str, Rule] = {}
        for rule in rules:
            first = first_of.setdefault(rule.name, rule)
            if first is not rule:
                line, _ = self.source.position(first.name_span.start)
                hint = f"line {line} defines it already; write alternatives with '|'"
                self.report(f"rule {rule.name!r} is defined twice", rule.name_span, hint)


def span_of(item: Any) -> Span:
    """The span of a token or a tree node."""
    if isinstance(item, Token):
        return Span(item.start_pos or 0, item.end_pos or 0)
    span: Span = item.span
    return span


def span_over(items: Sequence[Any]) -> Span:
    """From the first item to the last."""
    return span_of(items[0]).cover(span_of(items[-1]))


def inner(items: Sequence[Item]) -> list[Expr]:
    """The nodes among the children, without the punctuation."""
    return [item for item in items if not isinstance(item, Token)]


def choice_of(items: Sequence[Item]) -> Expr:
    """The node of ``a | b | …``; one alternative alone stands for itself."""
    options = inner(items)
    return options[0] if len(options) == 1 else Choice(tuple(options), span_over(items))


def choice_or_nothing(items: Sequence[Item | None]) -> Expr | None:
    """The node of ``a | b | …`` in which None stands for an empty alternative.

    None for one alternative that is empty: the caller alone knows its place.
    """
    if len(items) == 1:
        return None if items[0] is None else choice_of([items[0]])
    filled: list[Item] = []
    for i, item in enumerate(items):
        if item is None:
            bar = items[i - 1] if i else items[1]
            item = nothing_at(span_of(bar).end if i else span_of(bar).start)
        filled.append(item)
    return choice_of(filled)


def nothing_at(offset: int) -> Literal:
    """The node of ε where nothing is written."""
    return Literal(b"", Span(offset, offset))


def sequence_of(items: Sequence[Item]) -> Expr:
    """The node of ``a b …``; one item alone stands for itself."""
    if len(items) == 1 and not isinstance(items[0], Token):
        return items[0]
    parts = inner(items)
    return parts[0] if len(parts) == 1 else SequenceNode(tuple(parts), span_over(items))


def quantified(item: Expr, tokens: Sequence[Token], times: Times) -> Expr:
    """The node of ``item`` with its postfix operators, innermost first."""
    for token in tokens:
        low, high = times(str(token), span_of(token))
        item = Repetition(item, low, high, span_of(item).cover(span_of(token)))
    return item


def reference_to(token: Token) -> Reference:
    """The node of a rule's name."""
    return Reference(str(token), span_of(token))


def literal_of(text: str, span: Span) -> Literal:
    """The node of a literal text."""
    return Literal(text.encode("utf-8"), span)


def pattern_of(node: regex.Node, text: str, span: Span, kind: str = "regex") -> Pattern:
    """The node of a regular expression used as a terminal."""
    return Pattern(node, text, span, kind)


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

# The highest count: no limit lets through what stands so often.
HIGHEST_COUNT = 10**18


def count_of(digits: str) -> int:
    """The number of a count. It may have any number of digits: limits refuse what is too much."""
    digits = digits.lstrip("0")
    return min(int(digits or "0"), HIGHEST_COUNT) if len(digits) < 20 else HIGHEST_COUNT


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
        if len(items) == 1 and not isinstance(items[0], Token):
            return items[0]
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
        low, high = count_of(numbers[0]), count_of(numbers[-1]) if numbers[-1] else None
        if high is not None and high < low:
            self.report(f"the count {text} runs backwards", span)
            high = low
        return low, high


def _over_brackets(items: Sequence[Item | None]) -> Span:
    return span_over([items[0], items[-1]])
