"""Canonical masks of real grammars and a real tokenizer, against the tokenizer's own library."""

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support import EXAMPLES
from support.merge import Oracle

from constrain.artifacts import Artifact
from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.dialects import dialect_of

FILES = {"date": "date.ebnf", "ipv4": "ipv4.regex", "words": "words.ebnf", "person": "person.ebnf"}


def member(name: str, rng: random.Random) -> str:
    """A random member, made without the grammar."""
    if name == "date":
        return f"{rng.randrange(10000):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 32):02}"
    if name == "ipv4":
        return ".".join(str(rng.randrange(256)) for _ in range(4))
    if name == "words":
        text = (EXAMPLES / FILES[name]).read_text(encoding="utf-8")
        return rng.choice(text.split('"')[1::2])
    letters = "".join(rng.choice("etaoinshrdlucmwfgypbvkjxqz") for _ in range(rng.randrange(1, 12)))
    word = rng.choice([letters, "william", "the", "aaaaaa", "internationalization"])
    age = rng.choice([0, rng.randrange(1, 120), rng.randrange(10**9)])
    return f'{{"name": "{word}", "age": {age}, "admin": {rng.choice(["true", "false"])}}}'


@pytest.fixture(scope="module")
def compiled(gpt2: Tokenizer) -> Callable[[str], Artifact]:
    """An example compiled for GPT-2, by DirectMerge with GPT-2's pre-tokenizer."""

    @cache
    def build(name: str) -> Artifact:
        path = EXAMPLES / FILES[name]
        text = path.read_text(encoding="utf-8")
        dialect = dialect_of(path.name) or ""
        return compile_grammar(text, dialect=dialect, tokenizer=gpt2, method="direct")

    return build


@pytest.fixture(scope="module")
def library(data: Callable[[str], Path]) -> tokenizers.Tokenizer:
    """GPT-2 in the reference implementation."""
    return tokenizers.Tokenizer.from_file(str(data("tokenizers/gpt2/tokenizer.json")))


@cache
def ids_by_text(artifact: Artifact) -> dict[bytes, list[int]]:
    """The text tokens by their bytes."""
    found: dict[bytes, list[int]] = {}
    for token_id in artifact.vocabulary.text_ids().tolist():
        found.setdefault(artifact.vocabulary.token(token_id), []).append(token_id)
    return found


def accepted_sequences(artifact: Artifact, text: bytes) -> list[tuple[int, ...]]:
    """Every accepted token sequence that spells ``text``."""
    by_text = ids_by_text(artifact)
    machine, rows = artifact.machine, artifact.rows
    found = []
    pending: list[tuple[int, int, tuple[int, ...]]] = [(0, machine.start, ())]
    while pending:
        position, state, ids = pending.pop()
        if position == len(text) and machine.is_accepting(state):
            found.append(ids)
        row = rows.row(state)
        for end in range(position + 1, len(text) + 1):
            for token_id in by_text.get(text[position:end], ()):
                if tokenset.contains(row, token_id):
                    pending.append((end, machine.step(state, token_id), (*ids, token_id)))
    return found


@pytest.mark.parametrize("name", FILES)
def test_one_sequence_is_accepted_and_it_is_the_tokenizers_own(
    name: str, compiled: Callable[[str], Artifact], library: tokenizers.Tokenizer, full: bool
) -> None:
    """For random members: exactly one accepted sequence, the library's, and EOS after it."""
    artifact = compiled(name)
    rng = random.Random(2024)
    for _ in range(1000 if full else 30):
        text = member(name, rng)
        own = tuple(library.encode(text).ids)
        assert accepted_sequences(artifact, text.encode()) == [own]
        matcher = artifact.matcher()
        for token_id in own:
            matcher.advance(token_id)
        assert matcher.is_accepting
        assert tokenset.contains(matcher.mask(), artifact.manifest.eos[0])


@pytest.mark.parametrize("name", ["date", "ipv4", "words"])
def test_prefix_lists_exactly_what_members_have_there(
    name: str, compiled: Callable[[str], Artifact], library: tokenizers.Tokenizer, full: bool
) -> None:
    """At every byte of random members: every boundary and its tokens, none missing, none more."""
    artifact = compiled(name)
    oracle = Oracle(artifact, library)
    rng = random.Random(2025)
    prefixes = set()
    for _ in range(1000 if full else 15):
        text = member(name, rng).encode()
        prefixes.update(text[:end] for end in range(len(text) + 1))
    eos = set(artifact.manifest.eos)
    for prefix in sorted(prefixes):
        expected = {(n, ids): allowed for n, ids, allowed in oracle.boundaries(prefix)}
        found = {
            (b.length, b.ids): set(tokenset.to_ids(b.allowed).tolist())
            for b in boundaries(artifact, prefix)
        }
        for b in boundaries(artifact, prefix):
            assert (eos <= found[b.length, b.ids]) == b.accepting
        assert {key: ids - eos for key, ids in found.items()} == expected


