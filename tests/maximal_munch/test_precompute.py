"""Summaries that are precomputed: they are complete where they end, and change no mask."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import numpy as np
import pytest
from support.maximal_munch import (
    CODE,
    JSON,
    SAMPLES,
    masks_of,
    masks_with,
    maximal_munch_tables,
    plain_of,
    random_cases,
    random_larks,
    read,
)

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.network.closure import frames_below
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.precompute import precompute

TOKENS = [*(bytes([octet]) for octet in range(128)), b'":', b'","', b"]}", b"}]", b"[[", b'{"']
NESTED_IF = 'start: "i" start ["e" start] | "x"\n'


def test_all_masks_of_json_are_precomputed(default_tokenizer: Tokenizer) -> None:
    """No text leads to a summary that is not there, however deep it nests."""
    reached = precompute(masks_with(default_tokenizer, JSON))
    assert reached.complete
    kept = reached.summaries
    assert max(len(kept.firsts), len(kept.feeds)) < reached.results
    masks = masks_with(default_tokenizer, JSON, stored=reached.summaries)
    summaries, visited = len(masks.summaries), masks.walks.visited
    deep = '[{"a":' * 20 + "[1, {}]" + "}]" * 20
    for sample in (SAMPLES[JSON], deep):
        state = masks.start
        for token in default_tokenizer.encode(sample):
            assert tokenset.contains(masks.row(state), token)
            state = masks.step(state, token)
        assert masks.is_accepting(state)
    assert (summaries, visited) == (len(masks.summaries), masks.walks.visited)


def test_precomputing_changes_no_mask(full: bool) -> None:
    """To the end, up to a limit, or not at all: the rows are the same."""
    rng = random.Random(3)
    complete = 0
    for text, _ in random_larks(300 if full else 5, seed=41):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(1, 6))) for _ in range(30)}
        tokens = sorted(words)
        whole = precompute(masks_of(text, tokens), Limits(states=300))
        part = precompute(masks_of(text, tokens), Limits(states=2_000), most_rows=4)
        complete += whole.complete
        stored = whole.summaries, part.summaries, None
        machines = [masks_of(text, tokens, summaries) for summaries in stored]
        states = [masks.start for masks in machines]
        for _ in range(8):
            rows = [masks.row(s) for masks, s in zip(machines, states, strict=True)]
            expected = rows[2].tolist()
            assert [expected, expected] == [row.tolist() for row in rows[:2]], text
            choices = [i for i in tokenset.to_ids(rows[2]).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            states = [m.step(s, token) for m, s in zip(machines, states, strict=True)]
    assert complete > 3


def test_nodes_at_which_lexemes_end_are_sets() -> None:
    """Walks come to them in any order: here to as many as tokens begin with bytes."""
    text = 'start: "abc"? | A\nA: /(ab)+/\nh[lazy]: /[ab]+/\n%ignore A\n'
    tokens = [b"a", b"b", b"c", b" ", b"#", b" #", b"# c", b"##", b"#a c", b"#ba", b"#c", b"a "]
    tokens += [b"a#  ac", b"aa", b"aa#c", b"aac c ", b"ab#", b"bb", b"c ", b"c  ", b"cab", b"cc"]
    masks = masks_of(text, tokens, precompute(masks_of(text, tokens)).summaries)
    row = masks.row(read(masks, b"abab"))
    assert [0, len(tokens)] == tokenset.to_ids(row).tolist()


def test_runs_of_nullable_frames_come_to_an_end() -> None:
    """Any number of ifs may be without an else: as many are followed as a token can observe."""
    tokens = [b"i", b"x", b"e", b"xexe", b"exex", b"ixex", b"xexexexe", b"exexexex"]
    masks, plain = masks_of(NESTED_IF, tokens), plain_of(NESTED_IF)
    (frame,) = set(masks.configurations.heads.tables.call_returns.tolist())
    # Four begin in the longest token, one before it, and one is allowed after it.
    assert 6 == masks.runs.longest(frame)
    reached = precompute(masks)
    assert reached.complete
    masks = masks_of(NESTED_IF, tokens, reached.summaries)
    summaries = len(masks.summaries)
    for depth in range(12):
        for elses in range(depth + 1):
            text = b"i" * depth + b"x" + b"ex" * elses
            reading = plain.read(plain.begin(), text)
            expected = [
                i
                for i, token in enumerate(tokens)
                if plain.read(reading, token).length == len(text) + len(token)
            ] + [len(tokens)] * plain.may_end(reading)
            assert expected == tokenset.to_ids(masks.row(read(masks, text))).tolist(), text
    assert summaries == len(masks.summaries)


def test_precomputing_stops_at_a_limit() -> None:
    """Two readings that nest make ever larger heads; the masks stay right."""
    text = 'start: x\nx: A x B | B x A | "c"\nA: /[ab]/\nB: /[bc]/\n'
    tokens = [b"a", b"b", b"c", b"bb", b"bcb", b"bbcc"]
    machine, plain = masks_of(text, tokens), plain_of(text)
    reached = precompute(machine, Limits(states=200))
    assert not reached.complete
    machine = masks_of(text, tokens, reached.summaries)
    state, reading = machine.start, plain.begin()
    for token in (1, 1, 0, 3, 2, 1, 1):
        expected = [
            i
            for i, other in enumerate(tokens)
            if plain.read(reading, other).length == reading.length + len(other)
        ] + [len(tokens)] * plain.may_end(reading)
        assert expected == tokenset.to_ids(machine.row(state)).tolist()
        assert token in expected
        state, reading = machine.step(state, token), plain.read(reading, tokens[token])


def test_precomputing_stops_where_heads_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many heads nothing more is precomputed."""
    monkeypatch.setattr("constrain.compiler.maximal_munch.precompute.MOST_HEADS", 20)
    text = 'start: x\nx: A x B | B x A | "c"\nA: /[ab]/\nB: /[bc]/\n'
    reached = precompute(masks_of(text, [b"a", b"b", b"c"]))
    assert (False, 21) == (reached.complete, reached.heads)


