"""Whether a grammar's terminals may have more states than can be built, seen on its numbered rules.

    word ::= [a-z]* "a" [a-z]{20}     "a" leads to two places, one of them inside of the loop, and
                                      after that stand twenty that read what it reads

Both must be so, of one loop in rules that do not recur, before terminals are looked into one by one
(``compiler/lazy_dfa/growth.py``), each rule being copied to where it is named.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TypeAlias

from constrain.artifacts.tokens.memo import solve_recursive

from ..automata.graphs import components_by
from ..lazy_dfa.behind_loops import NOTHING, OTHER, Run
from ..network.tree_expressions import (
    ALL,
    ANY,
    AUTOMATON,
    LITERAL,
    ORDERS,
    RULE,
    TIMES,
)
from ..network.tree_plan import Openness, bytes_of
from ..network.tree_rules import Rules
from ..thresholds import MANY

# An expression, and whether what stands after it is meant.
_Key: TypeAlias = tuple[int, bool]


def may_have_large(rules: Rules) -> bool:
    """Whether some terminal may be too large to be built."""
    plain = list(_not_recurring(rules))
    openness = Openness(rules, plain)
    inside = openness.looked_at
    if any(rules.kinds[e] in (AUTOMATON, ORDERS) for e in inside):
        return True
    loops = set[int]()
    for e in _ambiguous(rules, plain, openness.first):
        if e is None:
            endless = (e for e in inside if rules.kinds[e] == TIMES and rules.times(e)[1] is None)
            loops.update(endless)
            break
        loops.add(e)
    return bool(loops) and _may_fall_behind(rules, loops, openness)


def _not_recurring(rules: Rules) -> Iterator[int]:
    """The rules that do not recur, nor name any that do, after those that they name."""
    uses = {rule: rules.uses(rule).callees for rule in rules.reached}
    plain = set[int]()
    for rule, *others in components_by(uses):
        if not others and not rules.loops[rule].tails and uses[rule] <= plain:
            plain.add(rule)
            yield rule


def _may_fall_behind(rules: Rules, loops: Iterable[int], openness: Openness) -> bool:
    """Whether after or inside one of ``loops`` ``MANY`` places in a row may read what it reads."""
    octets = dict[int, int]()
    users: dict[int, list[tuple[int, int]]] = {}
    names: dict[int, list[int]] = {}
    for e in openness.looked_at:
        parts: Sequence[int] = rules.parts[e]
        for place, part in enumerate(parts):
            users.setdefault(part, []).append((e, place))
        if rules.kinds[e] == RULE:
            parts = rules.loops[rules.rule(e)].heads
            for head in parts:
                names.setdefault(head, []).append(e)
        octets[e] = bytes_of(rules.kinds[e], rules.contents[e], is_first=False)
        for part in parts:
            octets[e] |= octets[part]
    known = dict[tuple[int, int], _Runs]()
    for e in loops:
        read = openness.first(e), octets[e]
        if read not in known:
            known[read] = _Runs(rules, users, names, octets, *read)
        if known[read].longest(e) >= MANY:
            return True
    return False


class _Runs:
    """The runs of places that read what a loop reads, which begins with one of the bytes ``first``
    and reads those of ``known``.

    ``users``: of each expression those that it is a part of, and its place there; ``names``: those
    that name a rule that it is the body of. ``octets``: the bytes that each reads.
    """

    def __init__(
        self,
        rules: Rules,
        users: dict[int, list[tuple[int, int]]],
        names: dict[int, list[int]],
        octets: dict[int, int],
        first: int,
        known: int,
    ) -> None:
        self._rules, self._users, self._names = rules, users, names
        self._octets, self._first, self._known = octets, first, known
        self._found: dict[_Key, Run] = {}

    def longest(self, loop: int) -> int:
        """The longest run that begins inside or after a loop."""
        inside = self._rules.parts[loop][0]
        return max(self._run((inside, False)).inside, self._run((loop, True)).inside)

    def _run(self, key: _Key) -> Run:
        return self._found.get(key) or solve_recursive(key, self._found.get, self._steps)

    def _steps(self, key: _Key) -> Generator[_Key, Run, Run]:
        e, is_behind = key
        found = yield from self._behind(e) if is_behind else self._inside(e)
        self._found[key] = found
        return found

    def _inside(self, e: int) -> Generator[_Key, Run, Run]:
        rules = self._rules
        kind, parts, own = rules.kinds[e], rules.parts[e], self._octets[e]
        found = NOTHING
        if kind == LITERAL:
            # One character may be one of several, which are a class together.
            if own & ~self._known:
                return OTHER
            is_short = own.bit_count() == 1 or own >> 0x80
            return Run(1, 1) if own & self._first and is_short else NOTHING
        if kind < RULE:
            return Run(1, 1) if own & self._first else NOTHING if own & self._known else OTHER
        if kind == ALL:
            for part in parts:
                if found.through is not None:
                    found = found.then((yield part, False))
            return found
        if kind == TIMES:
            low, high, _ = rules.times(e)
            found = one = yield parts[0], False
            for _ in range(min(high or 1, MANY) - 1):
                found = found.then(one)
            return found if low else found.optional()
        runs = []
        for part in rules.loops[rules.rule(e)].heads if kind == RULE else parts:
            runs.append((yield part, False))
        return Run.any_of(runs)

    def _behind(self, e: int) -> Generator[_Key, Run, Run]:
        """What stands after an expression in any of the rules."""
        rules, runs = self._rules, [NOTHING]
        for user, place in self._users.get(e, ()):
            found = NOTHING
            if rules.kinds[user] == ALL:
                for part in rules.parts[user][place + 1 :]:
                    if found.through is not None:
                        found = found.then((yield part, False))
            elif rules.kinds[user] == TIMES and rules.times(user)[1] != 1:
                # The inside stands there once more.
                found = yield user, False
            if found.through is not None:
                found = found.then((yield user, True))
            runs.append(found)
        for user in self._names.get(e, ()):
            runs.append((yield user, True))
        return Run.any_of(runs)


def _ambiguous(
    rules: Rules, plain: Sequence[int], first: Callable[[int], int]
) -> Iterator[int | None]:
    """The repetitions without an end of whose bytes one may lead to several places, None for any;
    where there are none, texts are in few places at once (one-unambiguous: Brüggemann-Klein and
    Wood 1998)."""
    # Expressions, the first bytes of what may follow, and whether that repeats without an end.
    pending = [(e, 0, False) for rule in plain for e in rules.loops[rule].heads]
    seen = set(pending)
    for e, behind, is_inside in pending:
        kind, parts = rules.kinds[e], rules.parts[e]
        more: list[tuple[int, int, bool]] = []
        if kind == ALL:
            after = behind
            for part in reversed(parts):
                more.append((part, after, is_inside))
                after = first(part) | (after if rules.nullable[part] else 0)
        elif kind in (ANY, RULE):
            options = rules.loops[rules.rule(e)].heads if kind == RULE else parts
            more = [(part, behind, is_inside) for part in options]
            if is_inside and _any_overlaps(rules, options, behind, first):
                yield None
        elif kind == TIMES:
            low, high, _ = rules.times(e)
            again = first(parts[0])
            is_counted = low != high or low >= MANY
            if again & behind and is_counted and (is_inside or high is None):
                yield None if is_inside else e
            more = [(parts[0], behind | (again if high != 1 else 0), is_inside or high is None)]
        new = [each for each in more if each not in seen]
        seen.update(new)
        pending += new


def _any_overlaps(
    rules: Rules, options: Sequence[int], behind: int, first: Callable[[int], int]
) -> bool:
    """Whether options begin alike, or with what follows where one may be missing."""
    together = 0
    for option in options:
        if together & first(option):
            return True
        together |= first(option)
    return bool(together & behind) and any(rules.nullable[option] for option in options)
