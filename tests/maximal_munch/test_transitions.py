"""Tokens read with precomputed transitions of the parser, and without them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import pytest
from support.maximal_munch import (
    JSON,
    SAMPLES,
    compiled_lark,
    masks_of,
    maximal_munch_tables,
    random_cases,
    vocabulary_of,
)

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.precompute import precompute
from constrain.compiler.maximal_munch.to_dfa import text_machine


def precomputed(text: str, tokens: list[bytes], results: int | None) -> MaximalMunchMasks:
    """A machine that begins with so many results, and with the transitions met on the way."""
    whole = masks_of(text, tokens)
    stored = precompute(whole, most_results=results).summaries
    transitions = whole.configurations.transitions.tables()
    vocabulary = vocabulary_of(tokens)
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    trie = Trie.from_vocabulary(vocabulary)
    rest = vocabulary, [len(tokens)], len(tokens) + 1
    return MaximalMunchMasks(tables, lambda: trie, *rest, stored=stored, transitions=transitions)


def test_precomputed_transitions_change_no_step(full: bool) -> None:
    """Every token, wherever a text may be: whether it fits, and whether the text may end after it,
    is as in a machine without tables. Complete, or with so little precomputed that heads and states
    of the lexer are met that no table has."""
    allowed = 0
    for number, (text, tokens, rng) in enumerate(random_cases(300 if full else 6, seed=5)):
        machine, plain = (
            precomputed(text, tokens, (2_000, 3, 1)[number % 3]),
            masks_of(text, tokens),
        )
        for _ in range(4):
            left, right = machine.start, plain.start
            for _ in range(8):
                ends = fitting(machine, left, len(tokens))
                assert fitting(plain, right, len(tokens)) == ends, text
                if not ends:
                    break
                allowed += len(ends)
                token = rng.choice(sorted(ends))
                left, right = machine.step(left, token), plain.step(right, token)
    assert allowed > 1_000


def fitting(machine: MaximalMunchMasks, state: int, tokens: int) -> dict[int, bool]:
    """The tokens that fit, and whether the text may end after each."""
    targets = {i: machine.take(state, i) for i in range(tokens)}
    return {i: machine.is_accepting(target) for i, target in targets.items() if target is not None}


@pytest.mark.parametrize("grammar", SAMPLES, ids=["json", "code"])
def test_tokens_are_read_as_their_bytes_are(
    grammar: str, default_tokenizer: Tokenizer, full: bool
) -> None:
    """Along a sample, a sample of the tokens: by a machine that has all of a file's tables, and by
    one that reads texts alone."""
    prewarm = None if full or grammar == JSON else 3_000
    machine = load_bytes(
        compiled_lark(grammar, default_tokenizer, prewarm=prewarm).to_bytes()
    ).machine()
    assert isinstance(machine, MaximalMunchMasks)
    rng = random.Random(3)
    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    plain = text_machine(maximal_munch_tables(read_grammar(grammar, "lark")))
    ids = vocabulary.text_ids().tolist()
    left, right = machine.start, plain.start
    for token in default_tokenizer.encode(SAMPLES[grammar]):
        for other in {token, *(ids if full else rng.sample(ids, 200))}:
            fits = plain.read(right, vocabulary.token(other)) is not None
            assert fits == (machine.take(left, other) is not None)
        left = machine.step(left, token)
        length, right = plain.follow(right, vocabulary.token(token))
        assert length == len(vocabulary.token(token))
    assert machine.is_accepting(left)
    assert plain.is_accepting(right)


def test_what_is_no_text_is_not_taken() -> None:
    """A token that ends the text, one without bytes, and ids that there are not."""
    tokens = [b"a", b"", b"ab"]
    machine = precomputed('start: "a" start "b" | "a"\n', tokens, None)
    assert [True, False, False, False, False, False] == [
        machine.take(machine.start, token) is not None for token in (0, 1, 2, 3, 4, -1)
    ]


@pytest.mark.quick
def test_transitions_are_decoded_when_they_are_first_needed() -> None:
    """A machine begins with the start's alone, and does not compute what the tables have."""
    machine = precomputed(JSON, [b"{", b"}", b"[", b"]", b'"a"', b":", b"1", b","], None)
    transitions = machine.configurations.transitions
    begun, size = len(transitions.by_key), transitions.nbytes
    assert begun < 3
    configuration = machine.start
    for token in (0, 4, 5, 6, 1):
        configuration = machine.step(configuration, token)
    assert begun < len(transitions.by_key)
    # What is decoded counts as before.
    assert size == transitions.nbytes
