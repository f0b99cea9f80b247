"""Which items of a grammar texts cover, and a shortest member for each that is left."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from constrain.artifacts.tokens.memo import Made

from ..automata.folding import fold
from ..diagnostics import LimitError
from ..grammar import tree
from ..limits import Limits, blaming
from ..lnf.resolve_exclusions import Operands, resolve_exclusions
from ..maximal_munch.lexemes import as_lexed
from .chart import Used, read
from .graph import Graph
from .items import Item, Items
from .lexed import LexedText, Lexemes, lexemes_of, read_lexed
from .matchers import Matchers
from .patterns import DfaMatcher, NfaMatcher
from .shortest import Pieces, Shortest

# Lexemes whose items are remembered.
_MOST_REMEMBERED = 100_000

# States of a difference or an exclusion of which short members are sought.
_MOST_STATES = 20_000


@dataclass(frozen=True, slots=True)
class Line:
    """An item, and how many texts have covered it. Of one that none has, ``member``: a shortest
    that does; None where none was found, or where it ``is_unreachable``: no member can use it."""

    item: Item
    hits: int
    member: bytes | None = None
    is_unreachable: bool = False


class Coverage:
    """The items of a checked grammar, and how many texts have covered each (``hits``) of so many
    ``texts``. ``numbering`` says where derivations meet the items, ``matchers`` match the leaves.

    ``over_lexemes``: texts are read by maximal munch. Raises ``LimitError``, here and elsewhere; a
    text's time and memory are bounded by ``limits``.
    """

    def __init__(
        self, grammar: tree.Grammar, limits: Limits | None = None, *, over_lexemes: bool = False
    ) -> None:
        self._limits = (limits or Limits()).started()
        with blaming(grammar.longest_rule()):
            if over_lexemes:
                grammar = as_lexed(grammar, self._limits)
            self.grammar = grammar
            place = next(rule.name_span for rule in grammar.rules if rule.name == grammar.start)
            use = tree.Reference(grammar.start, place)
            self.matchers = Matchers(lambda: self.graph, self._limits)
            self.numbering = Items(grammar, self.matchers, self._limits)
            self._lexemes: Lexemes | None = None
            if over_lexemes:
                self._lexemes = lexemes_of(grammar, use, self._limits)
            lexed = None if self._lexemes is None else self._lexemes.lexed
            items, matchers = self.numbering, self.matchers
            self.graph = Graph(grammar, use, items, matchers, self._empty, lexed)
        self.items = tuple(self.numbering.all)
        self.hits = [0] * len(self.items)
        self.texts = 0
        self._inside: dict[tuple[int, bytes], frozenset[int]] = {}
        self._words: dict[int, DfaMatcher | None] = {}
        self._operands: Operands | None = None
        self._resolved: list[tree.Expr] = []
        self._has_unknown = False
        self._found = Made(self._tried)
        self._items_of = Made[bytes, frozenset[int]](lambda t: self.covered_by(t) or frozenset())
        self._others: list[tuple[bytes, frozenset[int]]] | None = None

    # --- what texts cover

    def add(self, text: bytes, start: str | None = None) -> bool:
        """Count what a text covers; False if it is no member, and covers nothing. ``start``: the
        rule to begin with, by default the grammar's."""
        covered = self.covered_by(text, start)
        for number in covered or ():
            self.hits[number] += 1
        self.texts += covered is not None
        return covered is not None

    def covered_by(self, text: bytes, start: str | None = None) -> frozenset[int] | None:
        """The items that the derivations of a text use; None if it has none."""
        with blaming([self.grammar.start]):
            found = self.used_by(text, start)
            if found is None:
                return None
            used, lexed = found
            if lexed is None:
                return self._with_leaves(used, lambda a, b: text[a:b])
            spans = lexed.spans
            covered = set(self._with_leaves(used, lambda _, column: text[slice(*spans[column])]))
            for span in (*lexed.ignored, *(spans[column] for column in used.carried)):
                covered |= self._covered_ignored(text[slice(*span)])
            return frozenset(covered)

    def used_by(
        self, text: bytes, start: str | None = None
    ) -> tuple[Used, LexedText | None] | None:
        """What the derivations of a text use, by its lexemes where it has some; None if it has
        no derivation."""
        procedure = self.graph.start(start)
        if self._lexemes is None:
            used = self._used(procedure, text)
            return None if used is None else (used, None)
        lexed = read_lexed(self.graph, procedure, self._lexemes, text, self._limits)
        if lexed.place is None or not lexed.chart.has_ended(lexed.place):
            return None
        return lexed.chart.used(lexed.place), lexed

    def _used(self, procedure: int, text: bytes) -> Used | None:
        chart = read(self.graph, procedure, text, 0, len(text), self._limits)
        return chart.used(len(text)) if chart.has_ended(len(text)) else None

    def _derived(self, procedure: int, text: bytes) -> frozenset[int] | None:
        used = self._used(procedure, text)
        return None if used is None else self._with_leaves(used, lambda a, b: text[a:b])

    def _with_leaves(self, used: Used, part: Callable[[int, int], bytes]) -> frozenset[int]:
        found = set(used.items)
        for (leaf, start), ends in used.leaves.items():
            expr = self.graph.leaves[leaf]
            if not isinstance(expr, tree.Literal | tree.Token):
                # The way of a longer match through an automaton begins with that of a shorter one.
                for end in [max(ends)] if isinstance(expr, tree.Pattern) else sorted(ends):
                    found |= self._covered_inside(expr, part(start, end))
        return frozenset(found)

    def _covered_inside(self, expr: tree.Expr, text: bytes) -> frozenset[int]:
        """The items in an expression that a whole text of it uses."""
        key = id(expr), text
        found = self._inside.get(key)
        if found is not None:
            return found
        inner = self.matchers.tree_of(expr)
        match expr:
            case _ if inner is not None:
                found = self._derived(self.graph.expression(inner), text)
            case tree.Pattern():
                edges = self.numbering.edges.get(id(expr))
                matcher = self.matchers(expr)
                found = frozenset[int]()
                if edges and isinstance(matcher, DfaMatcher):
                    found = frozenset(edges[edge] for edge in matcher.edges_of(text))
            case tree.Difference():
                found = self._derived(self.graph.expression(expr.left), text)
            case tree.Excluding() | tree.Literal() | tree.Token():
                found = frozenset()
            case _:
                found = self._derived(self.graph.expression(expr), text)
        if len(self._inside) >= _MOST_REMEMBERED:
            self._inside.clear()
        self._inside[key] = found = found or frozenset()
        return found

    def _empty(self, expr: tree.Expr) -> list[int]:
        return sorted(self._covered_inside(expr, b""))

    def _covered_ignored(self, text: bytes) -> set[int]:
        found = set()
        for body, number in zip(self.grammar.ignored, self.numbering.ignored, strict=True):
            inside = self._derived(self.graph.expression(body), text)
            if inside is not None:
                found |= {number, *inside}
        return found

    # --- what is left

    def lines(self) -> list[Line]:
        """All items in the order of the grammar."""
        return [self._line(number) for number in range(len(self.items))]

    def _line(self, number: int) -> Line:
        item, hits = self.items[number], self.hits[number]
        if hits:
            return Line(item, hits)
        # Members are sought first: what is unknown is known after that.
        is_unused = number not in self._shortest.members()
        member = None if is_unused else self.member_for(number)
        return Line(item, 0, member, is_unused and not self._has_unknown)

    def member_for(self, number: int) -> bytes | None:
        """A shortest member that covers an item, which was tried; None where none was found."""
        return self._found[number]

    def _tried(self, number: int) -> bytes | None:
        pieces = self._shortest.members().get(number)
        if pieces is None:
            return None
        for text in self._written(pieces):
            if number in self._items_of[text]:
                return text
        if self._others is None:
            texts = (text for some in self._shortest.others() for text in self._written(some))
            known = [text for text in self._found.values() if text is not None]
            found = {text: self.covered_by(text) for text in (*texts, *known)}
            self._others = [(text, items) for text, items in found.items() if items is not None]
        fitting = [text for text, items in self._others if number in items]
        return min(fitting, key=len, default=None)

    def _written(self, pieces: Pieces) -> Iterable[bytes]:
        """A text as it is, and with ignored text between its lexemes."""
        yield b"".join(pieces)
        separating = self._shortest.separating() if self._lexemes is not None else None
        if separating is not None:
            lexemes = [piece for piece in pieces if piece]
            words = [
                piece + separating if _is_word(piece[-1]) and _is_word(after[0]) else piece
                for piece, after in itertools.pairwise(lexemes)
            ]
            yield b"".join((*words, *lexemes[-1:]))
            yield separating.join(lexemes)

    @cached_property
    def _shortest(self) -> Shortest:
        with blaming(self.grammar.longest_rule()):
            return Shortest(self.graph, self._word, self._limits)

    def _word(self, expr: tree.Expr) -> DfaMatcher | NfaMatcher | None:
        """What knows short words of a leaf; None where nothing is known."""
        if isinstance(expr, tree.Token):
            return None
        if isinstance(expr, tree.Pattern):
            matcher = self.matchers(expr)
            found = matcher if isinstance(matcher, DfaMatcher | NfaMatcher) else None
        else:
            if id(expr) not in self._words:
                self._words[id(expr)] = self._automaton(expr)
            found = self._words[id(expr)]
        self._has_unknown |= found is None
        return found

    def _automaton(self, expr: tree.Expr) -> DfaMatcher | None:
        """Of a difference or an exclusion, if it is small."""
        few = self._limits.within(_MOST_STATES)
        try:
            if self._operands is None:
                self._operands = Operands(resolve_exclusions(self.grammar, few), few)
            resolved = fold(expr, tree.children, self._operands.without_exclusion)
        except LimitError as error:
            if error.is_measured:
                raise
            return None
        matcher = self.matchers(resolved)
        self._resolved.append(resolved)
        return matcher if isinstance(matcher, DfaMatcher) else None


def _is_word(octet: int) -> bool:
    return octet >= 0x80 or octet == 0x5F or chr(octet).isalnum()
