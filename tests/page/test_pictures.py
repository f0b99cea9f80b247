"""What a page draws: railroad diagrams of rules, and automata with fewer edges than they have."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Iterator

import pytest
from support import EXAMPLES, compiled

from constrain.artifacts.network.tables import NetworkTables
from constrain.cli.page.graph import READS, Graph, graph_of
from constrain.cli.page.railroad import diagram, railroads
from constrain.cli.page.walk import walk_of
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.tree import Grammar

JSON = (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")


def grammar(text: str, dialect: str = "kbnf") -> Grammar:
    """A tree."""
    return read_grammar(text, dialect, start="s" if dialect == "kbnf" else None)


@pytest.mark.quick
def test_a_diagram_has_a_box_for_each_terminal_and_use() -> None:
    """In the order of the text; optional and repeated parts are ways, and no boxes."""
    [rule, _] = grammar("s ::= 'a' { t } [ #'[b-d]' ] | t; t ::= '\u00e9';").rules
    boxes = [shape for shape in diagram(rule)["shapes"] if shape[0] == "b"]

    assert ['"a"', "t", "[b-d]", "t"] == [shape[6] for shape in boxes]
    assert ["literal", "rule", "pattern", "rule"] == [shape[1] for shape in boxes]
    assert ["", "t", "", "t"] == [shape[7] for shape in boxes]


def test_boxes_of_a_diagram_do_not_overlap() -> None:
    """Of no rule of JSON; and all of them lie inside of it."""
    for drawn in railroads(grammar(JSON.replace("json ", "s ", 1)), 50):
        boxes = [shape[2:6] for shape in drawn["shapes"] if shape[0] == "b"]
        for place, (x, y, width, height) in enumerate(boxes):
            assert x >= 0
            assert y >= 0
            assert x + width <= drawn["width"]
            assert y + height <= drawn["height"]
            for x2, y2, width2, height2 in boxes[place + 1 :]:
                apart = x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
                assert apart, drawn["rule"]


def test_diagrams_of_deep_and_long_rules_end() -> None:
    """What is too deep or too much is an ellipsis; a long sequence goes on below."""
    deep = "(" * 500 + "'a'" + " 'b')" * 500
    long = " ".join(f"'word{i}'" for i in range(60))
    drawn = [diagram(rule) for rule in grammar(f"s ::= {deep} | t; t ::= {long};").rules]

    assert any(shape[0] == "b" and shape[6] == "…" for shape in drawn[0]["shapes"])
    assert drawn[1]["width"] < 1000
    assert drawn[1]["height"] > 200


@pytest.fixture(scope="module")
def tables(default_tokenizer: Tokenizer) -> NetworkTables:
    """The network of JSON."""
    found = walk_of(compiled(JSON, default_tokenizer, "any"))
    assert isinstance(found, NetworkTables)
    return found


def test_every_state_is_a_node_or_inside_of_an_edge(tables: NetworkTables) -> None:
    """Once: so that each can be lit."""
    graph = graph_of(tables)
    inside = {state for edge in graph.edges for state in edge.via}

    assert set(range(1, tables.states)) == {*graph.nodes, *inside}
    assert set() == inside & set(graph.nodes)


def test_an_edge_reads_what_its_states_read(tables: NetworkTables) -> None:
    """What a click on it types leads from the one to the other, through what is inside; no edge of
    the automaton is missing."""
    graph = graph_of(tables)
    labels = {edge.label for edge in graph.edges}
    for edge in graph.edges:
        if edge.kind == READS:
            states = list(run(tables, edge.source, edge.text or b""))

            assert edge.target == states[-1]
            assert set(states[:-1]) <= set(edge.via)
    for state in graph.nodes:
        reached = {end for end in tables.rows[state][:256] if end}
        drawn = [edge for edge in graph.edges if edge.source == state]
        assert reached <= {edge.target for edge in drawn} | {s for e in drawn for s in e.via}
    assert '"null"' in labels
    assert any("any other character" in label for label in labels)
    assert {"string", "value"} == {edge.label for edge in graph.edges if edge.kind != READS}


def run(tables: NetworkTables, state: int, text: bytes) -> Iterator[int]:
    """The states after each byte."""
    for octet in text:
        state = tables.rows[state][octet]
        yield state


def test_a_graph_leaves_out_what_is_far_and_says_how_much(tables: NetworkTables) -> None:
    """Those nearest to the start are drawn."""
    whole, small = graph_of(tables), graph_of(tables, most=10)

    assert 0 == whole.left_out
    assert 10 == len(small.nodes)
    assert tables.states - 1 - len(states(small)) == small.left_out
    assert states(small) <= states(whole)
    assert any(edge.label == "…" for edge in small.edges)


def test_a_graph_has_no_more_edges_than_are_drawn(
    tables: NetworkTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a count, so that it is the same on each machine; fewer states are drawn instead."""
    monkeypatch.setattr("constrain.cli.page.graph.MOST_EDGES", 30)
    found = graph_of(tables)

    assert 0 < len(found.edges) <= 30
    assert found.left_out > 0


def states(graph: Graph) -> set[int]:
    """All that are drawn."""
    return {*graph.nodes, *(state for edge in graph.edges for state in edge.via)}
