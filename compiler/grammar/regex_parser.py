r"""From a regular expression's tokens to its node, on a stack of open groups.

    ^(?=.*\d)[a-z]{2,}$   ->   Look, Around, Repeat, Look

The names of groups say nothing about which texts match and are left out; lazy quantifiers stay, for
a lexer asks which match comes first; what no finite automaton can do, or depends on the order of a
search, is refused by name.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from ..automata import regex_ir as ir
from ..automata.folding import fold
from ..diagnostics import Diagnostic, Span
from ..limits import Limits
from .regex_classes import EscapeError, any_node, cases_of, class_of, look_of, node_of, set_of
from .regex_lexer import ECMA, Flags, RegexLexer, RegexToken, UnexpectedError

_STAGE = "reading a regex"

# Looks inside of looks, and characters of a part that a message may want to show.
_DEEPEST, _SHOWN = 100, 80

_CLOCK_STRIDE = 1024

_UNSUPPORTED = {
    "(?|": "a branch reset is about the numbers of groups, which have none here",
    "(?(": "a conditional asks whether a group took part, which no finite automaton can tell",
    "(?P=": "a back-reference, which no finite automaton can follow",
    "(?R)": "(?R) is recursion to some and the flag for CR LF to others; for that write (?R:…)",
}
_RECURSION = "recursion into a group nests without end, which no finite automaton can follow"

# What is no token, by how it begins.
_MISTAKES = {
    "(?": (
        "unknown kind of group",
        r"a group is (…), (?:…), (?<name>…) or (?i:…); write \( for it",
    ),
    "{": ("this is no count", r"a count is {2}, {2,}, {,3} or {2,3}; write \{ for the character"),
    "\\": ("the regex ends in a backslash", r"write \\ for the character"),
}


class _Piece(NamedTuple):
    """A node and where it stands, and whether it may be repeated."""

    node: ir.Node
    start: int
    end: int
    is_repeatable: bool = True


@dataclass(slots=True)
class _Group:
    """A group that is open: alternatives that are read, operands of the last one, and parts of the
    last of these; complements whose operand comes next."""

    opening: RegexToken | None
    options: list[_Piece] = field(default_factory=list)
    operands: list[_Piece] = field(default_factory=list)
    parts: list[_Piece] = field(default_factory=list)
    complements: list[RegexToken] = field(default_factory=list)


class Parser:
    """Reads ``text``. ``flags``: those that hold from its beginning, as in ``(?i)``, any of
    ``imsxu``, and ``PLAIN`` or ``ECMA`` for another syntax. ``extended``: ``&`` and ``~``.
    ``found``: what is wrong goes there."""

    def __init__(
        self,
        text: str,
        limits: Limits,
        flags: Flags = frozenset(),
        *,
        extended: bool = False,
    ) -> None:
        self._text, self._limits = text, limits
        # Atoms are characters unless (?-u) says otherwise.
        self._flags = flags | {"u"}
        self.found: list[Diagnostic] = []
        self._lexer = RegexLexer(text, self._flags, extended, self._report)
        self._tokens = self._lexer.tokens()
        self._groups = [_Group(None)]

    def parse(self) -> ir.Node:
        """The node. Raises ``UnexpectedError``, ``LimitError``."""
        for number, token in enumerate(self._tokens):
            if number % _CLOCK_STRIDE == _CLOCK_STRIDE - 1:
                self._limits.check_resources(_STAGE)
            self._take(token)
        group = self._groups[-1]
        if group.opening is not None:
            raise UnexpectedError("this group is not closed", group.opening.span, "add )")
        node = self._whole(group).node
        if ir.looks_around(node):
            self._check_looks(node)
        return node

    def _report(self, message: str, span: Span, hint: str | None = None) -> None:
        self.found.append(Diagnostic(message, span, hint))

    def _take(self, token: RegexToken) -> None:
        group = self._groups[-1]
        span = token.span
        if ECMA in token.flags:
            _check_ecma(token)
        match token.type:
            case "GROUP_OPEN" | "LOOK_OPEN" | "UNSUPPORTED_OPEN":
                self._limits.check_nesting(len(self._groups), _STAGE)
                self._groups.append(_Group(token))
            case "GROUP_CLOSE":
                if group.opening is None:
                    hint = r"write \) for the character"
                    raise UnexpectedError("there is no group to close", span, hint)
                self._groups.pop()
                self._add(self._closed(group, group.opening, span.end))
            case "BAR":
                self._end_option(group)
            case "AND":
                self._end_operand(group)
            case "NOT":
                group.complements.append(token)
            case "QUANTIFIER":
                self._repeat(group, token)
            case "NOTHING":
                raise self._mistake(token)
            case "FLAGS":
                pass
            case _:
                self._add(self._atom(token))

    def _mistake(self, token: RegexToken) -> UnexpectedError:
        start = token.span.start
        for beginning, (message, hint) in _MISTAKES.items():
            if self._text.startswith(beginning, start):
                return UnexpectedError(message, Span(start, start + len(beginning)), hint)
        return UnexpectedError(f"unexpected {token!s}", token.span)

    def _add(self, piece: _Piece) -> None:
        group = self._groups[-1]
        while group.complements:
            start = group.complements.pop().span.start
            node = ir.negation(piece.node, self._shown(start, piece.end))
            piece = _Piece(node, start, piece.end)
        group.parts.append(piece)

    def _end_operand(self, group: _Group) -> None:
        if group.complements:
            message = "there is nothing whose complement ~ could be"
            raise UnexpectedError(
                message, group.complements[-1].span, r"write \~ for the character"
            )
        group.operands.append(_over(ir.seq(*(part.node for part in group.parts)), group.parts))
        group.parts = []

    def _end_option(self, group: _Group) -> None:
        self._end_operand(group)
        operands, group.operands = group.operands, []
        if len(operands) > 1:
            text = self._shown(operands[0].start, operands[-1].end)
            node = ir.intersection(*(piece.node for piece in operands), text=text)
            operands = [_over(node, operands)]
        group.options += operands

    def _whole(self, group: _Group) -> _Piece:
        self._end_option(group)
        return _over(ir.alt(*(piece.node for piece in group.options)), group.options)

    def _closed(self, group: _Group, opening: RegexToken, end: int) -> _Piece:
        """( … ), (?: … ), (?P<name> … ) and (?i: … ) are all plain groups."""
        node, start = self._whole(group).node, opening.span.start
        if opening.type == "LOOK_OPEN":
            around = ir.Around("<" not in opening, opening.endswith("!"), node, start)
            return _Piece(around, start, end, ECMA not in opening.flags)
        if opening == "(?>":
            node = self._possessive(node, opening)
        elif opening.type == "UNSUPPORTED_OPEN":
            self._refuse(opening)
        return _Piece(node, start, end)

    def _refuse(self, token: RegexToken) -> None:
        """What would need another machine than a finite automaton over the text."""
        opening = next((key for key in _UNSUPPORTED if token.startswith(key)), "")
        self._report(_UNSUPPORTED.get(opening, _RECURSION), token.span)

    def _repeat(self, group: _Group, token: RegexToken) -> None:
        """An item with * + ? {m} {m,} {,n} {m,n} after it, lazy with another ? after that."""
        if not group.parts or group.complements or not group.parts[-1].is_repeatable:
            message = f"there is nothing that {token} could repeat"
            hint = r"write \*, \+, \? or \{ for the character"
            raise UnexpectedError(message, token.span, hint)
        piece, end = group.parts[-1], token.span.end
        low, high = token.counts
        if high is not None and high < low:
            self._report(f"the count {token} runs backwards", token.span)
            high = low
        text = self._shown(piece.start, end) if "{" in token else ""
        node = ir.repeat(piece.node, low, high, text, lazy=token.is_more and token.endswith("?"))
        if token.is_more and token.endswith("+"):
            node = self._possessive(node, token)
        group.parts[-1] = _Piece(node, piece.start, end, ECMA not in token.flags)

    def _possessive(self, node: ir.Node, token: RegexToken) -> ir.Node:
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
            hint = "of a character it is known; for a repetition of a repetition, group it"
            self._report(message, token.span, hint)
            return node
        low, high = (node.min_times, node.max_times) if isinstance(node, ir.Repeat) else (0, 1)
        none_left = ir.Around(True, True, inside, token.span.start)
        if high is None:
            return ir.seq(node, none_left)
        whole = ir.repeat(inside, high, high)
        if low == high:
            return whole
        return ir.alt(whole, ir.seq(ir.repeat(inside, low, max(low, high - 1)), none_left))

    def _atom(self, token: RegexToken) -> _Piece:
        start, end, flags = token.span.start, token.span.end, token.flags
        node: ir.Node = ir.EPSILON
        match token.type:
            case "CLASS_OPEN":
                ranges, end = class_of(token, self._tokens, self._lexer, self._report)
                node = node_of(ranges, flags)
            case "DOT":
                node = any_node(flags)
            case "CHAR" | "RUN":
                if "i" in flags or not token.isascii():
                    node = ir.seq(*(_character(ord(char), flags) for char in token))
                else:
                    node = ir.lit(token.encode())
            case "ANCHOR":
                unit = "TEXT"
                if "m" in flags:
                    unit = "CRLF_LINE" if "R" in flags else "LINE"
                node = ir.Look(ir.LookKind[f"{'START' if token == '^' else 'END'}_{unit}"])
            case "ESCAPE":
                node = self._escape(token)
            case _:
                self._refuse(token)
        return _Piece(node, start, end, not (isinstance(node, ir.Look) and ECMA in flags))

    def _escape(self, token: RegexToken) -> ir.Node:
        r"""\d, \n, \x41, \., \b …"""
        kind = look_of(str(token), token.flags)
        if kind is not None:
            return ir.Look(kind)
        try:
            found = set_of(str(token), token.flags, inside_class=False)
        except EscapeError as error:
            self._report(error.message, token.span, error.hint)
            return ir.EPSILON
        if found.raw:
            return ir.byte_class(found.ranges)
        if found.single:
            return _character(found.ranges[0][0], token.flags)
        return node_of(found.under(token.flags), token.flags, found.kind)

    def _check_looks(self, node: ir.Node) -> None:
        """Refuse looks deep inside one another, and in an operation that is not the whole."""

        def depth(part: ir.Node, inside: list[int]) -> int:
            found = max(inside, default=0) + isinstance(part, ir.Around)
            if isinstance(part, ir.Around) and found == _DEEPEST + 1:
                message = f"more than {_DEEPEST} looks inside one another"
                self._report(message, Span(part.place, part.place + 1))
            if found and isinstance(part, ir.And | ir.Not) and id(part) not in wholes:
                place = next(p.place for p in ir.walk(part) if isinstance(p, ir.Around))
                message = "this look is inside an operand of & or ~, which is a part of more"
                hint = "operands may look around where the operation is the whole expression"
                self._report(message, Span(place, place + 1), hint)
            return found

        wholes, pending = set[int](), [node]
        while pending:
            part = pending.pop()
            if isinstance(part, ir.And | ir.Not):
                wholes.add(id(part))
                pending += ir.parts_of(part)
        fold(node, ir.parts_of, depth)

    def _shown(self, start: int, end: int) -> str:
        return self._text[start : min(end, start + _SHOWN)]


def _check_ecma(token: RegexToken) -> None:
    """Raise for what ECMA-262 has not."""
    kind = token.type
    if kind == "FLAGS" or (kind == "GROUP_OPEN" and token.endswith(":") and token != "(?:"):
        raise UnexpectedError("this syntax has no flags", token.span)
    if kind == "GROUP_OPEN" and token.startswith("(?P"):
        message = "a named group is written (?<name>…)"
        raise UnexpectedError(message, token.span, "leave out the P")
    is_quoted = kind == "GROUP_OPEN" and token.startswith("(?'")
    if is_quoted or kind in ("COMMENT", "UNSUPPORTED", "UNSUPPORTED_OPEN"):
        raise UnexpectedError("unknown kind of group", token.span)


def _character(code: int, flags: Flags) -> ir.Node:
    """One character, in all its cases under i."""
    return ir.char_class(cases_of(code, flags) if "i" in flags else ((code, code),))


def _is_character(node: ir.Node) -> bool:
    """Whether an expression is one character."""
    return isinstance(node, ir.CharClass | ir.ByteClass) or ir.character_of(node) is not None


def _over(node: ir.Node, pieces: list[_Piece]) -> _Piece:
    if not pieces:
        return _Piece(node, 0, 0)
    return _Piece(node, pieces[0].start, pieces[-1].end)
