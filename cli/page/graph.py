"""The automaton of a page: its states and edges, drawn as few as can be read.

    a chain of single bytes, '"' 'a' '"'      one edge "\"a\""
    the bytes of one character that is not    one edge, by how many such characters there are
    in ASCII
    a call                                    a dashed edge to the state after it

Each state is then a node, or lies inside of an edge (``via``), so that a page can light either.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..quoting import escaped

if TYPE_CHECKING:
    from constrain.artifacts.network.tables import NetworkTables

# States that a page draws, those nearest to the start, and edges, which Graphviz places in seconds.
MOST_STATES, MOST_EDGES = 400, 1000

# Characters of a label.
_MOST_LABEL = 36

# Characters outside of ASCII, without surrogates.
_OTHERS = 0x110000 - 0x800 - 0x80

_CONTINUES = range(0x80, 0xC0)

READS, CALLS, LEADS_OUT = "read", "call", "out"


class Characters(NamedTuple):
    """Characters that are not in ASCII and lead to one state: how many, the bytes of one of them,
    and the states within."""

    number: int
    text: bytes
    via: tuple[int, ...] = ()

    def added(self, other: "Characters") -> "Characters":
        """Both; the bytes are of the first."""
        via = tuple(dict.fromkeys((*self.via, *other.via)))
        return Characters(self.number + other.number, self.text or other.text, via)


_NONE = Characters(0, b"")


@dataclass
class Edge:
    """``via``: the states inside. ``text``: bytes that lead along it, a short text of it; None for
    a call, and for token terminals alone. ``callee``: the state that a call starts in."""

    source: int
    target: int
    kind: str
    label: str
    text: bytes | None = None
    via: tuple[int, ...] = ()
    callee: int | None = None


@dataclass
class Graph:
    """``nodes``: the states that are drawn, in the order in which a search meets them; ``names``:
    of those in which a rule starts. ``left_out``: how many states are not drawn."""

    start: int
    nodes: list[int]
    accepting: set[int]
    edges: list[Edge]
    names: Mapping[int, str]
    left_out: int = 0
    rules: dict[int, str] = field(default_factory=dict)


def graph_of(
    tables: "NetworkTables", token_names: Sequence[str] = (), most: int = MOST_STATES
) -> Graph:
    """The states nearest to the start, at most so many and fewer where they have more edges than
    are drawn, and in which of the called rules each is."""
    order = _reached(tables)
    found = _graph_of(tables, token_names, order, most)
    while len(found.edges) > MOST_EDGES and most > 1:
        most = most * MOST_EDGES // (len(found.edges) + 1)
        found = _graph_of(tables, token_names, order, most)
    return found


def _graph_of(
    tables: "NetworkTables", token_names: Sequence[str], order: list[int], most: int
) -> Graph:
    from constrain.compiler.network.dump import rules_of_entries, rules_of_states

    drawn = set(order[:most])
    names = {s: n for s, n in rules_of_entries(tables).items() if s in drawn}
    kept = {tables.start, *names, *(int(s) for s in tables.callees)} | _returns(tables)
    plumbing = _plumbing(tables, drawn, kept)
    rests = _Rests(tables, plumbing)
    edges: list[Edge] = []
    for state in order[:most]:
        if state not in plumbing:
            edges += _edges(tables, state, drawn, rests, token_names)
    edges = _chained(edges, kept | {s for s in drawn if tables.ends[s]})
    inside = {state for edge in edges for state in edge.via}
    return Graph(
        tables.start,
        [state for state in order[:most] if state not in inside],
        {state for state in drawn if tables.ends[state]},
        edges,
        names,
        len(order) - len(drawn),
        rules_of_states(tables),
    )


def _returns(tables: "NetworkTables") -> set[int]:
    return {int(s) for s in tables.call_ends}


def _ways(tables: "NetworkTables", state: int) -> list[int]:
    """Where a state leads: by what it reads, after its calls, and into them."""
    begins, ends = tables.call_offsets[state], tables.call_offsets[state + 1]
    calls = [int(s) for s in tables.call_ends[begins:ends]]
    calls += [int(s) for s in tables.call_starts[begins:ends]]
    sets = [] if tables.counters is None else _parts(tables, state)
    return [*dict.fromkeys(s for s in (*tables.rows[state], *calls, *sets) if s)]


def _parts(tables: "NetworkTables", state: int) -> list[int]:
    from constrain.compiler.network.dump import sets_called

    found = [rule for _, rule, _ in sets_called(tables, state)]
    return [part for rule in found for part in (*rule.parts, rule.separator)]


def _reached(tables: "NetworkTables") -> list[int]:
    order, seen = [tables.start], {tables.start}
    for state in order:
        for target in _ways(tables, state):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def _plumbing(tables: "NetworkTables", drawn: set[int], kept: set[int]) -> set[int]:
    """States within a character that is not in ASCII."""
    found = set()
    entered: dict[int, bool] = {}
    for state in drawn:
        for octet, target in enumerate(tables.rows[state][:256]):
            if target:
                entered[target] = entered.get(target, True) and octet >= 0x80
    for state in drawn - kept:
        row = tables.rows[state]
        octets = [octet for octet, target in enumerate(row) if target]
        only = all(octet in _CONTINUES for octet in octets)
        if octets and only and entered.get(state) and not tables.ends[state]:
            found.add(state)
    calling = {s for s in found if tables.calls[s]}
    return {s for s in found - calling if all(t in drawn for t in tables.rows[s] if t)}


def _edges(
    tables: "NetworkTables",
    state: int,
    drawn: set[int],
    rests: "_Rests",
    token_names: Sequence[str],
) -> list[Edge]:
    """What a state does: one edge to each target, one for each call."""
    reads: dict[int, list[int]] = {}
    terminals: dict[int, list[str]] = {}
    out = False
    row = tables.rows[state]
    others = rests.outside(row[:256])
    for octet, target in enumerate(row[:256]):
        if target in rests.plumbing:
            continue
        if target in drawn:
            reads.setdefault(target, []).append(octet)
        elif target:
            out = True
    for number, target in enumerate(row[256:]):
        if target in drawn:
            terminals.setdefault(target, []).append(token_names[number])
    edges = []
    for target in dict.fromkeys((*reads, *others, *terminals)):
        octets, other = reads.get(target, []), others.get(target, _NONE)
        labels = [*_ranges(octets), *terminals.get(target, ())]
        if other.number:
            labels.append(_others(other.number))
        text = bytes([_typical(octets)]) if octets else other.text or None
        edges.append(Edge(state, target, READS, _joined(labels), text, other.via))
    edges += _calls(tables, state, drawn)
    if out:
        edges.append(Edge(state, -1, LEADS_OUT, "…"))
    return edges


class _Rests(dict[int, dict[int, Characters]]):
    """By each state within a character (``plumbing``) where the rest of it leads; no character has
    more than four bytes."""

    def __init__(self, tables: "NetworkTables", plumbing: set[int]) -> None:
        super().__init__()
        self.tables, self.plumbing = tables, plumbing

    def __missing__(self, state: int) -> dict[int, Characters]:
        row = self.tables.rows[state][:256]
        ends = {end: Characters(1, b"") for end in row if end and end not in self.plumbing}
        found = self[state] = self._behind(row, ends)
        return found

    def outside(self, row: Sequence[int]) -> dict[int, Characters]:
        """Where whole characters lead that begin in a state with this row."""
        return self._behind(row, {})

    def _behind(self, row: Sequence[int], ends: Mapping[int, Characters]) -> dict[int, Characters]:
        found: dict[int, Characters] = {}
        octets: dict[int, list[int]] = {}
        for octet, target in enumerate(row):
            octets.setdefault(target, []).append(octet)
        for target, read in octets.items():
            rests = {target: ends[target]} if target in ends else {}
            if target in self.plumbing:
                rests = {
                    end: rest._replace(via=(target, *rest.via))
                    for end, rest in self[target].items()
                }
            for end, rest in rests.items():
                text = bytes(read[:1]) + rest.text
                whole = Characters(len(read) * rest.number, text, rest.via)
                found[end] = found.get(end, _NONE).added(whole)
        return found


def _others(count: int) -> str:
    return "any other character" if count == _OTHERS else f"{count:,} non-ASCII"


def _calls(tables: "NetworkTables", state: int, drawn: set[int]) -> list[Edge]:
    from constrain.compiler.network.dump import (
        end_of_call,
        is_of_set,
        rules_of_entries,
        sets_called,
    )

    rules = rules_of_entries(tables)
    edges = []
    for number, rule, back in sets_called(tables, state):
        if back in drawn:
            label = f"{len(rule.parts)} parts of set {number}, any order"
            edges.append(Edge(state, back, CALLS, label, callee=rule.parts[0]))
    for start, frame in tables.calls[state]:
        if is_of_set(tables, frame):
            continue
        back, times = end_of_call(tables, frame)
        if back in drawn:
            label = _cut(f"{rules.get(start, f'state {start}')}{times}")
            edges.append(Edge(state, back, CALLS, label, callee=start))
    return edges


def _chained(edges: list[Edge], kept: set[int]) -> list[Edge]:
    """Chains of edges that read one byte each as one edge."""
    leaving: dict[int, list[Edge]] = {}
    entering: dict[int, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.source, []).append(edge)
        entering.setdefault(edge.target, []).append(edge)

    def is_single(edge: Edge) -> bool:
        return edge.kind == READS and not edge.via and edge.label in _SINGLE

    def is_inner(state: int) -> bool:
        before, behind = entering.get(state, []), leaving.get(state, [])
        return (
            state not in kept
            and len(before) == len(behind) == 1
            and is_single(before[0])
            and is_single(behind[0])
        )

    found = []
    for edge in edges:
        if is_inner(edge.source):
            continue
        text, via, last = edge.text or b"", deque[int](), edge
        while is_inner(last.target) and last.target != edge.source:
            via.append(last.target)
            (last,) = leaving[last.target]
            text += last.text or b""
        if via:
            label = _cut(escaped(text))
            edge = Edge(edge.source, last.target, READS, label, text, tuple(via))
        found.append(edge)
    # A ring of single bytes has no beginning; it keeps its states.
    inside = {state for edge in found for state in edge.via}
    reached = {edge.source for edge in found}
    lost = [e for e in edges if e.source not in reached and e.source not in inside]
    return found + lost


def _byte(octet: int) -> str:
    if octet == 0x20:
        return "␣"
    return escaped(bytes([octet]))


_SINGLE = frozenset(_byte(octet) for octet in range(256))


def _ranges(octets: Sequence[int]) -> list[str]:
    from constrain.compiler.automata.dump import ranges

    return [
        _byte(low) if low == high else f"{_byte(low)}–{_byte(high)}" for low, high in ranges(octets)
    ]


def _typical(octets: Sequence[int]) -> int:
    """The byte that a click on an edge types: a letter, a digit, else what can be seen."""

    def rank(octet: int) -> tuple[bool, bool, bool, int]:
        char = chr(octet)
        is_ascii = octet < 0x80
        return (
            not (is_ascii and char.islower()),
            not (is_ascii and char.isalnum()),
            not 0x20 <= octet < 0x7F,
            octet,
        )

    return min(octets, key=rank)


def _joined(labels: list[str]) -> str:
    text = ""
    for place, label in enumerate(labels):
        if text and len(text) + len(label) > _MOST_LABEL:
            return f"{text} … ({len(labels) - place} more)"
        text += f" {label}" if text else label
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LABEL + 12 else f"{text[: _MOST_LABEL + 11]}…"
