"""Lints that look at rules and their uses alone: duplicates, unreachable rules, recursion."""

from collections.abc import Iterator, Mapping, Sequence

from ..automata.folding import fold
from ..automata.graphs import descended, on_cycles, shortest_path
from ..diagnostics import Span
from ..dialects import DIALECTS
from ..grammar import tree
from ..grammar.productive import is_nullable, nullable_rules, productive_rules, used_rules
from .finding import Finding

# How dialects say that something may be missing.
_OPTIONS = {
    **dict.fromkeys(("kbnf", "gbnf", "lark", "w3c"), "( … )?"),
    **dict.fromkeys(("abnf", "iso14977"), "[ … ]"),
}


def duplicates(grammar: tree.Grammar) -> Iterator[Finding]:
    """Definitions after the first one of a rule."""
    first: dict[str, tree.Rule] = {}
    for rule in grammar.rules:
        if rule.name not in first:
            first[rule.name] = rule
            continue
        line, _ = grammar.source.position(first[rule.name].span.start)
        message = f"rule {rule.name!r} is defined already, in line {line}"
        hint = "write the alternatives in one rule, with '|' between them"
        yield Finding("duplicate-definition", message, rule.name_span, rule.name, hint)


def unreachable(grammar: tree.Grammar) -> Iterator[Finding]:
    """Rules that neither the start nor what is ignored leads to, but for those that the dialect
    has without them; none where a note says it of most rules."""
    if any(note.message.endswith(" [unreachable]") for note in grammar.notes):
        return
    row = DIALECTS.get(grammar.source.dialect)
    library = row.builder.library if row and row.builder else ()
    ignored = (use.name for expr in grammar.ignored for use in tree.references(expr))
    used = set(used_rules(grammar.rules, [grammar.start, *ignored]))
    for rule in grammar.rules:
        if rule.name not in used and rule.name not in library:
            message = f"rule {rule.name!r} cannot be reached from {grammar.start!r}"
            hint = "use it, remove it, or name another start"
            yield Finding("unreachable", message, rule.name_span, rule.name, hint)


def unproductive(grammar: tree.Grammar) -> Iterator[Finding]:
    """Rules that match no finite text."""
    productive = productive_rules(grammar.rules)
    for rule in grammar.rules:
        if rule.name not in productive:
            message = f"rule {rule.name!r} matches no finite text"
            hint = "give its recursion an alternative that ends"
            yield Finding("unproductive", message, rule.name_span, rule.name, hint)


def unit_cycles(grammar: tree.Grammar) -> Iterator[Finding]:
    """Rules that stand for themselves with nothing around them; one finding a cycle."""
    nullable = nullable_rules(grammar.rules)
    alone: dict[str, set[str]] = {rule.name: set() for rule in grammar.rules}
    for rule in grammar.rules:
        alone[rule.name].update(_alone(rule.body, nullable))
    first = {rule.name: rule for rule in reversed(grammar.rules)}
    for members in on_cycles(alone):
        rule = first[members[0]]
        cycle = " -> ".join(_cycle(members, alone))
        message = f"rule {rule.name!r} stands for itself and nothing more: {cycle}"
        hint = "remove one of these uses: it adds no text, but a text has endless readings"
        yield Finding("unit-cycle", message, rule.name_span, rule.name, hint)


def _alone(whole: tree.Expr, nullable: set[str]) -> Iterator[str]:
    """The rules that an expression can be, all else in it being empty."""
    empty: set[int] = set()

    def note(expr: tree.Expr, inside: list[bool]) -> bool:
        if is_nullable(nullable, expr, inside):
            empty.add(id(expr))
        return id(expr) in empty

    fold(whole, tree.children, note)

    def inside(current: tree.Expr) -> Sequence[tree.Expr]:
        match current:
            case tree.Difference() | tree.Excluding():
                return ()
            case tree.Sequence():
                full = [item for item in current.items if id(item) not in empty]
                return full if len(full) == 1 else () if full else current.items
            case tree.Permutation():
                full = [
                    part.item
                    for part in current.parts
                    if part.is_required and id(part.item) not in empty
                ]
                every = [part.item for part in current.parts]
                return full if len(full) == 1 else () if full else every
            case _:
                return tree.children(current)

    return (each.name for each in descended(whole, inside) if isinstance(each, tree.Reference))


def _cycle(members: Sequence[str], uses: Mapping[str, set[str]]) -> list[str]:
    """A shortest path from a member of a cycle back to it."""
    start = members[0]

    def following(name: str) -> list[str]:
        return [each for each in members if each in uses[name or start]]

    return [start, *shortest_path("", start, following)[1:]]


def left_recursion(grammar: tree.Grammar) -> Iterator[Finding]:
    """Rules that can begin with themselves without having read anything."""
    nullable = nullable_rules(grammar.rules)
    corners: dict[str, set[str]] = {}
    for rule in grammar.rules:
        corners.setdefault(rule.name, set()).update(_corners(rule.body, nullable))
    circular = {member for component in on_cycles(corners) for member in component}
    for rule in grammar.rules:
        if rule.name in circular:
            message = f"rule {rule.name!r} can begin with itself"
            hint = "that is allowed"
            yield Finding("left-recursion", message, rule.name_span, rule.name, hint)


def empty_alternatives(grammar: tree.Grammar) -> Iterator[Finding]:
    """``("a" | "b" | ε)``, where the dialect has options; not where that is a whole rule, or is
    repeated."""
    form = _OPTIONS.get(grammar.source.dialect)
    seen: set[Span] = set()
    for rule in grammar.rules if form else ():
        if not any(e.__class__ is tree.Literal and not e.data for e in rule.expressions):
            continue
        around = (each for each in rule.expressions if not isinstance(each, tree.Repetition))
        choices = (
            part for each in around for part in tree.children(each) if isinstance(part, tree.Choice)
        )
        for option in (option for choice in choices for option in choice.options):
            # A template's uses are rules with the same places.
            if isinstance(option, tree.Literal) and not option.data and option.span not in seen:
                seen.add(option.span)
                message = "the empty text is one of the alternatives"
                hint = f"write {form} for what may be missing"
                yield Finding("empty-alternative", message, option.span, rule.name, hint)


def _corners(expr: tree.Expr, nullable: set[str]) -> Iterator[str]:
    """The rules that an expression can begin with."""
    pending = [expr]
    while pending:
        current = pending.pop()
        match current:
            case tree.Reference():
                yield current.name
            case tree.Sequence():
                for item in current.items:
                    pending.append(item)
                    if not (
                        (isinstance(item, tree.Repetition) and item.min_times == 0)
                        or (isinstance(item, tree.Reference) and item.name in nullable)
                        or (isinstance(item, tree.Literal) and not item.data)
                    ):
                        break
            case tree.Difference() | tree.Excluding():
                pass
            case tree.Permutation():
                pending.extend(part.item for part in current.parts)
            case _:
                pending.extend(tree.children(current))


# Lints that look at all rules, defined or not, in the order in which they run.
OF_ALL_RULES = (duplicates, unreachable, unit_cycles, left_recursion, empty_alternatives)
