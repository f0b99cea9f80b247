"""What drawings leave out: states inside characters and texts, nothing that a text could tell."""

import random

import pytest
from support import EXAMPLES
from support.automata import build_automaton
from support.drawing import DATE, language_of, shown_edges

from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler.automata.compare import are_equal
from constrain.compiler.automata.nfa import Arc, Nfa
from constrain.compiler.drawing import View, draw_dfa, draw_nfa
from constrain.compiler.drawing.collapse import collapsed
from constrain.compiler.drawing.dfa import dfa_graph
from constrain.compiler.drawing.graph import Graph, Reads
from constrain.compiler.drawing.labels import reads_label
from constrain.compiler.drawing.network import network_graph
from constrain.compiler.drawing.nfa import nfa_graph
from constrain.compiler.frontend import Parser
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

pytestmark = pytest.mark.quick

PATTERNS = (
    "<tool_call>|<think>",
    '"([^"\\\\\\x00-\\x1f]|\\\\.)*"',
    "[à-ÿ]+é|[^a]|€uro",
    "[\\u0370-\\u03FF]x|[^\\u0370-\\u03FF]y",
    "(true|false|null)(, (true|false|null))*",
)

# Paths of bytes: characters, texts, and no UTF-8 (overlong, surrogates, too large, halves).
_ANY = (0x80, 0xBF)
_PATHS = (
    ((0x61, 0x61), (0x62, 0x62), (0x63, 0x63)),
    ((0x61, 0x7A),),
    ((0xC3, 0xC3), (0xA9, 0xA9)),
    ((0xC2, 0xDF), _ANY),
    ((0xE1, 0xEC), _ANY, _ANY),
    ((0xE0, 0xE0), (0xA0, 0xBF), _ANY),
    ((0xF0, 0xF0), (0x90, 0xBF), _ANY, _ANY),
    ((0xE0, 0xE0), _ANY, _ANY),
    ((0xED, 0xED), _ANY, _ANY),
    ((0xF4, 0xF4), (0x90, 0xBF), _ANY, _ANY),
    ((0xC0, 0xDF), _ANY),
    ((0xE1, 0xE1), _ANY),
    ((0x00, 0xFF),),
)


def random_graph(source: random.Random) -> Graph:
    """A few states with such paths between them, which share states now and then."""
    arcs: list[list[Arc]] = [[] for _ in range(source.randrange(2, 5))]
    outer = len(arcs)
    for _ in range(source.randrange(1, 8)):
        state, *path = source.randrange(outer), *source.choice(_PATHS)
        for i, ranges in enumerate(path):
            target = source.randrange(outer)
            if i < len(path) - 1:
                arcs.append([])
                is_shared = source.random() < 0.1
                target = source.randrange(len(arcs)) if is_shared else len(arcs) - 1
            arcs[state].append(Arc(*ranges, target, frozenset()))
            state = target
    epsilon = [[source.randrange(outer)] * (source.random() < 0.05) for _ in arcs]
    return nfa_graph(Nfa(arcs, epsilon, 0, frozenset([source.randrange(outer)])))


def require_equal(graph: Graph) -> None:
    """The edges that are drawn, expanded again, read what the automaton reads, rule by rule."""
    drawn = collapsed(graph)
    symbols: dict[str, int] = {}
    assert set(drawn.order) <= set(graph.order)
    for entry in drawn.parts:
        before, after = (language_of(g, entry, symbols) for g in (graph, drawn))
        assert are_equal(before, after)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_drawn_edges_read_what_the_automaton_reads(pattern: str) -> None:
    """Of DFAs and NFAs with classes of any characters, and with literal texts."""
    automaton = build_automaton(pattern, dialect="regex")
    for graph in (dfa_graph(automaton.dfa.tables()), nfa_graph(automaton.nfa)):
        require_equal(graph)
        assert len(collapsed(graph).order) < len(graph.order)


def network_of(name: str, dialect: str) -> NetworkTables:
    """The network of an example."""
    options = CompileOptions(dialect=dialect, parser="network", tokenization="any")
    found = build_engine((EXAMPLES / name).read_text(), options, name=name)
    assert isinstance(found, Parser)
    assert found.network is not None
    return found.network


@pytest.mark.parametrize(
    ("name", "dialect"), [("tool_call.schema.json", "json-schema"), ("json.ebnf", "kbnf")]
)
def test_drawn_edges_of_networks_read_what_their_rules_read(name: str, dialect: str) -> None:
    """Calls are symbols: each rule reads what it read."""
    require_equal(network_graph(network_of(name, dialect)))


def test_drawn_edges_of_any_bytes_read_what_the_automaton_reads(full: bool) -> None:
    """Of random automata whose bytes are seldom UTF-8: overlong forms, surrogates, half characters,
    states that are shared between characters and other texts."""
    source = random.Random(1)
    merged = 0
    for _ in range(3_000 if full else 90):
        graph = random_graph(source)
        require_equal(graph)
        merged += len(collapsed(graph).order) < len(graph.order)
    assert merged > (1_000 if full else 50)


def test_a_literal_is_one_edge() -> None:
    """In the DFA and in the NFA; --bytes has every state."""
    automaton = build_automaton('s ::= "<tool_call>" #"[0-9]+";', dialect="kbnf")
    drawn = draw_dfa(automaton.dfa.tables(), View("t"))
    assert shown_edges(drawn)["s1", "s2"] == "&quot;&lt;tool_call&gt;&quot;"
    assert (
        "&quot;&lt;tool_call&gt;&quot;" in shown_edges(draw_nfa(automaton.nfa, View("t"))).values()
    )
    whole = draw_dfa(automaton.dfa.tables(), View("t", by_bytes=True))
    assert shown_edges(whole)["s1", "s2"] == "&lt;"
    assert len(shown_edges(whole)) == 14


def test_any_other_character_is_one_edge() -> None:
    """And says what it leaves out, where no other edge reads that."""
    drawn = shown_edges(
        draw_dfa(build_automaton('"[^"]*"', dialect="regex").dfa.tables(), View("t"))
    )
    assert drawn["s2", "s2"].split("<br/>") == ["any", "other", "character"]
    quotes, rest = Reads(((34, 34),)), Reads(((32, 33), (35, 127)), ((128, 0x10FFFF),))
    label = reads_label(rest, [quotes], whole=True).text
    assert " ".join(label.split()) == "any other character but \\x00–\\x1F"
    assert " ".join(reads_label(rest, whole=True).text.split()) == 'any character but \\x00–\\x1F "'
    every = Reads(((0, 127),), ((128, 0xD7FF), (0xE000, 0x10FFFF)))
    assert reads_label(every, whole=True).text == "any character"


def test_states_are_numbered_in_reading_order() -> None:
    """Breadth first from the start, without gaps; a network's rule by rule."""
    graph = collapsed(dfa_graph(build_automaton(DATE, dialect="kbnf").dfa.tables()))
    met = [graph.start]
    for state in met:
        met += [target for target in graph.targets(state) if target not in met]
    assert [graph.number[state] for state in met] == list(range(1, len(met) + 1))
    network = collapsed(network_graph(network_of("json.ebnf", "kbnf")))
    firsts = [network.number[entry] for entry in network.parts]
    assert firsts == sorted(firsts)
    assert len(firsts) > 1