def test_both_methods_allow_the_same_in_an_infinite_language(
    gpt2: Tokenizer, compiled: Callable[[str], Artifact], full: bool
) -> None:
    """Random walks by the masks, DirectMerge and CartesianMerge side by side."""
    direct = compiled("person")
    text = (EXAMPLES / FILES["person"]).read_text(encoding="utf-8")
    cartesian = compile_grammar(text, dialect="kbnf", tokenizer=gpt2, method="cartesian")
    rng = random.Random(2027)
    for _ in range(3000 if full else 25):
        one, other = direct.machine.start, cartesian.machine.start
        for _ in range(40):
            row = direct.rows.row(one)
            assert np.array_equal(row, cartesian.rows.row(other))
            assert direct.machine.is_accepting(one) == cartesian.machine.is_accepting(other)
            allowed = set(tokenset.to_ids(row).tolist()) - set(direct.manifest.eos)
            if not allowed:
                break
            token_id = rng.choice(sorted(allowed))
            one = direct.machine.step(one, token_id)
            other = cartesian.machine.step(other, token_id)


def test_object_prefixes_have_witnesses(
    compiled: Callable[[str], Artifact], library: tokenizers.Tokenizer, full: bool
) -> None:
    """Where the language is infinite: members' own tokens are listed at every byte; sampled
    tokens that are listed have a member whose encoding passes through them; sampled tokens
    that only the plain lift allows lead to a member whose tokens are others."""
    if not full:
        pytest.skip("paths through 33 million transitions take half a minute: --full")
    artifact = compiled("person")
    completion = shortest_completions(artifact)
    vocabulary, dfa = artifact.vocabulary, artifact.byte_dfa
    rng = random.Random(2026)
    for _ in range(1000):
        text = member("person", rng).encode()
        own = library.encode(text.decode()).ids
        for end in range(len(text) + 1):
            check_own_token(artifact, text, own, end)
        place = rng.randrange(len(own))
        matcher = artifact.matcher()
        for token_id in own[:place]:
            matcher.advance(token_id)
        done = b"".join(map(vocabulary.token, own[:place]))
        listed = set(tokenset.to_ids(matcher.mask()).tolist())
        state = artifact.machine.start
        for token_id in own[:place]:
            state = artifact.machine.step(state, token_id)
        for token_id in rng.sample(sorted(listed), min(5, len(listed))):
            rest = completion[artifact.machine.step(state, token_id)]
            witness = done + vocabulary.token(token_id) + rest
            assert library.encode(witness.decode()).ids[: place + 1] == [*own[:place], token_id]
        here = dfa.run(dfa.start, done)
        lifted = [
            t for t in rng.sample(vocabulary.text_ids().tolist(), 300)
            if dfa.run(here, vocabulary.token(t)) and t not in listed
        ]  # fmt: skip
        for token_id in lifted:
            rest = shortest_rest(dfa, dfa.run(here, vocabulary.token(token_id)))
            text = (done + vocabulary.token(token_id) + rest).decode()
            assert library.encode(text).ids[: place + 1] != [*own[:place], token_id]


def shortest_rest(dfa: ByteDfa, state: int) -> bytes:
    """The shortest text from a state to the end."""
    pending = [(state, b"")]
    seen = {state}
    for here, text in pending:
        if dfa.accepting[here]:
            return text
        for octet in range(256):
            target = dfa.run(here, bytes([octet]))
            if target and target not in seen:
                seen.add(target)
                pending.append((target, text + bytes([octet])))
    raise AssertionError("no end can be reached")


def check_own_token(artifact: Artifact, text: bytes, own: list[int], end: int) -> None:
    """The token of ``own`` that covers byte ``end`` is listed at the boundary before it."""
    position, ids = 0, []
    for token_id in own:
        length = len(artifact.vocabulary.token(token_id))
        if position + length > end or position == end:
            break
        position += length
        ids.append(token_id)
    found = {b.ids: b.allowed for b in boundaries(artifact, text[:end])}
    following = own[len(ids)] if len(ids) < len(own) else artifact.manifest.eos[0]
    assert tokenset.contains(found[tuple(ids)], following)


def shortest_completions(artifact: Artifact) -> dict[int, bytes]:
    """For each state of the token DFA a shortest text (in tokens) to acceptance."""
    dfa = artifact.token_dfa
    assert dfa is not None
    before: dict[int, list[tuple[int, int]]] = {}
    for state in range(dfa.states):
        tokens, targets = dfa.edges_of(state)
        allowed = tokenset.to_flags(artifact.rows.row(state))[tokens]
        # One token for each target is enough for a shortest path.
        distinct, places = np.unique(targets[allowed], return_index=True)
        for target, token in zip(distinct.tolist(), tokens[allowed][places].tolist(), strict=True):
            before.setdefault(target, []).append((state, token))
    done = {s: b"" for s in range(dfa.states) if dfa.is_accepting(s)}
    pending = list(done)
    for state in pending:
        for source, token in before.get(state, ()):
            if source not in done:
                done[source] = artifact.vocabulary.token(token) + done[state]
                pending.append(source)
    assert len(done) == dfa.states
    return done
