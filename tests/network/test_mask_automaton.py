"""Rows of stacks by the mask automaton, against procedure summaries frame by frame."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.grammars import JSON, MARKUP, random_grammars
from support.maximal_munch import CODE, vocabulary_of
from support.maximal_munch import SAMPLES as LARK_SAMPLES
from support.network import minimal_tables

from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.machine import NetworkMasks, StackRows
from constrain.artifacts.network.mask_automaton import UNKNOWN, MaskAutomaton
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.read import load
from constrain.artifacts.summaries.node_sets import NOTHING
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network.precompute import precompute_mask_automaton, precompute_summaries

# Which of both is opened is told by what closes it: two threads over two stacks.
BRACKETS = "start ::= list | more; list ::= '[' list? ']' | 'x'; more ::= '[' more ',' | 'x' more?;"


def machine(
    text: str, tokens: list[bytes], most: int, memory: int
) -> tuple[NetworkMasks, MaskAutomaton]:
    """The masks of a kbnf grammar with so many summaries precomputed, and if these are all, so
    much of the mask automaton."""
    tables = minimal_tables(text)
    vocabulary = vocabulary_of(tokens)
    trie, size, effort = (
        Trie.from_vocabulary(vocabulary),
        len(tokens) + 1,
        Effort(Limits().started(), ()),
    )
    found = Summaries(tables, lambda: trie, size)
    automaton = MaskAutomaton.of(tables, {}, {})
    if precompute_summaries(tables, found, most, 1 << 30, effort):
        automaton, _ = precompute_mask_automaton(tables, found, memory, effort)
    rest = vocabulary, [len(tokens)], size
    masks = NetworkMasks(
        tables, lambda: trie, *rest, precomputed=found.tables(), automaton=automaton
    )
    return masks, automaton


def check_rows(masks: NetworkMasks, rows: StackRows, state: int) -> None:
    """Each thread of a configuration has the same row both ways."""
    for thread in masks.network.threads[state]:
        expected = masks.summaries.rows[rows.row_via_summaries(*thread)]
        assert np.array_equal(expected, masks.summaries.rows[rows.row(*thread)])


def test_rows_are_those_of_summaries(full: bool) -> None:
    """On random grammars: a whole automaton, a part of one, none, and few summaries; and after
    forgetting."""
    rng = random.Random(37)
    stacks: Counter[tuple[bool, bool]] = Counter()
    for text, _ in random_grammars(240 if full else 9, seed=41):
        tokens = sorted({bytes(rng.choices(b"abc", k=rng.choice([1, 2, 3, 6]))) for _ in range(24)})
        for most, memory in ((10_000, 1 << 20), (10_000, 200), (10_000, 0), (3, 1 << 20)):
            masks, automaton = machine(text, tokens, most, memory)
            entries = masks.network.stacks.entries
            rows = StackRows(masks.network.tables, masks.summaries, entries, automaton)
            for _ in range(3):
                state = masks.start
                for _ in range(10):
                    check_rows(masks, rows, state)
                    for thread_state, node in masks.network.threads[state]:
                        precomputed = int(automaton.initial[thread_state]) != UNKNOWN
                        stacks[precomputed, len(entries[node]) > 1] += 1
                    ids = [i for i in range(len(tokens)) if masks.row(state)[0] >> i & 1]
                    if not ids:
                        break
                    state = masks.step(state, rng.choice(ids))
                masks.forget()
    assert min(stacks[first, several] for first in (False, True) for several in (False, True)) > 20


def test_transitions_follow_the_summaries() -> None:
    """Each of them unites a row with that of a summary; the end of the stack leaves the row."""
    tokens = [b"[", b"]", b"]]", b"]],", b"1", b"{", b"}]", b'"']
    masks, automaton = machine(JSON, tokens, 9999, 9999)
    summaries, suspended = masks.summaries, len(automaton.transitions)
    assert suspended > 3
    again = MaskAutomaton.from_arrays(automaton.arrays())
    assert again.transitions is automaton.transitions
    frames = [0, *sorted(set(masks.network.tables.call_returns.tolist()))]
    compared = 0
    for state, following in enumerate(automaton.transitions.tolist()):
        row, nodes = automaton.outputs[state].tolist()
        assert (nodes != NOTHING) == (state > UNKNOWN)
        for frame, after in zip(frames, following, strict=True):
            if after == UNKNOWN:
                continue
            more, still = summaries.summary(nodes, frame) if frame else (NOTHING, NOTHING)
            found, left = automaton.outputs[after].tolist()
            assert still == left
            assert (left == NOTHING) == (after >= suspended)
            assert np.array_equal(summaries.rows[row] | summaries.rows[more], summaries.rows[found])
            compared += 1
    assert compared > suspended


def test_the_automaton_is_precomputed_as_far_as_there_is_room(default_tokenizer: Tokenizer) -> None:
    """Then masks of single stacks add no row; without room they do."""
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    tables = minimal_tables(JSON)
    effort = Effort(Limits().started(), ())
    rest = default_tokenizer.eos, default_tokenizer.vocab_size
    added = []
    for memory in (0, 1 << 26):
        found = Summaries(tables, lambda: trie, default_tokenizer.vocab_size)
        precompute_summaries(tables, found, 10_000, 1 << 30, effort)
        before = len(found.rows)
        automaton, complete = precompute_mask_automaton(tables, found, memory, effort)
        assert bool(memory) == complete == (len(found.rows) > before)
        given = found.tables()
        masks = NetworkMasks(
            tables, lambda: trie, vocabulary, *rest, precomputed=given, automaton=automaton
        )
        state = masks.start
        for token_id in default_tokenizer.encode('[{"a": [1, {"b": [[2, 3]]}]}'):
            state = masks.step(state, token_id)
            if len(masks.network.threads[state]) == 1:
                masks.row(state)
        added.append(len(masks.summaries.rows) - len(given.rows))
    assert added[0] > added[1] == 0


@pytest.mark.parametrize("text", LARK_SAMPLES, ids=["json", "code"])
def test_rows_of_the_examples(text: str, default_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Along a sample each thread of a loaded artifact has the row that its summaries give."""
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
    automaton = MaskAutomaton.from_arrays(artifact.arrays)
    rows = StackRows(masks.network.tables, masks.summaries, masks.network.stacks.entries, automaton)
    state = masks.start
    for token_id in default_tokenizer.encode(LARK_SAMPLES[text]):
        check_rows(masks, rows, state)
        state = masks.step(state, token_id)


