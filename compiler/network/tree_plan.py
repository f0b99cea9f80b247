"""Which rules of a grammar's tree are called, and which are copied to where they are named.

A cycle of rules that holds more than tail calls needs a procedure (``cutsets``). Of the others a
rule whose copies would be many states is called, if it ends with a byte of its own, as a string or
something in brackets does: what may end where it could go on, as a number, leaves as many trie
nodes suspended at its end as its bytes lead to, and is copied until its copies are very large.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise

from constrain.artifacts.tokens.memo import bottom_up

from .. import thresholds
from ..automata.graphs import components_by, reached
from ..automata.nfa import FIRST_TERMINAL, Nfa
from ..limits import check_in_force
from .cutsets import TreeCalls, chosen, framed_cycle, most_followed
from .tree_expressions import ALL, ANY, AUTOMATON, CHARACTER, LITERAL, ORDERS, RULE, RUNS, TIMES
from .tree_rules import LARGE, Rules

# More ends of one rule than so many are not distinguished.
_MOST_ENDS = 64

_STAGE = "the grammar's procedures"


def procedures_of(
    rules: Rules,
    called: Set[int] = frozenset(),
    shared_from: int | None = None,
    copied_whole: int = 0,
    most_of_open: int = thresholds.NETWORK_STATES,
) -> set[int]:
    """The rules that are called: ``called``, what cycles need, and what would be copied too often.

    The grammar must not be left-recursive but directly. ``shared_from``: rules whose copies have
    more states are called, too, if they end with a byte of their own and begin with another one
    than what stands beside them; what is found of a procedure is found once for all its calls.
    ``copied_whole``: nothing is shared where no call is needed and all copies together have at most
    so many states. ``most_of_open``: the most states of all copies of a rule that may end where it
    could go on.
    """
    planner = _Planner(rules)
    is_small = copied_whole and sizes_of(rules)[rules.start] <= copied_whole
    if is_small and not planner.procedures(called, None, most_of_open):
        return set()
    return planner.procedures(called, shared_from, most_of_open)


def sizes_of(rules: Rules) -> Mapping[int, int]:
    """The states of a copy of each rule, with all that it names, no call being made."""
    planner = _Planner(rules)
    whole: dict[int, int] = {}
    for rule in planner.callees_first():
        whole[rule] = planner.copied(rule, frozenset(), whole)
    return whole


def text_size(rules: Rules) -> int:
    """The states of all rules together, each once, no other being copied into it."""
    return sum(rules.uses(rule).size for rule in rules.reached)


def sizes_of_uses(rules: Rules, expressions: Sequence[int]) -> list[int]:
    """The states of a copy of each expression, at least 1."""
    whole, found = dict[int, int](), []
    for e in expressions:
        uses = rules.uses_of(e)
        # Characters name no rules, nor do most items.
        whole = whole or (dict(sizes_of(rules)) if uses.copies else whole)
        named = sum(count * whole[used] for used, count in uses.copies.items())
        found.append(max(min(uses.size + named, LARGE), 1))
    return found


def copies_grow(rules: Rules, most: int) -> bool:
    """Whether the rules that are named more than once reach more than ``most`` states together:
    what they would cost if each were built by itself and copied."""
    uses = {rule: list(rules.used_by(rule)) for rule in rules.reached}
    counts = Counter(used for named in uses.values() for used in named)
    total = 0
    for rule, count in counts.items():
        for current in reached([rule] if count > 1 else [], uses.__getitem__):
            total += rules.uses(current).size
            if total > most:
                return True
    return False


class _Planner:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def procedures(self, called: Set[int], shared_from: int | None, most_of_open: int) -> set[int]:
        calls = self.calls
        found = set(called) & set(self.rules.reached)
        cutting: set[int] = set()
        while more := chosen(calls, calls.keys() - found - cutting):
            cutting |= more
        left = most_followed(calls)
        found |= cutting
        for member in sorted(cutting - set(called)):
            found.discard(member)
            needed, followed = framed_cycle(calls, member, found, left)
            left -= followed
            if needed:
                found.add(member)
        self._call_large(found, shared_from, most_of_open)
        return found

    @cached_property
    def calls(self) -> TreeCalls:
        """What calls what."""
        return {rule: self.rules.uses(rule) for rule in self.rules.reached}

    def _call_large(self, procedures: set[int], shared_from: int | None, most_of_open: int) -> None:
        """Add the rules whose copies would be too large, or are worth sharing."""
        ordered = list(self.callees_first(procedures))
        uses = self._uses(procedures, ordered)
        whole: dict[int, int] = {}
        for rule in ordered:
            if rule not in uses:
                continue
            size = whole[rule] = self.copied(rule, procedures, whole)
            if rule in procedures:
                continue
            # Chains of large rules that are named once are not one automaton.
            once, more = thresholds.LARGE_STATES, thresholds.COPIED_STATES
            most = once if uses[rule] < 2 else more
            if rule in self._open:
                most = most_of_open
            copied = size * uses[rule]
            may_share = uses[rule] > 1 and shared_from is not None and copied > shared_from
            if copied > most or (may_share and rule not in self._open and rule in self._shared):
                procedures.add(rule)

    def _uses(self, procedures: Set[int], ordered: Sequence[int]) -> dict[int, int]:
        """How often each rule is copied: where it is named by calls that are no tail calls, and
        where tail calls of several rules lead to it, in front of how many ends those stand."""
        calls = self.calls
        uses: dict[int, int] = {}
        for each in calls.values():
            for used, count in each.copies.items():
                uses[used] = uses.get(used, 0) + count
        for used, count in self._joined(procedures, ordered):
            uses[used] = max(uses.get(used, 0), count)
        return uses

    def _joined(self, procedures: Set[int], ordered: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Of rules, callees first, those that tail calls from different ends lead to, and how many
        ends those are; from the ends of one rule alone they are no more copies than that rule
        has."""
        calls = self.calls
        ends: dict[int, set[int]] = {rule: set() for rule in calls}
        for each in calls.values():
            for used, end in each.ends:
                if len(ends[used]) < _MOST_ENDS:
                    ends[used].add(end)
        joined: dict[int, None] = {}
        for rule in reversed(ordered):
            here = {-1 - rule} if rule in procedures else ends[rule]
            for used in calls[rule].callees - calls[rule].copies.keys() - procedures:
                there = ends[used]
                if there and not there >= here:
                    joined[used] = None
                if len(there) < _MOST_ENDS:
                    there |= here
        return ((rule, len(ends[rule])) for rule in joined)

    def callees_first(self, procedures: Set[int] = frozenset()) -> Iterator[int]:
        """The rules that are reached, those that others copy before them, but for cycles: where
        ``procedures`` cut those that need it, of tail calls alone."""
        graph = {rule: uses.callees - procedures for rule, uses in self.calls.items()}
        for members in components_by(graph):
            yield from members

    def copied(self, rule: int, procedures: Set[int], whole: Mapping[int, int]) -> int:
        """The states of one copy of a rule: with what it copies, and what it jumps to."""
        check_in_force(_STAGE)
        calls = self.calls
        size, seen, pending = 0, {rule}, [rule]
        while pending and size < LARGE:
            current = pending.pop()
            uses = calls[current]
            size += uses.size
            for used in sorted(uses.callees):
                if used in procedures:
                    continue
                if used in uses.copies:
                    size += uses.copies[used] * whole.get(used, 1)
                elif used not in seen:
                    seen.add(used)
                    pending.append(used)
        return min(size, LARGE)

    @cached_property
    def _shared(self) -> set[int]:
        """The rules with a loop in them, as texts have, that are no item of a loop themselves, and
        begin with another byte than what may stand in their place."""
        rules, openness = self.rules, Openness(self.rules)
        kinds, parts = rules.kinds, rules.parts
        places: list[Sequence[int]] = [rules.loops[rule].heads for rule in rules.reached]
        items, with_loops = set[int](), set[int]()
        for e in openness.looked_at:
            if kinds[e] == ANY:
                places.append(parts[e])
            elif kinds[e] == ALL:
                places += [two for two in pairwise(parts[e]) if rules.nullable[two[0]]]
            elif rules.repeated(e):
                with_loops.add(e)
                items.update(rules.rule(part) for part in parts[e] if kinds[part] == RULE)
            elif kinds[e] == AUTOMATON:
                with_loops.add(e)
        found = {
            rule
            for rule in rules.reached
            if rules.loops[rule].tails
            or any(e in with_loops for e in reached(rules.loops[rule].heads, parts.__getitem__))
        }
        return found - items - set(self._overlapping(places, openness))

    def _overlapping(self, places: Iterable[Sequence[int]], openness: "Openness") -> Iterable[int]:
        """The rules that may begin one of the expressions at a place with a byte that another one
        there may begin with."""
        beginnings: set[int] = set()
        for place in places:
            seen = twice = 0
            for e in place:
                twice |= seen & openness.first(e)
                seen |= openness.first(e)
            beginnings.update(
                rule for e in place if openness.first(e) & twice for rule in self._beginnings(e)
            )
        return reached(sorted(beginnings), self._corners)

    def _corners(self, rule: int) -> Set[int]:
        """The rules that a rule may begin with."""
        return self.rules.uses(rule).corners

    def _beginnings(self, root: int) -> Iterator[int]:
        """The rules that an expression begins with."""
        rules, pending = self.rules, [root]
        while pending:
            e = pending.pop()
            if rules.kinds[e] == RULE:
                yield rules.rule(e)
            elif rules.kinds[e] == ALL:
                pending.append(rules.parts[e][0])
            else:
                pending.extend(rules.parts[e])

    @cached_property
    def _open(self) -> set[int]:
        """The rules that may end where they could also go on, as far as that is easily seen."""
        rules = self.rules
        last = {rule: self._lasts(rule) for rule in rules.reached}
        found: set[int] = set()
        for members in components_by({rule: uses for rule, (uses, _) in last.items()}):
            for rule in members:
                uses, is_open = last[rule]
                if is_open or len(members) > 1 or uses & (found | {rule}):
                    found.add(rule)
        return found

    def _lasts(self, rule: int) -> tuple[set[int], bool]:
        """The rules that a rule may end with, and whether it goes on in its own text."""
        rules = self.rules
        loop = rules.loops[rule]
        uses: set[int] = set()
        pending = list(loop.heads)
        while pending:
            e = pending.pop()
            kind, parts = rules.kinds[e], rules.parts[e]
            if kind == RULE:
                uses.add(rules.rule(e))
            elif kind == AUTOMATON and goes_on(rules.contents[e]):
                return uses, True
            elif kind == ALL:
                if rules.nullable[parts[-1]]:
                    return uses, True
                pending.append(parts[-1])
            elif kind == ANY:
                pending.extend(parts)
            elif kind == ORDERS:
                return uses, True
            elif kind == TIMES:
                low, high, _ = rules.times(e)
                if high is None or high > max(low, 1):
                    return uses, True
                pending.append(parts[0])
        return uses, bool(loop.tails)


