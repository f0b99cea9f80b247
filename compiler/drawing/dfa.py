"""The picture of a grammar's DFA over bytes."""

from collections.abc import Mapping, Sequence

import numpy as np

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa

from .dot import to_dot
from .drawing import Drawing, DrawingError
from .labels import byte_label
from .picture import USUAL_SIZE, Edge, Label, Picture, Size, colored_by_source, counted, extent


def draw_dfa(
    dfa: ByteDfa,
    *,
    title: str,
    terminal_names: Sequence[str] = (),
    size: Size = USUAL_SIZE,
    kind: str = "DFA",
    names: Mapping[int, Label] | None = None,
) -> Drawing:
    """Draw a DFA without its dead state.

    ``title``: the grammar's name. ``terminal_names``: one for each token terminal. ``kind``:
    what the heading calls it. ``names``: for states instead of their numbers. Draws at
    most ``size.states`` states, those nearest to the start. Raises ``DrawingError`` for a DFA
    of the empty language.
    """
    if dfa.start == DEAD:
        raise DrawingError("this DFA has only its dead state: there is nothing to draw")
    reached, visible, left_out = extent(dfa.start, lambda state: _targets(dfa, state), size)
    columns = _columns(dfa, terminal_names)
    transitions = sum(len(_targets(dfa, state)) for state in reached)
    return to_dot(
        colored_by_source(
            Picture(
                heading=f"{kind} of {title}",
                counts=f"{counted(len(reached), 'state')}, {counted(transitions, 'edge')}, "
                "the dead state not among them",
                states=visible,
                start=dfa.start,
                accepting=set(np.flatnonzero(dfa.accepting).tolist()),
                edges=_edges(dfa, visible, columns),
                left_out=left_out,
                names={s: label for s, label in (names or {}).items() if s in visible},
            )
        )
    )


_Column = tuple[list[tuple[int, int]], list[str]]


def _targets(dfa: ByteDfa, state: int) -> list[int]:
    return sorted(set(dfa.table[state].tolist()) - {DEAD})


def _columns(dfa: ByteDfa, terminal_names: Sequence[str]) -> list[_Column]:
    """What each column of the table stands for: ranges of bytes, names of terminals."""
    width = dfa.table.shape[1]
    columns: list[_Column] = [([], []) for _ in range(width)]
    for octet, column in enumerate(dfa.classes.tolist()):
        columns[column][0].append((octet, octet))
    first = width - len(dfa.terminals)
    for i, name in enumerate(terminal_names):
        columns[first + i][1].append(name)
    return columns


def _edges(dfa: ByteDfa, visible: Sequence[int], columns: Sequence[_Column]) -> list[Edge]:
    inside = set(visible)
    edges = []
    for source in visible:
        reads: dict[int | None, _Column] = {}
        for column, target in enumerate(dfa.table[source].tolist()):
            if target != DEAD:
                end = target if target in inside else None
                ranges, names = reads.setdefault(end, ([], []))
                ranges.extend(columns[column][0])
                names.extend(columns[column][1])
        for end, (ranges, names) in reads.items():
            label = byte_label(ranges, terminals=names, narrow=source == end)
            edges.append(Edge(source, end, label))
    return edges
