"""Which rules of a grammar's tree are called, and which are copied to where they are named.

A cycle of rules that holds more than tail calls needs a procedure (``cutsets``). Of the others a
rule whose copies would be many states is called, if it ends with a byte of its own, as a string or
something in brackets does: what may end where it could go on, as a number, leaves as many trie
nodes suspended at its end as its bytes lead to, and is copied until its copies are very large.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from ..automata.nfa import FIRST_TERMINAL, Nfa
from ..limits import check_in_force
from ..lnf.components import strongly_connected
from .cutsets import TreeCalls, chosen, framed_cycle, most_followed
from .tree_rules import (
    ALL,
    ANY,
    AUTOMATON,
    CHARACTER,
    LITERAL,
    ORDERS,
    RULE,
    RUNS,
    TIMES,
    Rules,
)

# A rule of so many states is called where all its copies together have more than that: if it ends
# by a byte of its own, and if it does not.
CALLED_FROM, COPIES = 20, 600
OPEN_COPIES = 20_000

# A rule of so many states is called though it is named once: chains of such rules are not one
# automaton.
ONE_COPY = 4_000

# More ends of one rule than so many are not distinguished; what has none of its own has those of
# the rule that it stands in. In grammars of so few states none of this is asked.
_MOST_ENDS, _INHERITED, _FEW_STATES = 64, 0, 200

# Estimates of sizes go no further.
_LARGE = 10**9

_STAGE = "the grammar's procedures"


def procedures_of(rules: Rules, called: Set[int] = frozenset()) -> set[int]:
    """The rules that are called: ``called``, what cycles need, and what would be copied too often.

    The grammar must not be left-recursive but directly.
    """
    return _Planner(rules).procedures(called)


def sizes_of(rules: Rules) -> Mapping[int, int]:
    """The states of a copy of each rule, with all that it names, no call being made."""
    planner = _Planner(rules)
    whole: dict[int, int] = {}
    for rule in planner.callees_first():
        whole[rule] = planner.copied(rule, frozenset(), whole)
    return whole


def text_size(rules: Rules) -> int:
    """The states of all rules together, each once, no other being copied into it."""
    return sum(_Planner(rules).calls.sizes.values())


def sizes_of_uses(rules: Rules, expressions: Sequence[int]) -> list[int]:
    """The states of a copy of each expression, at least 1."""
    planner, whole = _Planner(rules), dict[int, int]()
    found = []
    for e in expressions:
        uses = list(rules.uses([e], at_end=False))
        # Characters name no rules, nor do most items.
        whole = whole or (dict(sizes_of(rules)) if uses else whole)
        named = sum(count * whole[used] for used, _, count in uses)
        found.append(max(min(planner.size([e]) + named, _LARGE), 1))
    return found


def copies_grow(rules: Rules, most: int) -> bool:
    """Whether the rules that are named more than once reach more than ``most`` states together:
    what they would cost if each were built by itself and copied."""
    sizes = _Planner(rules).calls.sizes
    uses = {rule: list(rules.used_by(rule)) for rule in rules.reached}
    counts = Counter(used for named in uses.values() for used in named)
    total = 0
    for rule, count in counts.items():
        seen, pending = {rule}, [rule] if count > 1 else []
        while pending:
            current = pending.pop()
            total += sizes[current]
            if total > most:
                return True
            for used in uses[current]:
                if used not in seen:
                    seen.add(used)
                    pending.append(used)
    return False


class _Planner:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def procedures(self, called: Set[int]) -> set[int]:
        calls = self.calls
        found = set(called) & set(self.rules.reached)
        cutting: set[int] = set()
        while more := chosen(calls, calls.callees.keys() - found - cutting):
            cutting |= more
        left = most_followed(calls)
        found |= cutting
        for member in sorted(cutting - set(called)):
            found.discard(member)
            needed, followed = framed_cycle(calls, member, found, left)
            left -= followed
            if needed:
                found.add(member)
        self._call_large(found)
        return found

    @cached_property
    def calls(self) -> TreeCalls:
        """What calls what."""
        rules = self.rules
        callees: dict[int, set[int]] = {}
        framed: dict[int, set[int]] = {}
        copies: dict[int, dict[int, int]] = {}
        sizes: dict[int, int] = {}
        for rule in rules.reached:
            loop = rules.loops[rule]
            callees[rule], framed[rule], copies[rule] = set(), set(), {}
            uses = [*rules.uses(loop.heads, at_end=True), *rules.uses(loop.tails, at_end=True)]
            for used, last, count in uses:
                callees[rule].add(used)
                # Behind the loop of a rule, the rule itself is that loop again.
                if not last or (loop.tails and used != rule):
                    framed[rule].add(used)
                    copies[rule][used] = copies[rule].get(used, 0) + count
            sizes[rule] = self.size([*loop.heads, *loop.tails])
        return TreeCalls(callees, framed, copies, sizes)

    def size(self, expressions: Iterable[int]) -> int:
        rules = self.rules
        size = 0
        pending = [(e, 1) for e in expressions]
        while pending:
            e, count = pending.pop()
            if rules.kinds[e] == TIMES:
                low, high, _ = rules.times(e)
                count *= 1 if e in rules.counted else max(low if high is None else high, 1)
            size += count * states_of_leaf(rules.kinds[e], rules.contents[e])
            pending.extend((part, count) for part in rules.parts[e])
        return min(size, _LARGE)

    def _call_large(self, procedures: set[int]) -> None:
        """Add the rules whose copies would be too large."""
        uses = self._uses(procedures)
        whole: dict[int, int] = {}
        for rule in self.callees_first(procedures):
            if rule not in uses:
                continue
            size = whole[rule] = self.copied(rule, procedures, whole)
            if rule in procedures or size <= CALLED_FROM:
                continue
            most = ONE_COPY if uses[rule] < 2 else COPIES
            if rule in self._open:
                most = OPEN_COPIES
            if size * uses[rule] > most:
                procedures.add(rule)

    def _uses(self, procedures: Set[int]) -> dict[int, int]:
        """How often each rule is copied: where it is named by calls that are no tail calls, and
        where tail calls of several rules lead to it, in front of how many ends those stand."""
        calls = self.calls
        uses: dict[int, int] = {}
        for copies in calls.copies.values():
            for used, count in copies.items():
                uses[used] = uses.get(used, 0) + count
        if sum(calls.sizes.values()) > _FEW_STATES:
            for used, count in self._joined(procedures):
                uses[used] = max(uses.get(used, 0), count)
        return uses

    def _joined(self, procedures: Set[int]) -> Iterator[tuple[int, int]]:
        """The rules that tail calls from different ends lead to, and how many ends those are; from
        the ends of one rule alone they are no more copies than that rule has."""
        calls = self.calls
        ends: dict[int, set[int]] = {rule: set() for rule in calls.callees}
        for rule in calls.callees:
            for used, end in self._ends(rule):
                if len(ends[used]) < _MOST_ENDS:
                    ends[used].add(end)
        joined: dict[int, None] = {}
        for rule in reversed(list(self.callees_first(procedures))):
            here = {-1 - rule} if rule in procedures else ends[rule]
            for used in sorted(calls.callees[rule] - calls.framed[rule] - procedures):
                there = ends[used]
                if there and not there >= here:
                    joined[used] = None
                if len(there) < _MOST_ENDS:
                    there |= here
        return ((rule, len(ends[rule])) for rule in joined)

    def _ends(self, rule: int) -> Iterator[tuple[int, int]]:
        """What a rule names where something follows: (rule, what it stands at the end of)."""
        rules, loop = self.rules, self.rules.loops[rule]
        behind = -1 - rule if loop.tails else _INHERITED
        pending = [(e, behind) for e in (*loop.heads, *loop.tails)]
        while pending:
            e, end = pending.pop()
            kind, parts = rules.kinds[e], rules.parts[e]
            if kind == RULE and end != _INHERITED:
                yield rules.rule(e), end
            elif kind == ALL:
                pending.extend((part, part) for part in parts[:-1])
                pending.append((parts[-1], end))
            elif kind == ANY or (kind == TIMES and rules.times(e)[1] == 1):
                pending.extend((part, end) for part in parts)
            elif kind == TIMES:
                pending.append((parts[0], parts[0]))

    def callees_first(self, procedures: Set[int] = frozenset()) -> Iterator[int]:
        """The rules that are reached, those that others copy before them, but for cycles: where
        ``procedures`` cut those that need it, of tail calls alone."""
        calls = self.calls
        ordered = list(calls.callees)
        place = {rule: i for i, rule in enumerate(ordered)}
        graph = [[place[c] for c in sorted(calls.callees[rule] - procedures)] for rule in ordered]
        for members in strongly_connected(graph):
            yield from (ordered[i] for i in members)

    def copied(self, rule: int, procedures: Set[int], whole: Mapping[int, int]) -> int:
        """The states of one copy of a rule: with what it copies, and what it jumps to."""
        check_in_force(_STAGE)
        calls = self.calls
        size, seen, pending = 0, {rule}, [rule]
        while pending and size < _LARGE:
            current = pending.pop()
            size += calls.sizes[current]
            for used in sorted(calls.callees[current]):
                if used in procedures:
                    continue
                if used in calls.framed[current]:
                    size += calls.copies[current][used] * whole.get(used, 1)
                elif used not in seen:
                    seen.add(used)
                    pending.append(used)
        return min(size, _LARGE)

    @cached_property
    def _open(self) -> set[int]:
        """The rules that may end where they could also go on, as far as that is easily seen."""
        rules = self.rules
        ordered = rules.reached
        place = {rule: i for i, rule in enumerate(ordered)}
        last = [self._lasts(rule) for rule in ordered]
        graph = [sorted(place[used] for used in uses) for uses, _ in last]
        found: set[int] = set()
        for members in strongly_connected(graph):
            for rule in (ordered[i] for i in members):
                uses, is_open = last[place[rule]]
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
                uses.update(used for used, _, _ in rules.uses([e], at_end=True))
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


def states_of_leaf(kind: int, content: object) -> int:
    """The states of an expression itself, none of those of its parts; one for a rule's name."""
    if kind == AUTOMATON:
        assert isinstance(content, Nfa)
        return content.states
    if kind in (LITERAL, CHARACTER):
        assert isinstance(content, bytes | list)
        return len(content)
    return int(kind in (RUNS, RULE))


