"""The rules of a grammar's tree: what each names, what it begins with, and where it recurs.

    b ::= b 'x' | 'y'      b is 'y' and then any number of 'x'

A rule that begins with itself is a loop (``Loop``); other left recursion is for
``left_recursion``. Rules that no member needs are left out.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, TypeAlias

from ..automata.folding import node_class
from ..automata.graphs import descended, reached
from ..automata.nfa import Nfa
from ..grammar.tree import Grammar
from ..limits import Limits, check_in_force
from .tree_expressions import (
    ALL,
    ANY,
    ORDERS,
    RULE,
    RUNS,
    STAGE,
    TIMES,
    Expressions,
)

# Sizes go no further.
LARGE = 10**9

# What has no end of its own has those of the rule that it stands in.
_INHERITED = 0

# An expression; whether it is the last one of a rule; how often what it names is copied, and how
# often it is written itself; what it stands at the end of, None in a permutation; whether it may be
# the first one.
_Place: TypeAlias = tuple[int, bool, int, int, int | None, bool]


@node_class
class Loop:
    """A rule: one of ``heads``, and then any number of ``tails``, in any order."""

    heads: Sequence[int]
    tails: Sequence[int]


@node_class
class Uses:
    """What a rule, or an expression, names: ``callees``, and of these ``corners`` first.

    ``copies``: what is named by calls that are no tail calls, and how often, repetitions included.
    ``ends``: rules, and what each stands at the end of where something follows: an expression that
    is not the last one, or that is repeated, or -1 - r where tails of the rule r follow.
    ``size``: the states of its own text.
    """

    callees: Set[int]
    corners: Set[int]
    copies: Mapping[int, int]
    ends: Sequence[tuple[int, int]]
    size: int


class Rules(Expressions):
    """The rules of a grammar. ``counted``: the repetitions of which there is one copy, set by
    ``tree_counts``. Raises ``LimitError``."""

    def __init__(self, grammar: Grammar, limits: Limits) -> None:
        super().__init__(grammar, limits)
        self.counted = frozenset()

    @property
    def written(self) -> "Rules":
        """The rules of the tree, some of which begin with themselves."""
        return self

    @property
    def counted(self) -> frozenset[int]:
        """The repetitions of which there is one copy."""
        return self._counted

    @counted.setter
    def counted(self, found: frozenset[int]) -> None:
        self._counted = found
        self._uses: dict[int, Uses] = {}

    @cached_property
    def loops(self) -> list[Loop]:
        """Each rule, direct left recursion being a loop."""
        return [self._loop(rule, body) for rule, body in enumerate(self.bodies)]

    def _loop(self, rule: int, body: int) -> Loop:
        kinds, parts = self.kinds, self.parts
        heads, tails = [], []
        for option in self.options(body) if kinds[body] == ANY else (body,):
            first = option
            while kinds[first] == ALL and parts[first]:
                first = parts[first][0]
            if kinds[first] != RULE or self.contents[first] != rule:
                heads.append(option)
                continue
            items = list(self.items(option))
            if len(items) == 2:
                tails.append(items[1])
            elif len(items) > 2:
                tails.append(self._new(ALL, tuple(items[1:])))
                self.nullable.append(all(self.nullable[item] for item in items[1:]))
        return Loop(heads, tails)

    def options(self, e: int) -> Iterator[int]:
        """What an expression is a choice of, through choices in choices."""
        return self._flat(e, ANY)

    def items(self, e: int) -> Iterator[int]:
        """What an expression is a sequence of, through sequences in sequences."""
        return self._flat(e, ALL)

    def _flat(self, e: int, kind: int) -> Iterator[int]:
        every = descended(e, lambda each: self.parts[each] if self.kinds[each] == kind else ())
        return (each for each in every if self.kinds[each] != kind)

    @cached_property
    def reached(self) -> list[int]:
        """The rules that the start needs, itself included, ascending."""
        # What a loop names more than others is itself.
        return sorted(reached([self.start], lambda rule: self.uses(rule).callees))

    def reached_expressions(self) -> Iterator[int]:
        """The expressions of the rules that the start needs, each once."""
        loops = (self.loops[rule] for rule in self.reached)
        starts = (e for loop in loops for e in (*loop.heads, *loop.tails))
        return reached(starts, self.parts.__getitem__)

    def used_by(self, rule: int) -> Iterator[int]:
        """The rules that a rule's body names, as often as it does."""
        every = descended(self.bodies[rule], self.parts.__getitem__)
        return (self.rule(e) for e in every if self.kinds[e] == RULE)

    def is_nullable(self, rule: int) -> bool:
        """Whether a rule matches ε."""
        return bool(self.nullable[self.bodies[rule]])

    def repeated(self, e: int) -> bool:
        """Whether an expression is a part more than once, or one part after another."""
        if self.kinds[e] == ORDERS:
            return True
        if self.kinds[e] != TIMES:
            return False
        high = self.times(e)[1]
        return high is None or high > 1

    def uses(self, rule: int) -> Uses:
        """What a rule names."""
        found = self._uses.get(rule)
        if found is None:
            check_in_force(STAGE)
            loop, end = self.loops[rule], -1 - rule
            begins_behind = any(self.nullable[head] for head in loop.heads)
            pending: list[_Place] = [
                (head, True, 1, 1, end if loop.tails else _INHERITED, True) for head in loop.heads
            ]
            pending += [(tail, True, 1, 1, end, begins_behind) for tail in loop.tails]
            found = self._uses[rule] = self._used(pending, rule if loop.tails else None)
        return found

    def uses_of(self, e: int) -> Uses:
        """What an expression names, as if something followed it."""
        return self._used([(e, False, 1, 1, _INHERITED, True)], None)

    def _used(self, pending: list[_Place], looping: int | None) -> Uses:
        """What expressions name. ``looping``: the rule that they are of, where it has tails."""
        kinds, nullable = self.kinds, self.nullable
        contents: list[Any] = self.contents
        callees, corners, copies, ends = set[int](), set[int](), dict[int, int](), []
        size = 0
        while pending:
            e, last, copied, times, end, first = pending.pop()
            kind, parts = kinds[e], self.parts[e]
            if kind == ANY:
                pending += [(part, last, copied, times, end, first) for part in parts]
                continue
            if kind == TIMES:
                low, high, _ = self.times(e)
                behind = end if high == 1 or end is None else parts[0]
                if e not in self._counted:
                    copied *= max(low + 1 if high is None else high, 1)
                    times *= max(low if high is None else high, 1)
                pending.append((parts[0], last and high == 1, copied, times, behind, first))
                continue
            if kind == ORDERS:
                # What separates others is never first.
                others = len(parts) - self.orders(e).has_separator
                pending += [
                    (self.parts[part][0], False, copied, times, None, first and place < others)
                    for place, part in enumerate(parts)
                ]
                continue
            items = parts if kind == ALL else (e,)
            more = len(items)
            for part in items:
                more -= 1
                kind, behind = kinds[part], part if more and end is not None else end
                if kind == RULE:
                    used = contents[part]
                    size += times
                    callees.add(used)
                    if first:
                        corners.add(used)
                    if behind:
                        ends.append((used, behind))
                    # After the loop of a rule, the rule itself is that loop again.
                    if more or not last or (looping is not None and used != looping):
                        copies[used] = copies.get(used, 0) + copied
                elif kind < RULE:
                    size += times * states_of_leaf(kind, contents[part])
                else:
                    pending.append((part, last and not more, copied, times, behind, first))
                first = first and bool(nullable[part])
        return Uses(callees, corners, copies, ends, min(size, LARGE))


def states_of_leaf(kind: int, content: object) -> int:
    """The states of an expression itself, none of those of its parts; one for a rule's name."""
    if kind in (RUNS, RULE):
        return 1
    if isinstance(content, bytes | list):
        return len(content)
    return content.states if isinstance(content, Nfa) else 0
