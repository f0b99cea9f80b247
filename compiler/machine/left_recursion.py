"""Rules that begin with each other, rewritten so that none begins with itself.

    a ::= b "x" | "y"              a ::= "y" a-to-a | "z" b-to-a
    b ::= a "u" | "z"       ->     a-to-a ::= "" | "u" b-to-a
                                   b-to-a ::= "x" a-to-a            and the same to b

A text of a begins with one of some rule of the cycle that begins with none of it, and goes on by
what stands behind the rules of the cycle, up to a: a left-corner transform (Rosenkrantz and Lewis
1970).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..grammar.tree import Choice, Expr, Grammar, Literal, Reference, Repetition, Rule
from ..grammar.tree import Sequence as Concatenation
from ..lnf.components import strongly_connected

# Cycles of more rules, each of which may lead to each, are left to the normal form.
_MOST_RULES = 24


def without_left_recursion(grammar: Grammar) -> Grammar | None:
    """The same members by rules that do not begin with each other; None where none do, or many.
    What begins with itself behind a rule that may be missing stays so."""
    bodies: dict[str, list[Rule]] = {}
    for rule in grammar.rules:
        bodies.setdefault(rule.name, []).append(rule)
    options = {
        name: [items for rule in rules for items in _options(rule.body)]
        for name, rules in bodies.items()
    }
    names = list(bodies)
    place = {name: i for i, name in enumerate(names)}
    corners = [sorted({place[c] for items in options[n] for c in _corner(items)}) for n in names]
    cycles = [
        members
        for members in strongly_connected(corners)
        if len(members) > 1 or _begins_inside(names[members[0]], bodies, options)
    ]
    if not cycles or max(map(len, cycles)) > _MOST_RULES:
        return None
    written: dict[str, list[Rule]] = {}
    for members in cycles:
        cycle = {names[i]: options[names[i]] for i in members}
        for name in cycle:
            written[name] = list(_rules_of(name, bodies[name][0], cycle, bodies))
    rules = [new for name in names for new in written.get(name, bodies[name])]
    return replace(grammar, rules=tuple(rules))


def _options(expr: Expr, *, whole: bool = True) -> Iterator[tuple[Expr, ...]]:
    """What an expression is a choice of, each as its items, the first of them no choice; unless
    ``whole`` first items that may be missing or repeated are left as they are."""
    pending: list[tuple[tuple[Expr, ...], frozenset[int]]] = [((expr,), frozenset())]
    while pending:
        items, opened = pending.pop()
        first, rest = items[0], items[1:]
        match first:
            case Choice(alternatives):
                pending.extend(((each, *rest), opened) for each in reversed(alternatives))
            case Concatenation(parts) if parts:
                pending.append(((*parts, *rest), opened))
            case Repetition(item, 0, most) if whole and most in (1, None):
                pending.append((rest or (Literal(b"", first.span),), opened))
                again = () if most == 1 else (first,)
                # What was repeated without a text is not begun once more.
                if id(first) not in opened:
                    pending.append(((item, *again, *rest), opened | {id(first)}))
            case _:
                yield items


def _begins_inside(
    name: str, bodies: dict[str, list[Rule]], options: dict[str, list[tuple[Expr, ...]]]
) -> bool:
    """Whether a rule begins with itself inside what may be missing or repeated."""
    plain = [items for rule in bodies[name] for items in _options(rule.body, whole=False)]
    own, seen = (sum(name in _corner(items) for items in each) for each in (options[name], plain))
    return own > seen


def _corner(items: Sequence[Expr]) -> Iterator[str]:
    """The rule that items begin with, if they do with one."""
    if isinstance(items[0], Reference):
        yield items[0].name


def _rules_of(
    name: str,
    rule: Rule,
    cycle: dict[str, list[tuple[Expr, ...]]],
    taken: dict[str, list[Rule]],
) -> Iterator[Rule]:
    """A rule of a cycle, and what leads to it from each rule of the cycle."""
    span, shown = rule.span, rule.shown

    def behind(other: str) -> str:
        found = f"{other}-to-{name}"
        while found in taken:
            found += "'"
        return found

    def goes_on(items: Sequence[Expr], other: str) -> Expr:
        return Concatenation((*items, Reference(behind(other), span)), span)

    seeds = [
        goes_on(items, other)
        for other, options in cycle.items()
        for items in options
        if not cycle.keys() & set(_corner(items))
    ]
    yield replace(rule, body=Choice(tuple(seeds), span))
    for begun in cycle:
        ways: list[Expr] = [Literal(b"", span)] if begun == name else []
        for other, options in cycle.items():
            ways += [goes_on(items[1:], other) for items in options if begun in _corner(items)]
        yield Rule(behind(begun), span, Choice(tuple(ways), span), span, within=shown)
