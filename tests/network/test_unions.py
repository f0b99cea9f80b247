"""Rows of two threads at once, which are united ahead."""

import random

import numpy as np
import pytest
from support.grammars import JSON, MARKUP, STATEMENTS, nullable_lnf_of, random_grammars
from support.maximal_munch import vocabulary_of

from constrain.artifacts.network.configurations import BOTTOM, REFUSED, Network
from constrain.artifacts.network.machine import NetworkMasks
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler.limits import Limits
from constrain.compiler.network import precompute_unions as module
from constrain.compiler.network.build import network
from constrain.compiler.network.precompute import prewarm, prewarm_chains
from constrain.compiler.network.precompute_unions import prewarm_pairs, thread_sets

# The white space may belong to the list, or to what is in it.
LISTS = (
    "start ::= w list; list ::= '[' w (item (',' item)*)? ']' w; "
    "item ::= w (list | 'x' w); w ::= #'[ ]*';"
)


def stack_of(found: Network, node: int) -> tuple[int, ...] | None:
    """The frames of a single stack, the top first; None for several."""
    frames = []
    while node != BOTTOM:
        if len(found.stacks.entries[node]) > 1:
            return None
        [(frame, node)] = found.stacks.entries[node]
        frames.append(frame)
    return tuple(frames)


def is_instance(threads: dict[int, tuple[int, ...]], found: list[module._Threads]) -> bool:
    """Whether threads are one of the sets, over some stack that is the same for all."""
    for wanted in found:
        if len(wanted) == len(threads) and {state for state, _ in wanted} == threads.keys():
            rests = {
                threads[state][len(known) :] if threads[state][: len(known)] == known else None
                for state, known in wanted
            }
            if len(rests) == 1 and None not in rests:
                return True
    return False


def test_sets_of_threads_are_those_of_texts(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever two threads random texts lead to, one of the sets is theirs where all are told."""
    monkeypatch.setattr(module, "_SETS", 1 << 16)
    rng = random.Random(43)
    texts = [LISTS, JSON, MARKUP, STATEMENTS]
    texts += [text for text, _ in random_grammars(200 if full else 40, seed=47)]
    several = 0
    for text in texts:
        tables = network(nullable_lnf_of(text))
        found = Network(tables)
        limits = Limits().started()
        sets = [threads for threads, _ in thread_sets(tables, limits) if len(threads) == 2]
        live = [octet for octet in range(256) if (tables.table[:, tables.classes[octet]]).any()]
        for _ in range(12):
            state = found.start
            alone = len(found.threads[state]) == 1
            for _ in range(12):
                after = [found.read(state, bytes([octet])) for octet in live]
                after = [target for target in after if target != REFUSED]
                if not after:
                    break
                state = rng.choice(after)
                stacks = {p: stack_of(found, node) for p, node in found.threads[state]}
                single = {p: stack for p, stack in stacks.items() if stack is not None}
                # Sets of stacks, which may come of several threads in one state, are not told.
                if len(single) < len(stacks):
                    break
                alone |= len(single) == 1
                if len(single) == 2 and alone and max(map(len, single.values())) <= 4:
                    assert is_instance(single, sets), (text, single)
                    several += 1
    assert several > 50


@pytest.mark.parametrize("text", [LISTS, MARKUP], ids=["lists", "markup"])
def test_rows_of_two_threads_are_united_ahead(text: str) -> None:
    """Along random members two threads add no row, and all rows are those without a memo."""
    tokens = [bytes([octet]) for octet in sorted(set(b"[]x, <>/=ab\"'"))]
    tokens += [b"[ ", b"[[", b" ]", b"]]", b", ", b"x]", b"</", b"/>", b"><", b"x ]", b"  "]
    tables, vocabulary = network(nullable_lnf_of(text)), vocabulary_of(tokens)
    trie, size, limits = Trie.from_vocabulary(vocabulary), len(tokens) + 1, Limits().started()
    ahead = Summaries(tables, lambda: trie, size)
    assert prewarm(tables, ahead, 10_000, 1 << 30, limits)
    chains, complete = prewarm_chains(tables, ahead, 1 << 20, limits)
    assert complete
    prewarm_pairs(tables, chains, ahead, 1 << 20, limits)
    memo = ahead.memo()
    assert len(memo.unions)
    for left, right, both in memo.unions.tolist():
        assert np.array_equal(memo.rows[left] | memo.rows[right], memo.rows[both])
    rest = vocabulary, [len(tokens)], size
    masks = NetworkMasks(tables, lambda: trie, *rest, memo=memo, chains=chains)
    plain = NetworkMasks(tables, lambda: trie, *rest)
    rng = random.Random(5)
    several = 0
    for _ in range(80):
        state, other = masks.start, plain.start
        for _ in range(20):
            before = len(masks.residual)
            row = masks.row(state)
            assert row.tolist() == plain.row(other).tolist()
            if len(masks.network.threads[state]) == 2 and not masks.is_accepting(state):
                assert before == len(masks.residual)
                several += 1
            ids = [i for i in range(len(tokens)) if int(row[0]) >> i & 1]
            if not ids:
                break
            token_id = rng.choice(ids)
            state, other = masks.step(state, token_id), plain.step(other, token_id)
    assert several > 20
