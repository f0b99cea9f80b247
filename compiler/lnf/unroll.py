"""Unroll recursion to a depth, so that what is left is regular.

    v ::= 'x' | '[' v ']';     depth 1 ->     v   ::= 'x' | '[' v/1 ']';
                                              v/1 ::= 'x';

In a component that nests itself some uses of its members are *counted*: enough of them that
the others nest nothing. A counted use leads to a copy of the component one level deeper, any
other use stays on its level, and at the last level productions with a counted use are cut. So
exactly the members stay that have a derivation with at most ``depth`` counted uses on every
path down, and what recurses on one side alone, such as a list, is not cut.

Which uses are counted: all uses, inside the component, of as few nonterminals as a greedy
choice finds; those at the left end of a body (else at the right end) are set free again where
the others still nest nothing, so that ``e ::= e '+' e | 'n'`` counts the second ``e`` alone.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from constrain.artifacts.tokens.memo import Numbered

from ..automata.graphs import components_by
from ..limits import Limits
from .form import Lnf, Production
from .remove_useless import remove_useless

_STAGE = "unrolling to --max-depth"


class _Use(NamedTuple):
    """A nonterminal in a body: the production's head and number, and what stands around it."""

    head: int
    production: int
    place: int
    symbol: int
    first: bool
    last: bool


@dataclass(frozen=True, slots=True, eq=False)
class Unrolled:
    """``lnf``: without nesting. ``cut``: the rules whose deeper uses are cut, by name."""

    lnf: Lnf
    cut: Sequence[str]


def unroll(lnf: Lnf, depth: int, limits: Limits | None = None) -> Unrolled:
    """Keep the members nested at most ``depth`` deep.

    Raises ``LimitError`` for too many copies, ``CheckError`` if nothing is left.
    """
    limits = (limits or Limits()).started()
    uses = _uses(lnf)
    component = _components(uses)
    inside: dict[int, list[_Use]] = {}
    for use in uses:
        if component[use.head] == component[use.symbol]:
            inside.setdefault(component[use.head], []).append(use)
    counted = {
        (use.production, use.place)
        for found in inside.values()
        for use in _counted(found, limits, lnf)
    }
    if not counted:
        return Unrolled(lnf, ())
    indices: dict[int, list[int]] = {}
    for index, production in enumerate(lnf.productions):
        indices.setdefault(production.head, []).append(index)
    copied = Numbered([(lnf.start, 0)])
    productions: list[Production] = []
    cut: set[str] = set()
    for number, (head, level) in enumerate(copied):
        limits.check_states(len(copied), _STAGE, [lnf.owners[head]])
        for index in indices.get(head, ()):
            production = lnf.productions[index]
            body: list[int] = []
            for place, symbol in enumerate(production.body):
                if symbol < 0:
                    body.append(symbol)
                    continue
                deeper = (index, place) in counted
                copy = symbol, level + deeper if component[symbol] == component[head] else 0
                if copy[1] > depth:
                    cut.add(lnf.owners[symbol])
                    break
                body.append(copied.number(copy))
            else:
                productions.append(replace(production, head=number, body=tuple(body)))
    names = [lnf.names[n] + f"/{level}" * (level > 0) for n, level in copied]
    copies = replace(
        lnf,
        names=names,
        owners=[lnf.owners[n] for n, _ in copied],
        start=0,
        authored=None,
        suffixes=frozenset(),
    )
    return Unrolled(remove_useless(copies.with_productions(productions)), sorted(cut))


def _uses(lnf: Lnf) -> list[_Use]:
    return [
        _Use(p.head, index, place, symbol, place == 0, place == len(p.body) - 1)
        for index, p in enumerate(lnf.productions)
        for place, symbol in enumerate(p.body)
        if symbol >= 0
    ]


def _components(uses: Iterable[_Use]) -> dict[int, int]:
    """The number of the component of each nonterminal that is used, or uses one."""
    leads: dict[int, list[int]] = {}
    for use in uses:
        leads.setdefault(use.head, []).append(use.symbol)
        leads.setdefault(use.symbol, [])
    every = enumerate(components_by(leads))
    return {member: number for number, members in every for member in members}


def _nesting(uses: Sequence[_Use]) -> list[_Use]:
    """Those on cycles that put text on both sides of a nonterminal."""
    component = _components(uses)
    on_cycle = [
        (component[use.head], use) for use in uses if component[use.head] == component[use.symbol]
    ]
    before = {c for c, use in on_cycle if not use.first}
    behind = {c for c, use in on_cycle if not use.last}
    both = before & behind
    return [use for c, use in on_cycle if c in both]


def _counted(uses: Sequence[_Use], limits: Limits, lnf: Lnf) -> Collection[_Use]:
    """The uses to count in one component."""
    chosen: set[int] = set()

    def nesting_without(without: Collection[int]) -> list[_Use]:
        return _nesting([use for use in uses if use.symbol not in without])

    while nesting := nesting_without(chosen):
        limits.check_resources(_STAGE, [lnf.owners[nesting[0].head]])
        candidates = {use.symbol for use in nesting}
        chosen.add(min(candidates, key=lambda n: (len(nesting_without(chosen | {n})), n)))
    for number in sorted(chosen):
        if not nesting_without(chosen - {number}):
            chosen.discard(number)
    counted = {use for use in uses if use.symbol in chosen}
    for number in sorted(chosen):
        for end in ("first", "last"):
            freed = {use for use in counted if use.symbol == number and getattr(use, end)}
            left = counted - freed
            if not _nesting([use for use in uses if use not in left]):
                counted = left
                break
    return counted
