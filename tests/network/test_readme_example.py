"""The worked example of ``compiler/network/README.md``, step by step."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support import ROOT
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.network.machine import NetworkMasks
from constrain.artifacts.network.mask_automaton import MaskAutomaton
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network.dump import network_text
from constrain.compiler.network.precompute import precompute_mask_automaton, precompute_summaries
from constrain.compiler.network.token_effects import token_effects

TOKENS = ["[", "]", "x", "[[", "x]]"]
VOCABULARY = vocabulary_of([token.encode() for token in TOKENS])
TRIE = Trie.from_vocabulary(VOCABULARY)

# The nodes of the trie, level by level.
NODES = ["·", "[", "]", "x", "[[", "x]", "x]]"]

SUMMARIES = {
    ("·", 1): ("[ x [[", "x"),
    ("·", 2): ("[ ] x [[", "x]"),
    ("·", 3): ("", "·"),
    ("·", 4): ("]", ""),
    ("[", 1): ("[[", ""),
    ("x", 4): ("", "x]"),
    ("x]", 4): ("x]]", ""),
}


@pytest.fixture(scope="module")
def tables() -> NetworkTables:
    """The network of the example."""
    return minimal_tables("start ::= '[' start? ']' | 'x';")


@pytest.fixture(scope="module")
def precomputed(tables: NetworkTables) -> tuple[Summaries, MaskAutomaton]:
    """All summaries, and the mask automaton."""
    effort = Effort(Limits().started(), ())
    summaries = Summaries(tables, lambda: TRIE, len(TOKENS) + 1)
    assert precompute_summaries(tables, summaries, 100, 1 << 20, effort)
    automaton, complete = precompute_mask_automaton(tables, summaries, 1 << 20, effort)
    assert complete
    return summaries, automaton


@pytest.fixture(scope="module")
def effects(tables: NetworkTables) -> TokenEffects:
    """The effects of all tokens."""
    return token_effects(tables, VOCABULARY, (), 1 << 20, Effort(Limits().started(), ()))


def tokens_of(row: Words) -> str:
    """The tokens of a row, EOS left out."""
    return " ".join(TOKENS[i] for i in tokenset.to_ids(row).tolist() if i < len(TOKENS))


def test_the_network(tables: NetworkTables) -> None:
    """As the README prints it."""
    readme = (ROOT / "compiler/network/README.md").read_text(encoding="utf-8")
    printed = network_text(tables)
    assert printed in readme.replace("\n    ", "\n").replace("    network:", "network:")


def test_the_summaries(precomputed: tuple[Summaries, MaskAutomaton]) -> None:
    """All that any stack needs, and no other."""
    summaries, _ = precomputed

    def nodes(number: int) -> str:
        return " ".join(NODES[node] for node in summaries.sets[number].tolist())

    found = {
        (nodes(suspended), state): (tokens_of(summaries.rows[row]), nodes(left))
        for (suspended, state), (row, left) in summaries.known().items()
    }
    assert SUMMARIES == found


def test_the_mask_automaton(precomputed: tuple[Summaries, MaskAutomaton]) -> None:
    """From state 2 over frame 4, or over nothing."""
    summaries, automaton = precomputed
    begin = automaton.initial[2]
    end, below = automaton.transitions[begin].tolist()
    rows = [tokens_of(summaries.rows[automaton.outputs[i, 0]]) for i in (begin, below, end)]
    assert ["[ ] x [[", "[ ] x [[ x]]", "[ ] x [["] == rows
    assert [True, False, False] == [bool(automaton.outputs[i, 1]) for i in (begin, below, end)]


@pytest.mark.parametrize(("text", "mask"), [("[[", "[ ] x [[ x]]"), ("[", "[ ] x [[")])
def test_the_masks(tables: NetworkTables, text: str, mask: str) -> None:
    """Behind one bracket and behind two."""
    machine = NetworkMasks(tables, lambda: TRIE, VOCABULARY, [len(TOKENS)], len(TOKENS) + 1)
    state = machine.network.read(machine.start, text.encode())
    assert mask == tokens_of(machine.row(state))


@pytest.mark.parametrize(
    ("token", "column"),
    [
        ("]", ["", "3", "rest 0", "3"]),
        ("x]]", ["rest 1", "rest 0", "", ""]),
        ("[[", ["-4 2", "-4 -4 2", "", ""]),
    ],
)
def test_the_effects(
    tables: NetworkTables, effects: TokenEffects, token: str, column: list[str]
) -> None:
    """In states 1 to 4; rest 0 is one bracket, rest 1 two."""
    own = tables.states + len(effects.rests)

    def read(effect: int) -> str:
        if effect >= own:
            begin, end = effects.code_offsets[effect - own : effect - own + 2]
            return " ".join(map(str, effects.codes[begin:end].tolist()))
        return f"rest {effect - tables.states}" if effect >= tables.states else str(effect or "")

    number = effects.classes[TOKENS.index(token)]
    assert column == [read(effect) for effect in effects.table[1:, number].tolist()]
    assert [["3"], ["rest 0"]] == [[read(e) for e in rest] for rest in effects.rests.tolist()]


def test_a_step(tables: NetworkTables, effects: TokenEffects) -> None:
    """After two brackets the token that closes both leads to state 3 over the empty stack."""
    machine = NetworkMasks(tables, lambda: TRIE, VOCABULARY, [5], len(TOKENS) + 1, effects=effects)
    state = machine.step(machine.step(machine.start, 0), 0)
    assert ((2, machine.network.stacks.push(4, 0)),) == machine.network.threads[state]
    assert ((3, 0),) == machine.network.threads[machine.step(state, 4)]
