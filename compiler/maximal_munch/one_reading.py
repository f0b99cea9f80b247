"""Whether a parser has one reading of each text, which decides what the lexer may read next.

    s: "if" s ["else" s] | NAME      if if n else n: the "else" may belong to either "if"

A parser has two readings where it may go on with the next lexeme in two ways: read it, or end a
procedure first. Where all that follows the second can follow the first, the second is left out,
which loses no text: an "else" is read by the innermost "if".

Source: the usual preference of shift over reduce (Aho, Johnson and Ullman, "Deterministic parsing
of ambiguous grammars", 1975). That it loses nothing here is by induction: what the second reading
accepts after the lexeme, which is shorter, the first accepts, as ``follows`` says.
"""

from collections.abc import Iterator, Mapping, Set

from ..automata.graphs import reached
from ..limits import Limits
from .contexts import Contexts, Item

# By state and item the lexemes, as bits, before which the item's procedure is not ended.
LeftOut = Mapping[tuple[int, Item], int]


class SeveralReadingsError(Exception):
    """There is a text of two readings, or it is not decided that there is none; ``lexeme``: the one
    before which they part."""

    def __init__(self, lexeme: int) -> None:
        super().__init__(lexeme)
        self.lexeme = lexeme


def one_reading(
    contexts: Contexts, together: Set[frozenset[int]], ignored: frozenset[int], limits: Limits
) -> LeftOut:
    """What is left out so that each text has one reading. ``together``: the sets of lexemes that
    may end together, ``ignored`` ones included.

    Raises ``SeveralReadingsError`` and ``LimitError``.
    """
    # Of one lexeme there is one reading, if it is not ignored.
    several = [each for each in together if len(each) > 1 or not each.isdisjoint(ignored)]
    return _Search(contexts, several, ignored, limits).run()


