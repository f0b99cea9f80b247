"""Earley's recogniser on the network, and which items its accepted derivations use.

    forward    per place the configurations (state, where its procedure began) that are reached
    backward   from the accepted end: a configuration is *used* if it lies on the way to a used one

A configuration that is reached and used lies on some derivation of the whole, and so does the step
between two of them: what is predicted or scanned in vain is never used, and all derivations of an
ambiguous text are. Both directions take O(n³) steps for a text of n bytes, O(n²) where the grammar
is unambiguous and O(n) for most grammars that people write (Earley 1970). What only ends others, as
rules that begin a list again after each of its items do, is skipped on the way forward, and filled
in on the way back (Leo 1991).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..limits import Limits
from .graph import CALL, JUMP, Graph

_STAGE = "the coverage of a text"

# Configurations between two looks at the limits.
_STRIDE = 4096

# Bytes of one configuration and what is noted of it, roughly.
_CONFIGURATION = 250


@dataclass(slots=True, eq=False)
class Column:
    """What is known at one place. A configuration is state · width + begin.

    ``waiting``: by procedure, what goes on when it ends: (target, begin, whether it must read);
    ``ended``: by procedure, where those that end here began; ``came``: by leaf, where what ends
    here began; ``tops``: of a procedure and where it began, the innermost of those that end here
    with it, and where they began; ``wanted``: (leaf, target, begin, source) of what may be read
    next; ``carried``: what was reached in the column before, and is here, too; ``filled``: what was
    left out on the way forward, and after which procedure, that began where, it is."""

    seen: set[int] = field(default_factory=set)
    waiting: dict[int, list[tuple[int, int, bool]]] = field(default_factory=dict)
    ended: dict[int, list[int]] = field(default_factory=dict)
    tops: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)
    came: dict[int, list[int]] = field(default_factory=dict)
    wanted: list[tuple[int, int, int, int]] = field(default_factory=list)
    carried: set[int] = field(default_factory=set)
    filled: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


@dataclass(slots=True)
class Used:
    """``items`` that are used, ``calls``: a procedure and where it begins and ends, ``leaves``: of
    a leaf and the place where it begins, where its uses end, and ``carried``: the places to which a
    configuration that is used was carried."""

    items: set[int] = field(default_factory=set)
    calls: set[tuple[int, int, int]] = field(default_factory=set)
    leaves: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    carried: set[int] = field(default_factory=set)


class Chart:
    """The columns of a text, or of its part from ``begin`` on. ``places``: how many there can
    be."""

    def __init__(self, graph: Graph, procedure: int, places: int, limits: Limits) -> None:
        self._graph, self._limits = graph, limits
        self._procedure = procedure
        self._width = places + 1
        self.columns: dict[int, Column] = {}
        self._pending: dict[int, dict[int, None]] = {}
        self._came: dict[int, dict[int, list[int]]] = {}
        self._carried: dict[int, set[int]] = {}
        # By place and procedure the outermost one that ends with it, and where that began.
        self._tops: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._count = 0

    def begin(self, place: int) -> None:
        """The procedure begins here."""
        self._begin = place
        self.add(place, self._graph.entries[self._procedure], place)

    def add(self, place: int, state: int, begin: int) -> None:
        """A configuration is reached, at a place whose column is not closed."""
        found = self._pending.setdefault(place, {})
        found[state * self._width + begin] = None

    def came_to(self, place: int, leaf: int, start: int) -> None:
        """A leaf that begins at ``start`` ends at a place."""
        self._came.setdefault(place, {}).setdefault(leaf, []).append(start)

    def carry(self, place: int, state: int, begin: int) -> None:
        """A configuration of the column before is one of this place, too."""
        self.add(place, state, begin)
        self._carried.setdefault(place, set()).add(state * self._width + begin)

    def is_open(self, place: int) -> bool:
        """Whether something is reached there."""
        return place in self._pending

    def has_ended(self, place: int) -> bool:
        """Whether the whole may end there."""
        column = self.columns.get(place)
        return column is not None and self._begin in column.ended.get(self._procedure, ())

    def close(self, place: int, following: int | None = None) -> Column:
        """Predict and complete all that is reached at a place, in the order of the places.
        ``following``: the byte that must be read there, -1 at the end; None where that is open."""
        graph, width = self._graph, self._width
        agenda = list(self._pending.pop(place, ()))
        column = self.columns[place] = Column(
            seen=set(agenda),
            came=self._came.pop(place, {}),
            carried=self._carried.pop(place, set()),
        )
        seen, waiting, ended, columns = column.seen, column.waiting, column.ended, self.columns
        for count, config in enumerate(agenda):
            if not count % _STRIDE:
                self._check(count)
            number, begin = divmod(config, width)
            state = graph.state(number)
            jumps = state.jumps
            if state.by_first is not None and following is not None:
                jumps = state.by_first.get(-1, [])
                if following >= 0:
                    jumps = [*jumps, *state.by_first.get(following, ())]
            for target in jumps:
                new = target * width + begin
                if new not in seen:
                    seen.add(new)
                    agenda.append(new)
            for leaf, target in state.reads:
                column.wanted.append((leaf, target, begin, number))
            for procedure, target, with_text in state.calls:
                callers = waiting.get(procedure)
                if callers is None:
                    callers = waiting[procedure] = []
                    new = graph.entries[procedure] * width + place
                    seen.add(new)
                    agenda.append(new)
                callers.append((target, begin, with_text))
                if not with_text and place in ended.get(procedure, ()):
                    new = target * width + begin
                    if new not in seen:
                        seen.add(new)
                        agenda.append(new)
            if state.ends >= 0:
                ended.setdefault(state.ends, []).append(begin)
                is_empty = begin == place
                top = None if is_empty else self._top(begin, state.ends)
                if top is not None:
                    start, procedure = top
                    column.tops.setdefault((procedure, start), []).append((state.ends, begin))
                    new = graph.exits[procedure] * width + start
                    if new not in seen:
                        seen.add(new)
                        agenda.append(new)
                    continue
                for target, above, with_text in columns[begin].waiting.get(state.ends, ()):
                    if not (is_empty and with_text):
                        new = target * width + above
                        if new not in seen:
                            seen.add(new)
                            agenda.append(new)
        self._count += len(agenda)
        return column

    def _top(self, begin: int, procedure: int) -> tuple[int, int] | None:
        """Where the outermost procedure began that ends where this one does, and which it is, if
        each between them has one caller, in which nothing follows (Leo 1991)."""
        tops, current = self._tops, (begin, procedure)
        way: dict[tuple[int, int], None] = {}
        while current not in tops and current not in way:
            callers = self.columns[current[0]].waiting.get(current[1]) or []
            above = self._graph.end_behind(callers[0][0]) if len(callers) == 1 else -1
            if above < 0:
                tops[current] = None
                break
            way[current] = None
            current = callers[0][1], above
        # A cycle has no end.
        found = None if current in way else tops[current] or current
        for each in way:
            tops[each] = found
        return tops[begin, procedure]

    def _fill_in(self, place: int, procedure: int, begin: int) -> None:
        """Note what was left out between the outermost procedure and those that end with it."""
        column, graph, width = self.columns[place], self._graph, self._width
        for inner, start in column.tops.pop((procedure, begin), ()):
            while (inner, start) != (procedure, begin):
                target, above, _ = self.columns[start].waiting[inner][0]
                config = target * width + above
                if config in column.filled:
                    column.filled[config].append((inner, start))
                    break
                if config in column.seen:
                    break
                column.filled[config] = [(inner, start)]
                inner, start = graph.end_behind(target), above
                column.seen.update(state * width + above for state in graph.way_to_end(target))
                if (inner, start) != (procedure, begin):
                    column.ended.setdefault(inner, []).append(start)

    def _check(self, count: int) -> None:
        rules = [self._graph.grammar.start]
        self._limits.check_resources(_STAGE, rules)
        self._limits.check_memory((self._count + count) * _CONFIGURATION, _STAGE, rules)

    def used(self, place: int) -> Used:
        """What the derivations use that end at a place."""
        graph, width, columns = self._graph, self._width, self.columns
        found = Used()
        first = graph.exits[self._procedure] * width + self._begin
        pending = [(place, first)]
        used: dict[int, set[int]] = {place: {first}}
        count = 0
        while pending:
            here, config = pending.pop()
            count += 1
            if not count % _STRIDE:
                self._check(count)
            number, begin = divmod(config, width)
            column = columns[here]
            ends = graph.state(number).ends
            if ends >= 0:
                found.calls.add((ends, begin, here))
                self._fill_in(here, ends, begin)
            before: list[tuple[int, int]] = []
            if config in column.carried:
                before.append((here - 1, config))
                found.carried.add(here)
            for how, source, what, with_text in graph.state(number).entered:
                if how == JUMP:
                    earlier = source * width + begin
                    if earlier in column.seen:
                        assert isinstance(what, tuple)
                        found.items.update(what)
                        before.append((here, earlier))
                    continue
                assert isinstance(what, int)
                earlier = source * width + begin
                if how == CALL:
                    starts = column.ended.get(what, ())
                    if config in column.filled:
                        starts = [s for procedure, s in column.filled[config] if procedure == what]
                    for start in starts:
                        if earlier in columns[start].seen and not (with_text and start == here):
                            before.append((start, earlier))
                            before.append((here, graph.exits[what] * width + start))
                    continue
                for start in column.came.get(what, ()):
                    if earlier in columns[start].seen:
                        before.append((start, earlier))
                        found.leaves.setdefault((what, start), set()).add(here)
            for at, each in before:
                marked = used.get(at)
                if marked is None:
                    marked = used[at] = set()
                if each not in marked:
                    marked.add(each)
                    pending.append((at, each))
        return found


def read(graph: Graph, procedure: int, text: bytes, begin: int, end: int, limits: Limits) -> Chart:
    """The chart of what begins at ``begin``, up to ``end``, where each leaf is matched by
    itself."""
    chart = Chart(graph, procedure, len(text), limits)
    chart.begin(begin)
    for place in range(begin, end + 1):
        if not chart.is_open(place):
            continue
        column = chart.close(place, text[place] if place < end else -1)
        ends: dict[int, Sequence[int]] = {}
        for leaf, target, began, _ in column.wanted:
            if leaf not in ends:
                found = graph.matcher(graph.leaves[leaf]).ends(text, place, end)
                ends[leaf] = found[-1:] if leaf in graph.longest else found
                for other in ends[leaf]:
                    chart.came_to(other, leaf, place)
            for other in ends[leaf]:
                chart.add(other, target, began)
    return chart
