"""Expressions without assertions, intersections and complements.

    \\bfoo\\b(?s:.*) & ~(.*bar)   ->   one automaton

Thompson's construction knows neither. An intersection or a complement becomes the automaton of
its operands' (``boolean``). Assertions become guarded edges, and the guards are resolved for
the whole expression at last (``contexts``). An operand with assertions means something else in
each surrounding, so it is resolved once for each pair of classes (c, d), and stands between
the guards "behind c" and "in front of d".
"""

from functools import reduce

from ..diagnostics import LimitError
from ..folding import fold
from ..limits import Limits
from .boolean import common, difference
from .contexts import EDGE, Contexts, GuardedNfa, Pairs, without_guards
from .determinize import determinize
from .dfa import Dfa, as_nfa
from .minimize import minimize
from .nfa import Nfa, Origins
from .nodes import And, Embedded, Look, Node, Not, parts_of, walk
from .regex import EVERYTHING
from .thompson import Fragment, Thompson, thompson


def resolved(node: Node, limits: Limits | None = None) -> Node:
    """An expression for the same texts without ``And``, ``Not`` and ``Look``.

    ``node`` is the whole: what it matches is the text that its assertions look at. Raises
    ``LimitError`` with the operand at fault, ``TypeError`` for token terminals besides these.
    """
    nodes = list(walk(node))
    if not any(isinstance(part, And | Not | Look) for part in nodes):
        return node
    limits = (limits or Limits()).started()
    contexts = Contexts({part.kind for part in nodes if isinstance(part, Look)})
    resolver = _Resolver(node, contexts, limits)

    def prepare(part: Node, _: list[None]) -> None:
        if isinstance(part, And | Not):
            resolver.prepare(part)

    fold(node, parts_of, prepare)
    return Embedded(resolver.automaton(node, EDGE, EDGE))


class _Resolver:
    """``_made``: for a complement or an intersection its automata, each with the guards that it
    stands between (None where the surrounding does not matter)."""

    def __init__(self, whole: Node, contexts: Contexts, limits: Limits) -> None:
        self._whole = whole
        self._contexts = contexts
        self._limits = limits
        self._made: dict[int, list[tuple[Pairs | None, Nfa, Pairs | None]]] = {}
        self._every = minimize(determinize(thompson(EVERYTHING)))

    def prepare(self, operation: And | Not) -> None:
        """Make the automata of an operation, whose operands' are made."""
        try:
            if not any(isinstance(part, Look) for part in walk(operation)):
                self._made[id(operation)] = [(None, self._operation(operation, EDGE, EDGE), None)]
                return
            # Around the whole there is nothing.
            classes = [EDGE] if operation is self._whole else self._contexts.classes
            self._made[id(operation)] = [
                (
                    self._contexts.before(c),
                    self._operation(operation, c, d),
                    self._contexts.behind(d),
                )
                for c in classes
                for d in classes
            ]
        except LimitError as error:
            if error.part:
                raise
            at_fault = (error.stage, error.limit, error.value, error.rules, operation.text)
            raise LimitError(*at_fault) from None

    def automaton(self, node: Node, before: int, behind: int) -> Nfa:
        """What ``node`` matches between a character of one class and one of another."""
        builder = _Guarded(self._made, self._contexts, self._limits)
        nfa = builder.finish(builder.compile(node))
        if not builder.guards:
            return nfa
        guarded = GuardedNfa(nfa, builder.guards)
        return without_guards(guarded, self._contexts, before, behind, self._limits)

    def _operation(self, operation: And | Not, before: int, behind: int) -> Nfa:
        operands = [self._dfa(part, before, behind) for part in parts_of(operation)]
        if isinstance(operation, Not):
            result = difference(self._every, operands[0], self._limits)
        else:
            result = reduce(lambda a, b: common(a, b, self._limits), operands)
        return as_nfa(result, keep_origins=False)

    def _dfa(self, node: Node, before: int, behind: int) -> Dfa:
        nfa = self.automaton(node, before, behind)
        return minimize(determinize(nfa, self._limits), self._limits)


class _Guarded(Thompson):
    """Thompson's construction with guarded edges for assertions."""

    def __init__(
        self,
        made: dict[int, list[tuple[Pairs | None, Nfa, Pairs | None]]],
        contexts: Contexts,
        limits: Limits,
    ) -> None:
        super().__init__(limits)
        self._made = made
        self._contexts = contexts
        self.guards: dict[int, list[tuple[Pairs, int]]] = {}

    def _compile_other(self, node: Look | And | Not, origins: Origins) -> Fragment:
        start, end = self.new_state(), self.new_state()
        if isinstance(node, Look):
            self._connect(start, end, self._contexts.pairs(node.kind))
            return Fragment(start, end)
        for before, nfa, behind in self._made[id(node)]:
            fragment = self.copy(nfa, origins)
            self._connect(start, fragment.start, before)
            self._connect(fragment.end, end, behind)
        return Fragment(start, end)

    def _connect(self, source: int, target: int, pairs: Pairs | None) -> None:
        if pairs is None:
            self.add_epsilon(source, target)
        else:
            self.guards.setdefault(source, []).append((pairs, target))
