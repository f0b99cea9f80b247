"""Walks of the token trie follow what they meet once, however often it can be met."""

import numpy as np

from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.compiler import CompileOptions, Tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.canonical_network.sections import merge
from constrain.compiler.options import request_of
from constrain.compiler.pipeline import build_engine

# Letters in brackets, of which any number may be joined: a token of letters ends chains anywhere.
CHAINS = """
root ::= group+
group ::= ([a-z] ([a-z] | "-")* | "(" root ")")+
"""


def test_sets_of_nodes_hold_each_node_once(default_tokenizer: Tokenizer) -> None:
    """Where a set has a node and another below it, what both lead to is not counted twice: sets
    with repetitions grow with the number of ways to read a token."""
    engine = build_engine(CHAINS, dialect="gbnf")
    request = request_of(default_tokenizer, CompileOptions())
    found = merge(engine.grammar, engine.network, request, TokenizerTables(default_tokenizer))
    network: PretokenizedNetwork = found.network
    walks, contexts = network.walks, network.contexts
    below: list[int] = []
    for pair in range(1, len(contexts.states)):
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        walk = walks.walk(0, state, pre_state, 0)
        below += [nodes for _, nodes, _ in walk.suspended if nodes]
    assert below
    for nodes in sorted(set(below))[:20]:
        for pair in range(1, len(contexts.states), 5):
            state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
            walk = walks.walk(nodes, state, pre_state, 0)
            for group in walk.groups:
                assert (np.diff(group.ids) > 0).all()
            for _, left, _ in walk.suspended:
                assert (np.diff(walks.node_set(left)) > 0).all()