def goes_on(automaton: object) -> bool:
    """Whether anything leaves a final state of an ``Nfa``."""
    assert isinstance(automaton, Nfa)
    return any(automaton.arcs[s] or automaton.epsilon[s] for s in automaton.finals)


class Openness:
    """With which bytes rules go on where they may also end: what overlaps with what follows it.
    ``plain``: of these rules alone, which do not recur, those that others name before them."""

    def __init__(self, rules: Rules, plain: Iterable[int] | None = None) -> None:
        self.rules = rules
        self._first: dict[int, int] = {}
        self._after: dict[int, int] = {}
        self._values: dict[int, tuple[int, int]] = {}
        # By rule those that name it.
        self._users: dict[int, dict[int, None]] = {}
        # What rules name mostly stands after them.
        pending = deque(reversed(rules.reached) if plain is None else plain)
        waiting = set(pending)
        while pending:
            check_in_force(_STAGE)
            rule = pending.popleft()
            waiting.discard(rule)
            if not self._has_changed(rule) or plain is not None:
                continue
            for user in self._users.get(rule, ()):
                if user not in waiting:
                    waiting.add(user)
                    pending.append(user)

    def bytes_after_end(self, rule: int) -> int:
        """How many bytes a rule may go on with where it may also end."""
        return self._after[rule].bit_count()

    @property
    def looked_at(self) -> Iterable[int]:
        """The expressions, each after its parts and what it names before it."""
        return self._values

    def first(self, e: int) -> int:
        """The first bytes of an expression, as bits."""
        return self._values[e][0]

    def _has_changed(self, rule: int) -> bool:
        """Whether more of a rule is found than before."""
        loop = self.rules.loops[rule]
        values: dict[int, tuple[int, int]] = {}
        first = after = 0
        for e in (*loop.heads, *loop.tails):
            begins, goes = self._of(e, values)
            after |= goes | (begins if e in loop.tails else 0)
            first |= begins
        for e in values if rule not in self._first else ():
            if self.rules.kinds[e] == RULE:
                self._users.setdefault(self.rules.rule(e), {})[rule] = None
        self._values |= values
        before = self._first.get(rule, 0), self._after.get(rule, 0)
        self._first[rule], self._after[rule] = first, after
        return (first, after) != before

    def _of(self, root: int, values: dict[int, tuple[int, int]]) -> tuple[int, int]:
        """The first bytes of an expression, and those after its ends, each as bits."""
        for e in bottom_up([root], self.rules.parts.__getitem__, values):
            values[e] = self._combined(e, [values[part] for part in self.rules.parts[e]])
        return values[root]

    def _combined(self, e: int, parts: list[tuple[int, int]]) -> tuple[int, int]:
        rules = self.rules
        kind, content = rules.kinds[e], rules.contents[e]
        first = after = 0
        if kind in (LITERAL, RUNS, CHARACTER):
            first = bytes_of(kind, content, is_first=True)
        elif kind == AUTOMATON:
            assert isinstance(content, Nfa)
            first = _leaving(content, [content.start])
            after = _leaving(content, content.finals)
        elif kind == RULE:
            used = rules.rule(e)
            first, after = self._first.get(used, 0), self._after.get(used, 0)
        elif kind == ALL:
            for part, (begins, goes) in zip(rules.parts[e], parts, strict=True):
                follows = rules.nullable[part]
                after = goes | (after | begins if follows else 0)
            for part, (begins, _) in zip(rules.parts[e], parts, strict=True):
                first |= begins
                if not rules.nullable[part]:
                    break
        else:
            for begins, goes in parts:
                first |= begins
                after |= goes
            if rules.repeated(e):
                after |= first
        return first, after


def bytes_of(kind: int, content: object, *, is_first: bool) -> int:
    """The bytes that a text, a run of symbols or a character reads, or the first of them, as bits;
    none for others."""
    found = 0
    if kind == LITERAL:
        assert isinstance(content, bytes)
        for octet in content[:1] if is_first else content:
            found |= 1 << octet
    elif kind == RUNS:
        assert isinstance(content, tuple)
        for low, high in zip(content[::2], content[1::2], strict=True):
            found |= _bits(low, high)
    elif kind == CHARACTER:
        assert isinstance(content, list)
        for source, low, high, _ in content:
            found |= 0 if is_first and source else _bits(low, high)
    return found


def _bits(low: int, high: int) -> int:
    """Bits ``low`` to ``high``; none for token terminals."""
    return (1 << high + 1) - (1 << low) if high < FIRST_TERMINAL else 0


def _leaving(automaton: Nfa, states: Iterable[int]) -> int:
    found = 0
    for state in automaton.epsilon_closure(states):
        for arc in automaton.arcs[state]:
            found |= _bits(arc.low, arc.high)
    return found
