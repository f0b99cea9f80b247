"""The worked example of ``compiler/network/README.md``, step by step."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support import ROOT
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.summaries import Summaries
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network.dump import network_text
from constrain.compiler.network.precompute import precompute_summaries

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
    ("x", 4): ("", "x]"),
    ("x]", 4): ("x]]", ""),
}


@pytest.fixture(scope="module")
def tables() -> NetworkTables:
    """The network of the example."""
    return minimal_tables("start ::= '[' start? ']' | 'x';")


@pytest.fixture(scope="module")
def precomputed(tables: NetworkTables) -> Summaries:
    """All summaries."""
    summaries = Summaries(TableStates(tables), lambda: TRIE, len(TOKENS) + 1)
    effort = Effort(Limits().started(), ())
    assert precompute_summaries(tables, summaries, 100, 1 << 20, effort)
    return summaries


def tokens_of(row: Words) -> str:
    """The tokens of a row, EOS left out."""
    return " ".join(TOKENS[i] for i in tokenset.to_ids(row).tolist() if i < len(TOKENS))


def test_the_network(tables: NetworkTables) -> None:
    """As the README prints it."""
    readme = (ROOT / "compiler/network/README.md").read_text(encoding="utf-8")
    printed = network_text(tables)
    assert printed in readme.replace("\n    ", "\n").replace("    network:", "network:")


def test_the_summaries(precomputed: Summaries) -> None:
    """All that any stack needs, and no other."""
    summaries = precomputed

    def nodes(number: int) -> str:
        return " ".join(NODES[node] for node in summaries.sets[number].tolist())

    found = {
        (nodes(suspended), state): (tokens_of(summaries.rows[row]), nodes(left))
        for (suspended, state), (row, left) in summaries.found.items()
    }
    assert SUMMARIES == found


@pytest.mark.parametrize(("text", "mask"), [("[[", "[ ] x [[ x]]"), ("[", "[ ] x [[")])
def test_the_masks(tables: NetworkTables, text: str, mask: str) -> None:
    """After one bracket and after two."""
    machine = MetMasks(
        TableStates(tables), lambda: TRIE, VOCABULARY, [len(TOKENS)], len(TOKENS) + 1
    )
    state = machine.network.read(machine.start, text.encode())
    assert mask == tokens_of(machine.row(state))


def test_a_step(tables: NetworkTables) -> None:
    """After two brackets the token that closes both leads to state 3 over the empty stack."""
    machine = MetMasks(TableStates(tables), lambda: TRIE, VOCABULARY, [5], len(TOKENS) + 1)
    state = machine.step(machine.step(machine.start, 0), 0)
    assert ((2, machine.network.stacks.push(4, 0)),) == machine.network.threads[state]
    assert ((3, 0),) == machine.network.threads[machine.step(state, 4)]
