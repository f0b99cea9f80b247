"""The network over bytes of a grammar that is read by maximal munch: its members, and no dead ends.

contexts          network over lexemes -> LR(1) states: what the lexer may read where
one_reading       -> which of two readings is left out; an error where both are needed
lexer_contexts    sets of allowed lexemes -> contexts of the lexer that differ
_Places           -> places of the network in each context, equivalent ones united
_Writer           -> automata over bytes, one for each procedure, and seam before and after it

A lexeme ends where the lexer cannot read the next byte. So what may follow depends on where the
lexer was, which is written into the procedures. A *seam* is a place between two lexemes; each
procedure has a copy for each seam that it begins in and each that it ends in. These are the triples
by which a pushdown automaton becomes a grammar: Hopcroft and Ullman, "Introduction to Automata
Theory", 1979, theorem 5.4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial

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
    return _Writer(places, lexer, names, tables.lexer.texts, limits).network(network.nullable_start)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """``edges``: by lexeme the context of the lexer after it, and the place. ``calls``: the place
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


# States of the lexer that are copied for a lexeme of a place; others are procedures.
_MOST_COPIED = 8

_IGNORED, _NAME_OF_IGNORED = -1, "ignored text"

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
    texts: Sequence[str]
    limits: Limits
    exits: dict[_Here, set[_Gap]] = field(default_factory=dict)
    positions: Positions = field(default_factory=Positions)
    procedures: list[Procedure] = field(default_factory=list)

    def network(self, nullable_start: bool) -> NetworkTables | None:
        """The network, None where nothing can be read to its end."""
        start = 0, (Seam(self.places.first_context, 0), 0)
        self.find_exits(start)
        self.numbers: dict[object, int] = {}
        self.called: dict[object, int] = {}
        self.pending: list[tuple[_Here, _Gap, bool]] = []
        self.runs = {column: _runs(octets) for column, octets in self.lexer.columns.items()}
        begin = self.positions.new_state()
        self.procedures.append(Procedure(self.names[self.places.places[0].procedure], begin))
        behind = sorted(self.exits[start])
        for gap in behind:
            self.positions.arcs[begin] += self.call(start, gap, self.behind_all(gap[0]))
        if nullable_start:
            self.positions.add_epsilon(begin, self.behind_all(start[1][0]))
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
        """The gap after a procedure that ends."""
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
        name = self.names.get(self.places.places[here[0]].procedure, self.procedures[0].name)
        return self.call_of((here, gap), name, lambda: self.at(here, gap), frame)

    def call_of(
        self, key: object, name: str, start: Callable[[], int], frame: int
    ) -> tuple[int, int, int]:
        """The same of any procedure, which is kept by a key."""
        number = self.called.get(key)
        if number is None:
            number = self.called[key] = len(self.procedures)
            self.procedures.append(Procedure(name, start()))
        symbol = FIRST_TERMINAL + number
        return symbol, symbol, frame

    def at(self, here: _Here, gap: _Gap, *, is_behind_ignored: bool = False) -> int:
        """The state in which the rest of a procedure that ends in ``gap`` begins;
        ``is_behind_ignored``: with a lexeme of its own, as ignored text was read for it."""
        key = here, gap, is_behind_ignored
        if key not in self.numbers:
            self.numbers[key] = self.positions.new_state()
            self.pending.append(key)
        return self.numbers[key]

    def write(self, here: _Here, gap: _Gap, is_behind_ignored: bool) -> None:
        """Write what a procedure reads from here on, where it ends in ``gap``."""
        self.limits.check_resources(_STAGE)
        self.limits.check_states(self.positions.states, _STAGE)
        state, place = self.numbers[here, gap, is_behind_ignored], self.places.places[here[0]]
        if not is_behind_ignored:
            if place.ends and self.ended(here) == gap:
                self.positions.add_epsilon(state, END)
            for start_place, frame in place.calls:
                self.write_calls(state, (start_place, here[1]), frame, gap)
        if place.edges:
            self.write_lexemes(state, here, gap)

    def write_calls(self, state: int, called: _Here, frame: int, gap: _Gap) -> None:
        """Write the calls of a procedure for each gap that it may end in."""
        for between in sorted(self.exits[called]):
            after = frame, between
            if gap not in self.exits[after]:
                continue
            rest = self.places.places[frame]
            if rest.ends and not rest.edges and not rest.calls:
                self.positions.add_epsilon(state, self.at(called, between))
            else:
                self.positions.arcs[state] += self.call(called, between, self.at(after, gap))

    def write_lexemes(self, begin: int, here: _Here, gap: _Gap) -> None:
        """Write the lexemes that a place reads, and ignored text in front of them."""
        place, (seam, left_out) = self.places.places[here[0]], here[1]
        # By where they lead to and the lexeme the states of the lexer in which it ends.
        ends = dict[tuple[int, int], set[int]]()
        for state in self.lexer.states_in_one(seam):
            run = self.lexer.run(state)
            for lexeme in sorted(run.ended):
                edge = place.edges.get(lexeme)
                if edge is not None and not left_out >> lexeme & 1:
                    after = edge[1], (self.lexer.behind(edge[0], state), 0)
                    if gap in self.exits[after]:
                        ends.setdefault((self.at(after, gap), lexeme), set()).add(state)
            if run.is_ignored:
                same = here[0], (self.lexer.behind(seam.context, state), left_out)
                target = self.at(same, gap, is_behind_ignored=True)
                ends.setdefault((target, _IGNORED), set()).add(state)
        self.write_ends(begin, seam, ends)

    def write_ends(self, begin: int, seam: Seam, ends: Mapping[tuple[int, int], Set[int]]) -> None:
        """Write lexemes from a state on, by ``ends`` as in ``write_lexemes``: those with few states
        here, others as procedures, which all places share."""
        copied, targets = set[int](), dict[int, list[int]]()
        for (target, lexeme), states in ends.items():
            useful = self.lexer.leading_to(seam.context, states)
            columns = [c for c, to in self.lexer.begun(seam) if to in useful]
            if len(useful) <= _MOST_COPIED:
                copied |= useful
                for state in states:
                    targets.setdefault(state, []).append(target)
            elif columns:
                key = seam.context, tuple(columns), frozenset(states)
                name = self.texts[lexeme] if lexeme >= 0 else _NAME_OF_IGNORED
                start = partial(self.lexeme, seam, useful, states)
                self.positions.arcs[begin] += self.call_of(key, name, start, target)
        self.write_lexer(begin, seam, copied, targets)

    def lexeme(self, seam: Seam, useful: Set[int], ends: Set[int]) -> int:
        """The state in which a procedure of one lexeme begins."""
        begin = self.positions.new_state()
        self.write_lexer(begin, seam, useful, dict.fromkeys(ends, (END,)))
        return begin

    def write_lexer(
        self, begin: int, seam: Seam, useful: Set[int], targets: Mapping[int, Sequence[int]]
    ) -> None:
        """Write the ``useful`` states of the lexer, from a seam on, and what they lead to."""
        numbers = dict[int, int]()
        order = list[int]()

        def number(state: int) -> int:
            found = numbers.get(state)
            if found is None:
                found = numbers[state] = self.positions.new_state()
                order.append(state)
            return found

        for column, target in self.lexer.begun(seam):
            if target in useful:
                for low, high in self.runs[column]:
                    self.positions.arcs[begin] += (low, high, number(target))
        for state in order:
            for column, target in self.lexer.run(state).targets:
                if target in useful:
                    for low, high in self.runs[column]:
                        self.positions.arcs[numbers[state]] += (low, high, number(target))
            for target in targets.get(state, ()):
                self.positions.add_epsilon(numbers[state], target)

    def behind_all(self, seam: Seam) -> int:
        """The state after the last lexeme: a text may end there, and ignored text may follow."""
        key = "behind", seam
        if key not in self.numbers:
            self.numbers[key] = state = self.positions.new_state()
            self.positions.add_epsilon(state, END)
            ends = dict[tuple[int, int], set[int]]()
            for each in self.lexer.states_in_one(seam):
                if self.lexer.run(each).is_ignored:
                    target = self.behind_all(self.lexer.behind(seam.context, each))
                    ends.setdefault((target, _IGNORED), set()).add(each)
            self.write_ends(state, seam, ends)
        return self.numbers[key]


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
