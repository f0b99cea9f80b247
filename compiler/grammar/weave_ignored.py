"""Write ignored text into the rules.

    start: A B                      ->      whole:   start ignored
    A: "a"                                  start:   ignored A ignored B
    B: "b"                                  ignored: " "*
    %ignore " "

A grammar with ignored text reads so without a lexer: any number of ignored texts stand before
each terminal that a rule uses, whether it has a name or not, and at the end; never inside a
terminal, or inside what is embedded. A lexer by maximal munch would allow less.
"""

from collections.abc import Iterable
from dataclasses import replace

from ..automata.folding import fold
from ..diagnostics import Span
from .tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Permutation,
    Reference,
    Repetition,
    Rule,
    Sequence,
    children,
    with_children,
)


def weave_ignored(grammar: Grammar) -> Grammar:
    """The grammar in which nothing is ignored; the same one if nothing was.

    Differences and exclusions count as terminals; what they use may not be rules.
    """
    if not grammar.ignored:
        return grammar
    names = {rule.name for rule in grammar.rules}
    place = _over(grammar.ignored)
    gap = Reference(_unused("ignored", names), place)
    embedded = grammar.embedded_rules
    weave = _Weaver(gap, grammar.terminals | {each.name for each in grammar.embedded})
    start = weave(Reference(grammar.start, place))
    # A start of its own: at the end of a rule that uses itself, the gap would nest it.
    whole = Rule(_unused("whole", names), place, Sequence((start, gap), place), place)
    options = grammar.ignored
    one = options[0] if len(options) == 1 else Choice(options, place)
    ignored = Rule(gap.name, place, Repetition(one, 0, None, place), place, terminal=True)
    rules = (
        rule if rule.terminal or rule.name in embedded else replace(rule, body=weave(rule.body))
        for rule in grammar.rules
    )
    return replace(grammar, rules=(*rules, whole, ignored), start=whole.name, ignored=())


class _Weaver:
    def __init__(self, gap: Reference, terminals: frozenset[str]) -> None:
        self.gap = gap
        self.terminals = terminals

    def __call__(self, body: Expr) -> Expr:
        """A body with the gap before each of its terminals."""
        return fold(body, self._inside, self._woven)

    @staticmethod
    def _inside(expr: Expr) -> tuple[Expr, ...]:
        return (
            children(expr) if isinstance(expr, Sequence | Choice | Repetition | Permutation) else ()
        )

    def _woven(self, expr: Expr, parts: list[Expr]) -> Expr:
        match expr:
            case Sequence() | Choice() | Repetition() | Permutation():
                return with_children(expr, tuple(parts))
            case Literal() if not expr.data:
                return expr
            case Reference() if expr.name not in self.terminals:
                return expr
            case _:
                return Sequence((self.gap, expr), expr.span)


def _over(exprs: Iterable[Expr]) -> Span:
    first, *others = (expr.span for expr in exprs)
    for span in others:
        first = first.cover(span)
    return first


def _unused(wanted: str, names: set[str]) -> str:
    """A name that no rule has, and which is then taken."""
    name, number = wanted, 1
    while name in names:
        number += 1
        name = f"{wanted}{number}"
    names.add(name)
    return name
