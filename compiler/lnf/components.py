"""Strongly connected components of a grammar's rules: whether and how each of them recurses.

Rules that derive each other form a strongly connected component. It is self-embedding if one of its
members can derive itself with text on both sides; a grammar without such a component is regular
(Chomsky), and each component then recurses on one side only:

    left    A ::= B 'x' | 'y'      the member comes first
    right   A ::= 'x' B | 'y'      the member comes last
    none    no recursion

The test is exact for self-embedding; a self-embedding grammar may still happen to be regular, so it
is refused as "not known to be regular" (Nederhof, Practical experiments with regular approximation
of context-free languages, 2000, section 2). Which nonterminals can derive something follows from
the productions read as Horn clauses (``derivable``).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from ..automata.graphs import on_cycles, shortest_path, strongly_connected
from ..diagnostics import Diagnostic, NotRegularError, Span
from ..grammar.productive import uses_of
from ..grammar.tree import Grammar
from .form import Lnf, Production, Symbol


def derivable(clauses: Iterable[tuple[int, set[Symbol]]]) -> set[int]:
    """The heads with a body of which all symbols are derivable heads, in linear time.

    Each clause is a head and the symbols of its body that are not granted; of these terminals
    are never derivable. Each clause counts the premises that it still lacks (Dowling and Gallier,
    Linear-time algorithms for testing the satisfiability of propositional Horn formulae, 1984).
    """
    waiting: dict[Symbol, list[int]] = {}
    missing: list[int] = []
    heads: list[int] = []
    ready: list[int] = []
    for number, (head, needed) in enumerate(clauses):
        missing.append(len(needed))
        heads.append(head)
        for symbol in needed:
            waiting.setdefault(symbol, []).append(number)
        if not needed:
            ready.append(number)
    found: set[int] = set()
    while ready:
        head = heads[ready.pop()]
        if head in found:
            continue
        found.add(head)
        for number in waiting.get(head, ()):
            missing[number] -= 1
            if not missing[number]:
                ready.append(number)
    return found


def nullable_nonterminals(lnf: Lnf, terminals: Collection[Symbol]) -> set[int]:
    """Those that derive ε, where just these terminals match it."""
    return derivable((p.head, {s for s in p.body if s not in terminals}) for p in lnf.productions)


class Recursion(Enum):
    """On which side the members of a component stand in its bodies."""

    NONE = "none"
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Component:
    """A strongly connected component: its nonterminals, and how they recurse."""

    members: tuple[int, ...]
    recursion: Recursion


def components(lnf: Lnf) -> list[Component]:
    """All components, those that others use first. Raises ``NotRegularError``."""
    if lnf.authored is not None:
        components(lnf.authored)  # The same verdict; it names the cycle as its author wrote it.
    uses = [
        sorted({s for p in productions for s in p.body if s >= 0}) for productions in lnf.by_head
    ]
    return [_classified(lnf, members) for members in strongly_connected(uses)]


def _classified(lnf: Lnf, members: tuple[int, ...]) -> Component:
    inside = set(members)
    # A production that puts text before (after) a member makes the component grow leftwards
    # (rightwards); both together embed a member in itself.
    before: list[tuple[Production, int]] = []
    behind: list[tuple[Production, int]] = []
    recursive = False
    for head in members:
        for production in lnf.by_head[head]:
            for place, symbol in enumerate(production.body):
                if symbol in inside:
                    recursive = True
                    if place > 0:
                        before.append((production, symbol))
                    if place < len(production.body) - 1:
                        behind.append((production, symbol))
    if not recursive:
        return Component(members, Recursion.NONE)
    if before and behind:
        raise NotRegularError(lnf.source, [_embedding(lnf, inside, before, behind)])
    return Component(members, Recursion.RIGHT if before else Recursion.LEFT)


def _embedding(
    lnf: Lnf,
    inside: set[int],
    before: list[tuple[Production, int]],
    behind: list[tuple[Production, int]],
) -> Diagnostic:
    """Name the rule and the cycle; best a production with text on both sides."""
    both = [use for use in before if use in behind]
    production, member = (both or before)[0]

    def used(head: int) -> list[Symbol]:
        return [s for each in lnf.by_head[head] for s in each.body if s in inside]

    cycle = [production.head, *shortest_path(member, production.head, used)]
    _, start, end = min(production.origins, key=lambda o: (o[1], -o[2]))
    return Diagnostic(
        nesting_message([lnf.owners[number] for number in cycle]),
        Span(start, end),
        "a finite automaton cannot count nesting; recursion must stay at the left end of "
        "every body or at the right end of every body",
    )


def nesting_message(cycle: Sequence[str]) -> str:
    """That a rule nests itself; ``cycle``: the rules on the way back to it, both ends included."""
    steps = [cycle[0], *(b for a, b in pairwise(cycle) if a != b)]
    if len(steps) == 1:
        steps.append(steps[0])
    return f"rule {steps[0]!r} is not known to be regular: it nests itself ({' → '.join(steps)})"


def recurses(grammar: Grammar) -> bool:
    """Whether a rule uses itself, directly or by way of others: else no rule nests."""
    return bool(on_cycles(uses_of(grammar.rules)))
