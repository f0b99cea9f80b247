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
Theory", 1979, theorem 5.4. Seams with the same before or behind them share a copy.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial

from constrain.artifacts.machine.positions import END, Positions
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.memo import memoised

from ..automata.graphs import Numbered, reached, refined
from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from ..network.components import network_of
from ..network.counter_tables import Procedure
from ..network.minimal_network import minimal_network
from .contexts import Contexts, LexemeNetwork
from .lexer_contexts import IGNORED, LexerContexts, Seam
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
        found, places = Numbered((0, (network.start, network.start))), list[_Place]()
        for state, (start, place) in found.order:
            edges = {
                lexeme: (
                    numbers[after := contexts.shifts[state][lexeme]],
                    found[after, (start, t)],
                )
                for lexeme, t in network.edges[place].items()
            }
            calls = [
                (found[state, (called, called)], found[contexts.gotos[state][called], (start, f)])
                for called, f in network.calls[place]
            ]
            left = left_out.get((state, (start, place)), 0)
            places.append(_Place(edges, calls, network.ends[place], left, start))
        self.places = _united(places, [place for _, (_, place) in found.order])


def _united(places: Sequence[_Place], classes: Sequence[int]) -> list[_Place]:
    """One of each class of equivalent places; the first is that of place 0. ``classes``: of each
    place a number that equivalent ones share."""

    def leads(number: int, of: Mapping[int, int]) -> object:
        place = places[number]
        edges = frozenset((t, c, of[p]) for t, (c, p) in place.edges.items())
        calls = frozenset((of[start], of[frame]) for start, frame in place.calls)
        return edges, calls, place.left_out

    classes = [*refined(dict(enumerate(classes)), leads).values()]
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

_NAME_OF_IGNORED = "ignored text"

