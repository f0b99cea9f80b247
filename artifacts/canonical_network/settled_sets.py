"""Sets of parts beside a pre-tokenizer DFA, where the order of the parts does not matter.

    '"name": ' text, '"age": ' number, …    a part leads to the same states of the pre-tokenizer
                                            DFA, whatever was before it and whatever follows

What n parts in any order do beside the DFA is then found from what each does by itself, and not
from their 2ⁿ sets. A set *settles* where what must follow a part for it to lead to the end is the
same, whether nothing follows after all or any number of parts.

This is shown by two bounds. Let push(p, C) be the context in front of a part over the context
C after it, which only grows with C; M that after a part where any number of them may follow, and
B where none may. The context after a part holds B or some push(p, M), and lies in M. So where
push(p, B) and all push(p, push(q, M)) are push(p, M), each context after parts is the union of
push(p, M) of the parts that may follow, and of B where none need to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..network.sets import NO_SEPARATOR, NONE, SetRule, UnsettledError, Value

# Of a set that does not settle, the contexts of so many of its values are found one by one.
MOST_VALUES = 1 << 12


@dataclass(eq=False)
class SetContexts:
    """What lies in front of the frames of one network's sets, as numbers.

    ``push``: of a state over the number of what is below; ``union``: of what may be either.
    """

    rules: Sequence[SetRule]
    push: Callable[[int, int], int]
    union: Callable[[list[int]], int]
    # By set and what is below: bounds, if they settle.
    _settled: dict[tuple[int, int], "_Bounds | None"] = field(default_factory=dict)
    _found: dict[tuple[int, Value, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many are known."""
        return len(self._found) + sum(1 + len(s.parts) for s in self._settled.values() if s)

    def of(self, number: int, value: Value, below: int) -> int:
        """In front of a set with a value. Raises ``UnsettledError``."""
        key = number, value, below
        found = self._found.get(key)
        if found is None:
            if len(self._found) > 2 * MOST_VALUES:
                self._found.clear()
            settles = self.settles(number, below)
            found = self.by_parts(*key) if settles else self.one_by_one(*key)
            self._found[key] = found
        return found

    def settles(self, number: int, below: int) -> bool:
        """Whether it is known without a look at all values."""
        key = number, below
        if key not in self._settled:
            bounds = self._bounds(*key)
            self._settled[key] = bounds if self._meet(number, bounds) else None
        return self._settled[key] is not None

    def by_parts(self, number: int, value: Value, below: int) -> int:
        """``of`` a set that settles; of another one at least that much is in front."""
        rule = self.rules[number]
        bounds = self._settled.get((number, below)) or self._bounds(number, below)
        begun, in_separator = divmod(value - 1, 2)
        found = dict[int, None]()
        if in_separator or rule.is_adjoining:
            found |= dict.fromkeys(bounds.parts[rule.parts[i]] for i, _ in rule.begins(begun))
        if not in_separator:
            if rule.separator != NO_SEPARATOR and rule.has_next(begun):
                found[bounds.between] = None
            if rule.may_end(begun):
                found[bounds.behind] = None
        return self.union(list(found))

    def one_by_one(self, number: int, value: Value, below: int) -> int:
        """``of`` any set, by all values that follow this one. Raises ``UnsettledError`` for too
        many, and for parts that are repeated."""
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

    def _bounds(self, number: int, below: int) -> "_Bounds":
        rule, push = self.rules[number], self.push
        behind = push(rule.back, below)
        most, before = behind, -1
        parts, between = dict[int, int](), -1
        while most != before:
            before = most
            parts = {state: push(state, most) for state in dict.fromkeys(rule.parts)}
            found = [behind, most]
            if rule.is_adjoining:
                found += parts.values()
            if rule.separator != NO_SEPARATOR:
                between = push(rule.separator, self.union(list(parts.values())))
                found.append(between)
            most = self.union(found)
        return _Bounds(behind, between, parts)

    def _meet(self, number: int, bounds: "_Bounds") -> bool:
        """Whether both bounds are the same."""
        rule, push, parts = self.rules[number], self.push, bounds.parts
        fewest = {bounds.behind}
        if rule.is_adjoining:
            fewest.update(parts.values())
        if rule.separator != NO_SEPARATOR:
            fewest.add(bounds.between)
            if any(push(rule.separator, p) != bounds.between for p in set(parts.values())):
                return False
        return all(push(state, few) == part for state, part in parts.items() for few in fewest)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What lies in front after all parts, of a separator, and of each part, where any number of
    them may follow."""

    behind: int
    between: int
    parts: dict[int, int]
