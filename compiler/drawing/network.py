"""The picture of a recursive transition network: byte automata that call one another."""

from collections.abc import Sequence

from constrain.artifacts.network.tables import NetworkTables

from ..network.dump import edges_of, end_of_call, is_of_set, rules_of_entries, sets_called
from .dot import to_dot
from .drawing import Drawing
from .labels import byte_label
from .picture import PALETTE, USUAL_SIZE, Edge, Label, Notation, Picture, Size, counted, extent

_CALL = PALETTE[1]


def draw_network(
    tables: NetworkTables,
    *,
    title: str,
    terminal_names: Sequence[str] = (),
    size: Size = USUAL_SIZE,
) -> Drawing:
    """Draw a network: a call leads to the state where the network goes on behind it.

    ``title``: the grammar's name. ``terminal_names``: of the token terminals. Draws at most
    ``size.states`` states, those nearest to the start, through calls and into them.
    """

    def targets(state: int) -> list[int]:
        calls = [(end_of_call(tables, frame)[0], start) for start, frame in tables.calls[state]]
        ends = [end for call in calls for end in call]
        ends += [rule.separator for _, rule, _ in sets_called(tables, state) if rule.separator]
        return [*edges_of(tables, state), *ends]

    reached, visible, left_out = extent(tables.start, targets, size)
    rules = rules_of_entries(tables)
    edges = sum(len(edges_of(tables, state)) for state in reached)
    return to_dot(
        Picture(
            heading=f"Network of {title}",
            counts=f"{counted(len(reached), 'state')}, {counted(edges, 'edge')} that read, "
            f"{counted(len(tables.call_starts), 'call')}",
            states=visible,
            start=tables.start,
            accepting={state for state in visible if tables.ends[state]},
            edges=_edges(tables, visible, rules, terminal_names),
            left_out=left_out,
            names={
                state: Label(f"{rule}: {state}", frozenset([Notation.ENTRY]))
                for state, rule in {**_parts(tables), **rules}.items()
                if state in visible
            },
            colors={_CALL: "a call"} if len(tables.call_starts) else {},
        )
    )


def _parts(tables: NetworkTables) -> dict[int, str]:
    """What starts in the states that sets lead to."""
    found: dict[int, list[str]] = {}
    for i, rule in enumerate(tables.counters.set_rules if tables.counters else ()):
        for state in dict.fromkeys(rule.parts):
            found.setdefault(state, []).append(f"part of set {i + 1}")
        if rule.separator:
            found.setdefault(rule.separator, []).append(f"separator of set {i + 1}")
    return {state: ", ".join(texts) for state, texts in found.items()}


def _edges(
    tables: NetworkTables, visible: Sequence[int], rules: dict[int, str], names: Sequence[str]
) -> list[Edge]:
    inside = set(visible)
    edges = []
    for source in visible:
        reads: dict[int | None, tuple[list[tuple[int, int]], list[int]]] = {}
        for target, (ranges, terminals) in edges_of(tables, source).items():
            read = reads.setdefault(target if target in inside else None, ([], []))
            read[0].extend(ranges)
            read[1].extend(terminals)
        for end, (ranges, terminals) in reads.items():
            label = byte_label(
                ranges, terminals=[names[t] for t in terminals], narrow=source == end
            )
            edges.append(Edge(source, end, label))
        for number, rule, back in sets_called(tables, source):
            marks = f"permute {len(rule.parts)} parts of set {number}"
            label = Label(marks, frozenset([Notation.CALL]))
            end = back if back in inside else None
            edges.append(Edge(source, end, label, reads=False, color=_CALL))
        for start, frame in tables.calls[source]:
            if is_of_set(tables, frame):
                continue
            back, times = end_of_call(tables, frame)
            label = Label(f"call {rules.get(start, start)}{times}", frozenset([Notation.CALL]))
            end = back if back in inside else None
            edges.append(Edge(source, end, label, reads=False, color=_CALL))
    return edges