# A seam, and the lexemes, as bits, that are not read next, as a reading is left out.
_Gap = tuple[Seam, int]
# The gaps of which a procedure ends in one, whichever: what follows is the same.
_Gaps = frozenset[_Gap]
# A place, and the gap in front of it.
_Here = tuple[int, _Gap]
# What follows a lexeme, and the states of the lexer in which the lexeme ends.
_Ending = tuple[int, frozenset[int]]
# What follows a lexeme of many states, the lexeme, where it ends, and the states that lead there.
_Large = tuple[int, int, frozenset[int], frozenset[int]]
# By state of the lexer the ends of small lexemes that it leads to; and the large ones.
_Lexemes = tuple[dict[int, frozenset[_Ending]], list[_Large]]


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
        start = self.here(0, (Seam(self.places.first_context, 0), 0))
        self.find_exits(start)
        self.ends: dict[Seam, int] = {}
        self.called: dict[object, int] = {}
        self.lexer_states: dict[tuple[int, frozenset[_Ending]], int] = {}
        self.pending: list[tuple[int, _Here, _Gaps, bool]] = []
        self.runs = {column: _runs(octets) for column, octets in self.lexer.columns.items()}
        begin = self.positions.new_state()
        self.procedures.append(Procedure(self.names[self.places.places[0].procedure], begin))
        behind = dict[int, list[_Gap]]()
        for gap in sorted(self.exits[start]):
            behind.setdefault(self.behind_all(gap[0]), []).append(gap)
        for state, gaps in behind.items():
            self.positions.arcs[begin] += self.call(start, frozenset(gaps), state)
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
        behind: dict[_Here, set[_Here]] = {}
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
            if here not in behind:
                behind[here] = self.behind_lexemes(here)
            for after in behind[here]:
                found |= look(after, here)
            for start_place, frame in place.calls:
                for gap in list(look(self.here(start_place, here[1]), here)):
                    found |= look(self.here(frame, gap), here)
            if not found <= self.exits[here]:
                self.exits[here] |= found
                for user in users.get(here, ()):
                    if user not in waiting:
                        waiting.add(user)
                        pending.append(user)

    def here(self, place: int, gap: _Gap) -> _Here:
        """A place behind a gap; what the gap says of what is not read there does not matter where
        the procedure cannot end."""
        if self.places.places[place].ends:
            return place, gap
        (context, barred), left_out = gap
        columns, lexemes = self.read_first(place)
        return place, (Seam(context, barred & columns), left_out & lexemes)

    @memoised
    def after(self, place: int, context: int, reads: int) -> _Here:
        """A place after a lexeme whose last state reads some columns, in a context of the lexer."""
        return self.here(place, (self.lexer.behind(context, reads), 0))

    @memoised
    def read_first(self, place: int) -> tuple[int, int]:
        """The columns and the lexemes, as bits, that a place may read first, ignored text too."""
        places, lexemes = self.places.places, 0
        for each in reached([place], lambda each: [start for start, _ in places[each].calls]):
            for lexeme in places[each].edges:
                lexemes |= 1 << lexeme
        return self.lexer.begins(lexemes), lexemes

    def ended(self, here: _Here) -> _Gap:
        """The gap after a procedure that ends."""
        seam, left_out = here[1]
        return seam, left_out | self.places.places[here[0]].left_out

    def behind_lexemes(self, here: _Here) -> set[_Here]:
        """Where one lexeme leads to, ignored text in front of it included."""
        place, (seam, left_out) = self.places.places[here[0]], here[1]
        ends = self.lexer.ends_from(seam)
        return {
            self.after(target, context, reads)
            for lexeme, (context, target) in place.edges.items()
            if not left_out >> lexeme & 1
            for reads in ends.get(lexeme, ())
        }

    # --- automata

    def call(self, here: _Here, gaps: _Gaps, frame: int) -> tuple[int, int, int]:
        """A call of the procedure that starts here and ends in one of some gaps, as a run."""
        name = self.names.get(self.places.places[here[0]].procedure, self.procedures[0].name)
        return self.call_of((here, gaps), name, lambda: self.at(here, gaps), frame)

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

    @memoised
    def at(self, here: _Here, gaps: _Gaps, *, is_behind_ignored: bool = False) -> int:
        """The state in which the rest of a procedure that ends in one of ``gaps`` begins;
        ``is_behind_ignored``: with a lexeme of its own, as ignored text was read for it."""
        state = self.positions.new_state()
        self.pending.append((state, here, gaps, is_behind_ignored))
        return state

    def write(self, state: int, here: _Here, gaps: _Gaps, is_behind_ignored: bool) -> None:
        """Write what a procedure reads from here on, where it ends in one of ``gaps``."""
        self.limits.check_resources(_STAGE)
        self.limits.check_states(self.positions.states, _STAGE)
        place = self.places.places[here[0]]
        if not is_behind_ignored:
            if place.ends and self.ended(here) in gaps:
                self.positions.add_epsilon(state, END)
            for start_place, frame in place.calls:
                self.write_calls(state, self.here(start_place, here[1]), frame, gaps)
        if place.edges:
            self.write_lexemes(state, here, gaps)

    def write_calls(self, state: int, called: _Here, frame: int, gaps: _Gaps) -> None:
        """Write the calls of a procedure, one for all the gaps that it may end in before which the
        same follows."""
        before = dict[_Here, list[_Gap]]()
        for between in sorted(self.exits[called]):
            after = self.here(frame, between)
            if not gaps.isdisjoint(self.exits[after]):
                before.setdefault(after, []).append(between)
        rest = self.places.places[frame]
        if rest.ends and not rest.edges and not rest.calls:
            if before:
                ends = frozenset(gap for each in before.values() for gap in each)
                self.positions.add_epsilon(state, self.at(called, ends))
            return
        for after, found in before.items():
            target = self.at(after, gaps & self.exits[after])
            self.positions.arcs[state] += self.call(called, frozenset(found), target)

    def write_lexemes(self, begin: int, here: _Here, gaps: _Gaps) -> None:
        """Write the lexemes that a place reads, and ignored text in front of them."""
        place, (seam, left_out) = here
        lexemes = self.lexemes_of(place, seam.context, left_out, gaps)
        self.write_lexemes_of(lexemes, begin, seam)

    @memoised
    def lexemes_of(self, place: int, context: int, left_out: int, gaps: _Gaps) -> _Lexemes:
        """The lexemes that a place reads in a context of the lexer, whatever its seam bars."""
        ends, found = dict[tuple[int, int], set[int]](), self.lexer.ends(Seam(context, 0))
        for lexeme, (next_context, target) in self.places.places[place].edges.items():
            if left_out >> lexeme & 1:
                continue
            for reads, states in found.get(lexeme, {}).items():
                after = self.after(target, next_context, reads)
                # What no seam leads to is not there.
                if rest := gaps & self.exits.get(after, set()):
                    ends.setdefault((self.at(after, rest), lexeme), set()).update(states)
        for reads, states in found.get(IGNORED, {}).items():
            same = self.here(place, (self.lexer.behind(context, reads), left_out))
            target = self.at(same, gaps, is_behind_ignored=True)
            ends.setdefault((target, IGNORED), set()).update(states)
        return self.divided(context, ends)

    def divided(self, context: int, ends: Mapping[tuple[int, int], Set[int]]) -> _Lexemes:
        """Lexemes by where they lead to: those with few states, and large ones."""
        leading, large = dict[int, set[_Ending]](), list[_Large]()
        for (target, lexeme), each in ends.items():
            states = frozenset(each)
            useful = self.lexer.leading_to(context, states)
            if len(useful) > _MOST_COPIED:
                large.append((target, lexeme, states, useful))
                continue
            for state in useful:
                leading.setdefault(state, set()).add((target, states))
        return {state: frozenset(each) for state, each in leading.items()}, large

    def write_lexemes_of(self, lexemes: _Lexemes, begin: int, seam: Seam) -> None:
        """Write lexemes from a seam on: small ones here, large ones as calls of procedures, which
        all places share."""
        leading, large = lexemes
        begun = self.lexer.begun(seam)
        for target, lexeme, states, useful in large:
            if columns := [column for column, to in begun if to in useful]:
                key = seam.context, tuple(columns), states
                name = self.texts[lexeme] if lexeme >= 0 else _NAME_OF_IGNORED
                start = partial(self.lexeme, seam, useful, states)
                self.positions.arcs[begin] += self.call_of(key, name, start, target)
        self.write_lexer(begin, seam, leading)

    def lexeme(self, seam: Seam, useful: Set[int], ends: frozenset[int]) -> int:
        """The state in which a procedure of one lexeme begins."""
        begin = self.positions.new_state()
        self.write_lexer(begin, seam, dict.fromkeys(useful, frozenset([(END, ends)])))
        return begin

    def write_lexer(
        self, begin: int, seam: Seam, leading: Mapping[int, frozenset[_Ending]]
    ) -> None:
        """Write the states of the lexer that lead to the end of a lexeme, from a seam on. Those
        that lead to the same ends are one for all seams."""
        new, arcs = list[tuple[int, int]](), self.positions.arcs

        def lead(source: int, targets: Sequence[tuple[int, int]]) -> None:
            own = arcs[source]
            for column, state in targets:
                if state in leading:
                    key = state, leading[state]
                    number = self.lexer_states.get(key)
                    if number is None:
                        number = self.lexer_states[key] = self.positions.new_state()
                        new.append((state, number))
                    for low, high in self.runs[column]:
                        own += (low, high, number)

        lead(begin, self.lexer.begun(seam))
        for state, number in new:
            lead(number, self.lexer.run(state).targets)
            for target, states in leading[state]:
                if state in states:
                    self.positions.add_epsilon(number, target)

    def behind_all(self, seam: Seam) -> int:
        """The state after the last lexeme: a text may end there, and ignored text may follow."""
        seam = Seam(seam.context, seam.barred & self.lexer.begins(0))
        if seam not in self.ends:
            self.ends[seam] = state = self.positions.new_state()
            self.positions.add_epsilon(state, END)
            ends = dict[tuple[int, int], set[int]]()
            for reads, states in self.lexer.ends(seam).get(IGNORED, {}).items():
                target = self.behind_all(self.lexer.behind(seam.context, reads))
                ends.setdefault((target, IGNORED), set()).update(states)
            self.write_lexemes_of(self.divided(seam.context, ends), state, seam)
        return self.ends[seam]


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
