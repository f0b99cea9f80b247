"""--prefix: the way that a text takes through each drawing, against running the automaton."""

import random
import re
from itertools import zip_longest

import pytest
from support import EXAMPLES
from support.automata import build_automaton
from support.cli import DATE, Cli
from support.drawing import DATE as DATE_TEXT

from constrain.artifacts import Artifact
from constrain.compiler import Tokenizer
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.drawing.collapse import collapsed
from constrain.compiler.drawing.dfa import dfa_graph
from constrain.compiler.drawing.matrix import Classes, draw_matrix, matrix_of
from constrain.compiler.drawing.network import network_graph
from constrain.compiler.drawing.nfa import nfa_graph
from constrain.compiler.drawing.picture import GREY, WAY, Size
from constrain.compiler.drawing.way import way_of
from constrain.compiler.frontend import Parser
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine

TEXTS = (
    b"",
    b"true",
    b"tr",
    b'{"a": [1, "\xc3\xa9\\u00e9"]}',
    b'{"a": [1, "\xc3',
    b"[[[]",
    b"[1,,",
)
PATTERNS = ("(true|false|null|nil)+x", "[^a]*é[à-ÿ]?|€+", "<tool_call>(a|b)*</tool_call>")
PIECES = (
    b"tr",
    b"true",
    b"nil",
    b"null",
    b"x",
    "é".encode(),
    b"\xc3",
    "€".encode(),
    b"<tool",
    b"a",
)


def states_on_runs(nfa: Nfa, text: bytes) -> tuple[int, set[int]]:
    """How far some run reads, and the states of all runs that read so far: forwards, backwards."""
    layers = [closed(nfa, {nfa.start})]
    for octet in text:
        reached = {
            arc.target for q in layers[-1] for arc in nfa.arcs[q] if arc.low <= octet <= arc.high
        }
        if not reached:
            break
        layers.append(closed(nfa, reached))
    alive = layers[-1]
    found = set(alive)
    for octet, layer in zip(reversed(text[: len(layers) - 1]), reversed(layers[:-1]), strict=True):
        alive = {
            q
            for q in layer
            if any(
                arc.target in alive and arc.low <= octet <= arc.high
                for p in closed(nfa, {q}) & layer
                for arc in nfa.arcs[p]
            )
        }
        found |= alive
    return len(layers) - 1, found


def closed(nfa: Nfa, states: set[int]) -> set[int]:
    """With all that ε leads to."""
    pending = list(states)
    for state in pending:
        pending += [target for target in nfa.epsilon[state] if target not in pending]
    return set(pending)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_way_has_the_states_of_all_runs(pattern: str, full: bool) -> None:
    """Of an NFA all that survive, of a DFA the one; texts end inside of characters and words."""
    automaton = build_automaton(pattern, dialect="regex")
    source = random.Random(2)
    for _ in range(60 if full else 20):
        text = b"".join(source.choice(PIECES) for _ in range(source.randrange(5)))
        read, states = states_on_runs(automaton.nfa, text)
        raw = way_of(nfa_graph(automaton.nfa), text)
        assert (raw.read, set(raw.states)) == (read, states)
        drawn = collapsed(nfa_graph(automaton.nfa))
        way = way_of(drawn, text)
        assert way.read == read
        assert set(way.states) >= states & set(drawn.order)
        dfa = automaton.dfa.tables()
        whole = collapsed(dfa_graph(dfa))
        passed = {dfa.run(dfa.start, text[:i]) for i in range(read + 1)}
        assert set(way_of(whole, text).states) == passed & set(whole.order)
        assert way_of(whole, text).read == read


@pytest.mark.parametrize("text", TEXTS)
def test_the_way_through_a_network_reads_what_the_grammar_reads(text: bytes) -> None:
    """As far as Earley's recogniser reads, and with the states of the rules that are open."""
    options = CompileOptions(dialect="kbnf", parser="network", tokenization="any")
    found = build_engine((EXAMPLES / "json.ebnf").read_text(), options, name="json.ebnf")
    assert isinstance(found, Parser)
    assert found.network is not None
    graph = network_graph(found.network)
    read = found.recogniser().feed(text)
    for drawn in (graph, collapsed(graph)):
        way = way_of(drawn, text)
        assert way.read == read
        assert (way.sentence is None) == (read == len(text))
        assert graph.start in way.states


