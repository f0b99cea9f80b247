"""Sets of parts beside a pre-tokenizer DFA, where the order of the parts does not matter.

    '"name": ' text, '"age": ' number, …    a part leads to the same states of the pre-tokenizer
                                            DFA, whatever was before it and whatever follows

What n parts in any order do beside the DFA is then found from what each does by itself, and not
from their 2ⁿ sets. A set *settles* where two things hold:

    returns    wherever a part begins it may end in the same states, and of these some are in front
               of each other part (``ended_parts``)
    contexts   what must follow a part for it to lead to the end is the same, whether nothing
               follows after all or any number of parts (``SetContexts``)

The second is shown by two bounds. Let push(p, C) be the context in front of a part over the context
C after it, which only grows with C; M that after a part where any number of them may follow, and
B where none may. The context after a part holds B or some push(p, M), and lies in M. So where
push(p, B) and all push(p, push(q, M)) are push(p, M), each context after parts is the union of
push(p, M) of the parts that may follow, and of B where none need to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.sets import NO_SEPARATOR, NONE, REPEATED, REQUIRED, SetRule, UnsettledError, Value

_Flags: TypeAlias = NDArray[np.bool_]

# Of a set that does not settle, the contexts of so many of its values are found one by one.
MOST_VALUES = 1 << 12


def joined(left: _Flags, right: _Flags) -> _Flags:
    """The composition of two relations, bool."""
    found: _Flags = left.astype(np.float32) @ right.astype(np.float32) > 0
    return found


@dataclass(slots=True)
class _Alike:
    """Parts of a set that begin in front of the same return states and end in the same (bool (R,)),
    and have the same flags."""

    begins: _Flags
    ends: _Flags
    flags: int
    count: int = 0

    @property
    def is_required(self) -> bool:
        return bool(self.flags & REQUIRED)

    @property
    def is_repeated(self) -> bool:
        return bool(self.flags & REPEATED)

    @property
    def adds(self) -> int:
        """How many parts more than the required ones there are with one of these."""
        return not self.flags


def ended_parts(
    rule: SetRule, begun: Sequence[tuple[int, _Flags]], returns: Callable[[int], _Flags]
) -> tuple[_Flags, bool]:
    """In which return states the last part may end, bool (n, R), and whether that is so whatever
    the order is; else too few are found.

    ``begun``: parts that may be the first, and where each ends, bool (n, R). ``returns``: of the
    state that a part or a separator starts in, bool (R, R), where it ends that begins in each
    return state.
    """
    found = np.zeros_like(begun[0][1])
    size = found.shape[1]
    between = np.eye(size, dtype=np.bool_) & rule.is_adjoining
    if rule.separator != NO_SEPARATOR:
        between = between | returns(rule.separator)
    steps = {state: joined(between, returns(state)) for state in dict.fromkeys(rule.parts)}
    met = np.logical_or.reduce([inner.any(axis=0) for _, inner in begun])
    before = None
    while before is None or (met != before).any():
        before = met
        met = np.logical_or.reduce([met, *(step[met].any(axis=0) for step in steps.values())])
    settles, alike, of_part = True, dict[tuple[bytes, bytes, int], _Alike](), list[_Alike]()
    known = dict[int, tuple[_Flags, _Flags]]()
    for state, step in steps.items():
        begins = step.any(axis=1) & met
        ends = step[begins].any(axis=0)
        settles &= bool((step[begins] == ends).all())
        known[state] = begins, ends
    for state, flags in zip(rule.parts, rule.flags, strict=True):
        begins, ends = known[state]
        key = begins.tobytes(), ends.tobytes(), flags
        of_part.append(alike.setdefault(key, _Alike(begins, ends, flags)))
        of_part[-1].count += 1
    # Parts that cannot be read after others are as if they were not there.
    kinds = [kind for kind in alike.values() if kind.begins.any()]
    lost = [kind for kind in alike.values() if not kind.begins.any()]
    settles &= not any(rule.least or kind.is_required for kind in lost) or len(rule.parts) == 1
    for one in kinds:
        for other in kinds:
            if one is not other or one.count > 1 or one.is_repeated:
                settles &= bool((one.ends & other.begins).any())
    if settles:
        orders = _Orders(rule, kinds)
        for first, inner in begun:
            found |= orders.ended(of_part[first], inner)
    return found, settles


class _Orders:
    """Which kinds of parts may be the last, where all of them may follow each other."""

    def __init__(self, rule: SetRule, kinds: Sequence[_Alike]) -> None:
        self._kinds, self._least, self._most = kinds, rule.least, rule.most
        self._required = rule.required.bit_count()

    def ended(self, first: _Alike, inner: _Flags) -> _Flags:
        """Where all have ended, by where the first has, bool (n, R)."""
        found = inner & self._may_end([first])
        for second in self._kinds:
            if self._may_follow([first], second):
                behind = inner[:, second.begins].any(axis=1)
                found[behind] |= self._last([first, second])
        return found

    def _last(self, begun: list[_Alike]) -> _Flags:
        """Where the last ends, if ``begun`` are the first two."""
        found = begun[-1].ends & self._may_end(begun)
        for kind in self._kinds:
            if self._may_follow(begun, kind):
                found = found | kind.ends
        return found

    def _may_follow(self, begun: list[_Alike], kind: _Alike) -> bool:
        """Whether a part of that kind may follow, at once or later."""
        if kind.is_repeated:
            return True
        if sum(other is kind for other in begun) >= kind.count:
            return False
        return self._required + sum(other.adds for other in (*begun, kind)) <= self._most

    def _may_end(self, begun: list[_Alike]) -> bool:
        required = [kind for kind in begun if kind.is_required]
        again = {id(kind): kind for kind in required if kind.is_repeated}
        once = sum(not kind.is_repeated for kind in required)
        # Two that are repeated may be one part, or two.
        most = sum(min(k.count, sum(o is k for o in required)) for k in again.values())
        is_enough = once + len(again) <= self._required <= once + most
        return is_enough and len(begun) >= self._least


@dataclass(eq=False)
class SetContexts:
    """What lies in front of the frames of one network's sets, as numbers.

    ``push``: of a state over the number of what is below; ``union``: of what may be either.
    """

    rules: Sequence[SetRule]
    push: Callable[[int, int], int]
    union: Callable[[list[int]], int]
    # By set and what is below: that after all, in front of a separator, and of each part.
    _settled: dict[tuple[int, int], tuple[int, int, dict[int, int]] | None] = field(
        default_factory=dict
    )
    _found: dict[tuple[int, Value, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many are known."""
        return len(self._found) + sum(1 + len(s[2]) for s in self._settled.values() if s)

    def of(self, number: int, value: Value, below: int) -> int:
        """In front of a set with a value. Raises ``UnsettledError``."""
        key = number, value, below
        found = self._found.get(key)
        if found is None:
            if len(self._found) > 2 * MOST_VALUES:
                self._found.clear()
            settles = self.settles(number, below)
            found = self._by_parts(*key) if settles else self._one_by_one(*key)
            self._found[key] = found
        return found

    def settles(self, number: int, below: int) -> bool:
        """Whether it is known without a look at all values."""
        key = number, below
        if key not in self._settled:
            self._settled[key] = self._bounded(*key)
        return self._settled[key] is not None

    def _by_parts(self, number: int, value: Value, below: int) -> int:
        known, rule = self._settled[number, below], self.rules[number]
        assert known is not None
        behind, between, parts = known
        begun, in_separator = divmod(value - 1, 2)
        found = dict[int, None]()
        if in_separator or rule.is_adjoining:
            found |= dict.fromkeys(parts[rule.parts[i]] for i, _ in rule.begins(begun))
        if not in_separator:
            if rule.separator != NO_SEPARATOR and rule.has_next(begun):
                found[between] = None
            if rule.may_end(begun):
                found[behind] = None
        return self.union(list(found))

    def _one_by_one(self, number: int, value: Value, below: int) -> int:
        """By all values that follow this one."""
        rule, found = self.rules[number], dict[Value, int]()
        pending = [value]
        while pending:
            current = pending[-1]
            if current in found:
                pending.pop()
                continue
            pops = rule.pops(current)
            missing = [again for _, again in pops if again != NONE and again not in found]
            if current in missing:
                # A part that is repeated.
                raise UnsettledError
            if missing:
                pending.extend(missing)
                if len(pending) + len(found) > MOST_VALUES:
                    raise UnsettledError
                continue
            over = [(state, found.get(again, below)) for state, again in pops]
            found[current] = self.union([self.push(state, context) for state, context in over])
        return found[value]

    def _bounded(self, number: int, below: int) -> tuple[int, int, dict[int, int]] | None:
        """The proof, if there is one."""
        rule, push = self.rules[number], self.push
        behind = push(rule.back, below)
        has_separator = rule.separator != NO_SEPARATOR
        most, before = behind, -1
        parts, between = dict[int, int](), -1
        while most != before:
            before = most
            parts = {state: push(state, most) for state in dict.fromkeys(rule.parts)}
            found = [behind]
            if rule.is_adjoining:
                found += parts.values()
            if has_separator:
                between = push(rule.separator, self.union(list(parts.values())))
                found.append(between)
            most = self.union(found)
        fewest = {behind}
        if rule.is_adjoining:
            fewest.update(parts.values())
        if has_separator:
            fewest.add(between)
            if any(push(rule.separator, part) != between for part in set(parts.values())):
                return None
        if any(push(state, few) != part for state, part in parts.items() for few in fewest):
            return None
        return behind, between, parts
