"""The positions of a grammar: nondeterministic automata of its rules, which call one another.

s ::= '[' s? ']' | 'x';      0 the end, 1 -[-> 2, 2 -call of s-> 3, 2 -ε-> 3, 3 -]-> 0, 1 -x-> 0
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

NOWHERE: tuple[int, ...] = ()

# The state in which all automata end; no edge leaves it.
END = 0

# Runs of symbols and where they lead, flat: low, high, target, low, high, target, …
Runs: TypeAlias = list[int]


class Writer(Protocol):
    """Writes what positions lead to when that is first needed. Who uses positions keeps them; their
    writers do not, so that both go at once, and the file under a writer's arrays with them."""

    def lay(self, state: int) -> None:
        """Write what a position leads to."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Positions:
    """Automata with ε over bytes, token terminals and calls; state ``END`` is there.

    ``arcs[s]`` are the runs of state s: bytes, ``256 + t`` for token terminal t, and
    ``256 + T + p`` for a call of procedure p. ``epsilon[s]``: where it gets without
    reading. ``unlaid``: what writes these of positions of which they do not stand there yet.
    """

    arcs: list[Runs] = field(default_factory=lambda: [[]])
    epsilon: list[Sequence[int]] = field(default_factory=lambda: [NOWHERE])
    unlaid: dict[int, Writer] = field(default_factory=dict)

    @property
    def states(self) -> int:
        """Number of states, the end included."""
        return len(self.arcs)

    def new_state(self) -> int:
        """Add a state."""
        self.arcs.append([])
        self.epsilon.append(NOWHERE)
        return len(self.arcs) - 1

    def add_epsilon(self, source: int, target: int) -> None:
        """Add an edge that reads nothing."""
        if source == target:
            return
        targets = self.epsilon[source]
        if isinstance(targets, list):
            targets.append(target)
        else:
            self.epsilon[source] = [target]
