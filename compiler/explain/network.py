"""Why a text is or is not a member of a grammar, by the threads of its network.

For grammars whose repetitions are counted, and whose copies no recogniser of items holds. A thread
says what it reads next, and its frames in which rules it is:

    v ::= '[' 'x'{2,1000000} ']';   "[x]"  ->  rejected at 1:3 in v, expected "x"
"""

from collections.abc import Iterable
from dataclasses import replace

from constrain.artifacts.network.configurations import Texts
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..network.dump import rules_of_states
from .machines import NetworkMachine
from .report import Verdict, common, shortened, verdict_of

# Stacks whose rules are looked at.
_MOST_STACKS = 16


def explain_network(machine: NetworkMachine, text: bytes) -> Verdict:
    """The verdict on ``text``, by a network whose tables are complete, with counters."""
    found, state = verdict_of(machine, text)
    assert isinstance(machine.network, Texts)
    return replace(found, path=shortened(common(list(_paths(machine.network, state)))))


def _paths(network: Texts, configuration: int) -> Iterable[list[str]]:
    """The rules around each of the first few stacks, the outermost first."""
    tables = network.tables
    assert isinstance(tables, NetworkTables)
    rules = rules_of_states(tables)
    threads = network.threads[configuration]
    pending = [([state], node) for state, node in threads if state != DEAD]
    found = 0
    while pending and found < _MOST_STACKS:
        states, node = pending.pop()
        for frame, below in network.stacks.entries[node]:
            if frame != DEAD:
                if frame >= tables.states:
                    counters = tables.some_counters
                    frame = counters.ends[counters.split(frame)[0]]
                pending.append(([*states, frame], below))
                continue
            found += 1
            path = [rules.get(state, "") for state in reversed(states)]
            named = [rule for rule in path if rule]
            yield [b for a, b in zip(["", *named], named, strict=False) if a != b]
