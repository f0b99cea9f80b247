"""Tokens read by tables of moves, against reading their bytes without them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Iterator

import numpy as np
import pytest
from support.maximal_munch import (
    JSON,
    SAMPLES,
    compiled_lark,
    masks_of,
    random_larks,
    vocabulary_of,
)

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables
from constrain.compiler.maximal_munch.precompute import close, reachable
from constrain.compiler.maximal_munch.to_dfa import text_machine

OCTETS = [b"a", b"b", b"c", b" ", b"#"]


def worked_out(text: str, tokens: list[bytes], answers: int | None) -> MaximalMunchMasks:
    """A machine that begins with so many answers, and with all that steps take."""
    whole = masks_of(text, tokens)
    complete = close(whole, answers=answers).complete
    vocabulary = vocabulary_of(tokens)
    memo = reachable(whole.memo()) if complete else whole.memo()
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    rest = vocabulary, [len(tokens)], len(tokens) + 1
    trie = Trie.from_vocabulary(vocabulary)
    moves = whole.moves.tables()
    return MaximalMunchMasks(tables, lambda: trie, *rest, memo=memo, moves=moves)


def random_cases(count: int, seed: int) -> Iterator[tuple[str, list[bytes], random.Random]]:
    """Grammars and tokens of up to eight bytes."""
    rng = random.Random(seed)
    for text, _ in random_larks(count, seed=seed):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(60)}
        yield text, [*OCTETS, *sorted(words)], rng


def test_precomputed_transitions_change_no_step(full: bool) -> None:
    """Every token, wherever a text may be: it fits, and the text may end behind it, as in a machine
    without tables. Complete, or with so little precomputed that heads and states of the lexer are
    met that no table has."""
    allowed = 0
    for number, (text, tokens, rng) in enumerate(random_cases(300 if full else 40, seed=5)):
        machine, plain = worked_out(text, tokens, (2_000, 3, 1)[number % 3]), masks_of(text, tokens)
        for _ in range(4):
            state, other = machine.start, plain.start
            for _ in range(8):
                targets = [machine.taken(state, i) for i in range(len(tokens))]
                others = [plain.read(other, token) for token in tokens]
                found = [i for i, target in enumerate(targets) if target is not None]
                assert found == [i for i, target in enumerate(others) if target is not None], text
                assert [plain.is_accepting(others[i] or 0) for i in found] == [
                    machine.is_accepting(targets[i] or 0) for i in found
                ], text
                if not found:
                    break
                allowed += len(found)
                token = rng.choice(found)
                state, other = machine.step(state, token), plain.step(other, token)
    assert allowed > 5_000


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_tokens_of_a_vocabulary_are_read_as_their_bytes_are(
    grammar: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along a sample, a sample of the tokens; through a file that has all of the tables, and by a
    machine that has none."""
    prewarm = None if full or grammar == JSON else 3_000
    machine = load_bytes(
        compiled_lark(grammar, default_tokenizer, prewarm=prewarm).to_bytes()
    ).parsers.machine()  # type: ignore[union-attr]
    assert isinstance(machine, MaximalMunchMasks)
    rng = random.Random(3)
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    plain = text_machine(maximal_munch_tables(read_grammar(grammar, "lark")))
    ids = vocabulary.text_ids().tolist()
    state, other = machine.start, plain.start
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        for tried in {token, *(ids if full else rng.sample(ids, 200))}:
            text, target = vocabulary.token(tried), machine.taken(state, tried)
            assert machine.read(state, text) == target
            assert (plain.read(other, text) is None) == (target is None)
        reached = plain.read(other, vocabulary.token(token))
        assert reached is not None
        state, other = machine.step(state, token), reached
    assert machine.is_accepting(state)


def test_what_is_no_text_is_not_taken() -> None:
    """A token that ends the text, one without bytes, and ids that there are not."""
    tokens = [b"a", b"", b"ab"]
    machine = worked_out('start: "a" start "b" | "a"\n', tokens, None)
    assert [True, False, False, False, False, False] == [
        machine.taken(machine.start, token) is not None for token in (0, 1, 2, 3, 4, -1)
    ]


def test_only_what_masks_ask_for_is_kept() -> None:
    """A closed memo without the rest is smaller, and its masks are those of the whole one."""
    for text, tokens, rng in random_cases(12, seed=21):
        whole = masks_of(text, tokens)
        if not close(whole, answers=5_000).complete:
            continue
        memo = whole.memo()
        less = reachable(memo)
        assert len(less.known) <= len(memo.known)
        assert less.exits_offsets[:3].tolist() == [0, 0, 1]
        assert bool(np.all(np.diff(less.feed_keys) > 0))
        kept = HeadSummaryTables.from_arrays(less.arrays())
        machine, again = masks_of(text, tokens, memo), masks_of(text, tokens, kept)
        state = other = machine.start
        for _ in range(8):
            row = machine.row(state)
            assert row.tolist() == again.row(other).tolist(), text
            choices = [i for i in range(len(tokens)) if machine.taken(state, i) is not None]
            if not choices:
                break
            token = rng.choice(choices)
            state, other = machine.step(state, token), again.step(other, token)
