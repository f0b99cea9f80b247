"""The counters and the sets of a network, from its calls of what is counted and permuted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.counts import MOST_ITEMS, UNBOUNDED, Counters
from constrain.artifacts.network.sets import NO_SEPARATOR, REPEATED, REQUIRED, SetRule, Sets
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..automata.graphs import reached

# States of a repetition's copies, from which on they are counted.
MANY_COPIES = 20_000

# The least and the most items, None for any number.
Times: TypeAlias = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Permuted:
    """A permutation: the number of each part and its flags, equal ones side by side
    (``Sets``); that of what separates them, or None, and whether that may be missing; and how many
    parts there are."""

    parts: tuple[tuple[int, int], ...]
    separator: int | None
    is_adjoining: bool
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class PartOf:
    """What a permutation calls: the part of that place, or None for what separates the parts."""

    whole: Permuted
    place: int | None


Called: TypeAlias = Times | PartOf


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """What is called: the rule's ``name``, for messages, and the state that it ``start``s in.

    ``called``: of an item of the rule ``name`` that is counted, how many there are; of a part of a
    permutation in that rule, or what separates those, which one it is."""

    name: str
    start: int
    called: Called | None = None


def flags_of_equal(parts: Sequence[tuple[bool, bool]]) -> list[int]:
    """The flags of parts that are written alike, of which it is known whether they must be there,
    and may be repeated: first those that must, and one alone, the last, that may be repeated."""
    required = sum(is_required for is_required, _ in parts)
    if not any(is_repeated for _, is_repeated in parts):
        return [REQUIRED] * required + [0] * (len(parts) - required)
    if any(is_required and is_repeated for is_required, is_repeated in parts):
        return [REQUIRED] * (required - 1) + [REQUIRED | REPEATED]
    return [REQUIRED] * required + [REPEATED]


def counted(
    states: int,
    starts: NDArray[np.int32],
    called_as: Sequence[Called | None],
    called: NDArray[np.int64],
    returns: NDArray[np.int64],
) -> tuple[NDArray[np.int32], Counters | None]:
    """What ``NetworkTables.call_returns`` says of calls, int32, and the counters that they are of,
    if there are any.

    Of each procedure ``starts`` says where it begins, and ``called_as`` what it is if it is no
    rule. Call i is of procedure ``called[i]`` and goes on in state ``returns[i]``.
    """
    frames = returns.astype(np.int32)
    numbers: dict[tuple[int, int, int, int], int] = {}
    sets: dict[tuple[Permuted, int], int] = {}
    of_sets: list[tuple[int, int, int]] = []
    for place in np.flatnonzero([called_as[p] is not None for p in called.tolist()]).tolist():
        procedure, back = int(called[place]), int(returns[place])
        what = called_as[procedure]
        assert what is not None
        if isinstance(what, PartOf):
            number = sets.setdefault((what.whole, back), len(sets))
            assert what.place is not None
            of_sets.append((place, number, what.place))
            continue
        # No text is long enough for more items than counters hold.
        least, most = (None if count is None else min(count, MOST_ITEMS - 1) for count in what)
        assert least is not None
        most = UNBOUNDED if most is None else most
        key = int(starts[procedure]), least, most, back
        frames[place] = states + numbers.setdefault(key, len(numbers))
    if not numbers and not sets:
        return frames, None
    columns = np.array(list(numbers), dtype=np.int64).reshape(-1, 4).T
    items, least_, most_, backs = columns
    parts: Sets | None = None
    if sets:
        begins = {what: int(starts[p]) for p, what in enumerate(called_as) if what is not None}
        parts = _sets(list(sets), begins)
        for place, number, part in of_sets:
            frames[place] = states + len(numbers) + int(parts.offsets[number]) + part
    counters = Counters(
        states, items.astype(np.int32), least_, most_, backs.astype(np.int32), parts
    )
    return frames, counters


def _sets(found: Sequence[tuple[Permuted, int]], begins: Mapping[Called, int]) -> Sets:
    """The sets of permutations with the states after them. ``begins``: where each part starts."""
    rules = []
    for whole, back in found:
        # Of equal parts one alone is called.
        first = {number: i for i, (number, _) in reversed(list(enumerate(whole.parts)))}
        starts = [begins[PartOf(whole, first[number])] for number, _ in whole.parts]
        flags = [flag for _, flag in whole.parts]
        between = NO_SEPARATOR
        if whole.separator is not None:
            between = begins[PartOf(whole, None)]
        bounds = whole.is_adjoining, whole.least, whole.most
        rules.append(SetRule(starts, flags, between, *bounds, back))
    return Sets.of(rules)


def copied_states(tables: NetworkTables) -> int:
    """About the states that the copies of the largest repetition that is counted would have."""
    rows = () if tables.counters is None else tables.counters.rows
    sizes = {item: len(_reached(tables, item)) for item, *_ in rows}
    return max((max(least, most) * sizes[item] for item, least, most, _ in rows), default=0)


def has_open_items(tables: NetworkTables, most: int) -> bool:
    """Whether some counter needs more than ``most`` items, whose ends cannot be told from the byte
    after them: sets of stacks may hold as many counts.

    An item's end can be told if nothing that may end in it goes on with what an item begins with.
    """
    counters = tables.counters
    items = set() if counters is None else {item for item, n, *_ in counters.rows if n > most}
    if not items:
        return False
    first = first_symbols(tables)
    for item in items:
        inside = _reached(tables, item)
        ends = inside[tables.accepting[inside] != 0]
        if bool((first[ends] & first[item]).any()):
            return True
    return False


def has_overlapping_parts(tables: NetworkTables, most: int) -> bool:
    """Whether more than ``most`` parts of some set cannot be distinguished by what they read: one
    may end where others end, too, or go on as what follows a part does. Then a text leads to as
    many sets as those parts have subsets.

    Parts that call different rules before they differ are taken to differ there.
    """
    rules = [] if tables.counters is None else tables.counters.set_rules
    first: NDArray[np.bool_] | None = None
    for rule in rules:
        begun = [tuple(sorted(set(rule.parts)))]
        for group in reached(begun, lambda group: _next_groups(tables, np.array(group), most)):
            if len(group) <= most:
                break
            states = np.array(group)
            ends = tables.accepting[states] != 0
            if ends.any():
                first = first_symbols(tables) if first is None else first
                following = np.array(rule.following)
                behind = first[following].any(axis=0)
                if int((ends | (first[states] & behind).any(axis=1)).sum()) > most:
                    return True
    return False


def _next_groups(
    tables: NetworkTables, states: NDArray[np.int64], most: int
) -> Iterator[tuple[int, ...]]:
    """What states lead to by each byte, and by each call that all of them make; where that is more
    than ``most`` of them. Each stands for a part, and so does each target."""
    columns = tables.table[states].T.tolist()
    offsets, ends = tables.call_offsets, tables.call_ends
    calls: dict[int, list[int]] = {}
    for state in states.tolist():
        for call in range(int(offsets[state]), int(offsets[state + 1])):
            calls.setdefault(int(tables.call_starts[call]), []).append(int(ends[call]))
    for targets in (*columns, *calls.values()):
        live = tuple(sorted(target for target in targets if target != DEAD))
        if len(live) > most:
            yield live


def first_symbols(tables: NetworkTables) -> NDArray[np.bool_]:
    """Which columns of bytes and terminals each state may read next, by itself or in a call."""
    first: NDArray[np.bool_] = tables.table != DEAD
    callers = np.repeat(np.arange(tables.states), np.diff(tables.call_offsets))
    before = -1
    while before != (before := int(first.sum())):
        np.logical_or.at(first, callers, first[tables.call_starts])
    return first


def _reached(tables: NetworkTables, state: int) -> NDArray[np.int64]:
    """The states that are come to in what begins in a state, calls included."""
    ends = tables.call_ends.tolist()
    offsets = tables.call_offsets.tolist()

    def after(current: int) -> set[int]:
        calls = slice(offsets[current], offsets[current + 1])
        targets = {*tables.table[current].tolist(), *tables.call_starts[calls].tolist()}
        return (targets | set(ends[calls])) - {DEAD}

    return np.array(sorted(reached([state], after)))
