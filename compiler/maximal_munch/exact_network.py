"""The network over bytes of a grammar that is read by maximal munch: its members, and no dead ends.

contexts          network over lexemes -> LR(1) states: what the lexer may read where
one_reading       -> which of two readings is left out; an error where both are needed
lexer_contexts    sets of allowed lexemes -> contexts of the lexer that differ
_Places           -> places of the network in each context, equivalent ones united
_Writer           -> automata over bytes, one for each procedure, and seam before and behind it

A lexeme ends where the lexer cannot read the next byte. So what may follow depends on where the
lexer was, which is written into the procedures. A *seam* is a place between two lexemes; each
procedure has a copy for each seam that it begins in and each that it ends in. These are the triples
by which a pushdown automaton becomes a grammar: Hopcroft and Ullman, "Introduction to Automata
Theory", 1979, theorem 5.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from constrain.artifacts.machine.positions import END, Positions
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.network.tables import NetworkTables

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from ..network.components import network_of
from ..network.counter_tables import Procedure
from ..network.minimal_network import minimal_network
from .contexts import Contexts, Item, LexemeNetwork
from .lexer_contexts import LexerContexts, Seam
from .one_reading import LeftOut, one_reading

_STAGE = "the network of maximal munch"


def exact_network(tables: MaximalMunchTables, limits: Limits) -> NetworkTables | None:
    """The network over bytes whose members are those of ``tables`` by maximal munch, None without a
    member. Raises ``SeveralReadingsError`` where a text may have several readings, ``LimitError``.
    """
    lexemes = minimal_network(tables.network, limits)
    network = LexemeNetwork.of(lexemes, tables.lexer.lexemes)
    contexts = Contexts(network, limits)
    lexer = LexerContexts(tables.lexer.lexer(), limits)
    allowed = {state: contexts.allowed(state) for state in contexts.entered}
    for each in sorted(set(allowed.values()), key=lambda each: (-len(each), sorted(each))):
        lexer.number(each)
    left_out = one_reading(contexts, lexer.ending_together(), lexer.ignored, limits)
    places = _Places(contexts, lexer, left_out, allowed)
    names = dict(zip(lexemes.entries.tolist(), lexemes.names, strict=True))
    return _Writer(places, lexer, names, limits).network(network.nullable_start)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """``edges``: by lexeme the context of the lexer behind it, and the place. ``calls``: the place
    where a procedure starts, and its frame. ``left_out``: lexemes, as bits, before which the
    procedure does not end here. ``procedure``: its start in the network of lexemes."""

    edges: dict[int, tuple[int, int]]
    calls: list[tuple[int, int]]
    ends: bool
    left_out: int
    procedure: int


class _Places:
    """Places of a network in their contexts; those that lead to equivalent ones are one."""

    def __init__(
        self,
        contexts: Contexts,
        lexer: LexerContexts,
        left_out: LeftOut,
        allowed: dict[int, frozenset[int]],
    ) -> None:
        network = contexts.network
        numbers = {state: lexer.number(each) for state, each in allowed.items()}
        self.first_context = numbers[0]
        found: dict[tuple[int, Item], int] = {}
        pending = list[tuple[int, Item]]()

        def number(state: int, item: Item) -> int:
            key = state, item
            if key not in found:
                found[key] = len(found)
                pending.append(key)
            return found[key]

        number(0, (network.start, network.start))
        places = list[_Place]()
        for state, (start, place) in pending:
            edges = {
                lexeme: (
                    numbers[after := contexts.shifts[state][lexeme]],
                    number(after, (start, t)),
                )
                for lexeme, t in network.edges[place].items()
            }
            calls = [
                (number(state, (called, called)), number(contexts.gotos[state][called], (start, f)))
                for called, f in network.calls[place]
            ]
            left = left_out.get((state, (start, place)), 0)
            places.append(_Place(edges, calls, network.ends[place], left, start))
        self.places = _united(places, [place for _, (_, place) in pending])


def _united(places: Sequence[_Place], classes: Sequence[int]) -> list[_Place]:
    """One of each class of equivalent places; the first is that of place 0. ``classes``: of each
    place a number that equivalent ones share."""
    count = len(set(classes))
    while True:
        signatures = dict[object, int]()
        refined = list[int]()
        for own, place in zip(classes, places, strict=True):
            edges = frozenset((t, c, classes[p]) for t, (c, p) in place.edges.items())
            calls = frozenset((classes[start], classes[frame]) for start, frame in place.calls)
            key = own, edges, calls, place.left_out
            refined.append(signatures.setdefault(key, len(signatures)))
        classes = refined
        if len(signatures) == count:
            break
        count = len(signatures)
    first = dict[int, _Place]()
    for own, place in zip(classes, places, strict=True):
        first.setdefault(own, place)
    return [
        _Place(
            {t: (c, classes[p]) for t, (c, p) in place.edges.items()},
            list(dict.fromkeys((classes[start], classes[frame]) for start, frame in place.calls)),
            place.ends,
            place.left_out,
            place.procedure,
        )
        for place in first.values()
    ]


# A seam, and the lexemes, as bits, that are not read next, as a reading is left out.
_Gap = tuple[Seam, int]
# A place, and the gap in front of it.
_Here = tuple[int, _Gap]


@dataclass(eq=False)
class _Writer:
    """Writes the automata of all procedures."""

    places: _Places
    lexer: LexerContexts
    names: dict[int, str]
    limits: Limits
    exits: dict[_Here, set[_Gap]] = field(default_factory=dict)
    positions: Positions = field(default_factory=Positions)
    procedures: list[Procedure] = field(default_factory=list)

    def network(self, nullable_start: bool) -> NetworkTables | None:
        """The network, None where nothing can be read to its end."""
        start = 0, (Seam(self.places.first_context, 0), 0)
        self.find_exits(start)
        self.numbers: dict[object, int] = {}
        self.called: dict[tuple[_Here, _Gap], int] = {}
        self.pending: list[tuple[_Here, _Gap]] = []
        self.runs = {column: _runs(octets) for column, octets in self.lexer.columns.items()}
        begin = self.positions.new_state()
        self.procedures.append(Procedure(self.names[self.places.places[0].procedure], begin))
        behind = sorted(self.exits[start])
        for gap in behind:
            self.positions.arcs[begin] += self.call(start, gap, self.ignored(gap[0]))
        if nullable_start:
            self.write_ignored(begin, start[1][0])
            nullable_start = True
        elif not behind:
            return None
        while self.pending:
            self.write(*self.pending.pop())
        found = network_of(
            self.positions, self.procedures, self.limits, nullable_start=nullable_start
        )
        return minimal_network(found, self.limits)

    # --- which gaps a place ends in

    def find_exits(self, start: _Here) -> None:
        """Fill ``exits`` for all that ``start`` leads to: the gaps that its procedure ends in."""
        users: dict[_Here, set[_Here]] = {}
        pending, waiting = [start], {start}
        self.exits[start] = set()

        def look(here: _Here, user: _Here) -> set[_Gap]:
            users.setdefault(here, set()).add(user)
            if here not in self.exits:
                self.exits[here] = set()
                pending.append(here)
                waiting.add(here)
            return self.exits[here]

        while pending:
            self.limits.check_states(len(self.exits), _STAGE)
            self.limits.check_resources(_STAGE)
            here = pending.pop()
            waiting.discard(here)
            place = self.places.places[here[0]]
            found = set[_Gap]()
            if place.ends:
                found.add(self.ended(here))
            for after in self.behind_lexemes(here):
                found |= look(after, here)
            for start_place, frame in place.calls:
                for gap in list(look((start_place, here[1]), here)):
                    found |= look((frame, gap), here)
            if not found <= self.exits[here]:
                self.exits[here] |= found
                for user in users.get(here, ()):
                    if user not in waiting:
                        waiting.add(user)
                        pending.append(user)

    def ended(self, here: _Here) -> _Gap:
        """The gap behind a procedure that ends."""
        seam, left_out = here[1]
        return seam, left_out | self.places.places[here[0]].left_out

    def behind_lexemes(self, here: _Here) -> set[_Here]:
        """Where one lexeme leads to, ignored text in front of it included."""
        place, (seam, left_out) = self.places.places[here[0]], here[1]
        found = set[_Here]()
        for state in self.lexer.states_from(seam):
            for lexeme in self.lexer.run(state).ended:
                edge = place.edges.get(lexeme)
                if edge is not None and not left_out >> lexeme & 1:
                    found.add((edge[1], (self.lexer.behind(edge[0], state), 0)))
        return found

    # --- automata

    def call(self, here: _Here, gap: _Gap, frame: int) -> tuple[int, int, int]:
        """A call of the procedure that starts here and ends in a gap, as a run."""
        number = self.called.get((here, gap))
        if number is None:
            number = self.called[here, gap] = len(self.procedures)
            name = self.names.get(self.places.places[here[0]].procedure, self.procedures[0].name)
            self.procedures.append(Procedure(name, self.at(here, gap)))
        symbol = FIRST_TERMINAL + number
        return symbol, symbol, frame

    def at(self, here: _Here, gap: _Gap) -> int:
        """The state in which the rest of a procedure that ends in ``gap`` begins."""
        key = here, gap
        if key not in self.numbers:
            self.numbers[key] = self.positions.new_state()
            self.pending.append(key)
        return self.numbers[key]

    def write(self, here: _Here, gap: _Gap) -> None:
        """Write what a procedure reads from here on, where it ends in ``gap``."""
        self.limits.check_resources(_STAGE)
        self.limits.check_states(self.positions.states, _STAGE)
        state, place = self.numbers[here, gap], self.places.places[here[0]]
        if place.ends and self.ended(here) == gap:
            self.positions.add_epsilon(state, END)
        for start_place, frame in place.calls:
            called = start_place, here[1]
            for between in sorted(self.exits[called]):
                after = frame, between
                if gap not in self.exits[after]:
                    continue
                rest = self.places.places[frame]
                if rest.ends and not rest.edges and not rest.calls:
                    self.positions.add_epsilon(state, self.at(called, between))
                else:
                    self.positions.arcs[state] += self.call(called, between, self.at(after, gap))
        if place.edges:
            self.write_lexemes(state, here, gap)

    def write_lexemes(self, begin: int, here: _Here, gap: _Gap) -> None:
        """Write the lexemes that a place reads, and ignored text in front of them."""
        place, (seam, left_out) = self.places.places[here[0]], here[1]
        ends = dict[int, list[_Here]]()
        for state in self.lexer.states_from(seam):
            for lexeme in sorted(self.lexer.run(state).ended):
                edge = place.edges.get(lexeme)
                if edge is None or left_out >> lexeme & 1:
                    continue
                after = edge[1], (self.lexer.behind(edge[0], state), 0)
                if gap in self.exits[after]:
                    ends.setdefault(state, []).append(after)
        inside = self.write_lexer(begin, seam, set(ends), ("lexemes", here[0], left_out, gap))
        for state, afters in ends.items():
            if state in inside:
                source = inside.pop(state)
                for after in afters:
                    self.positions.add_epsilon(source, self.at(after, gap))

    def write_lexer(self, begin: int, seam: Seam, ends: set[int], key: object) -> dict[int, int]:
        """Write the states of the lexer by which one of ``ends`` is reached, from a seam on.
        Returns by state of ``ends`` its number, where it was not written before under ``key``."""
        lexer, useful = self.lexer, self.lexer.leading_to(seam.context, ends)
        new = dict[int, int]()

        def number(state: int) -> int:
            found = self.numbers.get((key, seam.context, state))
            if found is None:
                found = self.numbers[key, seam.context, state] = self.positions.new_state()
                new[state] = found
                order.append(state)
            return found

        order = list[int]()
        for column, target in lexer.begun(seam):
            if target in useful:
                for low, high in self.runs[column]:
                    self.positions.arcs[begin] += (low, high, number(target))
        for state in order:
            for column, target in lexer.steps(seam.context, state):
                if target in useful:
                    for low, high in self.runs[column]:
                        self.positions.arcs[new[state]] += (low, high, number(target))
        return new

    def ignored(self, seam: Seam) -> int:
        """The state behind the last lexeme: ignored text may follow."""
        key = "behind", seam
        if key not in self.numbers:
            self.numbers[key] = state = self.positions.new_state()
            self.write_ignored(state, seam)
        return self.numbers[key]

    def write_ignored(self, begin: int, seam: Seam) -> None:
        """Write that a text may end here, or behind ignored text."""
        self.positions.add_epsilon(begin, END)
        states = self.lexer.states_from(seam)
        ends = {state for state in states if self.lexer.run(state).is_ignored}
        for state, number in self.write_lexer(begin, seam, ends, "ignored").items():
            if state in ends:
                self.positions.add_epsilon(number, END)


def _runs(octets: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs, first and last."""

    def found() -> Iterator[tuple[int, int]]:
        first = last = octets[0]
        for octet in octets[1:]:
            if octet != last + 1:
                yield first, last
                first = octet
            last = octet
        yield first, last

    return list(found())
