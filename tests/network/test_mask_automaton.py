"""Rows of stacks by chains, which are worked out ahead, against their answers one by one."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.grammars import JSON, nullable_lnf_of, random_grammars
from support.maximal_munch import CODE, vocabulary_of
from support.maximal_munch import SAMPLES as LARK_SAMPLES

from constrain.artifacts.network.machine import NetworkMasks, StackRows
from constrain.artifacts.network.mask_automaton import UNKNOWN, MaskAutomaton
from constrain.artifacts.network.summaries import NOTHING, Summaries
from constrain.artifacts.read import load
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.network.build import network
from constrain.compiler.network.precompute import prewarm, prewarm_chains


def machine(
    text: str, tokens: list[bytes], answers: int, memory: int
) -> tuple[NetworkMasks, MaskAutomaton]:
    """The masks of a kbnf grammar with so much of them worked out ahead."""
    tables = network(nullable_lnf_of(text))
    vocabulary = vocabulary_of(tokens)
    trie, size, limits = Trie.from_vocabulary(vocabulary), len(tokens) + 1, Limits().started()
    ahead = Summaries(tables, lambda: trie, size)
    chains = MaskAutomaton.of(tables, {}, {})
    if prewarm(tables, ahead, answers, 1 << 30, limits):
        chains, _ = prewarm_chains(tables, ahead, memory, limits)
    rest = vocabulary, [len(tokens)], size
    masks = NetworkMasks(tables, lambda: trie, *rest, memo=ahead.memo(), chains=chains)
    return masks, chains


def check_rows(masks: NetworkMasks, rows: StackRows, state: int) -> None:
    """Each thread of a configuration has the same row both ways."""
    for thread in masks.network.threads[state]:
        expected = masks.residual.row(rows.row_via_answers(*thread))
        assert np.array_equal(expected, masks.residual.row(rows.row(*thread)))


def test_chains_are_rows_of_answers(full: bool) -> None:
    """On random grammars: all chains known, some, none, or no answers; and after forgetting."""
    rng = random.Random(37)
    stacks: Counter[tuple[bool, bool]] = Counter()
    for text, _ in random_grammars(240 if full else 40, seed=41):
        tokens = sorted({bytes(rng.choices(b"abc", k=rng.choice([1, 2, 3, 6]))) for _ in range(24)})
        for answers, memory in ((10_000, 1 << 20), (10_000, 200), (10_000, 0), (3, 1 << 20)):
            masks, chains = machine(text, tokens, answers, memory)
            entries = masks.network.stacks.entries
            rows = StackRows(masks.network.tables, masks.residual, entries, chains)
            for _ in range(3):
                state = masks.start
                for _ in range(10):
                    check_rows(masks, rows, state)
                    for thread_state, node in masks.network.threads[state]:
                        known = int(chains.first[thread_state]) != UNKNOWN
                        stacks[known, len(entries[node]) > 1] += 1
                    ids = [i for i in range(len(tokens)) if masks.row(state)[0] >> i & 1]
                    if not ids:
                        break
                    state = masks.step(state, rng.choice(ids))
                masks.forget()
    assert min(stacks[known, several] for known in (False, True) for several in (False, True)) > 20


def test_laid_out_chains_follow_the_answers() -> None:
    """Every step of the table unites a row and an answer; the end of the stack keeps the row."""
    masks, chains = machine(JSON, [b"[", b"]", b"]]", b"]],", b"1", b"{", b"}]", b'"'], 9999, 9999)
    residual, pending = masks.residual, len(chains.steps)
    assert pending > 3
    again = MaskAutomaton.from_arrays(chains.arrays())
    assert again.steps is chains.steps
    frames = [0, *sorted(set(masks.network.tables.call_returns.tolist()))]
    steps = 0
    for chain, following in enumerate(chains.steps.tolist()):
        row, exits = chains.answers[chain].tolist()
        assert (exits != NOTHING) == (chain > UNKNOWN)
        for frame, after in zip(frames, following, strict=True):
            if after == UNKNOWN:
                continue
            more, still = residual.answer(exits, frame) if frame else (NOTHING, NOTHING)
            found, left = chains.answers[after].tolist()
            assert still == left
            assert (left == NOTHING) == (after >= pending)
            assert np.array_equal(residual.row(row) | residual.row(more), residual.row(found))
            steps += 1
    assert steps > pending


def test_chains_are_made_ahead(default_tokenizer: Tokenizer) -> None:
    """Masks of single stacks add no row, as far as there is room; so much room is kept to."""
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    tables = network(nullable_lnf_of(JSON))
    limits = Limits().started()
    rest = default_tokenizer.eos, default_tokenizer.vocab_size
    added = []
    for memory in (0, 1 << 26):
        ahead = Summaries(tables, lambda: trie, default_tokenizer.vocab_size)
        prewarm(tables, ahead, 10_000, 1 << 30, limits)
        before = len(ahead)
        chains, complete = prewarm_chains(tables, ahead, memory, limits)
        assert bool(memory) == complete == (len(ahead) > before)
        memo = ahead.memo()
        masks = NetworkMasks(tables, lambda: trie, vocabulary, *rest, memo=memo, chains=chains)
        state = masks.start
        for token_id in default_tokenizer.encode('[{"a": [1, {"b": [[2, 3]]}]}'):
            state = masks.step(state, token_id)
            if len(masks.network.threads[state]) == 1:
                masks.row(state)
        added.append(len(masks.residual) - len(memo.rows))
    assert added[0] > added[1] == 0


@pytest.mark.parametrize("text", LARK_SAMPLES, ids=["json", "code"])
def test_chains_of_the_examples(text: str, default_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Along a sample each thread of a loaded artifact has the row that its answers give."""
    path = tmp_path / "example.cst"
    compile_grammar(
        text if text != CODE else text.replace(r"/\/\/[^\n]*/", r"/\/\/[^\n]*\n/"),
        dialect="lark",
        tokenizer=default_tokenizer,
        tokenization="any",
        engine="network",
        meaning="exact",
    ).save(path)
    artifact = load(path)
    artifact.matcher()
    masks = artifact.machine()
    assert isinstance(masks, NetworkMasks)
    chains = MaskAutomaton.from_arrays(artifact.arrays)
    rows = StackRows(masks.network.tables, masks.residual, masks.network.stacks.entries, chains)
    state = masks.start
    for token_id in default_tokenizer.encode(LARK_SAMPLES[text]):
        check_rows(masks, rows, state)
        state = masks.step(state, token_id)
