"""Steps remembered for all stacks that agree on top, and masks worked out ahead."""

# Tests here say `expected == actual`.

import random

import pytest
from support.grammars import JSON, MARKUP, SAMPLES, STATEMENTS, nullable_lnf_of, random_grammars

from constrain.artifacts.network import lazy_token_effects as moves
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.lazy_token_effects import LazyTokenEffects
from constrain.artifacts.network.summaries import NOTHING, ROOT
from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler.limits import Limits
from constrain.compiler.network.build import network
from constrain.compiler.network.precompute import frames_below, prewarm


def tables_of(text: str) -> NetworkTables:
    """The network of a kbnf grammar."""
    return network(nullable_lnf_of(text))


def test_moves_are_reads(full: bool) -> None:
    """On random grammars and tokens the effect that is remembered is what reading gives."""
    rng = random.Random(19)
    for text, _ in random_grammars(400 if full else 60, seed=29):
        tokens = [
            bytes(rng.choice(b"abc") for _ in range(rng.choice([1, 1, 2, 3, 6]))) for _ in range(12)
        ]
        found = Network(tables_of(text))
        quick = LazyTokenEffects(found, lambda token_id, tokens=tokens: [tokens[token_id]])  # type: ignore[misc]
        for _ in range(6):
            state = found.start
            for _ in range(12):
                token_id = rng.randrange(len(tokens))
                expected = found.read(state, tokens[token_id])
                assert expected == quick.step(state, token_id), (text, tokens[token_id])
                if expected != REFUSED:
                    state = expected


def test_one_effect_serves_every_depth() -> None:
    """Deeper stacks need no new look at the bytes of a token."""
    tokens = [b"[", b"]", b"[[", b"]]", b"x"]
    found = Network(tables_of("s ::= '[' s ']' | 'x';"))
    spelled = []

    def readings(token_id: int) -> list[bytes]:
        spelled.append(token_id)
        return [tokens[token_id]]

    quick = LazyTokenEffects(found, readings)
    state = found.start
    for token_id in [0, 2, 0, 2, 2, 4, 3, 1, 3, 1, 3]:
        state = quick.step(state, token_id)
    assert found.may_end(state)
    worked_out = len(spelled)
    state = found.start
    for token_id in [2] * 50 + [4] + [3] * 50:
        state = quick.step(state, token_id)
    assert found.may_end(state)
    # Only the empty stack was not seen before.
    assert len(spelled) - worked_out <= 3


def test_forgotten_effects_are_worked_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memo is bounded."""
    monkeypatch.setattr(moves, "_KEPT", 3)
    found = Network(tables_of(JSON))
    quick = LazyTokenEffects(found, lambda octet: [bytes([octet])])
    state = found.start
    for octet in SAMPLES[JSON]:
        state = quick.step(state, octet)
    assert found.may_end(state)


def test_frames_below_are_those_of_the_stacks() -> None:
    """Whatever is read, the frame right below a thread is one that the relation has."""
    rng = random.Random(8)
    for text in (JSON, MARKUP, STATEMENTS):
        tables = tables_of(text)
        below = frames_below(tables)
        found = Network(tables)
        sample = SAMPLES[text]
        for _ in range(30):
            state = found.read(found.start, sample[: rng.randrange(len(sample))])
            for thread, node in found.threads[state]:
                for frame, _ in found.stacks.entries[node]:
                    assert frame == 0 or frame in below[thread]


def test_the_relation_is_smaller_than_all_frames() -> None:
    """Under a bracket of one kind lies no frame that another kind of rule pushes."""
    tables = tables_of("s ::= a | b; a ::= '(' a ')' | 'x'; b ::= '<' b '>' | 'y';")
    below = frames_below(tables)
    frames = set(tables.call_returns.tolist())
    assert any(set(found) < frames for found in below if found)


def test_prewarming_is_closed(default_tokenizer) -> None:  # type: ignore[no-untyped-def]
    """What an answer leaves pending is answered at every frame below."""
    from constrain.artifacts.network.summaries import Summaries
    from constrain.artifacts.tokens.trie import Trie

    vocabulary = default_tokenizer.vocabulary(default_tokenizer.vocab_size)
    trie = Trie.from_vocabulary(vocabulary)
    tables = tables_of(JSON)
    residual = Summaries(tables, lambda: trie, default_tokenizer.vocab_size)
    assert prewarm(tables, residual, 10_000, 1 << 30, Limits().started())
    below = frames_below(tables)
    roots = [(ROOT, state) for state in range(1, tables.states)]
    seen = set(roots)
    for exits, state in roots:
        _, pending = residual.answers[exits, state]
        for frame in below[state] if pending != NOTHING else ():
            if (pending, frame) not in seen:
                seen.add((pending, frame))
                roots.append((pending, frame))
    assert seen <= set(residual.answers)
    # Kept, loaded and forgotten, the answers are the same.
    again = Summaries(tables, lambda: trie, default_tokenizer.vocab_size, residual.memo())
    for key, answer in residual.answers.items():
        assert answer == again.find(*key)
    again.row_number(~again.row(1))
    again.forget()
    assert len(residual) == len(again)