class _Search:
    def __init__(
        self,
        contexts: Contexts,
        several: list[frozenset[int]],
        ignored: frozenset[int],
        limits: Limits,
    ) -> None:
        self.contexts, self.several, self.ignored = contexts, several, ignored
        self.network, self.limits = contexts.network, limits
        self.before: list[list[tuple[int, int]]] = [[] for _ in contexts.items]
        for state in range(len(contexts.items)):
            for symbol, target in self.targets(state):
                self.before[target].append((symbol, state))
        self.ending = [
            [(item, behind) for item, behind in items.items() if self.network.ends[item[1]]]
            for items in contexts.items
        ]

    def run(self) -> LeftOut:
        found: dict[tuple[int, Item], int] = {}
        for state, items in enumerate(self.contexts.items):
            if not state % 64:
                self.limits.check_resources("the readings of the parser")
            read, ended, twice = 0, 0, 0
            for item in items:
                read |= sum(1 << lexeme for lexeme in self.network.edges[item[1]])
            for _, behind in self.ending[state]:
                twice |= behind & ended
                ended |= behind
            self.check_ended_once(twice)
            self.check_together(read | ended)
            both = read & ended
            while both:
                lexeme = _lowest(both)
                both &= both - 1
                item = self.read_and_ended(state, lexeme)
                found[state, item] = found.get((state, item), 0) | 1 << lexeme
        # What takes longest is looked at last.
        unclear = self.with_several_beginnings()
        for state, ending in enumerate(self.ending):
            for item, behind in ending:
                if (state, item) in unclear:
                    self.check_ended_once(behind)
        return found

    def check_ended_once(self, twice: int) -> None:
        """Raise where two procedures may end before one lexeme, of those ``twice``, as bits."""
        twice &= self.contexts.end - 1
        if twice:
            raise SeveralReadingsError(_lowest(twice))

    def check_together(self, allowed: int) -> None:
        """Raise where text may be several of the lexemes ``allowed``, or one and ignored text."""
        for each in self.several:
            inside = [lexeme for lexeme in sorted(each) if allowed >> lexeme & 1]
            if inside and len(inside) + (not each.isdisjoint(self.ignored)) > 1:
                raise SeveralReadingsError(inside[0])

    def read_and_ended(self, state: int, lexeme: int) -> Item:
        """The item that reads a lexeme and may end before it, where to end is of no use. Raises
        ``SeveralReadingsError`` where it may be."""
        items = self.contexts.items[state]
        reading = [item for item in items if lexeme in self.network.edges[item[1]]]
        ending = [item for item, behind in self.ending[state] if behind >> lexeme & 1]
        if reading != ending or len(reading) != 1:
            raise SeveralReadingsError(lexeme)
        inner = self.network.edges[reading[0][1]][lexeme]
        # The states in which procedures that end before the lexeme may go on.
        seen, pending = set[int](), [(state, reading[0])]
        for ended_in, (start, place) in pending:
            for below in self.beginnings(ended_in, (start, place)):
                after = self.contexts.gotos[below].get(start)
                if after is None or after in seen:
                    continue
                seen.add(after)
                for _, frame in self.contexts.items[after]:
                    later = self.network.edges[frame].get(lexeme)
                    if later is not None and not self.follows(inner, frame, later):
                        raise SeveralReadingsError(lexeme)
                more = [item for item, behind in self.ending[after] if behind >> lexeme & 1]
                pending += [(after, item) for item in more]
        return reading[0]

    def follows(self, inner: int, frame: int, later: int) -> bool:
        """Whether all that may follow at the place ``later`` may follow at ``inner``, too, whose
        procedure is ended in ``frame``: by simulation, step by step."""
        assumed = {(inner, later)}
        pending = list(assumed)
        for place, other in pending:
            may_end = self.network.ends[place]
            if self.network.ends[other] and not (may_end and self.network.ends[frame]):
                return False
            for symbol, target in self.steps(other):
                if may_end and self.leads(frame, symbol) == target:
                    continue
                own = self.leads(place, symbol)
                if own is None:
                    return False
                if (own, target) not in assumed:
                    assumed.add((own, target))
                    pending.append((own, target))
        return True

    def beginnings(self, state: int, item: Item) -> set[int]:
        """The states in which the procedure of an item may have begun, on any stack."""
        start, place = item

        def leading(at: tuple[int, int]) -> Iterator[tuple[int, int]]:
            upper, inside = at
            is_kernel = (start, inside) in self.contexts.kernels[upper]
            for symbol, below in self.before[upper] if is_kernel else ():
                for begun, each in self.contexts.items[below]:
                    if begun == start and self.leads(each, symbol) == inside:
                        yield below, each

        places = reached([(state, place)], leading)
        return {at for at, p in places if p == start and start in self.contexts.begun[at]}

    def with_several_beginnings(self) -> set[tuple[int, Item]]:
        """Items of states whose procedure may have begun at several places of one stack."""
        contexts = self.contexts
        found = {
            (state, (start, start))
            for state, begun in enumerate(contexts.begun)
            for start in begun
            if (start, start) in contexts.kernels[state]
        }
        for state, items in enumerate(contexts.items):
            for symbol, target in self.targets(state):
                led = [(start, self.leads(place, symbol)) for start, place in items]
                twice = {each for each in led if led.count(each) > 1}
                found |= {(target, (start, place)) for start, place in twice if place is not None}

        def after(at: tuple[int, Item]) -> Iterator[tuple[int, Item]]:
            state, (start, place) = at
            for symbol, target in self.steps(place):
                shifts, gotos = contexts.shifts[state], contexts.gotos[state]
                yield shifts[symbol] if symbol >= 0 else gotos[~symbol], (start, target)

        return set(reached(found, after))

    def targets(self, state: int) -> Iterator[tuple[int, int]]:
        """Lexemes, and complements of the starts of procedures, and the states they lead to."""
        yield from self.contexts.shifts[state].items()
        for start, target in self.contexts.gotos[state].items():
            yield ~start, target

    def steps(self, place: int) -> Iterator[tuple[int, int]]:
        """The same of a place."""
        yield from self.network.edges[place].items()
        for called, frame in self.network.calls[place]:
            yield ~called, frame

    def leads(self, place: int, symbol: int) -> int | None:
        """Where one of them leads to."""
        if symbol >= 0:
            return self.network.edges[place].get(symbol)
        calls = self.network.calls[place]
        return next((frame for called, frame in calls if called == ~symbol), None)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