def test_frames_that_can_lie_below() -> None:
    """Only what can call a state's own rule; nothing below the start."""
    tables = maximal_munch_tables(
        read_grammar('start: "(" x ")"\nx: "[" x "]" | "a"\n', "lark")
    ).network
    below = frames_below(tables)
    assert [] == below[tables.start]
    frames = set(tables.call_returns.tolist())
    starts = set(tables.call_starts.tolist())
    assert starts
    assert all(below[start] and frames.issuperset(below[start]) for start in starts)


def test_what_is_precomputed_is_not_evicted() -> None:
    """Precomputed rows do not count against the limit of those that are made later; those do."""
    tokens = [bytes([octet]) for octet in range(256)]
    plain = masks_of(JSON, tokens)
    masks = masks_of(JSON, tokens, precompute(masks_of(JSON, tokens)).summaries)
    # Room for a few rows.
    masks._row_bytes = plain._row_bytes = 180
    summaries = len(masks.summaries)
    left, right = masks.start, plain.start
    for octet in SAMPLES[JSON].encode():
        assert masks.row(left).tolist() == plain.row(right).tolist()
        left, right = masks.step(left, octet), plain.step(right, octet)
    assert summaries == len(masks.summaries) > len(plain.summaries)


def test_stored_summaries_are_all_that_is_needed(default_tokenizer: Tokenizer) -> None:
    """A machine that begins with all summaries walks no trie, and has the same masks."""
    first = masks_with(default_tokenizer, JSON)
    reached = precompute(masks_with(default_tokenizer, JSON))
    stored = HeadSummaryTables.from_arrays(reached.summaries.arrays())
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    tables = maximal_munch_tables(read_grammar(JSON, "lark"))

    def no_trie() -> Trie:
        raise AssertionError("a row was not stored")

    rest = vocabulary, default_tokenizer.eos, default_tokenizer.vocab_size
    second = MaximalMunchMasks(tables, no_trie, *rest, stored=stored)
    left, right = first.start, second.start
    for token in default_tokenizer.encode(SAMPLES[JSON]):
        assert first.row(left).tolist() == second.row(right).tolist()
        left, right = first.step(left, token), second.step(right, token)


