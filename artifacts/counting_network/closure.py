"""The summaries that stacks of any height need, found without a stack, for a few of all counts.

As ``network/closure``: which frames can lie right below a state is a local relation of the network.
Of a counter, which is a frame for each count, a few stand for all: where one item has begun, where
just enough have, where a few are left, and where the last has begun. What other counts need is
mostly that, too. In place of a
set stand the states that it leads to: each part, what separates them, and the one behind all.
"""

from collections.abc import Iterable, Iterator

from ..network import closure as network_closure
from ..network.counts import UNBOUNDED
from ..network.sets import NO_SEPARATOR
from ..network.tables import DEAD, NetworkTables
from .summaries import CountingSummaries

# How many items may be left where a counter's end is near. Few tokens hold more of them and what
# follows; nodes of so many levels are then looked at by themselves.
_LEFT = (*range(1, 12), 32)

_Key = tuple[int, int]


def frames_below(tables: NetworkTables) -> dict[int, list[int]]:
    """For each state the frames that can lie right below it, ascending."""
    counters, states = tables.some_counters, tables.states
    frames: dict[int, set[int]] = {}
    for calls in tables.calls:
        for start, frame in calls:
            found = frames.setdefault(start, set())
            if frame < states:
                found.add(frame)
                continue
            counter, _ = counters.split(frame)
            if counter < len(counters.rows):
                _, least, most, back = counters.rows[counter]
                found.update((frame, counters.frame(counter, least), back))
                if most != UNBOUNDED:
                    found.update(counters.frame(counter, max(most - n, 1)) for n in _LEFT)
    for rule in counters.set_rules:
        behind = {rule.back, *rule.parts}
        if rule.separator != NO_SEPARATOR:
            behind.add(rule.separator)
            frames.setdefault(rule.separator, set()).update(rule.parts)
        for part in rule.parts:
            frames.setdefault(part, set()).update(behind)
    below: dict[int, set[int]] = {state: set() for state in range(states)}
    for start, returns in frames.items():
        for state in _inside(tables, start):
            below[state] |= returns
    return {state: sorted(found) for state, found in below.items()}


def needed_keys(
    tables: NetworkTables, order: Iterable[int], summaries: CountingSummaries
) -> Iterator[_Key]:
    """The keys of summaries that stacks on the states in ``order`` need, those of one state before
    those of the next. Each is to be found before the next one is asked for."""
    counters, below = tables.some_counters, frames_below(tables)

    def under(state: int) -> list[int]:
        """A counting frame stands where its count is."""
        if state >= tables.states:
            state = counters.rows[counters.split(state)[0]][3]
        return below[state]

    return network_closure.needed_keys(under, order, summaries.left)


def _inside(tables: NetworkTables, start: int) -> set[int]:
    """The states that a call which begins in ``start`` can be in."""
    ends, offsets = tables.call_ends.tolist(), tables.call_offsets.tolist()
    found, pending = {start}, [start]
    for state in pending:
        behind = ends[offsets[state] : offsets[state + 1]]
        for target in {*tables.table[state].tolist(), *behind} - found - {DEAD}:
            found.add(target)
            pending.append(target)
    return found
