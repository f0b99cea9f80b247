"""Regular expressions: a dialect of their own, and the terminals of other dialects.

    text -> regex_lexer (tokens with flags) -> regex.lark -> builder here (IR)
                                                  regex_escapes, regex_classes

The whole text must match. The syntax is that of Rust's `regex` with Python's spellings beside it;
compiler/dialects/README.md says where the two differ. The names of groups say nothing about which
texts match and are left out; lazy quantifiers stay, for a lexer asks which match comes first;
what no finite automaton can do, or depends on the order of a search, is refused by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from ..automata import regex_ir as ir
from ..automata.folding import fold
from ..diagnostics import Diagnostic, DialectError, Source, Span
from ..grammar.tree import Pattern, Rule
from ..limits import Limits
from .builder import QUANTITIES, Token, Unescaped, count_of, pattern_of
from .parse import parse
from .regex_classes import (
    Bracketed,
    ClassBuilder,
    any_node,
    cased,
    cases_of,
    look_of,
    node_of,
    others,
)
from .regex_lexer import PLAIN, RegexLexer, RegexToken, SimpleClass

# Looks inside of looks.
_DEEPEST = 20

# Characters of a part that a message may want to show.
_SHOWN = 80

_UNSUPPORTED = {
    "(?|": "a branch reset is about the numbers of groups, which have none here",
    "(?(": "a conditional asks whether a group took part, which no finite automaton can tell",
    "(?P=": "a back-reference, which no finite automaton can follow",
}
_CRLF = "(?R) is recursion to some and the flag for CR LF to others; for the latter write (?R:…)"
_RECURSION = "recursion into a group nests without end, which no finite automaton can follow"


class _Piece(NamedTuple):
    """A node and where it stands."""

    node: ir.Node
    start: int
    end: int


_Item = Token | _Piece


class RegexBuilder(ClassBuilder):
    """Builds an IR node from ``regex.lark``, and the one rule ``start`` around it."""

    grammar_file: ClassVar[str] = "regex.lark"
    expected: ClassVar[dict[str, str]] = {
        "BAR": "'|'",
        "GROUP_CLOSE": "')'",
        "CLASS_CLOSE": "']'",
        "CHAR": "a character",
        "QUANTIFIER": "a quantifier",
        "CLASS_CHAR": "a character",
        "RANGE": "a range",
        "ESCAPE": "an escape",
        "$END": "the end of the regex",
    }
    hints: ClassVar[dict[str, str]] = {
        "QUANTIFIER": r"a quantifier stands behind what it repeats; write \*, \+, \? or \{ for "
        "the character",
        "GROUP_CLOSE": r"write \) for the character",
    }
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (r"\(\?", "", r"a group is (…), (?:…), (?<name>…) or (?i:…); write \( for the character"),
        (r"\{", "", r"a count is {2}, {2,}, {,3} or {2,3}; write \{ for the character"),
        (r"\\\Z", "", r"write \\ for the character"),
    )
    opening: ClassVar[frozenset[str]] = frozenset({"GROUP_OPEN", "LOOK_OPEN", "UNSUPPORTED_OPEN"})
    closing: ClassVar[frozenset[str]] = frozenset({"GROUP_CLOSE"})

    def __init__(
        self,
        source: Source,
        limits: Limits,
        flags: str = "",
        *,
        extended: bool = False,
        plain_classes: bool = False,
    ) -> None:
        super().__init__(source, limits)
        # Atoms are characters unless (?-u) says otherwise.
        self._flags = frozenset(flags) | {"u"} | ({PLAIN} if plain_classes else set())
        self._extended = extended
        self._lexer: RegexLexer | None = None

    def tokens(self) -> Iterator[Token]:
        """The tokens of ``RegexLexer``."""
        lexer = RegexLexer(self.source.text, self._flags, self._extended, self.report)
        self._lexer = lexer
        return lexer.tokens()

    def known_mistake(self, text: str, offset: int) -> tuple[str, str] | None:
        """A class without an end, which may be the class that another one holds."""
        lexer = self._lexer
        if offset >= len(text.rstrip()) and lexer is not None and lexer.open_classes:
            hint = r"a class ends with ]; write \[ for the character"
            if lexer.nested is not None:
                column = lexer.nested + 1
                hint = (
                    rf"the '[' at character {column} begins a class in the class: write \[ for it"
                )
            return "end of the regex", hint
        return super().known_mistake(text, offset)

    def start(self, items: list[_Piece]) -> tuple[Rule, ...]:
        """The whole expression as the rule ``start``."""
        span = Span(0, len(self.source.text))
        node = ir.without_outer_anchors(items[0].node)
        if ir.looks_around(node):
            self._check_looks(node)
        body = pattern_of(node, self.source.text, span)
        return (Rule("start", span, body, span),)

    def _check_looks(self, node: ir.Node) -> None:
        """Refuse looks deep inside one another, and in an operation that is not the whole."""

        def depth(part: ir.Node, inside: list[int]) -> int:
            found = max(inside, default=0) + isinstance(part, ir.Around)
            if isinstance(part, ir.Around) and found == _DEEPEST + 1:
                message = f"more than {_DEEPEST} looks inside one another"
                self.report(message, Span(part.place, part.place + 1))
            if found and isinstance(part, ir.And | ir.Not) and id(part) not in wholes:
                place = next(p.place for p in ir.walk(part) if isinstance(p, ir.Around))
                message = "this look is inside an operand of & or ~, which is a part of more"
                hint = "operands may look around where the operation is the whole expression"
                self.report(message, Span(place, place + 1), hint)
            return found

        wholes, pending = set[int](), [node]
        while pending:
            part = pending.pop()
            if isinstance(part, ir.And | ir.Not):
                wholes.add(id(part))
                pending += ir.parts_of(part)
        fold(node, ir.parts_of, depth)

    def alternation(self, items: list[_Item]) -> _Piece:
        """conjunction | conjunction …"""
        pieces = _pieces(items)
        return _over(ir.alt(*(piece.node for piece in pieces)), pieces)

    def conjunction(self, items: list[_Item]) -> _Piece:
        """sequence & sequence …"""
        pieces = _pieces(items)
        if len(pieces) == 1:
            return pieces[0]
        text = self._text(pieces[0].start, pieces[-1].end)
        return _over(ir.intersection(*(piece.node for piece in pieces), text=text), pieces)

    def sequence(self, items: list[_Item]) -> _Piece:
        """One after the other; none is ε."""
        pieces = _pieces(items)
        return _over(ir.seq(*(piece.node for piece in pieces)), pieces)

    def quantified(self, items: list[_Item]) -> _Piece:
        """An item with * + ? {m} {m,} {,n} {m,n} behind it, lazy with another ? behind that."""
        (piece,) = _pieces(items)
        node, end = piece.node, piece.end
        for token in items[1:]:
            assert isinstance(token, Token)
            end = token.span.end
            low, high = _counts(token)
            if high is not None and high < low:
                self.report(f"the count {token} runs backwards", token.span)
                high = low
            text = self._text(piece.start, end) if "{" in token else ""
            lazy = len(token) > 1 and token.endswith("?")
            node = ir.repeat(node, low, high, text, lazy=lazy)
            if len(token) > 1 and token.endswith("+"):
                node = self._possessive(node, token)
        return _Piece(node, piece.start, end)

    def _possessive(self, node: ir.Node, token: Token) -> ir.Node:
        """What gives nothing back: of a character as many as there are, so that none follows.

        ``a{1,3}+  ->  a{3}|a{1,2}(?!a)``
        """
        if isinstance(node, ir.Lit | ir.CharClass | ir.ByteClass):
            return node
        inside = next(iter(ir.parts_of(node)), None)
        is_lazy = isinstance(node, ir.Repeat) and node.lazy
        repeats = isinstance(node, ir.Repeat | ir.Optional) and not is_lazy
        if not repeats or inside is None or not _is_character(inside):
            message = "what gives nothing back depends on the order of a search"
            hint = (
                "a character alone may be repeated so; for a repetition of a repetition, group it"
            )
            self.report(message, token.span, hint)
            return node
        low, high = (node.min_times, node.max_times) if isinstance(node, ir.Repeat) else (0, 1)
        none_left = ir.Around(True, True, inside, token.span.start)
        if high is None:
            return ir.seq(node, none_left)
        whole = ir.repeat(inside, high, high)
        if low == high:
            return whole
        return ir.alt(whole, ir.seq(ir.repeat(inside, low, max(low, high - 1)), none_left))

    def complement(self, items: list[Any]) -> _Piece:
        """~ item"""
        tilde, piece = items
        start = tilde.span.start
        return _Piece(ir.negation(piece.node, self._text(start, piece.end)), start, piece.end)

    def group(self, items: list[Any]) -> _Piece:
        """( … ), (?: … ), (?P<name> … ) and (?i: … ) are all plain groups."""
        opening, piece, closing = items
        return _Piece(piece.node, opening.span.start, closing.span.end)

    def look_around(self, items: list[Any]) -> _Piece:
        """(?= … ), (?! … ), (?<= … ) and (?<! … )"""
        opening, piece, closing = items
        start, end = opening.span.start, closing.span.end
        is_negative = opening.endswith("!")
        return _Piece(ir.Around("<" not in opening, is_negative, piece.node, start), start, end)

    def any_char(self, items: list[RegexToken]) -> _Piece:
        """Any character but a line feed, which s adds."""
        return _at(any_node(items[0].flags), items[0])

    def literal(self, items: list[RegexToken]) -> _Piece:
        """Characters that stand for themselves."""
        token = items[0]
        if "i" in token.flags:
            return _at(ir.seq(*(self._character(ord(c), token) for c in token)), token)
        return _at(ir.lit(token.encode("utf-8", "surrogatepass")), token)

    def escape(self, items: list[RegexToken]) -> _Piece:
        """\\d, \\n, \\x41, \\., \\b …"""
        token = items[0]
        kind = look_of(str(token), token.flags)
        if kind is not None:
            return _at(ir.Look(kind), token)
        found = self.escaped(token, inside_class=False)
        if found.raw:
            node = ir.byte_class(found.ranges)
        elif found.single:
            node = self._character(found.ranges[0][0], token)
        else:
            node = node_of(self.in_case(found, token), token.flags, found.kind)
        return _at(node, token)

    def anchor(self, items: list[RegexToken]) -> _Piece:
        """^ and $, at lines under m."""
        token = items[0]
        side = "START" if token == "^" else "END"
        unit = "TEXT"
        if "m" in token.flags:
            unit = "CRLF_LINE" if "R" in token.flags else "LINE"
        return _at(ir.Look(ir.LookKind[f"{side}_{unit}"]), token)

    def unsupported(self, items: list[_Item]) -> _Piece:
        """What would need another machine than a finite automaton over the text."""
        token = items[0]
        assert isinstance(token, Token)
        if token == "(?>":
            (piece,) = _pieces(items)
            closing = items[-1]
            assert isinstance(closing, Token)
            node = self._possessive(piece.node, token)
            return _Piece(node, token.span.start, closing.span.end)
        opening = next((key for key in _UNSUPPORTED if token.startswith(key)), "")
        message = _CRLF if token == "(?R)" else _UNSUPPORTED.get(opening, _RECURSION)
        self.report(message, token.span)
        return _at(ir.EPSILON, token)

    def char_class(self, items: list[Bracketed]) -> _Piece:
        """[…] as an atom."""
        found = items[0]
        return _Piece(node_of(found.ranges, found.flags), found.span.start, found.span.end)

    def simple_class(self, items: list[SimpleClass]) -> _Piece:
        """[…] and [^…] of characters and ranges that mean the same under all flags."""
        token = items[0]
        ranges = cased(token.ranges, token.flags)
        if token.startswith("[^"):
            ranges = others(ranges, token.flags)
        return _at(node_of(ranges, token.flags), token)

    def _character(self, code: int, token: RegexToken) -> ir.Node:
        """One character, in all its cases under i."""
        return ir.char_class(cases_of(code, token.flags) if "i" in token.flags else ((code, code),))

    def _text(self, start: int, end: int) -> str:
        return self.source.text[start : min(end, start + _SHOWN)]


class RegexFileBuilder(RegexBuilder):
    """The same for a file, which ends with a line break that its author does not mean."""

    only_rule: ClassVar[str] = "start"

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(_trimmed(source), limits)


class PlainRegexBuilder(RegexBuilder):
    """The same for a text whose author has Python's or ECMAScript's syntax in mind."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits, plain_classes=True)


