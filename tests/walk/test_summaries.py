"""Both forms of the walk find what tokens make of a call, whatever it is on top of."""

import random
from functools import partial

import numpy as np
import pytest
from support import sampled
from support.grammars import random_grammars
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk.summaries import Summaries


def random_trie(rng: random.Random) -> Trie:
    """Tokens over a, b and c, most of which begin others."""
    texts = {bytes(rng.choices(b"abc", k=rng.randint(1, 7))) for _ in range(60)}
    begun = {text[:end] for text in texts for end in range(1, len(text)) if rng.random() < 0.5}
    return Trie.from_vocabulary(vocabulary_of(sorted(texts | begun)))


def by_definition(
    network: Network, trie: Trie, nodes: list[int], state: int
) -> tuple[set[int], set[int]]:
    """The tokens that are read below nodes, and the nodes with children where the call may end."""
    unseen = network.stacks.unknown(0)
    tokens, left = set[int](), set[int]()
    pending = [(node, {state: unseen}) for node in nodes]
    for node, threads in pending:
        children = range(int(trie.first[node]), int(trie.first[node + 1]))
        for child in children:
            read = network._read(threads, int(trie.octets[child]))
            if read:
                tokens.update(trie.ids[trie.held[child] : trie.held[child + 1]].tolist())
                pending.append((child, read))
        unfolded = network.unfolded(threads.items())
        ended = [stack for each, stack in unfolded if network.tables.ends[each]]
        if children and any(-1 in dict(network.stacks.entries[stack]) for stack in ended):
            left.add(node)
    return tokens, left


@pytest.mark.quick
@sampled("seed", range(4), range(100))
def test_of_random_networks(seed: int, form: str) -> None:
    """Rows are those of the definition; what is left is, but for nodes below which all fits."""
    rng = random.Random(seed)
    compared = 0
    for text, _ in random_grammars(6 if form == "compiled" else 3, 31 + seed):
        tables, trie = minimal_tables(text), random_trie(rng)
        network = Network(tables)
        summaries = Summaries(TableStates(tables), partial(_same, trie), len(trie.ids))
        inner = np.flatnonzero(np.diff(trie.first)).tolist()
        for _ in range(4):
            nodes = sorted(rng.sample(inner, rng.randint(1, len(inner))))
            number = summaries.sets.number(np.array(nodes, dtype=np.int32))
            for state in range(1, tables.states):
                row, after = summaries.summary(number, state)
                tokens, left = by_definition(network, trie, nodes, state)
                assert tokens == set(tokenset.to_ids(summaries.rows[row]).tolist()), text
                found = set(summaries.sets[after].tolist())
                assert found <= left, text
                for node in left - found:
                    assert below(trie, node) <= tokens, text
                compared += len(left)
    assert compared > 50


def _same(trie: Trie) -> Trie:
    return trie


def below(trie: Trie, node: int) -> set[int]:
    """The tokens below a node."""
    found, pending = set[int](), [node]
    for upper in pending:
        for child in range(int(trie.first[upper]), int(trie.first[upper + 1])):
            found.update(trie.ids[trie.held[child] : trie.held[child + 1]].tolist())
            pending.append(child)
    return found
