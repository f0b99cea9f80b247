"""Rules of a tree that match some finite text, or the empty one: least fixed points."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..automata.graphs import components_by, reached
from . import tree


def productive_rules(rules: Sequence[tree.Rule], others: Iterable[str] = ()) -> set[str]:
    """Rules that match some finite text, as ``others`` do."""
    return least_rules(rules, _is_productive, others, _has_all)


def _has_all(rule: tree.Rule) -> bool:
    """Whether all that stands in a rule matches some text, if the rules that it uses do."""
    return all(_is_productive(set(), pattern, []) for pattern in rule.patterns)


def nullable_rules(rules: Sequence[tree.Rule]) -> set[str]:
    """Rules that match the empty text."""
    return least_rules(rules, is_nullable)


def without_dead(rules: Iterable[tree.Rule], productive: set[str]) -> Iterator[tree.Rule]:
    """The ``productive`` rules, of their expressions those that match some text."""

    def kept(expr: tree.Expr, inside: list[tree.Expr | None]) -> tree.Expr | None:
        match expr:
            case tree.Reference():
                return expr if expr.name in productive else None
            case tree.Choice():
                options = tuple(each for each in inside if each is not None)
                if len(options) < 2:
                    return options[0] if options else None
                return tree.with_children(expr, options)
            case tree.Repetition() if inside[0] is None and expr.min_times == 0:
                return tree.Literal(b"", expr.span)
            case tree.Pattern():
                return expr if _is_productive(productive, expr, []) else None
            case tree.Permutation():
                pairs = list(zip(expr.parts, inside, strict=False))
                there = tuple(replace(part, item=item) for part, item in pairs if item is not None)
                is_dead = any(part.is_required and item is None for part, item in pairs)
                return None if is_dead or len(there) < expr.least else replace(expr, parts=there)
            case _:
                parts = [each for each in inside if each is not None]
                return tree.with_children(expr, tuple(parts)) if len(parts) == len(inside) else None

    for rule in rules:
        if rule.name in productive:
            if all(use.name in productive for use in rule.uses):
                yield rule
            else:
                body = fold(rule.body, tree.children, kept)
                assert body is not None
                yield replace(rule, body=body)


def least_rules(
    rules: Sequence[tree.Rule],
    holds: Callable[[set[str], tree.Expr, list[bool]], bool],
    others: Iterable[str] = (),
    surely: Callable[[tree.Rule], bool] | None = None,
) -> set[str]:
    """The least set of rules with a body of which ``holds`` is true, given those found so far,
    ``others`` among them, and what was found of the body's parts. ``surely``: what says it of a
    rule, all that it uses having been found, without a look at the parts."""
    found, seen = set(others), set[str]()
    users: dict[str, list[tree.Rule]] = {}
    uses: dict[str, list[str]] = {rule.name: [] for rule in rules}
    names = {id(rule): [use.name for use in rule.uses] for rule in rules}
    for rule in rules:
        uses[rule.name] += names[id(rule)]
        for name in names[id(rule)]:
            users.setdefault(name, []).append(rule)
    # After those that they name, where they do not name each other.
    places = {name: place for place, each in enumerate(components_by(uses)) for name in each}
    pending = sorted(rules, key=lambda rule: places[rule.name])
    for rule in pending:
        done: dict[int, bool] = {}
        if surely is not None and found.issuperset(names[id(rule)]) and surely(rule):
            done[id(rule.body)] = True
        # Parts stand after what they are parts of.
        for expr in reversed(rule.expressions) if not done and rule.name not in found else ():
            done[id(expr)] = holds(found, expr, [done[id(part)] for part in tree.children(expr)])
        if done.get(id(rule.body)) and rule.name not in found:
            found.add(rule.name)
            pending.extend(user for user in users.get(rule.name, ()) if user.name in seen)
        seen.add(rule.name)
    return found


def _is_productive(found: set[str], expr: tree.Expr, inside: list[bool]) -> bool:
    match expr:
        case tree.Reference():
            return expr.name in found
        case tree.Choice():
            return any(inside)
        case tree.Repetition():
            return expr.min_times == 0 or inside[0]
        case tree.Pattern():
            return not (isinstance(expr.node, regex.Alt) and not expr.node.options)
        case tree.Permutation():
            return all(is_there for _, is_there in _required(expr, inside))
        case _:
            return all(inside)


def is_nullable(found: set[str], expr: tree.Expr, inside: list[bool]) -> bool:
    """Whether an expression matches the empty text, where the rules in ``found`` do and of its
    children those that are ``inside`` say so."""
    match expr:
        case tree.Literal():
            return not expr.data
        case tree.Reference():
            return expr.name in found
        case tree.Sequence():
            return all(inside)
        case tree.Choice():
            return any(inside)
        case tree.Repetition():
            return expr.min_times == 0 or inside[0]
        case tree.Permutation():
            return not expr.least and all(is_empty for _, is_empty in _required(expr, inside))
        case _:
            return False


def _required(expr: tree.Permutation, inside: list[bool]) -> Iterator[tuple[tree.Part, bool]]:
    """The parts that must be there, with what is known of each."""
    return ((p, of) for p, of in zip(expr.parts, inside, strict=False) if p.is_required)


def uses_of(rules: Iterable[tree.Rule]) -> dict[str, list[str]]:
    """Of each name of rules the names that they use, as they stand."""
    uses: dict[str, list[str]] = {}
    for rule in rules:
        uses.setdefault(rule.name, []).extend(use.name for use in rule.uses)
    return uses


def used_rules(rules: Iterable[tree.Rule], starts: Iterable[str]) -> list[str]:
    """``starts`` and the names that rules of these names lead to, breadth first."""
    uses = uses_of(rules)
    return list(reached(starts, lambda name: uses.get(name, ())))


def unused_rules(rules: Sequence[tree.Rule], ignored: Iterable[tree.Expr] = ()) -> list[str]:
    """The names of rules that no other rule and nothing ``ignored`` uses, as they stand."""
    used = {use.name for expr in ignored for use in tree.references(expr)}
    used.update(use.name for rule in rules for use in rule.uses if use.name != rule.name)
    return [name for name in dict.fromkeys(rule.name for rule in rules) if name not in used]
