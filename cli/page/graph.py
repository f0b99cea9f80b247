"""The automaton of a page: the states and edges that ``viz`` draws, as few as can be read.

Each state is a node, or lies inside of an edge (``via``), so that a page can light either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrain.artifacts.errors import visible
from constrain.artifacts.network.tables import NetworkTables

if TYPE_CHECKING:
    from constrain.compiler.drawing import graph as drawing

# States that a page draws, those nearest to the start, and edges, which Graphviz places in seconds.
MOST_STATES, MOST_EDGES = 400, 1000

# Characters of a label.
_MOST_LABEL = 48

READS, CALLS, LEADS_OUT = "read", "call", "out"

# By the ends of an edge the states that it passes over.
_Within = dict[tuple[int, int], tuple[int, ...]]


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
    """``nodes``: the states that are drawn, in the order in which they are read; ``names``: of
    those in which a rule starts; ``left_out``: how many states are not here; ``rules``: of states,
    where they are known."""

    start: int
    nodes: list[int]
    accepting: frozenset[int]
    edges: list[Edge]
    names: Mapping[int, str]
    left_out: int = 0
    rules: dict[int, str] = field(default_factory=dict)


def graph_of(
    tables: NetworkTables, token_names: Sequence[str] = (), most: int = MOST_STATES
) -> Graph:
    """A network, the nearest ``most`` states of it at most, and fewer where there are very many
    edges."""
    from constrain.compiler.drawing.collapse import collapsed
    from constrain.compiler.drawing.network import network_graph
    from constrain.compiler.network.dump import rules_of_states

    whole = network_graph(tables, token_names)
    drawn = collapsed(whole)
    within, edges = _within(whole, drawn), _edges(drawn, most)
    while len(edges) > MOST_EDGES and most > 1:
        most = most * MOST_EDGES // (len(edges) + 1)
        edges = _edges(drawn, most)
    for edge in edges:
        if edge.kind == READS:
            edge.via = within.get((edge.source, edge.target), ())
    nodes, inside = drawn.order[:most], {state for edge in edges for state in edge.via}
    return Graph(
        drawn.start,
        nodes,
        drawn.accepting,
        edges,
        drawn.named,
        len(whole.steps) - len(nodes) - len(inside),
        rules_of_states(tables),
    )


def _within(whole: "drawing.Graph", drawn: "drawing.Graph") -> _Within:
    """The states of ``whole`` that are merged away, each on the edges that read through it."""
    from constrain.compiler.automata.graphs import reached

    def inner(states: Sequence[int]) -> list[int]:
        return [state for state in states if state not in drawn.steps]

    before: dict[int, list[int]] = {}
    for state in whole.steps:
        for target in whole.targets(state):
            before.setdefault(target, []).append(state)
    behind: dict[int, set[int]] = {}
    found: _Within = {}
    for source in drawn.steps:
        inside = list(reached(inner(whole.targets(source)), lambda s: inner(whole.targets(s))))
        for target in drawn.targets(source) if inside else ():
            if target not in behind:
                behind[target] = set(reached(inner(before[target]), lambda s: inner(before[s])))
            found[source, target] = tuple(s for s in inside if s in behind[target])
    return found


def _edges(graph: "drawing.Graph", most: int) -> list[Edge]:
    """What leaves the first ``most`` states; ``…`` for what is read to others."""
    from constrain.compiler.drawing.labels import reads_label

    edges: list[Edge] = []
    nodes = dict.fromkeys(graph.order[:most])
    for state in nodes:
        steps = graph.steps[state]
        for step in steps:
            if step.target in nodes and step.call:
                label = _cut(step.call.removeprefix("call "))
                edges.append(Edge(state, step.target, CALLS, label, callee=step.callees[0]))
            elif step.target in nodes:
                others = [other.reads for other in steps if other is not step]
                label = _cut(reads_label(step.reads, others, whole=True).text)
                edges.append(Edge(state, step.target, READS, label, _typed(step.reads)))
        if any(step.target not in nodes and not step.call for step in steps):
            edges.append(Edge(state, -1, LEADS_OUT, "…"))
    return edges


def _typed(reads: "drawing.Reads") -> bytes | None:
    """What to type for an edge: of several bytes that which people expect."""
    from constrain.compiler.coverage.patterns import rank

    octets = [octet for low, high in reads.octets for octet in range(low, high + 1)]
    if octets:
        return bytes([min(octets, key=rank)])
    if reads.characters:
        return chr(reads.characters[0][0]).encode("utf-8")
    return next(iter(reads.words), None)


def _cut(label: str) -> str:
    text = visible(label.replace("\n", " "))
    return text if len(text) <= _MOST_LABEL else f"{text[: _MOST_LABEL - 1]}…"
