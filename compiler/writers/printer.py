"""Print expressions with as few brackets as the precedence allows.

Trees and regex nodes are printed by one loop: a regex node inside a grammar is turned into
text in the grammar's own syntax. Nothing recurses over depth.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..automata.utf8 import encodable
from ..diagnostics import Diagnostic, GrammarError, Source
from ..grammar import tree
from ..lnf.longest_ignored import weave_longest

ATOM, SEQUENCE, CHOICE = range(3)

# What stands after an item that is repeated.
SUFFIX = {(0, 1): "?", (0, None): "*", (1, None): "+"}

# How dialects with token terminals name one.
_NAME = re.compile(r"<[^<>\r\n]*>")

CodePoints = tuple[tuple[int, int], ...]
Special: TypeAlias = regex.ByteClass | regex.And | regex.Not | regex.Look | regex.Around


class Text(NamedTuple):
    """A piece of text and how loosely its parts hold together."""

    text: str
    binds: int = ATOM

    def within(self, binds: int = ATOM) -> str:
        """The text, in brackets if it binds looser than ``binds``."""
        return f"({self.text})" if self.binds > binds else self.text


class WriterError(GrammarError):
    """A part of a grammar that a dialect has no counterpart for."""


class NoCounterpart(Exception):  # noqa: N818
    """Raised by a style; ``expression`` adds the place."""


class Style(ABC):
    """How a dialect writes the parts; any method may raise ``NoCounterpart``. ``name``: what
    messages call the dialect; ``is_own``: the grammar was written in it."""

    name: str
    joiner = " "
    bar = " | "
    rule = "{} ::= {}\n"

    def __init__(self, is_own: bool = False) -> None:
        self.is_own = is_own

    def keeps_cases(self, pattern: tree.Pattern) -> bool:
        """Whether a pattern is a text in either case that means the same in this dialect: of K and
        S, and beyond ASCII, some have more cases than others."""
        has_more = re.search(r"[KkSs]|[^\0-\x7f]", pattern.text)
        return pattern.kind == "string" and (self.is_own or not has_more)

    @abstractmethod
    def literal(self, data: bytes) -> Text:
        """A text, empty for ε."""

    @abstractmethod
    def characters(self, ranges: CodePoints) -> Text:
        """One character of a class."""

    @abstractmethod
    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """An item repeated."""

    @staticmethod
    def in_braces(low: int, high: int | None) -> str:
        """What stands after an item in dialects with counts, ``{2,4}``."""
        most = "" if high is None else high
        return SUFFIX.get((low, high)) or (f"{{{low}}}" if low == high else f"{{{low},{most}}}")

    @staticmethod
    def can_be_named(token: tree.Token) -> bool:
        """Whether a token is written ``<name>`` or by its number: tags name some by their bare
        text, and more than one."""
        return not token.also and (token.name is None or _NAME.fullmatch(token.name) is not None)

    # What few dialects have.

    def pattern(self, pattern: tree.Pattern) -> Text | None:
        """A regex as the dialect's own terminal; None to have it spelled out. One character is a
        class, as it was."""
        code = regex.character_of(pattern.node)
        return None if code is None else self.characters(((code, code),))

    def token(self, token: tree.Token) -> Text:
        """One token of a tokenizer, matched as a token."""
        raise NoCounterpart(f"{self.name} has no token terminals")

    def difference(self, left: Text, right: Text) -> Text:
        """What the left matches and the right does not."""
        raise NoCounterpart(f"{self.name} has no set difference")

    def excluding(self, item: Text, at_most: int | None) -> Text:
        """Characters that do not contain the item."""
        raise NoCounterpart(f"{self.name} has no exclusion")

    def permutation(self, permutation: tree.Permutation, inside: list[Text]) -> Text:
        """Parts in any order; ``inside``: them, and what separates them."""
        message = f"the orders of {len(permutation.parts)} parts are too many to be written"
        raise NoCounterpart(message)

    def special(self, node: Special, inside: list[Text]) -> Text:
        """A byte class, an assertion, an intersection or a complement."""
        raise NoCounterpart("assertions, intersections, complements and bytes are of regexes")

    def raw(self, data: bytes) -> Text:
        """Bytes that are no UTF-8."""
        raise NoCounterpart("bytes that are no UTF-8 are of regexes alone")

    def lazy(self, repetition: Text) -> Text:
        """A repetition that prefers fewer times, which others do not tell apart."""
        return repetition

    def suffixed(self, item: Text, low: int, high: int | None) -> Text:
        """An item repeated in a dialect of ``? * +``, without counts."""
        if (low, high) in SUFFIX:
            return Text(item.within() + SUFFIX[low, high])
        return self.spelled_out(item, low, high)

    def spelled_out(self, item: Text, low: int, high: int | None) -> Text:
        """A count in a dialect without counts: ``x x [x [x]]`` for two to four times."""
        parts = [item.within()] * low
        if high is None:
            parts.append(self.repetition(item, 0, None).text)
        optional = ""
        for _ in range(0 if high is None else high - low):
            body = self.joiner.join([item.within(), *([optional] if optional else [])])
            optional = self.repetition(Text(body, SEQUENCE if optional else ATOM), 0, 1).text
        parts += [optional] if optional else []
        return Text(self.joiner.join(parts), SEQUENCE) if parts else self.literal(b"")

    # The whole.

    def expression(self, expr: tree.Expr, names: Mapping[str, str], source: Source) -> str:
        """The text of a rule's body. Raises ``WriterError``."""

        def text(part: tree.Expr, inside: list[Text]) -> Text:
            try:
                return _combined(part, inside, self, names)
            except NoCounterpart as reason:
                raise WriterError(source, [Diagnostic(str(reason), part.span)]) from None

        return fold(expr, tree.children, text).text

    def write(self, grammar: tree.Grammar) -> str:
        """The grammar in this dialect, without ignored text, its start rule first; one rule for
        each name. Raises ``WriterError``."""
        grammar = weave_longest(grammar)
        names = self.names(grammar)
        bodies = self.bodies(grammar, names, [grammar.start])
        return "".join(self.rule.format(names[name], body) for name, body in bodies.items())

    def valid(self, name: str) -> str:
        """A name as the dialect has them."""
        return name

    def alike(self, name: str) -> str:
        """Equal for two names that the dialect does not distinguish."""
        return name

    def names(self, grammar: tree.Grammar, fixed: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
        """New names of the rules: ``fixed`` ones first, the others made ``valid`` and different."""
        names = dict(fixed)
        taken = set(map(self.alike, names.values()))
        for rule in grammar.rules:
            if rule.name in names:
                continue
            wanted = self.valid(rule.name)
            number = 1
            while self.alike(wanted) in taken:
                number += 1
                wanted = self.valid(f"{rule.name}{number}")
            names[rule.name] = wanted
            taken.add(self.alike(wanted))
        return names

    def bodies(
        self, grammar: tree.Grammar, names: Mapping[str, str], first: Iterable[str] = ()
    ) -> dict[str, str]:
        """All definitions of each name as alternatives, in the order of the rules but for
        ``first``. ``names``: what a name is written as. Raises ``WriterError``."""
        bodies: dict[str, list[str]] = {name: [] for name in first}
        for rule in grammar.rules:
            body = self.expression(rule.body, names, grammar.source)
            bodies.setdefault(rule.name, []).append(body)
        return {name: self.bar.join(found) for name, found in bodies.items()}


def _combined(expr: tree.Expr, inside: list[Text], style: Style, names: Mapping[str, str]) -> Text:
    match expr:
        case tree.Literal():
            return style.literal(expr.data)
        case tree.Reference():
            return Text(names.get(expr.name, expr.name))
        case tree.Token():
            return style.token(expr)
        case tree.Pattern():
            return style.pattern(expr) or node_text(expr.node, style)
        case tree.Sequence():
            return _joined(inside, style.joiner, SEQUENCE)
        case tree.Choice():
            return _joined(inside, style.bar, CHOICE)
        case tree.Repetition():
            return style.repetition(inside[0], expr.min_times, expr.max_times)
        case tree.Permutation():
            return style.permutation(expr, inside)
        case tree.Difference():
            return style.difference(inside[0], inside[1])
        case tree.Excluding():
            return style.excluding(inside[0], expr.at_most)


def in_quotes(text: str) -> list[str]:
    """A text as few strings in either quote, for dialects whose strings have no escapes; double
    ones where both would do."""
    pieces, place = [], 0
    while place < len(text):
        runs = [len(text[place:].partition(quote)[0]) for quote in "\"'"]
        quote = "\"'"[runs[1] > runs[0]]
        pieces.append(f"{quote}{text[place : place + max(runs)]}{quote}")
        place += max(runs)
    return pieces


def by_width(code: int) -> str:
    """A code point in two, four or eight digits."""
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def escaped(text: str, named: Mapping[str, str], by_number: Callable[[int], str] = by_width) -> str:
    """A text in which some characters have names, and what else cannot be seen a number."""
    return "".join(named.get(c) or (c if c.isprintable() else by_number(ord(c))) for c in text)


def node_text(node: regex.Node, style: Style) -> Text:
    """A regex node in a style's syntax. Raises ``NoCounterpart``."""

    def text(part: regex.Node, inside: list[Text]) -> Text:
        return _node_combined(part, inside, style)

    return fold(node, regex.parts_of, text)


def _node_combined(node: regex.Node, inside: list[Text], style: Style) -> Text:
    match node:
        case regex.Lit():
            try:
                return style.literal(node.data)
            except UnicodeDecodeError:
                return style.raw(node.data)
        case regex.CharClass():
            return style.characters(node.ranges)
        case regex.Seq():
            return _joined(inside, style.joiner, SEQUENCE) if inside else style.literal(b"")
        case regex.Alt() if inside:
            return _joined(inside, style.bar, CHOICE)
        case regex.Repeat():
            text = style.repetition(inside[0], node.min_times, node.max_times)
            return style.lazy(text) if node.lazy else text
        case regex.Optional():
            return style.repetition(inside[0], 0, 1)
        case regex.ByteClass() | regex.And() | regex.Not() | regex.Look() | regex.Around():
            return style.special(node, inside)
        case _:
            raise NoCounterpart("this part is an automaton that no text stands for")


def _joined(parts: list[Text], joiner: str, binds: int) -> Text:
    """``parts`` with ``joiner`` between them; a part of the same kind keeps its brackets."""
    if len(parts) == 1:
        return parts[0]
    return Text(joiner.join(part.within(binds - 1) for part in parts), binds)


def all_others(ranges: CodePoints) -> CodePoints:
    """The other characters, for a negated class; surrogates are none and left out."""
    return encodable(regex.complement(ranges))
