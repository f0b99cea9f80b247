"""The picture of a recursive transition network: byte automata that call one another."""

from collections.abc import Iterator, Sequence

from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.network.tables import NetworkTables

from ..network.dump import edges_of, end_of_call, is_of_set, rules_of_entries, sets_called
from .collapse import collapsed
from .dfa import drawn_as
from .drawing import Drawing
from .graph import Graph, Reads, Step, explored
from .picture import PALETTE, View, counted
from .plan import Plan

_CALL = PALETTE[0]


def draw_network(
    tables: NetworkTables,
    view: View,
    terminal_names: Sequence[str] = (),
    lexemes: LexerTables | None = None,
) -> Drawing:
    """Draw a network: a call leads to the state where the network goes on after it.

    ``terminal_names``: of the token terminals. ``lexemes``: what splits a text into these, of
    maximal munch. The rest as for ``draw_dfa``; the states of a rule stand together, and its pages
    are its own.
    """
    graph = network_graph(tables, terminal_names)
    whole = graph if view.by_bytes else collapsed(graph)
    edges = sum(len(edges_of(tables, state)) for state in graph.steps)
    plan = Plan(
        whole,
        f"Network of {view.title}",
        f"{counted(len(graph.order), 'state')}, {counted(edges, 'edge')} that read, "
        f"{counted(len(tables.call_starts), 'call')}{drawn_as(graph, whole)}",
        accepts="the rule may end here, the start's with the text",
        colors={_CALL: "a call"} if len(tables.call_starts) else {},
        color_of=lambda step: _CALL if step.call else "",
        lexemes=lexemes,
    )
    return plan.drawing(view.size, view.prefix)


def network_graph(tables: NetworkTables, terminal_names: Sequence[str] = ()) -> Graph:
    """The states that can be reached through edges and calls, byte by byte."""
    rules = rules_of_entries(tables)
    named = {**_parts(tables), **rules}

    def leaving(state: int) -> Iterator[Step]:
        for target, (ranges, terminals) in edges_of(tables, state).items():
            names = tuple(terminal_names[t] for t in terminals)
            yield Step(target, Reads(tuple(ranges), terminals=names))
        yield from _calls(tables, state, rules)

    steps = explored(tables.start, leaving)
    accepting = frozenset(state for state in steps if tables.ends[state])
    names = {s: name for s, name in named.items() if s in steps}
    return Graph(tables.start, accepting, steps, names)


def _calls(tables: NetworkTables, state: int, rules: dict[int, str]) -> Iterator[Step]:
    for number, rule, back in sets_called(tables, state):
        parts = tuple(dict.fromkeys(rule.parts)) + ((rule.separator,) if rule.separator else ())
        text = f"permute {len(rule.parts)} parts of set {number}"
        yield Step(back, Reads(), call=text, callees=parts, repeats=True)
    for start, frame in tables.calls[state]:
        if not is_of_set(tables, frame):
            back, times = end_of_call(tables, frame)
            text = f"call {rules.get(start, start)}{times}"
            yield Step(back, Reads(), call=text, callees=(start,), repeats=bool(times))


def _parts(tables: NetworkTables) -> dict[int, str]:
    """What starts in the states that sets lead to."""
    found: dict[int, list[str]] = {}
    for i, rule in enumerate(tables.counters.set_rules if tables.counters else ()):
        for state in dict.fromkeys(rule.parts):
            found.setdefault(state, []).append(f"part of set {i + 1}")
        if rule.separator:
            found.setdefault(rule.separator, []).append(f"separator of set {i + 1}")
    return {state: ", ".join(texts) for state, texts in found.items()}