def test_missing_summaries_are_computed(full: bool) -> None:
    """Masks of a machine that begins with a part of the summaries are those of one without any."""
    rng = random.Random(8)
    for text, _ in random_larks(200 if full else 3, seed=43):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(1, 6))) for _ in range(30)}
        tokens = sorted(words)
        part = precompute(masks_of(text, tokens), Limits(states=2_000), most_rows=3)
        plain, begun = masks_of(text, tokens), masks_of(text, tokens, part.summaries)
        left, right = plain.start, begun.start
        for _ in range(8):
            row = plain.row(left)
            assert row.tolist() == begun.row(right).tolist(), text
            choices = [i for i in tokenset.to_ids(row).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            left, right = plain.step(left, token), begun.step(right, token)


def test_few_nodes_take_a_transition_of_the_parser(default_tokenizer: Tokenizer) -> None:
    """In a JSON string, few of the trie nodes that a walk visits end a lexeme."""
    masks = masks_with(default_tokenizer, JSON)
    masks.row(read(masks, b'{"a": "b'))
    assert masks.walks.parsed * 50 < masks.walks.visited


@pytest.mark.parametrize("most_rows", [300, 1 << 16])
def test_code_is_precomputed(default_tokenizer: Tokenizer, most_rows: int, full: bool) -> None:
    """All of the summaries or a part are precomputed, and the text goes on from there."""
    if most_rows > 300 and not full:
        pytest.skip("precomputing code takes a while: --full")
    reached = precompute(masks_with(default_tokenizer, CODE), most_rows=most_rows)
    assert reached.complete == (most_rows > 300)
    masks = masks_with(default_tokenizer, CODE, stored=reached.summaries)
    visited = masks.walks.visited
    state = masks.start
    for token in default_tokenizer.encode(SAMPLES[CODE]):
        assert tokenset.contains(masks.row(state), token)
        state = masks.step(state, token)
    assert masks.is_accepting(state)
    assert most_rows == 300 or visited == masks.walks.visited


def test_only_what_masks_need_is_stored() -> None:
    """Masks begin at the root of the trie and go on by frames: all that is stored is met so."""
    complete = 0
    for text, tokens, _ in random_cases(12, seed=21):
        reached = precompute(masks_of(text, tokens), most_results=5_000)
        stored, complete = reached.summaries, complete + reached.complete
        owners = stored.feed_keys >> 32
        assert bool(np.all(np.diff(stored.feed_keys) > 0))
        met, count = set(stored.firsts.tolist()), 0
        while count != len(met):
            count = len(met)
            met.update(stored.feeds[np.isin(owners, list(met))].tolist())
        assert met == set(range(len(stored.known)))
        assert {0, *stored.known.tolist()} == set(range(len(stored.codes)))
        assert {0, 1, *stored.pending[:, 1].tolist()} == set(range(len(stored.exits_offsets) - 1))
    assert complete > 3


def test_equal_rows_are_stored_once() -> None:
    """However they are composed, and so are equal summaries."""
    for text, tokens, _ in random_cases(12, seed=22):
        stored = precompute(masks_of(text, tokens), most_results=500).summaries
        rows = stored.rows.rows(slice(None), len(tokens) + 1)
        assert len(rows) == len({row.tobytes() for row in rows})
        contents = [stored.summary(number) for number in range(len(stored.known))]
        assert len(contents) == len(set(contents))


def test_a_limit_of_results_is_hardly_exceeded() -> None:
    """It is one task that goes beyond it: all states of the lexer that a head begins."""
    found = [precompute(masks_of(CODE, TOKENS), most_results=n).results for n in (1, 500, 2_000)]
    assert found[0] < 250
    assert 500 <= found[1] < 1_000
    assert 2_000 <= found[2] < 2_500
