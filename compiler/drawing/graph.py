"""What is drawn before it is a picture: states, and all that may be read from one to another.

The builders of the stages over bytes make a ``Graph``, ``collapse`` makes it smaller,
``plan`` decides which of its states are drawn, and where.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from ..automata.graphs import reached
from ..automata.utf8 import normalized

# First and last of some bytes, or of some code points.
Range: TypeAlias = tuple[int, int]

# The regions that a state stands in, from the outermost: a number and a name of each.
Regions: TypeAlias = tuple[tuple[int, str], ...]

ASCII = 0x7F


class Reads(NamedTuple):
    """What an edge reads: one of these.

    ``octets``: ranges of bytes. ``characters``: ranges of code points from U+0080 on, each read
    as its UTF-8. ``words``: texts of two or more characters. ``terminals``: names of token
    terminals. ``epsilon``: nothing. All are ascending, and ranges that touch are joined.
    """

    octets: tuple[Range, ...] = ()
    characters: tuple[Range, ...] = ()
    words: tuple[bytes, ...] = ()
    terminals: tuple[str, ...] = ()
    epsilon: bool = False

    def joined(self, other: "Reads") -> "Reads":
        """What one of the two reads."""
        return Reads(
            normalized([*self.octets, *other.octets]),
            normalized([*self.characters, *other.characters]),
            tuple(sorted({*self.words, *other.words})),
            tuple(dict.fromkeys([*self.terminals, *other.terminals])),
            self.epsilon or other.epsilon,
        )

    @property
    def only(self) -> bytes | None:
        """The text that is read, where it can be no other."""
        if self.terminals or self.epsilon or len(self.octets) + len(self.characters) != 1:
            return None
        low, high = (*self.octets, *self.characters)[0]
        if self.words or low != high:
            return None
        return bytes([low]) if self.octets else chr(low).encode("utf-8")

    @property
    def has_octets(self) -> bool:
        """Whether some bytes are read that are no characters by themselves."""
        return bool(self.octets) and self.octets[-1][1] > ASCII

    @property
    def first(self) -> tuple[int, bytes, str]:
        """What edges are ordered by: ε, then the first byte that is read, then terminals."""
        if self.epsilon:
            return 0, b"", ""
        begun = [bytes([low]) for low, _ in self.octets[:1]]
        begun += [chr(low).encode("utf-8") for low, _ in self.characters[:1]]
        begun += self.words[:1]
        return (1, min(begun), "") if begun else (2, b"", "".join(self.terminals[:1]))


class Step(NamedTuple):
    """All that leads from a state to ``target``.

    ``rules``: where it comes from, if that is known. ``call``: what is called instead of read,
    as the label has it, and ``callees`` the states that this starts in, which may be
    called again (``repeats``).
    """

    target: int
    reads: Reads
    rules: frozenset[str] = frozenset()
    call: str = ""
    callees: tuple[int, ...] = ()
    repeats: bool = False


@dataclass(frozen=True, eq=False)
class Graph:
    """States by the numbers that their automaton has; ``steps`` has those that can be reached.

    ``named``: states that are drawn with a name of their own, and so are never merged away.
    ``inside``: the regions of states that come from inlined rules, or, where those are merged,
    ``rules``: names for each state.
    """

    start: int
    accepting: frozenset[int]
    steps: Mapping[int, Sequence[Step]]
    named: Mapping[int, str] = field(default_factory=dict)
    inside: Mapping[int, Regions] = field(default_factory=dict)
    rules: Mapping[int, Sequence[str]] = field(default_factory=dict)

    def targets(self, state: int) -> list[int]:
        """Where a state leads, in the order of what is read; callees are not among them."""
        return list(dict.fromkeys(step.target for step in self.steps.get(state, ())))

    @cached_property
    def order(self) -> list[int]:
        """All states in reading order: breadth first from the start, then rule by rule."""
        inside: dict[int, list[int]] = {}

        def called_in(entry: int) -> Iterator[int]:
            steps = (step for state in inside[entry] for step in self.steps.get(state, ()))
            return (callee for step in steps for callee in step.callees)

        for entry in reached([self.start], called_in):
            inside[entry] = self._within(entry)
        return list(dict.fromkeys(state for states in inside.values() for state in states))

    @cached_property
    def number(self) -> dict[int, int]:
        """The number that each state is drawn with, from 1, in reading order."""
        return {state: i for i, state in enumerate(self.order, start=1)}

    @cached_property
    def parts(self) -> dict[int, list[int]]:
        """The states inside of each entry, in reading order; of all where nothing is called."""
        met = [self.start]
        met += [c for q in self.order for step in self.steps.get(q, ()) for c in step.callees]
        return {entry: self._within(entry) for entry in dict.fromkeys(met)}

    def _within(self, entry: int) -> list[int]:
        return list(reached([entry], self.targets))


def explored(start: int, leaving: Callable[[int], Iterable[Step]]) -> dict[int, list[Step]]:
    """What leaves each state that is reached, by calls as well."""
    found: dict[int, list[Step]] = {}

    def following(state: int) -> Iterator[int]:
        found[state] = gathered(leaving(state))
        return (end for step in found[state] for end in (step.target, *step.callees))

    deque(reached([start], following), 0)
    return found


def gathered(steps: Iterable[Step]) -> list[Step]:
    """One step for all that lead to the same target, ordered by what they read; calls after."""
    read: dict[int, Step] = {}
    calls = []
    for step in steps:
        if step.call:
            calls.append(step)
        elif step.target in read:
            other = read[step.target]
            reads, rules = other.reads.joined(step.reads), other.rules | step.rules
            read[step.target] = Step(step.target, reads, rules)
        else:
            read[step.target] = step
    return [*sorted(read.values(), key=lambda s: (s.reads.first, s.target)), *calls]