def goes_on(automaton: object) -> bool:
    """Whether anything leaves a final state of an ``Nfa``."""
    assert isinstance(automaton, Nfa)
    return any(automaton.arcs[s] or automaton.epsilon[s] for s in automaton.finals)


class Openness:
    """With which bytes rules go on where they may also end: what overlaps with what follows it."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._first = dict.fromkeys(rules.reached, 0)
        self._after = dict.fromkeys(rules.reached, 0)
        self._until_stable()

    def bytes_after_end(self, rule: int) -> int:
        """How many bytes a rule may go on with where it may also end."""
        return self._after[rule].bit_count()

    def _until_stable(self) -> None:
        rules = self.rules
        changed = True
        while changed:
            changed = False
            for rule in rules.reached:
                loop = rules.loops[rule]
                values: dict[int, tuple[int, int]] = {}
                first = after = 0
                for e in (*loop.heads, *loop.tails):
                    begins, goes = self._of(e, values)
                    after |= goes | (begins if e in loop.tails else 0)
                    first |= begins
                if (first, after) != (self._first[rule], self._after[rule]):
                    self._first[rule], self._after[rule] = first, after
                    changed = True

    def _of(self, root: int, values: dict[int, tuple[int, int]]) -> tuple[int, int]:
        """The first bytes of an expression, and those behind its ends, each as bits."""
        pending = [root]
        while pending:
            e = pending[-1]
            missing = [part for part in self.rules.parts[e] if part not in values]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            values[e] = self._combined(e, [values[part] for part in self.rules.parts[e]])
        return values[root]

    def _combined(self, e: int, parts: list[tuple[int, int]]) -> tuple[int, int]:
        rules = self.rules
        kind, content = rules.kinds[e], rules.contents[e]
        first = after = 0
        if kind == LITERAL:
            assert isinstance(content, bytes)
            first = 1 << content[0] if content else 0
        elif kind == RUNS:
            assert isinstance(content, tuple)
            for low, high in zip(content[::2], content[1::2], strict=True):
                first |= _bits(low, high)
        elif kind == CHARACTER:
            assert isinstance(content, list)
            for source, low, high, _ in content:
                first |= 0 if source else _bits(low, high)
        elif kind == AUTOMATON:
            assert isinstance(content, Nfa)
            first = _leaving(content, [content.start])
            after = _leaving(content, content.finals)
        elif kind == RULE:
            used = rules.rule(e)
            first, after = self._first[used], self._after[used]
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


def _bits(low: int, high: int) -> int:
    """Bits ``low`` to ``high``; none for token terminals."""
    return (1 << high + 1) - (1 << low) if high < FIRST_TERMINAL else 0


def _leaving(automaton: Nfa, states: Iterable[int]) -> int:
    found = 0
    for state in automaton.epsilon_closure(states):
        for arc in automaton.arcs[state]:
            found |= _bits(arc.low, arc.high)
    return found
