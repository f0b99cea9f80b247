"""Whether a rule nests itself, decided on the tree.

    v ::= 'true' | '[' (v (',' v)*)? ']'      v has text before and after v: it nests
    a ::= 'x' a | 'y'                          a stands last: the grammar is regular

The verdict, and the cycle that it names, are those of ``lnf.components``, which needs the normal
form: rules that use each other form a component, and it nests if one of its uses has text
before it and one has text after it.
"""

from collections import deque
from collections.abc import Iterator, Set

from ..diagnostics import Diagnostic, NotRegularError
from ..lnf.components import components_by, nesting_message
from .tree_expressions import ALL, RULE, TIMES
from .tree_rules import Rules


def check_nesting(rules: Rules) -> None:
    """Raise ``NotRegularError`` for rules that nest themselves."""
    rules = rules.written
    for component in components_by({rule: rules.used_by(rule) for rule in rules.reached}):
        members = set(component)
        before = behind = False
        for rule in sorted(members):
            for used, has_before, has_behind in _uses(rules, rule):
                if used in members:
                    before |= has_before
                    behind |= has_behind
        if before and behind:
            raise NotRegularError(rules.grammar.source, [_embedding(rules, members)])


def _uses(rules: Rules, rule: int) -> Iterator[tuple[int, bool, bool]]:
    """The rules that a rule names, and whether text stands before and after them in it."""
    pending = [(rules.bodies[rule], False, False)]
    while pending:
        e, before, behind = pending.pop()
        if rules.kinds[e] == RULE:
            yield rules.rule(e), before, behind
            continue
        parts = rules.parts[e]
        again = rules.repeated(e)
        for i, part in enumerate(parts):
            inside = rules.kinds[e] == ALL
            has_before = before or again or (inside and i > 0)
            pending.append((part, has_before, behind or again or (inside and i + 1 < len(parts))))


def _embedding(rules: Rules, members: Set[int]) -> Diagnostic:
    """Name the rule and the cycle; best one with text on both sides in one of its alternatives."""
    inside = _containing(rules, members)
    first: tuple[int, int] | None = None
    for rule in sorted(members):
        for option in rules.options(rules.bodies[rule]):
            items = list(rules.items(option))
            for i, item in enumerate(items):
                if item not in inside:
                    continue
                if 0 < i < len(items) - 1:
                    return _diagnostic(rules, inside, rule, item)
                if i > 0 and first is None:
                    first = rule, item
    if first is None:
        rule = min(members)
        first = rule, next(item for item in _symbols(rules, rules.bodies[rule]) if item in inside)
    return _diagnostic(rules, inside, *first)


def _diagnostic(rules: Rules, inside: Set[int], rule: int, item: int) -> Diagnostic:
    names = [rules.names[member] for member in (rule, *_path(rules, inside, item, rule))]
    return Diagnostic(nesting_message(names))


def _containing(rules: Rules, members: Set[int]) -> set[int]:
    """The expressions in which members are named."""
    found: set[int] = set()
    for rule in sorted(members):
        path: list[tuple[int, bool]] = [(rules.bodies[rule], False)]
        while path:
            e, left = path.pop()
            if left:
                if any(part in found for part in rules.parts[e]):
                    found.add(e)
            elif rules.kinds[e] == RULE:
                if rules.rule(e) in members:
                    found.add(e)
            else:
                path.append((e, True))
                path.extend((part, False) for part in rules.parts[e])
    return found


def _symbols(rules: Rules, e: int) -> Iterator[int]:
    """What stands in the alternatives of an expression: rules, terminals and groups."""
    for option in rules.options(e):
        yield from rules.items(option)


def _path(rules: Rules, inside: Set[int], item: int, rule: int) -> list[int]:
    """The rules on a shortest way from ``item`` to the use of ``rule``, groups counting as steps;
    ``rule`` comes last."""
    pending: deque[tuple[int, tuple[int, ...]]] = deque([(item, ())])
    seen: set[int] = set()
    while pending:
        e, path = pending.popleft()
        if rules.kinds[e] == RULE:
            used = rules.rule(e)
            if used == rule:
                return [*path, rule]
            if used in seen:
                continue
            seen.add(used)
            path, body = (*path, used), rules.bodies[used]
        else:
            body = rules.parts[e][0] if rules.kinds[e] == TIMES else e
        pending.extend((s, path) for s in _symbols(rules, body) if s in inside and s != e)
    return [rule]
