"""Walks from sets of suspended nodes, against one that follows each node and state by itself."""

import random

import numpy as np
import pytest
from support.grammars import random_grammars
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.network import summary_walk as module
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.summary_walk import SummaryWalk
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.memo import CacheBudget
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network.precompute import precompute_summaries


def random_trie(rng: random.Random) -> Trie:
    """Tokens over a, b and c, most of which begin others."""
    texts = {bytes(rng.choices(b"abc", k=rng.randint(1, 7))) for _ in range(60)}
    begun = {text[:end] for text in texts for end in range(1, len(text)) if rng.random() < 0.5}
    return Trie.from_vocabulary(vocabulary_of(sorted(texts | begun)))


def walked_via_pairs(
    tables: NetworkTables, trie: Trie, nodes: list[int], state: int
) -> tuple[set[int], dict[int, list[int]]]:
    """The tokens that are met, and the nodes by state where calls begin or end."""
    met = [(node, state) for node in nodes]
    tokens: set[int] = set()
    for node, current in met:
        for child in range(int(trie.first[node]), int(trie.first[node + 1])):
            target = int(tables.table[current, tables.classes[trie.octets[child]]])
            if target != DEAD:
                tokens.update(trie.ids[trie.held[child] : trie.held[child + 1]].tolist())
                if (child, target) not in met:
                    met.append((child, target))
    stopped: dict[int, set[int]] = {}
    for node, current in met:
        if trie.first[node] < trie.first[node + 1] and (
            tables.accepting[current] or tables.calls[current]
        ):
            stopped.setdefault(current, set()).add(node)
    return tokens, {current: sorted(nodes) for current, nodes in sorted(stopped.items())}


@pytest.mark.parametrize(("large", "cached"), [(256, 1 << 26), (1, 1 << 26), (1, 600)])
def test_walks_follow_each_node_and_state(
    monkeypatch: pytest.MonkeyPatch, full: bool, large: int, cached: int
) -> None:
    """Sets that hold nodes below others, grouped by column or not, cached or not."""
    monkeypatch.setattr(module, "_LARGE", large)
    # Beyond it the start is known to end nothing.
    monkeypatch.setattr(module, "_MANY", 1 << 40)
    rng = random.Random(23)
    stops = 0
    for text, _ in random_grammars(120 if full else 12, seed=31):
        tables, trie = minimal_tables(text), random_trie(rng)
        walk = SummaryWalk(tables, trie, len(trie.ids), CacheBudget(cached))
        inner = np.flatnonzero(np.diff(trie.first)).tolist()
        for number in range(4):
            if number == 3:
                walk.forget()
            nodes = sorted(rng.sample(inner, rng.randint(1, len(inner))))
            for state in range(1, tables.states):
                found = walk.walk(number % 3, np.array(nodes, dtype=np.int32), state)
                tokens, stopped = walked_via_pairs(tables, trie, nodes, state)
                assert tokens == set(tokenset.to_ids(found.row).tolist()), text
                assert stopped == {s: at.tolist() for s, at in found.stopped}, text
                assert list(stopped) == [s for s, _ in found.stopped]
                stops += len(stopped)
    assert stops > 1000


def test_walks_of_few_nodes_inside_a_call_are_walks(full: bool) -> None:
    """As inside words: the same tokens, and nothing where a call may begin or end."""
    rng = random.Random(11)
    found = 0
    for _ in range(40 if full else 5):
        words = sorted({"".join(rng.choices("abc", k=rng.randint(2, 6))) for _ in range(8)})
        text = f"start ::= '(' start ')' | {' | '.join(map(repr, words))} | 'a' #'[abc]*' 'c';"
        tables, trie = minimal_tables(text), random_trie(rng)
        walk = SummaryWalk(tables, trie, len(trie.ids))
        inner = np.flatnonzero(np.diff(trie.first)).tolist()
        for number in range(2, 6):
            nodes = np.array(sorted(rng.sample(inner, rng.choice([1, 3, 9]))), dtype=np.int32)
            for state in range(1, tables.states):
                met = walk.inside(number, nodes, state)
                if met is not None:
                    whole = walk.walk(number, nodes, state)
                    assert not whole.stopped
                    assert walk.row_of(met).tolist() == whole.row.tolist()
                    found += bool(met)
    assert found > (400 if full else 50)


def test_sets_hold_each_node_once(
    monkeypatch: pytest.MonkeyPatch, default_tokenizer: Tokenizer
) -> None:
    """Where a text may end behind any of its characters, nodes below others end it, too."""
    text = "start ::= '(' c start ')' | 'x'; c ::= #'(/[a-z]*)?';"
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    tables = minimal_tables(text)
    found = []
    for large in (256, 1 << 30):
        monkeypatch.setattr(module, "_LARGE", large)
        whole = Summaries(tables, lambda: trie, default_tokenizer.vocab_size)
        assert precompute_summaries(tables, whole, 10_000, 1 << 30, Effort(Limits().started(), ()))
        found.append(whole.tables())
    for one, other in zip(*(given.arrays().values() for given in found), strict=True):
        assert np.array_equal(one, other)
    sets = [whole.sets[number] for number in range(len(whole.sets))]
    assert max(map(len, sets)) > 256
    for nodes in sets:
        assert (np.diff(nodes) > 0).all()
