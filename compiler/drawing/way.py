"""The way of a text through a graph: the states and steps of every run that reads all of it.

Calls are followed as by Earley: an item is a state, where its rule starts, and the place in the
text where that began. How often a call is repeated is not counted.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch.lexer import NO_ACCEPT, LexerTables

from ..automata.graphs import reached
from .drawing import DrawingError
from .graph import Graph, Reads, Step

_MOST_ITEMS = 200_000

# A step by the state that it leaves: its target and its call.
StepKey: TypeAlias = tuple[int, int, str]

# Place in the text, state, start of its rule, and the place where that began.
_Item = tuple[int, int, int, int]


@dataclass(slots=True)
class Way:
    """``states`` in the order in which they are met; ``read``: bytes of the text up to where no run
    goes on."""

    text: bytes
    read: int = 0
    states: dict[int, None] = field(default_factory=dict)
    steps: set[StepKey] = field(default_factory=set)

    @property
    def sentence(self) -> str | None:
        """That the text stops, if it does."""
        if self.read == len(self.text):
            return None
        return f"no way reads all of the text: it stops at byte {self.read:,} of {len(self.text):,}"


def way_of(graph: Graph, text: bytes, *, again: bool = False) -> Way:
    """The way of ``text``; ``again``: where it stops, it begins again after the longest part that
    was accepted, as a lexer does."""
    way = Way(text)
    place = 0
    while True:
        chart = _Chart(graph, text, place)
        chart.fill()
        way.read = max(way.read, chart.furthest)
        longest = chart.longest_accepted
        if chart.furthest == len(text) or not again or longest <= place:
            chart.mark(chart.furthest, way)
            return way
        chart.mark(longest, way)
        place = longest


def way_of_lexemes(graph: Graph, tables: LexerTables, text: bytes) -> Way:
    """The way through a graph that reads terminals, which ``tables`` split ``text`` into: each is
    as long as those that the graph allows there can be."""
    if tables.is_lazy:
        raise DrawingError("--prefix: the states of some terminals are made while decoding")
    way, lexer = Way(text), tables.lexer()
    begun: dict[str, set[int]] = defaultdict(set)
    for lexeme, name in enumerate(tables.texts):
        begun[name].add(lexeme)
    read: list[frozenset[str]] = []
    while True:
        chart = _Chart(graph, read, 0)
        chart.fill()
        last = [item for item in chart.before if item[0] == len(read)]
        waiting = [
            (item, (item[1], step.target, step.call), step.reads.terminals)
            for item in last
            for step in graph.steps.get(item[1], ())
            if step.reads.terminals
        ]
        allowed = {lexeme for _, _, names in waiting for n in names for lexeme in begun[n]}
        state, end = lexer.start(frozenset(allowed)), way.read
        while end < len(text) and lexer.rows[state][text[end]] != DEAD:
            state, end = lexer.rows[state][text[end]], end + 1
        accept = lexer.accept_of[state]
        if end in (way.read, len(text)) or accept == NO_ACCEPT:
            names = {tables.texts[lexeme] for lexeme in lexer.lexemes(state)}
            if end > way.read:
                chart.inside[len(read)] += [
                    (item, key) for item, key, some in waiting if names & set(some)
                ]
            chart.mark(len(read), way)
            way.read = end
            return way
        found = lexer.accept_sets[accept] - lexer.ignored
        if found:
            read.append(frozenset(tables.texts[lexeme] for lexeme in found))
        way.read = end


@dataclass(slots=True)
class _Chart:
    graph: Graph
    text: bytes | list[frozenset[str]]
    begin: int
    furthest: int = 0
    longest_accepted: int = -1
    before: dict[_Item, list[tuple[_Item, StepKey | None]]] = field(default_factory=dict)
    # Steps that the text ends or stops in, by how far it gets.
    inside: dict[int, list[tuple[_Item, StepKey]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def fill(self) -> None:
        """Follow all runs from ``begin``."""
        start = self.graph.start
        pending: list[_Item] = []
        waiting: dict[tuple[int, int], dict[tuple[_Item, StepKey], Step]] = defaultdict(dict)
        ended: dict[tuple[int, int], dict[_Item, None]] = defaultdict(dict)

        def add(item: _Item, before: _Item | None, key: StepKey | None) -> None:
            if item not in self.before:
                if len(self.before) > _MOST_ITEMS:
                    raise DrawingError("--prefix: the text takes too many ways to be drawn")
                self.before[item] = []
                heappush(pending, item)
            if before is not None:
                self.before[item].append((before, key))

        def go_on(caller: _Item, key: StepKey, step: Step, end: _Item) -> None:
            item = (end[0], step.target, caller[2], caller[3])
            add(item, caller, key)
            add(item, end, None)
            if step.repeats:
                call(caller, key, step, end[0])

        def call(caller: _Item, key: StepKey, step: Step, place: int) -> None:
            for callee in step.callees:
                add((place, callee, callee, place), caller, key)
                if (caller, key) not in waiting[callee, place]:
                    waiting[callee, place][caller, key] = step
                    for end in list(ended[callee, place]):
                        go_on(caller, key, step, end)

        add((self.begin, start, start, self.begin), None, None)
        while pending:
            item = heappop(pending)
            place, state, rule, origin = item
            self.furthest = max(self.furthest, place)
            if state in self.graph.accepting:
                if rule == start and origin == self.begin:
                    self.longest_accepted = max(self.longest_accepted, place)
                ended[rule, origin][item] = None
                for (caller, key), step in list(waiting[rule, origin].items()):
                    go_on(caller, key, step, item)
            for step in self.graph.steps.get(state, ()):
                key = (state, step.target, step.call)
                if step.call:
                    call(item, key, step, place)
                    continue
                if step.reads.epsilon:
                    add((place, step.target, rule, origin), item, key)
                for length, is_whole in _lengths(step.reads, self.text, place):
                    if is_whole:
                        add((place + length, step.target, rule, origin), item, key)
                    else:
                        self.inside[place + length].append((item, key))
                        self.furthest = max(self.furthest, place + length)

    def mark(self, place: int, way: Way) -> None:
        """Add all that lies on a run to ``place``."""
        last = [item for item in self.before if item[0] == place]
        for item, (_, target, _) in self.inside[place]:
            last.append(item)
            way.steps.add((item[1], target, ""))
        met = list(reached(last, lambda item: [before for before, _ in self.before[item]]))
        keys = (key for item in met for _, key in self.before[item])
        way.steps.update(key for key in keys if key is not None)
        way.states.update(dict.fromkeys(state for _, state, _, _ in sorted(met)))


def _lengths(reads: Reads, text: bytes | list[frozenset[str]], place: int) -> set[tuple[int, bool]]:
    """How many bytes of the text a step reads, and whether it is at its end with them."""
    if place == len(text):
        return set()
    if isinstance(text, list):
        return {(1, True)} if text[place] & set(reads.terminals) else set()
    found = set()
    if any(low <= text[place] <= high for low, high in reads.octets):
        found.add((1, True))
    for word in reads.words:
        rest = text[place : place + len(word)]
        common = next((i for i, (a, b) in enumerate(zip(rest, word, strict=False)) if a != b), None)
        length = len(rest) if common is None else common
        if length:
            found.add((length, length == len(word)))
    lead = text[place]
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    part = text[place : place + size]
    if lead < 0xC2 or not all(0x80 <= octet <= 0xBF for octet in part[1:]):
        part = part[:1] if lead >= 0xC2 else b""
    for low, high in reads.characters:
        # The order of UTF-8 is that of the code points.
        first, last = (chr(c).encode("utf-8") for c in (low, high))
        length = next((n for n in range(len(part), 0, -1) if first[:n] <= part[:n] <= last[:n]), 0)
        if length:
            found.add((length, length == size))
    return found
