"""Write ignored text into the rules.

    start: A B                      ->      whole:   start ignored
    A: "a"                                  start:   ignored A ignored B
    B: "b"                                  ignored: " "*
    %ignore " "

Any number of ignored texts stand before each terminal that a rule uses, whether it has a name or
not, and at the end; never inside a terminal, or inside what is embedded. Each ends anywhere, as a
lexer decides that by itself; read without one, each is as long as possible
(``compiler/lnf/longest_ignored.py``).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from ..automata.folding import fold
from ..diagnostics import Span
from . import tree


class Gaps:
    """The rules of ignored text, any number of pieces each ending anywhere. ``last``: what stands
    at the end."""

    def __init__(self, grammar: tree.Grammar) -> None:
        self._names = {rule.name for rule in grammar.rules}
        self.place = _over(grammar.ignored)
        one = grammar.ignored[0]
        if len(grammar.ignored) > 1:
            one = tree.Choice(grammar.ignored, self.place)
        self._any = tree.Repetition(one, 0, None, self.place)
        self.rules: list[tree.Rule] = []

    @cached_property
    def any(self) -> tree.Reference:
        """Any pieces."""
        return self.rule(self._any)

    @property
    def last(self) -> tree.Expr:
        """What stands after all others."""
        return self.any

    def before(self, terminal: tree.Expr) -> tree.Expr:
        """A terminal and what may stand before it."""
        return tree.Sequence((self.any, terminal), terminal.span)

    def rule(self, body: tree.Expr) -> tree.Reference:
        """A use of a new rule with a body."""
        name = self.unused("ignored")
        self.rules.append(tree.Rule(name, self.place, body, self.place, terminal=True))
        return tree.Reference(name, self.place)

    def unused(self, wanted: str) -> str:
        """A name that no rule has, and which is then taken."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}{number}"
        self._names.add(name)
        return name


def weave_ignored(grammar: tree.Grammar, gaps: Gaps | None = None) -> tree.Grammar:
    """The grammar in which nothing is ignored; the same one if nothing was. ``gaps``: what stands
    between its terminals; by default as a lexer needs it, which ends each piece itself.

    Differences and exclusions count as terminals; what they use may not be rules.
    """
    if not grammar.ignored:
        return grammar
    gaps = gaps or Gaps(grammar)
    embedded, place = grammar.embedded_rules, gaps.place
    weave = _Weaver(gaps.before, grammar.terminals | {each.name for each in grammar.embedded})
    start = weave(tree.Reference(grammar.start, place))
    rules = [
        rule if rule.terminal or rule.name in embedded else replace(rule, body=weave(rule.body))
        for rule in grammar.rules
    ]
    # A start of its own: at the end of a rule that uses itself, the gap would nest it.
    whole = tree.Sequence((start, gaps.last), place)
    rules.append(tree.Rule(gaps.unused("whole"), place, whole, place))
    return replace(grammar, rules=(*rules, *gaps.rules), start=rules[-1].name, ignored=())


class _Weaver:
    def __init__(self, before: Callable[[tree.Expr], tree.Expr], terminals: frozenset[str]) -> None:
        self._before, self._terminals = before, terminals

    def __call__(self, body: tree.Expr) -> tree.Expr:
        """A body with what is ignored before each of its terminals."""
        return fold(body, self._inside, self._woven)

    @staticmethod
    def _inside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
        return (
            tree.children(expr)
            if isinstance(expr, tree.Sequence | tree.Choice | tree.Repetition | tree.Permutation)
            else ()
        )

    def _woven(self, expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        match expr:
            case tree.Sequence() | tree.Choice() | tree.Repetition() | tree.Permutation():
                return tree.with_children(expr, tuple(parts))
            case tree.Literal() if not expr.data:
                return expr
            case tree.Reference() if expr.name not in self._terminals:
                return expr
            case _:
                return self._before(expr)


def _over(exprs: Iterable[tree.Expr]) -> Span:
    first, *others = (expr.span for expr in exprs)
    for span in others:
        first = first.cover(span)
    return first
