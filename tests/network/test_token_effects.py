"""Precomputed effects of tokens in the states of a network, against networks that read."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from support.grammars import JSON, MARKUP, STATEMENTS, nullable_lnf_of, random_grammars
from support.network import minimal_tables
from support.normal_form.network import network

from constrain.artifacts.network import token_steps
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.lazy_token_effects import LazyTokenEffects
from constrain.artifacts.network.machine import NetworkMasks
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects, TokenSteps
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.limits import Effort, Limits
from constrain.compiler.network import token_effects as module
from constrain.compiler.network.token_effects import token_effects

NONE: tuple[()] = ()


def effects_of(
    tables: NetworkTables, tokens: Sequence[bytes], memory: int = 1 << 20
) -> TokenEffects:
    """The effects of texts."""
    vocabulary = Vocabulary.from_tokens(dict(enumerate(tokens)), (), len(tokens))
    return token_effects(tables, vocabulary, NONE, memory, Effort(Limits().started(), ()))


def random_tokens(rng: random.Random, count: int) -> list[bytes]:
    """Texts over a, b and c, the three letters first."""
    lengths = (1, 1, 2, 3, 6)
    texts = (bytes(rng.choices(b"abc", k=rng.choice(lengths))) for _ in range(count))
    return [b"a", b"b", b"c", *texts]


def no_reading(configuration: int, token_id: int) -> int:
    """For effects that are all tabulated."""
    raise AssertionError((configuration, token_id))


def reading(tokens: Sequence[bytes]) -> Callable[[Network], Callable[[int, int], int]]:
    """Steps by the bytes of a token."""
    return lambda found: LazyTokenEffects(found, lambda token_id: [tokens[token_id]]).step


def unknown(tables: NetworkTables, effects: TokenEffects) -> int:
    """How many places of the table are not tabulated."""
    last = tables.states + len(effects.rests) + len(effects)
    return int(np.count_nonzero(effects.table == last))


def check_random_walks(
    rng: random.Random,
    tables: NetworkTables,
    tokens: Sequence[bytes],
    effects: TokenEffects,
    otherwise: Callable[[Network], Callable[[int, int], int]],
) -> int:
    """All tokens at each place of random texts do what their bytes do; how many were compared."""
    found = Network(tables)
    steps = TokenSteps(found, effects, otherwise(found))
    compared = 0
    for _ in range(4):
        state = found.start
        for _ in range(10):
            read = (found.read(state, token) for token in tokens)
            expected = [None if target == REFUSED else target for target in read]
            assert expected == [steps.step(state, token_id) for token_id in range(len(tokens))]
            compared += len(tokens)
            going_on = [target for target in expected if target is not None]
            if not going_on:
                break
            state = rng.choice(going_on)
    return compared


def test_effects_are_reads(full: bool) -> None:
    """On random grammars and tokens; little is left to be read, in the most ambiguous ones."""
    rng = random.Random(31)
    compared = places = left = 0
    for text, _ in random_grammars(400 if full else 40, seed=37):
        tables = minimal_tables(text)
        tokens = random_tokens(rng, 20)
        effects = effects_of(tables, tokens)
        compared += check_random_walks(rng, tables, tokens, effects, reading(tokens))
        places += effects.table.size
        left += unknown(tables, effects)
    assert compared > 20_000
    assert left * 20 < places


def test_steps_are_the_same_where_the_table_is_short(full: bool) -> None:
    """With room for few classes of tokens the others are read."""
    rng = random.Random(41)
    left = 0
    for text, _ in random_grammars(200 if full else 20, seed=43):
        tables = minimal_tables(text)
        tokens = random_tokens(rng, 20)
        for classes in (4, 6, 9):
            effects = effects_of(tables, tokens, classes * 2 * tables.states)
            assert effects.table.shape[1] <= classes
            left += unknown(tables, effects)
            check_random_walks(rng, tables, tokens, effects, reading(tokens))
    assert left > 200


def test_steps_are_the_same_where_effects_are_too_large(
    monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """An effect with too many threads or frames is not tabulated, in its state alone."""
    monkeypatch.setattr(module, "_MAX_PARTS", 1)
    rng = random.Random(47)
    left = 0
    for text, _ in random_grammars(200 if full else 20, seed=53):
        tables = minimal_tables(text)
        tokens = random_tokens(rng, 20)
        effects = effects_of(tables, tokens)
        left += unknown(tables, effects)
        check_random_walks(rng, tables, tokens, effects, reading(tokens))
    assert left > 200


def test_no_room_is_no_table() -> None:
    """Then all tokens are read."""
    tables = minimal_tables(JSON)
    effects = effects_of(tables, [b"[", b"]"], 2 * tables.states)
    assert (effects.table.size, len(effects)) == (0, 0)
    vocabulary = Vocabulary.from_tokens({0: b"[", 1: b"]"}, (), 2)
    masks = NetworkMasks(tables, no_trie, vocabulary, (), 2, effects=effects)
    found = masks.network
    for ids in ([0], [0, 0], [0, 1], [0, 0, 1, 1]):
        state = masks.start
        for token_id in ids:
            state = masks.step(state, token_id)
        expected = found.read(found.start, b"".join((b"[", b"]")[i] for i in ids))
        assert expected == state
    assert [None] * 3 == [masks.take(masks.start, token_id) for token_id in (-1, 1, 2)]


def no_trie() -> None:
    """For what makes no masks."""
    raise AssertionError


@pytest.mark.parametrize("depth", [1, 7, 60])
def test_tokens_close_many_brackets(depth: int) -> None:
    """A token reads as many frames as it closes calls; a longer one than the stack is refused."""
    tables = minimal_tables("s ::= '[' s ']' | '(' s ')' | 'x';")
    close = b"]" * depth
    tokens = [b"[" * depth, b"x", close, close + b"]", close[1:] + b")", b"x]"]
    effects = effects_of(tables, tokens)
    found = Network(tables)
    steps = TokenSteps(found, effects, no_reading)
    inside = found.read(found.start, tokens[0])
    assert inside == steps.step(found.start, 0)
    read = found.read(inside, b"x")
    assert read == steps.step(inside, 1)
    assert [found.read(read, close), None, None] == [steps.step(read, i) for i in (2, 3, 4)]
    assert found.may_end(found.read(read, close))
    assert found.read(inside, b"x]") == steps.step(inside, 5)


def test_what_is_read_far_below_frames_that_may_end() -> None:
    """A bracket closes although none of the frames above it reads it: they end."""
    tables = network(
        nullable_lnf_of(
            "s ::= '(' t ')' | 'x'; t ::= 'a' u 'b'? | '[' t ']' | 'q' t 't'?;"
            "u ::= 'd' w 'e'? | '<' u '>' | 'r' u 'u'?; w ::= v 'f'? | '{' w '}';"
            "v ::= 'z' | s 'g'? | '|' v '|';"
        )
    )
    tokens = [b"(ad", b"z", b")", b"z)", b"e)", b"b)", b"{", b"}", b"(a<d", b">)", b"}))", b"(qar"]
    effects = effects_of(tables, tokens)
    found = Network(tables)
    state = found.read(found.start, b"(ad{(a<dz")
    steps = TokenSteps(found, effects, no_reading)
    for token_id in (9, 7, 2):
        expected = found.read(state, tokens[token_id])
        assert expected == steps.step(state, token_id)
        state = expected
    assert found.may_end(state)
    check_random_walks(random.Random(73), tables, tokens, effects, lambda _: no_reading)


def test_tokens_that_end_alike_share_their_work() -> None:
    """Names do the same wherever they stand: there are few classes of them."""
    tables = minimal_tables(STATEMENTS)
    rng = random.Random(3)
    names = {bytes(rng.choices(b"ghijk", k=rng.randint(1, 9))) for _ in range(500)}
    effects = effects_of(tables, [*sorted(names), b"if", b"; ", b"}"])
    assert effects.table.shape[1] <= 12


def test_encoding_round_trips() -> None:
    """Arrays are those that were encoded, and the same each time."""
    tables = minimal_tables(MARKUP)
    tokens = [*random_tokens(random.Random(5), 20), b"<a>", b"</a><b/>", b"<a><c>", b"/></"]
    effects = effects_of(tables, tokens)
    again = TokenEffects.from_arrays(effects.arrays())
    assert len(effects) > 0
    assert len(effects) == len(again)
    for name, array in effects_of(tables, tokens).arrays().items():
        assert array.tobytes() == effects.arrays()[name].tobytes(), name


def test_evicted_steps_are_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of steps is bounded."""
    monkeypatch.setattr(token_steps, "_BETWEEN_LOOKS", 2)
    monkeypatch.setattr(token_steps, "ENTRY_BYTES", 1 << 40)
    rng = random.Random(6)
    for text, _ in random_grammars(10, seed=59):
        tables = minimal_tables(text)
        tokens = random_tokens(rng, 10)
        check_random_walks(rng, tables, tokens, effects_of(tables, tokens), reading(tokens))
