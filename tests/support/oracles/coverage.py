"""What texts cover by definition: all derivations, one by one, by recursion over the tree.

Exponential in the text; for small ones. A cyclic derivation can be cut where a rule derives the
same part of the text twice, so it is enough to follow each rule so often on a way down."""

from collections.abc import Iterator, Sequence

from constrain.compiler.automata.dfa import DEAD
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.coverage.items import NO_CASES, Items
from constrain.compiler.coverage.matchers import Matchers
from constrain.compiler.coverage.patterns import DfaMatcher, Edge
from constrain.compiler.grammar.tree import (
    Choice,
    Difference,
    Excluding,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Token,
)
from constrain.compiler.grammar.tree import Sequence as Concatenation

# A rule may be on the way down to one of its own uses for the same part of the text, once.
_TWICE = 2

# Steps after which a text is given up.
_MOST = 4_000

_Way = tuple[tuple[str, int, int], ...]


class TooManyError(Exception):
    """A text has too many derivations to look at each."""


def coverage_via_derivations(coverage: Coverage, text: bytes) -> frozenset[int] | None:
    """The items that the derivations of a text use; None if it has none. For grammars in which
    nothing is ignored. Raises ``TooManyError``."""
    grammar = coverage.grammar
    oracle = _Derivations(grammar, coverage.numbering, coverage.matchers, text)
    start = Reference(grammar.start, grammar.rules[0].name_span)
    found = [used for end, used in oracle.of(start, 0, ()) if end == len(text)]
    return frozenset().union(*found) if found else None


class _Derivations:
    def __init__(self, grammar: Grammar, items: Items, matcher: Matchers, text: bytes) -> None:
        self._items, self._matcher, self._text = items, matcher, text
        self._steps = 0
        self._known: dict[tuple[int, int, _Way], frozenset[tuple[int, frozenset[int]]]] = {}
        self._rules = [(rule.name, rule.body) for rule in grammar.rules]

    def of(self, expr: Expr, i: int, way: _Way) -> frozenset[tuple[int, frozenset[int]]]:
        """Of each derivation of a part that begins at i where it ends, and what it uses."""
        # Only what begins here, too, can be on the way again.
        key = id(expr), i, tuple(sorted(step for step in way if step[1] == i))
        if key not in self._known:
            found = set()
            for each in self._of(expr, i, key[2]):
                self._steps += 1
                if self._steps > _MOST:
                    raise TooManyError
                found.add(each)
            self._known[key] = frozenset(found)
        return self._known[key]

    def _of(self, expr: Expr, i: int, way: _Way) -> Iterator[tuple[int, frozenset[int]]]:
        items = self._items
        match expr:
            case Literal(data):
                if self._text.startswith(data, i):
                    yield i + len(data), _some(items.keys.get(id(expr)))
            case Pattern():
                yield from self._of_pattern(expr, i)
            case Reference(name):
                yield from self._of_rule(name, i, way)
            case Concatenation():
                yield from self._of_parts(expr.items, i, way)
            case Choice():
                for k, option in enumerate(expr.options):
                    own = _some(items.options.get((id(expr), k)))
                    yield from ((j, own | used) for j, used in self.of(option, i, way))
            case Repetition():
                cases = items.counts.get(id(expr), NO_CASES)
                for count, j, used in self._of_times(expr, i, way):
                    yield j, used | _some(cases[min(count, 2)])
            case Permutation():
                yield from self._of_orders(expr, (0,) * len(expr.parts), i, way)
            case Difference():
                taken = {j for j, _ in self.of(expr.right, i, way)}
                yield from ((j, u) for j, u in self.of(expr.left, i, way) if j not in taken)
            case Excluding() | Token():
                raise ValueError("neither exclusions nor tokens are derived")

    def _of_pattern(self, expr: Pattern, i: int) -> Iterator[tuple[int, frozenset[int]]]:
        matcher, edges = self._matcher(expr), self._items.edges.get(id(expr), {})
        assert isinstance(matcher, DfaMatcher)
        state, used = matcher.dfa.start, frozenset[int]()
        if matcher.dfa.accepting[state]:
            yield i, used
        for char in self._text[i:].decode():
            octets = char.encode()
            target = matcher.dfa.run(octets, state)
            if target == DEAD:
                return
            # What a difference takes away has no items.
            used |= _some(edges.get(Edge(state, target, len(octets) > 1)))
            state, i = target, i + len(octets)
            if matcher.dfa.accepting[state]:
                yield i, used

    def _of_rule(self, name: str, i: int, way: _Way) -> Iterator[tuple[int, frozenset[int]]]:
        bodies = [body for other, body in self._rules if other == name]
        # Where it ends is not known yet: what is left of the text tells how often it may begin
        # here.
        for k, body in enumerate(bodies):
            own = _some(self._items.rules.get(name)) | _some(self._items.definitions.get((name, k)))
            for end in range(i, len(self._text) + 1):
                step = name, i, end
                if way.count(step) < _TWICE:
                    for j, used in self.of(body, i, (*way, step)):
                        if j == end:
                            yield j, own | used

    def _of_parts(
        self, parts: Sequence[Expr], i: int, way: _Way
    ) -> Iterator[tuple[int, frozenset[int]]]:
        if not parts:
            yield i, frozenset()
            return
        for j, used in self.of(parts[0], i, way):
            yield from ((k, used | more) for k, more in self._of_parts(parts[1:], j, way))

    def _of_times(
        self, expr: Repetition, i: int, way: _Way, count: int = 0
    ) -> Iterator[tuple[int, int, frozenset[int]]]:
        if count >= expr.min_times:
            yield count, i, frozenset()
        if expr.max_times is None or count < expr.max_times:
            for j, used in self.of(expr.item, i, way):
                if j > i or count < expr.min_times:
                    for times, k, more in self._of_times(expr, j, way, count + 1):
                        yield times, k, used | more

    def _of_orders(
        self, expr: Permutation, counts: tuple[int, ...], i: int, way: _Way
    ) -> Iterator[tuple[int, frozenset[int]]]:
        begun = sum(n > 0 for n in counts)
        most = len(counts) if expr.most is None else expr.most
        complete = all(
            n or not part.is_required for n, part in zip(counts, expr.parts, strict=True)
        )
        if complete and begun >= expr.least and begun <= most:
            cases = [
                self._items.parts.get((id(expr), p), NO_CASES)[min(n, 2)]
                for p, n in enumerate(counts)
            ]
            yield i, frozenset(case for case in cases if case >= 0)
        for p, part in enumerate(expr.parts):
            if counts[p] and not part.is_repeated:
                continue
            grown = (*counts[:p], counts[p] + 1, *counts[p + 1 :])
            between = [expr.separator] if expr.separator is not None and any(counts) else []
            for start, before in self._of_parts(between, i, way):
                for j, used in self.of(part.item, start, way):
                    if j > start or (part.is_required and not counts[p]):
                        for k, more in self._of_orders(expr, grown, j, way):
                            yield k, before | used | more


def _some(number: int | None) -> frozenset[int]:
    return frozenset() if number is None or number < 0 else frozenset([number])