class ExtendedRegexFileBuilder(RegexBuilder):
    """The same with intersections and complements."""

    only_rule: ClassVar[str] = "start"

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(_trimmed(source), limits, extended=True)


def _trimmed(source: Source) -> Source:
    return replace(source, text=_without_last_break(source.text))


def _without_last_break(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def parse_pattern(
    text: Unescaped,
    source: Source,
    limits: Limits,
    diagnostics: list[Diagnostic],
    flags: str = "",
    *,
    plain_classes: bool = False,
) -> ir.Node:
    """The expression inside a quoted regex of another dialect.

    ``flags``: those that hold from its beginning, as in ``(?i)``: any of ``imsxu``.
    ``plain_classes``: as in Python and ECMAScript, classes neither nest nor have operators.
    What is wrong goes to ``diagnostics``, its carets mapped back through the quotes' escapes.
    """
    inner = Source(text.text, source.name, "regex")
    builder = RegexBuilder(inner, limits, flags, plain_classes=plain_classes)
    try:
        (rule,) = parse(builder)
    except DialectError as error:
        for found in error.diagnostics:
            span = found.span and text.span(found.span.start, found.span.end)
            diagnostics.append(Diagnostic(found.message, span, found.help))
        return ir.EPSILON
    assert isinstance(rule.body, Pattern)
    return rule.body.node


def _is_character(node: ir.Node) -> bool:
    """Whether an expression is one character."""
    if isinstance(node, ir.Lit):
        return len(node.data.decode("utf-8", "replace")) == 1
    return isinstance(node, ir.CharClass | ir.ByteClass)


def _pieces(items: Sequence[_Item]) -> list[_Piece]:
    return [item for item in items if isinstance(item, _Piece)]


def _at(node: ir.Node, token: Token) -> _Piece:
    span = token.span
    return _Piece(node, span.start, span.end)


def _over(node: ir.Node, pieces: Sequence[_Piece]) -> _Piece:
    if not pieces:
        return _Piece(node, 0, 0)
    return _Piece(node, pieces[0].start, pieces[-1].end)


def _counts(token: Token) -> tuple[int, int | None]:
    text = str(token)
    if len(text) > 1 and text[-1] in "?+":
        text = text[:-1]
    if text in "?*+":
        return QUANTITIES[text]
    low, comma, high = text[1:-1].partition(",")
    return count_of(low), count_of(high) if high else (None if comma else count_of(low))