@pytest.mark.parametrize("text", [BRACKETS, MARKUP], ids=["brackets", "markup"])
def test_rows_of_several_threads_are_what_the_definition_allows(text: str) -> None:
    """Along random members, precomputed or not: the tokens whose bytes can be read, and EOS where
    the text may end."""
    tokens = [bytes([octet]) for octet in sorted(set(b"[]x, <>/=ab\"'"))]
    tokens += [b"[ ", b"[[", b" ]", b"]]", b", ", b"x]", b"</", b"/>", b"><", b"x ]", b"  "]
    size = len(tokens) + 1
    rng = random.Random(5)
    for most in (0, 10_000):
        masks, _ = machine(text, tokens, most, 1 << 20)
        several = 0
        for _ in range(80):
            state = masks.start
            for _ in range(20):
                read = [masks.network.read(state, token) for token in tokens]
                expected = [i for i, target in enumerate(read) if target != REFUSED]
                ends = [len(tokens)] if masks.is_accepting(state) else []
                row = int(masks.row(state)[0])
                assert [i for i in range(size) if row >> i & 1] == expected + ends
                several += len(masks.network.threads[state]) > 1
                if not expected:
                    break
                state = masks.step(state, rng.choice(expected))
        assert several > 20


def test_what_threads_have_in_common_is_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads over one stack leave the same suspended below: the rows of all together are those of
    each, and take fewer summaries."""
    text = "start ::= e; e ::= '(' e ')' | 'x' | 'y' '.'? | 'z' '.' '.'?;"
    tokens = [b"(", b")", b"x", b"y", b"z", b".", b"))", b"x)", b")))"]
    masks, automaton = machine(text, tokens, 0, 0)
    network, found = masks.network, Counter[str]()
    rows = StackRows(network.tables, masks.summaries, network.stacks.entries, automaton)
    summary, kind = Summaries.summary, "together"

    def counting(self: Summaries, suspended: int, state: int) -> tuple[int, int]:
        found[kind] += 1
        return summary(self, suspended, state)

    monkeypatch.setattr(Summaries, "summary", counting)
    state = masks.start
    for _ in range(4):
        state = masks.step(state, tokens.index(b"("))
        ((_, node),) = network.threads[state]
        threads = [(inner, node) for inner in range(1, network.tables.states)]
        kind = "together"
        together = masks.summaries.rows.union(rows.rows(threads))
        kind = "each"
        each = [masks.summaries.rows[rows.row(*thread)] for thread in threads]
        assert np.array_equal(masks.summaries.rows[together], np.bitwise_or.reduce(each))
    assert found["together"] < found["each"]
