"""Tokens read by tables of classes and moves, against reading their bytes."""

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

from constrain.artifacts.maximal_munch.lexer import NONE
from constrain.artifacts.maximal_munch.lexer_actions import NO_TEXT, TokenActions
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch import lexer_actions as token_actions
from constrain.compiler.maximal_munch.lexer_actions import token_actions as actions_of
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables
from constrain.compiler.maximal_munch.precompute import close, reachable

OCTETS = [b"a", b"b", b"c", b" ", b"#"]


def worked_out(text: str, tokens: list[bytes], answers: int | None) -> MaximalMunchMasks:
    """A machine that begins with so many answers, and with all that steps take."""
    whole = masks_of(text, tokens)
    complete = close(whole, answers=answers).complete
    vocabulary = vocabulary_of(tokens)
    actions = actions_of(whole.lexer, vocabulary)
    assert actions is not None
    memo = reachable(whole.memo()) if complete else whole.memo()
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    rest = vocabulary, [len(tokens)], len(tokens) + 1
    trie = Trie.from_vocabulary(vocabulary)
    moves = whole.moves.tables()
    return MaximalMunchMasks(tables, lambda: trie, *rest, memo=memo, moves=moves, actions=actions)


def random_cases(count: int, seed: int) -> Iterator[tuple[str, list[bytes], random.Random]]:
    """Grammars and tokens of up to eight bytes."""
    rng = random.Random(seed)
    for text, _ in random_larks(count, seed=seed):
        words = {bytes(rng.choice(b"abc #") for _ in range(rng.randint(2, 8))) for _ in range(60)}
        yield text, [*OCTETS, *sorted(words)], rng


def test_tokens_are_read_as_their_bytes_are(full: bool) -> None:
    """Every token, wherever a text may be: the state that its bytes lead to, or none. Closed, or
    with so little worked out that heads and states of the lexer are met that no table has."""
    allowed = 0
    for number, (text, tokens, rng) in enumerate(random_cases(300 if full else 40, seed=5)):
        machine = worked_out(text, tokens, (2_000, 3, 1)[number % 3])
        for _ in range(4):
            state = machine.start
            for _ in range(8):
                targets = [machine.read(state, token) for token in tokens]
                assert targets == [machine.taken(state, i) for i in range(len(tokens))], text
                found = [target for target in targets if target is not None]
                if not found:
                    break
                allowed += len(found)
                state = rng.choice(found)
    assert allowed > 5_000


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_tokens_of_a_vocabulary_are_read_as_their_bytes_are(
    grammar: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along a sample, a sample of the tokens; through a file that has all of the tables."""
    prewarm = None if full or grammar == JSON else 3_000
    machine = load_bytes(
        compiled_lark(grammar, default_tokenizer, prewarm=prewarm).to_bytes()
    ).parsers.machine()  # type: ignore[union-attr]
    assert isinstance(machine, MaximalMunchMasks)
    rng = random.Random(3)
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    ids = vocabulary.text_ids().tolist()
    state = machine.start
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        for other in {token, *(ids if full else rng.sample(ids, 200))}:
            assert machine.read(state, vocabulary.token(other)) == machine.taken(state, other)
        state = machine.step(state, token)
    assert machine.is_accepting(state)


def test_what_is_no_text_is_not_taken() -> None:
    """A token that ends the text, one without bytes, and ids that there are not."""
    tokens = [b"a", b"", b"ab"]
    machine = worked_out('start: "a" start "b" | "a"\n', tokens, None)
    assert [True, False, False, False, False, False] == [
        machine.taken(machine.start, token) is not None for token in (0, 1, 2, 3, 4, -1)
    ]


def test_classes_are_told_apart_by_what_they_do() -> None:
    """Tokens of one class lead every state to one state, or end the same lexemes before rests
    of one class; an event's rest is of a lower class than the token."""
    for text, tokens, _ in random_cases(15, seed=9):
        machine = masks_of(text, tokens)
        close(machine, answers=500)
        lexer = machine.lexer
        actions = actions_of(lexer, vocabulary_of(tokens))
        assert actions is not None
        table = actions.table
        assert NO_TEXT == actions.classes[len(tokens)]
        assert not table[:, NO_TEXT].any()
        assert not table[0].any()
        assert [NONE, NO_TEXT] == actions.events[0].tolist()
        for token, kind in zip(tokens, actions.classes.tolist(), strict=False):
            for state in range(1, lexer.states):
                assert plain_action(lexer.rows, lexer.wins, state, token) == resolved(
                    actions, int(table[state, kind]), kind
                ), (text, token)


def plain_action(
    rows: list[list[int]], wins: list[int], state: int, text: bytes
) -> tuple[str, int]:
    """What a text does to a state of the lexer: the state that all of it leads to, or the
    lexemes that end; "unread" in front of its first byte."""
    for read, octet in enumerate(text):
        target = rows[state][octet]
        if not target:
            if not read:
                return "unread", 0
            return ("refused", 0) if wins[state] == NONE else ("ends", wins[state])
        state = target
    return "read", state


def resolved(actions: TokenActions, action: int, kind: int) -> tuple[str, int]:
    """An action of the table, in the same words."""
    states = len(actions.table)
    if action < states:
        return ("read", action) if action else ("unread", 0)
    winners, rest = actions.events[action - states].tolist()
    assert rest < kind
    return ("refused", 0) if winners == NONE else ("ends", winners)


def test_too_many_classes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are then read byte by byte."""
    tokens = [*OCTETS, b"ab", b"a b", b"ab#c"]
    text = 'start: A start "b" | A\nA: /a+/\n%ignore " "\n'
    masks = masks_of(text, tokens)
    close(masks)
    for most in (3, 12):
        monkeypatch.setattr(token_actions, "_MOST", most)
        assert actions_of(masks.lexer, vocabulary_of(tokens)) is None


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
