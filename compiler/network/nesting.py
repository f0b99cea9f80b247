"""Whether a rule nests itself, decided on the tree.

    v ::= 'true' | '[' (v (',' v)*)? ']'      v has text before and after v: it nests
    a ::= 'x' a | 'y'                          a stands last: the grammar is regular

The verdict is that of ``lnf.components``, which needs the normal form: rules that use each other
form a component, and it nests if one of its uses has text before it and one has text after it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..automata.graphs import components_by, shortest_path
from ..diagnostics import Diagnostic, NotRegularError
from ..lnf.components import nesting_message
from .tree_expressions import ALL, RULE
from .tree_rules import Rules


class _Use(NamedTuple):
    """That ``rule`` names ``used``, and whether text stands before and after it."""

    rule: int
    used: int
    before: bool
    behind: bool


def check_nesting(rules: Rules) -> None:
    """Raise ``NotRegularError`` for rules that nest themselves."""
    rules = rules.written
    for component in components_by({rule: rules.used_by(rule) for rule in rules.reached}):
        members = set(component)
        uses = [use for rule in component for use in _uses(rules, rule) if use.used in members]
        if any(use.before for use in uses) and any(use.behind for use in uses):
            names = [rules.names[rule] for rule in _cycle(uses)]
            raise NotRegularError(rules.grammar.source, [Diagnostic(nesting_message(names))])


def _cycle(uses: Sequence[_Use]) -> list[int]:
    """A rule, and those on the way back to it; best one that has text on both sides."""
    before = [use for use in uses if use.before]
    first = next((use for use in before if use.behind), before[0])
    used: dict[int, list[int]] = {}
    for use in uses:
        used.setdefault(use.rule, []).append(use.used)
    return [first.rule, *shortest_path(first.used, first.rule, used.__getitem__)]


def _uses(rules: Rules, rule: int) -> Iterator[_Use]:
    """What a rule names, in the order of the text."""
    pending = [(rules.bodies[rule], False, False)]
    while pending:
        e, before, behind = pending.pop()
        if rules.kinds[e] == RULE:
            yield _Use(rule, rules.rule(e), before, behind)
            continue
        last = len(rules.parts[e]) - 1
        again, inside = rules.repeated(e), rules.kinds[e] == ALL
        for i in range(last, -1, -1):
            has_before = before or again or (inside and i > 0)
            has_behind = behind or again or (inside and i < last)
            pending.append((rules.parts[e][i], has_before, has_behind))
