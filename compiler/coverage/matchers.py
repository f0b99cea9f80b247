"""What matches the leaves of a tree: literals, patterns, differences, exclusions.

A difference is read by the network itself: what its left side derives from a place, without the
ends to which the right side comes. So it needs no automaton, however large that would be."""

from collections.abc import Callable, Sequence
from functools import cached_property

from ..diagnostics import LimitError
from ..grammar.tree import Difference, Excluding, Expr, Literal, Pattern, Reference, Token
from ..limits import Limits
from .chart import read
from .graph import Graph
from .opened import opened
from .patterns import LiteralMatcher, Matcher, NoMatcher, large_matcher_of, small_matcher_of

# Exceptions inside exceptions: each is read while the one around it is.
_MOST_NESTED = 50


class Matchers:
    """Gives the matcher of each leaf, made when it is first asked for. ``graph``: gives the
    network. Raises ``LimitError``."""

    def __init__(self, graph: Callable[[], Graph], limits: Limits) -> None:
        self._graph, self._limits = graph, limits
        # Keys are addresses, so what they are of is kept.
        self._found: dict[int, tuple[Expr, Matcher]] = {}

    def __call__(self, expr: Expr) -> Matcher:
        """The matcher of a leaf. Patterns of one expression share one."""
        key = id(expr.node) if isinstance(expr, Pattern) else id(expr)
        if key not in self._found:
            self._found[key] = expr, self._made(expr)
        return self._found[key][1]

    def tree_of(self, expr: Expr) -> Expr | None:
        """The tree by which a pattern is matched, if it is."""
        matcher = self(expr) if isinstance(expr, Pattern) else None
        return matcher.tree if isinstance(matcher, TreeMatcher) else None

    def _made(self, expr: Expr) -> Matcher:
        match expr:
            case Literal():
                return LiteralMatcher(expr.data)
            case Pattern():
                return self._of_pattern(expr)
            case Difference():
                return TreeMatcher(self._graph, expr.left, self._limits, expr.right)
            case Excluding():
                return ExcludingMatcher(self._graph, expr, self._limits)
            case Token():
                return NoMatcher()
            case _:
                # What is ignored may be any expression.
                return TreeMatcher(self._graph, expr, self._limits)

    def _of_pattern(self, expr: Pattern) -> Matcher:
        small = small_matcher_of(expr.node, self._limits)
        if small is not None:
            return small
        tree = opened(expr)
        if tree is None:
            return large_matcher_of(expr.node, self._limits)
        return TreeMatcher(self._graph, tree, self._limits)


def ends_of(
    graph: Graph, expr: Expr, text: bytes, begin: int, end: int, limits: Limits
) -> Sequence[int]:
    """Where an expression that begins at a place may end. Raises ``LimitError``."""
    if graph.reading > _MOST_NESTED:
        rules = [expr.name] if isinstance(expr, Reference) else []
        stage = "the coverage of exceptions"
        raise LimitError(stage, "nesting", _MOST_NESTED, rules, is_fixed=True)
    graph.reading += 1
    try:
        chart = read(graph, graph.expression(expr), text, begin, end, limits)
    finally:
        graph.reading -= 1
    return [place for place in sorted(chart.columns) if chart.has_ended(place)]


class TreeMatcher:
    """What an expression matches by its tree, such as that of a pattern; ``but``: what it does not
    match."""

    def __init__(
        self, graph: Callable[[], Graph], tree: Expr, limits: Limits, but: Expr | None = None
    ) -> None:
        self._graph, self.tree, self._limits, self._but = graph, tree, limits, but

    @cached_property
    def nullable(self) -> bool:
        """See ``Matcher``."""
        return 0 in self._ends(b"", 0, 0)

    def _ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        found = ends_of(self._graph(), self.tree, text, begin, end, self._limits)
        if self._but is None or not found:
            return found
        others = set(ends_of(self._graph(), self._but, text, begin, found[-1], self._limits))
        return [place for place in found if place not in others]

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        return [place for place in self._ends(text, begin, end) if place > begin]


class ExcludingMatcher:
    """Characters that do not contain what an expression matches."""

    nullable = False

    def __init__(self, graph: Callable[[], Graph], expr: Excluding, limits: Limits) -> None:
        self._graph, self._expr, self._limits = graph, expr, limits
        self._text = b""
        # Of each place where the shortest match from there ends, or the end of the text and more.
        self._first: dict[int, int] = {}

    def _first_end(self, text: bytes, begin: int) -> int:
        if text is not self._text:
            self._text, self._first = text, {}
        if begin not in self._first:
            ends = ends_of(self._graph(), self._expr.item, text, begin, len(text), self._limits)
            self._first[begin] = ends[0] if ends else len(text) + 1
        return self._first[begin]

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        found: list[int] = []
        place, bound = begin, len(text) + 1
        while place < end and (self._expr.at_most is None or len(found) < self._expr.at_most):
            bound = min(bound, self._first_end(text, place))
            place += _width(text, place)
            if place > end or place >= bound:
                break
            found.append(place)
        return found


def _width(text: bytes, place: int) -> int:
    """The bytes of the character that begins there; more than any text has where none does."""
    lead = text[place]
    width = 1 + (lead >= 0xC2) + (lead >= 0xE0) + (lead >= 0xF0)
    try:
        text[place : place + width].decode("utf-8")
    except UnicodeDecodeError:
        return len(text) + 1
    return width
