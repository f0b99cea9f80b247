"""Lints that look at what parts of a grammar match: endless white space, redundant alternatives."""

from collections.abc import Iterator

from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..automata.ambiguity import shortest_member
from ..automata.dfa import DEAD
from ..folding import fold
from ..grammar.tree import (
    Choice,
    Difference,
    Excluding,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Reference,
    Repetition,
    Token,
    children,
    references,
    walk,
)
from ..limits import Limits
from ..lnf.resolve_exclusions import Operands
from .finding import Finding

_SPACE = frozenset(b" \t\r\n\f\v")

# Alternatives are compared only where they, the rules they use and their automata are few.
_COMPARED_STATES = 2000
_COMPARED_OPTIONS = 60
_COMPARED_RULES = 50


def white_space(grammar: Grammar) -> Iterator[Finding]:
    """Repetitions without end of white space alone, in rules and in what is ignored."""
    bodies = {rule.name: rule.body for rule in grammar.rules}
    for rule in grammar.rules:
        for expr in walk(rule.body):
            endless = isinstance(expr, Repetition) and expr.max_times is None
            if (endless and _only_space(children(expr)[0])) or (
                isinstance(expr, Pattern) and _repeats_space(expr.node)
            ):
                yield _endless_space(expr, rule.name)
    for expr in grammar.ignored:
        # Whatever is ignored may stand any number of times.
        named = bodies.get(expr.name) if isinstance(expr, Reference) else None
        if _only_space(named or expr) or (isinstance(expr, Pattern) and _repeats_space(expr.node)):
            yield _endless_space(expr, "")


def _endless_space(expr: Expr, rule: str) -> Finding:
    return Finding(
        "unbounded-whitespace",
        "white space may repeat without end here",
        expr.span,
        rule,
        "allow as much as the format needs, such as one space or a count",
    )


def _only_space(expr: Expr) -> bool:
    def is_space(node: Expr, inside: list[bool]) -> bool:
        match node:
            case Literal():
                return bool(node.data) and _SPACE.issuperset(node.data)
            case Pattern():
                return _is_space(node.node)
            case Token() | Reference() | Difference() | Excluding():
                return False
            case _:
                return all(inside)

    return fold(expr, children, is_space)


def _is_space(node: regex.Node) -> bool:
    if isinstance(node, regex.Lit):
        return _SPACE.issuperset(node.data)
    if isinstance(node, regex.CharClass):
        return node.kind == "WHITESPACE" or all(
            low <= 0x20 and set(range(low, high + 1)) <= _SPACE for low, high in node.ranges
        )
    if isinstance(node, regex.Alt):
        return bool(node.options) and all(map(_is_space, node.options))
    return False


def _repeats_space(node: regex.Node) -> bool:
    pending = [node]
    while pending:
        current = pending.pop()
        match current:
            case regex.Repeat(inner, _, None) if _is_space(inner):
                return True
            case regex.Repeat(inner, _, _) | regex.Optional(inner):
                pending.append(inner)
            case regex.Seq(parts):
                pending.extend(parts)
            case regex.Alt(options):
                pending.extend(options)
    return False


def _shown(member: bytes | None) -> str:
    """A shortest member of an alternative, as a part of a message."""
    return "" if member is None else f", such as {member.decode('utf-8', 'backslashreplace')!r}"


def redundant(grammar: Grammar, limits: Limits) -> Iterator[Finding]:
    """Alternatives inside the union of the others, while both are small and regular.

    ``grammar`` without exceptions.
    """
    small = Limits(states=_COMPARED_STATES, seconds=limits.seconds).started()
    operands = Operands(grammar, small)
    for rule in grammar.rules:
        for expr in walk(rule.body):
            if (
                not isinstance(expr, Choice)
                or len(expr.options) > _COMPARED_OPTIONS
                or not operands.is_small(expr, _COMPARED_RULES)
            ):
                continue
            for place, option in enumerate(expr.options):
                others = expr.options[:place] + expr.options[place + 1 :]
                if rule.name in operands.reached(use.name for o in others for use in references(o)):
                    continue  # Then the others match what they do through this one.
                union = others[0] if len(others) == 1 else Choice(others, option.span)
                limits.check_resources("the lint redundant-alternative", [rule.name])
                try:
                    rest = operands.difference(option, union)
                except ConstrainError:
                    break
                if rest.start == DEAD:
                    witness = _shown(shortest_member(operands.automaton(option), small))
                    yield Finding(
                        "redundant-alternative",
                        f"the other alternatives match all that this one matches{witness}",
                        option.span,
                        rule.name,
                        "remove it, or check what it was meant to add",
                    )
                    break
