"""The rules that a text by maximal munch has begun and not ended, for messages.

A thread of the parser is a state of the network and the frames below it. Each state belongs to the
rule that is entered where it is reached from without calls: the states of one thread, from the
lowest frame to its own, give the rules that lie inside each other.
"""

from ..network.tables import DEAD, NetworkTables
from ..tokens.memo import top_down
from .configurations import Configurations
from .parser_heads import BELOW_ALL, MARKS


def open_rules(configurations: Configurations, configuration: int) -> tuple[str, ...]:
    """The rules around the place after a text, the outermost first, by one reading of it."""
    heads, frames = configurations.heads, configurations.transitions.frames
    head, below, _ = configurations.parts(configuration)
    threads = heads.threads[head]
    if not threads:
        return ()
    state, node = min(threads)
    states = [state]
    # Within the head up to the hole, then the frames that all its threads share.
    while (entries := sorted(heads.stacks.entries[node])) and entries[0][0] not in MARKS:
        frame, node = entries[0]
        states.append(frame)
    while (entry := frames.entries[below])[0] != BELOW_ALL:
        states.append(entry[0])
        below = entry[1]
    rule_of = _rules_of_states(heads.network)
    found: list[str] = []
    for state in reversed(states):
        if state >= heads.tables.states:
            counters = heads.network.some_counters
            state = counters.ends[counters.split(state)[0]]
        rule = rule_of.get(state)
        if rule and found[-1:] != [rule]:
            found.append(rule)
    return tuple(found)


def _rules_of_states(tables: NetworkTables) -> dict[int, str]:
    """The rule that each state belongs to, where one reaches it without calls."""
    found: dict[int, str] = {}
    ends = tables.call_ends.tolist()

    def following(state: int) -> list[int]:
        first, last = tables.call_offsets[state : state + 2].tolist()
        return new({*tables.table[state].tolist(), *ends[first:last]})

    def new(states: set[int]) -> list[int]:
        return [state for state in states if state != DEAD and state not in found]

    for name, entry in zip(tables.names, tables.entries.tolist(), strict=True):
        found |= dict.fromkeys(top_down(new({entry}), following), name)
    return found
