"""The lint for ambiguous repetitions: those that factor some text in two ways."""

from collections.abc import Callable, Iterator
from functools import partial

from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.folding import fold
from ..automata.graphs import descended
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..diagnostics import Span, give_up
from ..grammar import tree
from ..limits import Limits, blaming
from ..lnf.remembered import memory_in_force
from ..lnf.resolve_exclusions import Operands
from .ambiguity import ambiguous_concatenation, ambiguous_factorization
from .finding import Finding, nodes, sizes_of, weight

# What is looked at: items of so many nodes that use so many rules, and in all of a grammar
# together so many nodes, which keeps the time linear in the grammar's size.
_NODES = 300
_RULES = 50
_ALL_NODES = 10_000

# Of an item's automaton, and pairs of its states.
_STATES = 500
_PAIRS = 20_000

_Find = Callable[[Limits], bytes | None]


def ambiguous_repetitions(grammar: tree.Grammar, limits: Limits) -> Iterator[Finding]:
    """Repetitions without end, and neighbours of which one is, while both are small.

    ``grammar`` without exceptions and ignored text; of one with terminals, the terminals.
    """
    search = _Search(grammar, limits)
    # Where a lexer cuts the text, what a rule repeats has one factorization; terminals need not.
    has_lexer = any(rule.terminal for rule in grammar.rules)
    for rule in grammar.rules:
        if has_lexer and not rule.terminal:
            continue
        limits.check_resources("the lint ambiguous-repetition", [rule.name])
        sizes = sizes_of(rule.body)
        for expr in tree.walk(rule.body):
            if isinstance(expr, tree.Repetition) and expr.max_times is None:
                yield from search.repetition(rule, expr, sizes)
            elif isinstance(expr, tree.Sequence):
                for first, second in zip(expr.items, expr.items[1:], strict=False):
                    yield from search.neighbours(rule, first, second, sizes)
            elif isinstance(expr, tree.Pattern):
                yield from search.pattern(rule, expr)


class _Search:
    """Looks for texts with two factorizations, until it has seen enough nodes."""

    def __init__(self, grammar: tree.Grammar, limits: Limits) -> None:
        self._operands = Operands(grammar, limits.within(_STATES), memory_in_force())
        self._limits = limits.within(_PAIRS)
        self._left = _ALL_NODES
        self._sizes: dict[str, int] = {}
        for rule in grammar.rules:
            size = sum(weight(e) for e in tree.walk(rule.body))
            self._sizes[rule.name] = self._sizes.get(rule.name, 0) + size

    def repetition(
        self, rule: tree.Rule, expr: tree.Repetition, sizes: dict[int, int]
    ) -> Iterator[Finding]:
        if not _is_one_word(expr.item) and self._affords([expr.item], sizes):
            automaton = self._operands.automaton
            yield from self._finding(
                rule,
                expr.span,
                lambda limits: ambiguous_factorization(automaton(expr.item), limits),
            )

    def neighbours(
        self, rule: tree.Rule, first: tree.Expr, second: tree.Expr, sizes: dict[int, int]
    ) -> Iterator[Finding]:
        if not (isinstance(first, tree.Repetition) and isinstance(second, tree.Repetition)):
            return
        endless = first.max_times is None or second.max_times is None
        if endless and self._affords([first, second], sizes):
            automaton = self._operands.automaton
            yield from self._finding(
                rule,
                first.span.cover(second.span),
                lambda limits: ambiguous_concatenation(automaton(first), automaton(second), limits),
            )

    def pattern(self, rule: tree.Rule, expr: tree.Pattern) -> Iterator[Finding]:
        """The first such repetition inside a regex; its place is the whole regex."""
        # What it matches depends on what stands around it.
        looking: set[int] = set()

        def note(node: regex.Node, inside: list[bool]) -> bool:
            if isinstance(node, regex.Look | regex.Around) or any(inside):
                looking.add(id(node))
            return id(node) in looking

        fold(expr.node, regex.parts_of, note)
        for node in descended(expr.node, regex.parts_of):
            if not isinstance(node, regex.Repeat) or node.max_times is not None:
                continue
            if isinstance(node.node, regex.CharClass | regex.Lit):
                continue  # One character or one text: a code.
            if id(node) in looking:
                continue
            size = nodes(node.node)
            if size > min(_NODES, self._left):
                continue
            self._left -= size
            found = next(self._finding(rule, expr.span, partial(_ambiguous_node, node.node)), None)
            if found is not None:
                yield found
                return

    def _affords(self, exprs: list[tree.Expr], sizes: dict[int, int]) -> bool:
        """Whether expressions are small enough to be looked at; notes that they are."""
        size = sum(sizes[id(e)] for e in exprs)
        if size > min(_NODES, self._left):
            return False
        names = [use.name for expr in exprs for use in tree.references(expr)]
        reached = self._operands.reached(names, _RULES)
        size += sum(self._sizes.get(name, 0) for name in reached)
        if len(reached) > _RULES or size > min(_NODES, self._left):
            return False
        self._left -= size
        return True

    def _finding(self, rule: tree.Rule, span: Span, find: _Find) -> Iterator[Finding]:
        try:
            with blaming([rule.name]):
                text = find(self._limits)
        except ConstrainError as error:
            give_up(error)
            return
        if text is not None:
            shown = repr(text.decode("utf-8", "backslashreplace"))
            message = (
                f"the text {shown} can be cut in two ways here"
                if text
                else "what is repeated here may be empty, so no text says how often it was"
            )
            hint = "let each text have one reading; the language can stay the same"
            yield Finding("ambiguous-repetition", message, span, rule.name, hint)


def _is_one_word(expr: tree.Expr) -> bool:
    """Whether an expression is one text or one character: a code, to be seen at a glance."""
    if isinstance(expr, tree.Literal):
        return bool(expr.data)
    return isinstance(expr, tree.Pattern) and isinstance(expr.node, regex.CharClass | regex.Lit)


def _ambiguous_node(node: regex.Node, limits: Limits) -> bytes | None:
    dfa = minimize(determinize(thompson(resolved(node, limits), limits), limits), limits)
    return ambiguous_factorization(dfa, limits)
