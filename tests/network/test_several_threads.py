"""Rows of several threads at once: the union of theirs, as far as these are precomputed."""

import random

import pytest
from support.grammars import MARKUP, nullable_lnf_of
from support.maximal_munch import vocabulary_of

from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.machine import NetworkMasks
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler.limits import Limits
from constrain.compiler.network.build import network
from constrain.compiler.network.precompute import prewarm, prewarm_chains

# The white space may belong to the list, or to what is in it.
LISTS = (
    "start ::= w list; list ::= '[' w (item (',' item)*)? ']' w; "
    "item ::= w (list | 'x' w); w ::= #'[ ]*';"
)


@pytest.mark.parametrize("text", [LISTS, MARKUP], ids=["lists", "markup"])
def test_rows_of_several_threads_are_what_the_definition_allows(text: str) -> None:
    """Along random members, precomputed or not: the tokens whose bytes can be read, and EOS where
    the text may end."""
    tokens = [bytes([octet]) for octet in sorted(set(b"[]x, <>/=ab\"'"))]
    tokens += [b"[ ", b"[[", b" ]", b"]]", b", ", b"x]", b"</", b"/>", b"><", b"x ]", b"  "]
    tables, vocabulary = network(nullable_lnf_of(text)), vocabulary_of(tokens)
    trie, size, limits = Trie.from_vocabulary(vocabulary), len(tokens) + 1, Limits().started()
    ahead = Summaries(tables, lambda: trie, size)
    assert prewarm(tables, ahead, 10_000, 1 << 30, limits)
    chains, complete = prewarm_chains(tables, ahead, 1 << 20, limits)
    assert complete
    rest = vocabulary, [len(tokens)], size
    masks = NetworkMasks(tables, lambda: trie, *rest, memo=ahead.memo(), chains=chains)
    plain = NetworkMasks(tables, lambda: trie, *rest)
    rng = random.Random(5)
    several = 0
    for _ in range(80):
        state, other = masks.start, plain.start
        for _ in range(20):
            read = [masks.network.read(state, token) for token in tokens]
            expected = [i for i, target in enumerate(read) if target != REFUSED]
            ends = [len(tokens)] if masks.is_accepting(state) else []
            row = masks.row(state)
            assert [i for i in range(size) if int(row[0]) >> i & 1] == expected + ends
            assert row.tolist() == plain.row(other).tolist()
            several += len(masks.network.threads[state]) > 1
            if not expected:
                break
            token_id = rng.choice(expected)
            state, other = masks.step(state, token_id), plain.step(other, token_id)
    assert several > 20