@pytest.mark.parametrize(
    ("text", "read"),
    [("{", 1), ('{"a" : [1, tr', 13), ("[1 2", 3), ("tru3", 3), (" ", 1), ("[1]]", 3)],
)
def test_the_way_of_terminals_stops_where_maximal_munch_does(
    text: str, read: int, cli: Cli
) -> None:
    """The lexer reads what the parser allows; white space stands between them."""
    path = str(EXAMPLES / "json.lark")
    done = cli("viz", path, "--stage", "parser", "--prefix", text)
    assert done.code == 0, done.err
    said = f"it&#160;stops&#160;at&#160;byte&#160;{read}&#160;of"
    assert (said.encode() in done.out) == (read < len(text))
    assert (b"stops&#160;at" in done.out) == (read < len(text))
    assert WAY.encode() in done.out


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens", "tokenizer", "rules", "parser", "lexer"])
def test_every_stage_draws_the_way_of_a_text(stage: str, cli: Cli) -> None:
    """In its colour, and says whose it is; a text that stops is said to."""
    done = cli("viz", DATE, "--stage", stage, "--prefix", "2024-0")
    assert done.code == 0, done.err
    assert WAY.encode() in done.out or b"#f6c9a8" in done.out
    assert cli("viz", DATE, "--stage", stage, "--prefix", "2024-0").out == done.out
    if stage in ("nfa", "dfa", "parser"):
        assert GREY.encode() in done.out
        wrong = cli("viz", DATE, "--stage", stage, "--prefix", "20x4")
        assert b"it&#160;stops&#160;at&#160;byte&#160;2&#160;of&#160;4" in wrong.out


def test_a_matrix_says_which_token_may_follow_which(
    default_tokenizer: Tokenizer, compiled_date: Artifact
) -> None:
    """Every pair of tokens, as the merges have it."""
    pairs = compiled_date.runtime.forbidden_pairs  # type: ignore[attr-defined]
    classes = Classes.of(compiled_date, pairs)
    matrix = matrix_of(classes, range(classes.states))
    column_of = {int(t): i for i, tokens in enumerate(matrix.columns) for t in tokens}
    ids = classes.ids.tolist()
    assert sorted(column_of) == ids
    forbidden = pairs.forbidden(ids, ids)
    for i, last in enumerate(ids):
        (_, state) = classes.way([last])
        may = [bool(matrix.may[state, column_of[following]]) for following in ids]
        assert may == (~forbidden[i]).tolist()
    assert matrix.may[0].all()


def test_all_columns_of_a_matrix_are_named_below_it(compiled_date: Artifact) -> None:
    """In three lists, one below the other in each, whatever their number is."""
    pairs = compiled_date.runtime.forbidden_pairs  # type: ignore[attr-defined]
    classes = Classes.of(compiled_date, pairs)
    for states in range(1, min(classes.states, 9) + 1):
        drawn = draw_matrix(classes, "h", Size(states, fits=False)).dot.replace("&#160;", " ")
        _, below = drawn.split("next tokens, by column:")
        rows = [re.findall(r">( *\d+)  ", row) for row in below.split("<tr>")]
        lists = [[int(n) for n in column if n] for column in zip_longest(*filter(None, rows))]
        columns = len(matrix_of(classes, range(states)).columns)
        assert [*range(1, columns + 1)] == [n for column in lists for n in column]
        assert all(len(column) == len(lists[0]) for column in lists[:-1])


@pytest.fixture(scope="module")
def compiled_date(default_tokenizer: Tokenizer) -> Artifact:
    """The date grammar for the default tokenizer."""
    from support import compiled

    return compiled(DATE_TEXT, default_tokenizer)
