"""Draw less and say the same: bytes of UTF-8 as characters, chains of bytes as texts.

    1 -- \\xC3 -> 2 -- \\xA0–\\xBF -> 3     ->    1 -- à–ÿ -> 3
    1 -- t -> 2 -- r -> 3 -- y -> 4       ->    1 -- "try" -> 4

Each step replaces paths by one edge that reads the same bytes, and leaves a state out only where
every path through it has been replaced; README.md says why the language stays.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ..automata.graphs import reached
from ..automata.utf8 import LAST_OF_LENGTH, MAX_CODE_POINT, SURROGATES, normalized
from .graph import ASCII, Graph, Range, Reads, Step, gathered

# First bytes of a character's UTF-8: the range, how many bytes follow, and their payload's mask.
_LEADS = ((0xC2, 0xDF, 1, 0x1F), (0xE0, 0xEF, 2, 0x0F), (0xF0, 0xF4, 3, 0x07))
_FOLLOWING = (0x80, 0xBF)

# Code points by the state that they lead to.
_Decoded = dict[int, tuple[Range, ...]]


def collapsed(graph: Graph) -> Graph:
    """The same language, with fewer states; named, accepting and start states all stay."""
    return _without_chains(_reachable(in_characters(graph)))


def in_characters(graph: Graph) -> Graph:
    """Where a first byte of UTF-8 can be followed by whole characters alone, these instead."""
    decoder = _Decoder(graph)
    steps = {}
    for state, leaving in graph.steps.items():
        found: list[Step] = []
        for step in leaving:
            octets: list[Range] = []
            for low, high in step.reads.octets:
                for first, last in _pieces(low, high):
                    decoded = decoder.characters(first, step.target) if first > ASCII else None
                    if decoded is None:
                        octets.append((first, last))
                        continue
                    for target, characters in decoded.items():
                        found.append(Step(target, Reads(characters=characters), step.rules))
            reads = step.reads._replace(octets=normalized(octets))
            if step.call or reads != Reads():
                found.append(step._replace(reads=reads))
        steps[state] = gathered(found)
    return replace(graph, steps=steps)


def _pieces(low: int, high: int) -> Iterator[Range]:
    """ASCII at once, all other bytes one by one."""
    if low <= ASCII:
        yield low, min(high, ASCII)
    for octet in range(max(low, ASCII + 1), high + 1):
        yield octet, octet


class _Decoder:
    """What may follow a first byte, as characters."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._stays = _kept(graph)
        self._following = cache(self._read)

    def characters(self, lead: int, state: int) -> _Decoded | None:
        """The characters that begin with ``lead``, which leads to ``state``; None where
        something else than characters may follow."""
        for first, last, following, mask in _LEADS:
            if first <= lead <= last:
                below = self._following(state, following)
                if below is None:
                    return None
                base = (lead & mask) << (6 * following)
                found = {target: _shifted(ranges, base) for target, ranges in below.items()}
                return found if _are_characters(found, following) else None
        return None

    def _read(self, state: int, count: int) -> _Decoded | None:
        """The payloads of ``count`` following bytes, and where they lead."""
        steps = self._graph.steps.get(state, ())
        if state in self._stays or not steps:
            return None
        found: dict[int, list[Range]] = {}
        for step in steps:
            if step.call or step.reads != Reads(octets=step.reads.octets):
                return None
            below: _Decoded | None = {step.target: ((0, 0),)}
            if count > 1:
                below = self._following(step.target, count - 1)
            if below is None:
                return None
            for low, high in step.reads.octets:
                if low < _FOLLOWING[0] or high > _FOLLOWING[1]:
                    return None
                for octet in range(low, high + 1):
                    base = (octet - _FOLLOWING[0]) << (6 * (count - 1))
                    for target, ranges in below.items():
                        found.setdefault(target, []).extend(_shifted(ranges, base))
        return {target: normalized(ranges) for target, ranges in found.items()}


def _kept(graph: Graph) -> set[int]:
    """States that a reader asks for: they stay, whatever leads through them."""
    called = {c for steps in graph.steps.values() for step in steps for c in step.callees}
    return {graph.start, *graph.accepting, *graph.named, *called}


def _shifted(ranges: tuple[Range, ...], base: int) -> tuple[Range, ...]:
    return tuple((low + base, high + base) for low, high in ranges)


def _are_characters(found: _Decoded, following: int) -> bool:
    """Whether each code point is a character whose UTF-8 has this length."""
    return all(
        low > LAST_OF_LENGTH[following - 1]
        and high <= MAX_CODE_POINT
        and (high < SURROGATES[0] or low > SURROGATES[1])
        for ranges in found.values()
        for low, high in ranges
    )


def _without_chains(graph: Graph) -> Graph:
    """States that one text alone leads through become part of that text."""
    entering = Counter(step.target for steps in graph.steps.values() for step in steps)
    before = {step.target: step for steps in graph.steps.values() for step in steps}
    stays = _kept(graph)
    inner = {
        state
        for state, leaving in graph.steps.items()
        if state not in stays
        and entering[state] == 1
        and len(leaving) == 1
        and _are_one_text(before[state], leaving[0])
    }
    steps: dict[int, list[Step]] = {}
    for state, leaving in graph.steps.items():
        if state not in inner:
            steps[state] = gathered(_whole_text(step, graph, inner) for step in leaving)
    return replace(graph, steps=steps)


def _are_one_text(before: Step, after: Step) -> bool:
    if before.call or after.call or before.rules != after.rules:
        return False
    return before.reads.only is not None and after.reads.only is not None


def _whole_text(step: Step, graph: Graph, inner: set[int]) -> Step:
    """A step, prolonged through states that stand in the middle of its text."""
    if step.target not in inner:
        return step
    text = b""
    while True:
        text += step.reads.only or b""
        if step.target not in inner:
            return step._replace(reads=Reads(words=(text,)))
        (step,) = graph.steps[step.target]


def _reachable(graph: Graph) -> Graph:
    """Without states that nothing leads to any more."""

    def after(state: int) -> Iterator[int]:
        steps = graph.steps.get(state, ())
        return (target for step in steps for target in (step.target, *step.callees))

    found = set(reached([graph.start], after))
    steps = {state: steps for state, steps in graph.steps.items() if state in found}
    return replace(graph, steps=steps)
