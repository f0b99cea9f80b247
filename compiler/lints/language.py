"""Lints that look at what parts of a grammar match: endless white space, redundant alternatives."""

from collections.abc import Iterator

from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..automata.dfa import DEAD
from ..automata.folding import fold
from ..automata.graphs import descended
from ..automata.members import shortest
from ..diagnostics import give_up
from ..grammar import tree
from ..limits import Limits, blaming
from ..lnf.remembered import memory_in_force
from ..lnf.resolve_exclusions import Operands
from .finding import Finding, sizes_of

_SPACE = frozenset(b" \t\r\n\f\v")

# Alternatives are compared only where they, the rules they use and their automata are few.
_COMPARED_STATES = 2000
_COMPARED_OPTIONS = 60
_COMPARED_RULES = 50

# Nodes that are compared in all of a grammar together, which keeps the time linear in its size.
_ALL_COMPARED = 100_000


def white_space(grammar: tree.Grammar, limits: Limits) -> Iterator[Finding]:
    """Repetitions without end of white space alone, in rules and in what is ignored."""
    bodies = {rule.name: rule.body for rule in grammar.rules}
    for rule in grammar.rules:
        limits.check_resources("the lint unbounded-whitespace", [rule.name])
        spaces = only_spaces(rule.body)
        for expr in tree.walk(rule.body):
            if (
                isinstance(expr, tree.Repetition)
                and expr.max_times is None
                and id(expr.item) in spaces
            ) or (isinstance(expr, tree.Pattern) and _repeats_space(expr.node)):
                yield _endless_space(expr, rule.name)
    for expr in grammar.ignored:
        # Whatever is ignored may stand any number of times.
        named = bodies.get(expr.name, expr) if isinstance(expr, tree.Reference) else expr
        if id(named) in only_spaces(named) or (
            isinstance(expr, tree.Pattern) and _repeats_space(expr.node)
        ):
            yield _endless_space(expr, "")


def _endless_space(expr: tree.Expr, rule: str) -> Finding:
    message = "white space may repeat without end here"
    hint = "allow as much as the format needs, such as one space or a count"
    return Finding("unbounded-whitespace", message, expr.span, rule, hint)


def only_spaces(whole: tree.Expr) -> set[int]:
    """The ``id`` of each part, the whole included, that matches white space alone."""
    found: set[int] = set()

    def note(node: tree.Expr, inside: list[bool]) -> bool:
        match node:
            case tree.Literal():
                blank = bool(node.data) and _SPACE.issuperset(node.data)
            case tree.Pattern():
                blank = is_space(node.node)
            case tree.Token() | tree.Reference() | tree.Difference() | tree.Excluding():
                blank = False
            case _:
                blank = all(inside)
        if blank:
            found.add(id(node))
        return blank

    fold(whole, tree.children, note)
    return found


def is_space(node: regex.Node) -> bool:
    """Whether a class or a literal, or a choice of them, is white space."""
    if isinstance(node, regex.Lit):
        return _SPACE.issuperset(node.data)
    if isinstance(node, regex.CharClass):
        return node.kind == "WHITESPACE" or all(
            low <= 0x20 and set(range(low, high + 1)) <= _SPACE for low, high in node.ranges
        )
    if isinstance(node, regex.Alt):
        return bool(node.options) and all(map(is_space, node.options))
    return False


def _repeats_space(node: regex.Node) -> bool:
    inside = regex.Repeat | regex.Optional | regex.Seq | regex.Alt
    every = descended(node, lambda each: regex.parts_of(each) if isinstance(each, inside) else ())
    return any(
        isinstance(each, regex.Repeat) and each.max_times is None and is_space(each.node)
        for each in every
    )


def _shown(member: bytes | None) -> str:
    """A shortest member of an alternative, as a part of a message."""
    return "" if member is None else f", such as {member.decode('utf-8', 'backslashreplace')!r}"


def redundant(grammar: tree.Grammar, limits: Limits) -> Iterator[Finding]:
    """Alternatives inside the union of the others, while both are small and regular.

    ``grammar`` without exceptions.
    """
    small = limits.within(_COMPARED_STATES)
    operands = Operands(grammar, small, memory_in_force())
    left = _ALL_COMPARED
    for rule in grammar.rules:
        limits.check_resources("the lint redundant-alternative", [rule.name])
        sizes = sizes_of(rule.body)
        for expr in tree.walk(rule.body):
            if not isinstance(expr, tree.Choice) or len(expr.options) > _COMPARED_OPTIONS:
                continue
            work = sizes[id(expr)] * len(expr.options)
            if sizes[id(expr)] > _COMPARED_STATES or work > left:
                continue
            if not operands.is_small(expr, _COMPARED_RULES):
                continue
            left -= work
            for place, option in enumerate(expr.options):
                others = expr.options[:place] + expr.options[place + 1 :]
                if rule.name in operands.reached(
                    use.name for o in others for use in tree.references(o)
                ):
                    continue  # Then the others match what they do through this one.
                union = others[0] if len(others) == 1 else tree.Choice(others, option.span)
                limits.check_resources("the lint redundant-alternative", [rule.name])
                try:
                    with blaming([rule.name]):
                        rest = operands.difference(option, union)
                except ConstrainError as error:
                    give_up(error)
                    break
                if rest.start == DEAD:
                    witness = _shown(shortest(operands.automaton(option), is_read=True))
                    message = f"the other alternatives match all that this one matches{witness}"
                    hint = "remove it, or check what it was meant to add"
                    yield Finding("redundant-alternative", message, option.span, rule.name, hint)
                    break
