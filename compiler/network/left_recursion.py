"""Rules that begin with themselves, by way of others or not, written so that none does.

    a ::= b "x" | "y"              a ::= "y" a-to-a | "z" b-to-a | c' a "u" b-to-a
    b ::= c? a "u" | "z"    ->     a-to-a ::= "" | "u" b-to-a
                                   b-to-a ::= "x" a-to-a            c' is c but for ε

A text of a begins with one of some rule of the cycle that begins with none of it, and goes on by
what stands after the rules of the cycle, up to a: a left-corner transform (Rosenkrantz and Lewis
1970). What may be missing in front of a rule is there, or is not; rules that lead to each other
by nothing at all, as ``a ::= b; b ::= a | "x"``, go on as one. A rule that ends with what it goes
on to itself, ``a ::= a "+" a``, does so once.

All texts stay where they are: each rule that is needed adds one that names others for each place
at which a rule of its cycle begins with one. In large cycles one rule after the other is so
written, and the others begin with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias, cast

from constrain.artifacts.tokens.memo import bottom_up

from ..automata.graphs import components_by, reached, strongly_connected
from ..automata.nfa import Nfa
from .tree_expressions import ALL, ANY, AUTOMATON, LITERAL, ORDERS, RULE, TIMES
from .tree_rules import Rules

_STAGE = "the grammar's rules"

# An expression; None is ε.
_Some: TypeAlias = int | None

# A rule that is new: from which rules it leads to which; from none it is that one but for ε.
_Key: TypeAlias = tuple[tuple[int, ...], int]


def without_left_recursion(rules: Rules) -> Rules:
    """The same texts by rules of which none begins with itself but as a ``Loop``. Permutations must
    be written out where ``is_left_recursive``. Raises ``LimitError``."""
    cycles = dict(_cycles(rules))
    return _Unwound(rules, cycles) if cycles else rules


def is_left_recursive(rules: Rules) -> bool:
    """Whether a rule begins with itself by way of others, or after what may be missing."""
    return any(_cycles(rules))


def _cycles(rules: Rules) -> Iterator[tuple[int, Set[int]]]:
    """Rules without which none begins with itself, and of each those that begin with each other if
    the ones before it are left out."""
    corners = {rule: rules.uses(rule).corners for rule in rules.reached}
    pending = [list(corners)]
    while pending:
        inside = pending.pop()
        for members in components_by({rule: corners[rule] for rule in inside}):
            part = set(members)
            if len(part) == 1 and members[0] not in corners[members[0]]:
                continue
            begun = dict.fromkeys(sorted(part), 0)
            for corner in chain.from_iterable(corners[rule] & part for rule in part):
                begun[corner] += 1
            most = max(begun, key=lambda rule: begun[rule] * len(corners[rule] & part))
            yield most, part
            pending.append(sorted(part - {most}))


def _leading(rules: Rules, e: int) -> Iterable[int]:
    """The parts that an expression may begin with."""
    parts = rules.parts[e]
    if rules.kinds[e] == ORDERS and rules.orders(e).has_separator:
        return parts[:-1]
    if rules.kinds[e] != ALL:
        return parts
    last = next((i for i, part in enumerate(parts) if not rules.nullable[part]), len(parts))
    return parts[: last + 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Cycle:
    """Rules that begin with each other.

    ``seeds``: what begins with none of them, and which rule it is. ``ways``: of each rule those
    that may begin with it, and what follows it there. ``groups``: rules that are each other.
    """

    seeds: list[tuple[int, int]]
    ways: Mapping[int, list[tuple[int, _Some]]]
    groups: Mapping[int, tuple[int, ...]]


class _Unwound(Rules):
    """``written``, and the rules that it needs for those of ``cycles`` to begin with none of their
    own cycle."""

    def __init__(self, written: Rules, cycles: Mapping[int, Set[int]]) -> None:
        self.__dict__.update(written.__dict__)
        for name in ("loops", "reached"):
            self.__dict__.pop(name, None)
        self._before, self.counted = written, frozenset()
        self.kinds, self.parts = list(written.kinds), list(written.parts)
        self.contents, self._times = list(written.contents), dict(written._times)
        self.nullable = bytearray(written.nullable)
        self.bodies, self.names = list(written.bodies), list(written.names)
        self._keys, self._numbers_of = dict[int, _Key](), dict[_Key, int]()
        self._cycles = {rule: self._cycle(inside) for rule, inside in cycles.items()}
        for rule in reached([self.start], self.used_by):
            self._limits.check_states(len(self.bodies), _STAGE, [self.names[rule]])
            self._limits.check_resources(_STAGE, [self.names[rule]])
            self.bodies[rule] = self._body(rule)
        self.nullable = self._nullables()

    @property
    def written(self) -> Rules:
        return self._before

    def _cycle(self, inside: Set[int]) -> _Cycle:
        begins: dict[int, bool] = {}
        seeds, ways = [], {rule: list[tuple[int, _Some]]() for rule in sorted(inside)}
        for rule in ways:
            for first, rest in self._firsts(self._before.bodies[rule], inside, begins):
                if self.kinds[first] == RULE and self.rule(first) in inside:
                    ways[self.rule(first)].append((rule, rest))
                else:
                    seeds.append((rule, cast(int, self._all(first, rest))))
        place = {rule: i for i, rule in enumerate(ways)}
        graph = [[place[r] for r, rest in ways[rule] if self._may_be_empty(rest)] for rule in ways]
        rules = list(ways)
        groups = (tuple(rules[i] for i in places) for places in strongly_connected(graph))
        return _Cycle(seeds, ways, {rule: group for group in groups for rule in group})

    def _body(self, rule: int) -> int:
        group, goal = self._keys.get(rule, (None, rule))
        if group:
            return self._any(self._led(group, goal))
        cycle = self._cycles.get(goal)
        if group is None and cycle is None:
            return self.bodies[rule]
        if group is None and self._before.is_nullable(goal):
            return self._any([None, self._naming(self._but_empty(goal))])
        if cycle is None:
            found = self._firsts(self._before.bodies[goal])
            return self._any(self._all(first, rest) for first, rest in found)
        return self._any(self._led_on(seed, begun, goal) for begun, seed in cycle.seeds)

    def _led(self, group: tuple[int, ...], goal: int) -> Iterator[_Some]:
        """What leads to a rule from those that are each other."""
        if goal in group:
            yield None
        for begun, rest in chain.from_iterable(self._cycles[goal].ways[r] for r in group):
            if begun not in group or not self._may_be_empty(rest):
                yield self._led_on(rest, begun, goal)
            elif rest is not None:
                for first, behind in self._firsts(rest):
                    yield self._led_on(self._all(first, behind), begun, goal)

    def _led_on(self, e: _Some, begun: int, goal: int) -> _Some:
        """An expression that ends a rule, and what leads from there to another."""
        cycle = self._cycles[goal]
        group = cycle.groups[begun]
        ways = chain.from_iterable(cycle.ways[rule] for rule in group)
        if goal in group and all(rule in group and rest is None for rule, rest in ways):
            return e
        if begun == goal and e is not None:
            *_, last = self.items(e)
            if self.kinds[last] == RULE:
                used = self.rule(last)
                if self._keys.get(used, ((), used)) == ((), goal):
                    return e
        return self._all(e, self._naming(self._new_rule((group, goal))))

    def _but_empty(self, rule: int) -> int:
        """The rule that is the same but for ε."""
        return self._new_rule(((), rule)) if self._before.is_nullable(rule) else rule

    def _new_rule(self, key: _Key) -> int:
        number = self._numbers_of.setdefault(key, len(self.bodies))
        if number not in self._keys:
            self._keys[number] = key
            self.bodies.append(-1)
            self.names.append(self.names[key[1]])
        return number

    def _firsts(
        self, root: int, inside: Set[int] = frozenset(), begins: dict[int, bool] | None = None
    ) -> Iterator[tuple[int, _Some]]:
        """What the texts of an expression begin with but ε, and what follows it; rules of
        ``inside`` are named as they are. ``begins``: what begins with those, as far as known."""
        pending: list[tuple[int, _Some]] = [(root, None)]
        while pending:
            e, rest = pending.pop()
            kind, parts, content = self.kinds[e], self.parts[e], self.contents[e]
            if kind == RULE and self.rule(e) not in inside:
                yield self._naming(self._but_empty(self.rule(e))), rest
            elif kind == RULE or not (self.nullable[e] or self._begins(e, inside, begins)):
                yield e, rest
            elif isinstance(content, Nfa):
                yield self._made(AUTOMATON, content=_but_empty(content)), rest
            elif kind == ALL:
                last = len(list(_leading(self, e)))
                behind = self._all(*parts[last:], rest)
                for part in reversed(parts[:last]):
                    pending.append((part, behind))
                    behind = self._all(part, behind)
            elif kind == TIMES:
                low, high, text = self.times(e)
                again: _Some = None
                if high != 1:
                    low = 0 if self.nullable[parts[0]] else max(low - 1, 0)
                    again = self._made(TIMES, parts)
                    self._times[again] = low, None if high is None else high - 1, text
                    self.nullable[again] = low == 0
                pending.append((parts[0], self._all(again, rest)))
            else:
                pending.extend((part, rest) for part in reversed(parts))

    def _begins(self, root: int, inside: Set[int], begins: dict[int, bool] | None) -> bool:
        if begins is None:
            return False
        for e in bottom_up([root], lambda e: _leading(self, e), begins):
            is_named = self.kinds[e] == RULE and self.rule(e) in inside
            begins[e] = is_named or any(begins[part] for part in _leading(self, e))
        return begins[root]

    # --- new expressions

    def _made(self, kind: int, parts: tuple[int, ...] = (), content: object = None) -> int:
        parts_are = (self.nullable[part] for part in parts)
        self.nullable.append(kind == ALL and all(parts_are))
        return self._new(kind, parts, content)

    def _all(self, *items: _Some) -> _Some:
        parts = tuple(item for item in items if item is not None)
        return self._made(ALL, parts) if len(parts) > 1 else next(iter(parts), None)

    def _any(self, options: Iterable[_Some]) -> int:
        parts = (self._made(LITERAL, (), b"") if e is None else e for e in options)
        return self._made(ANY, tuple(parts))

    def _naming(self, rule: int) -> int:
        return self._made(RULE, (), rule)

    def _may_be_empty(self, e: _Some) -> bool:
        return e is None or bool(self.nullable[e])


def _but_empty(automaton: Nfa) -> Nfa:
    """An automaton's texts but ε: its start is a state that nothing leads back to."""
    arcs = [arc for s in automaton.epsilon_closure([automaton.start]) for arc in automaton.arcs[s]]
    epsilon = [*automaton.epsilon, []]
    return replace(automaton, arcs=[*automaton.arcs, arcs], epsilon=epsilon, start=automaton.states)
