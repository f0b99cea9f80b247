"""Canonical masks of real grammars and a real tokenizer, against the tokenizer's own library."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.corpus.engines import ENGINES
from support.corpus.languages import SMALL_EXAMPLES, member
from support.corpus.tokenizer_case import Case
from support.merge import Oracle

from constrain.artifacts import Artifact
from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.tokens import tokenset


def compiled(name: str, case: Callable[[str], Case]) -> Artifact:
    """An example compiled for GPT-2, by DirectMerge with GPT-2's cuts."""
    return ENGINES["DirectMerge"].stored(SMALL_EXAMPLES[name], case("gpt2"))


@pytest.mark.parametrize("name", ["date", "ipv4", "words"])
def test_prefix_lists_exactly_what_members_have_there(
    name: str, case: Callable[[str], Case], full: bool
) -> None:
    """At every byte of random members: every boundary and its tokens, none missing, none more."""
    artifact = compiled(name, case)
    oracle = Oracle(artifact, case("gpt2").library)
    rng = random.Random(2025)
    prefixes = set()
    for _ in range(1000 if full else 4):
        text = member(SMALL_EXAMPLES[name], rng).encode()
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


def test_object_prefixes_have_witnesses(case: Callable[[str], Case], full: bool) -> None:
    """Where the language is infinite: members' own tokens are listed at every byte; sampled
    tokens that are listed have a member whose encoding passes through them; sampled tokens
    that only the plain lift allows lead to a member whose tokens are others."""
    if not full:
        pytest.skip("paths through 33 million transitions take half a minute: --full")
    artifact, library = compiled("person", case), case("gpt2").library
    completion = shortest_completions(artifact)
    vocabulary, dfa = artifact.vocabulary, artifact.byte_dfa
    rng = random.Random(2026)
    for _ in range(1000):
        text = member(SMALL_EXAMPLES["person"], rng).encode()
        own = library.encode(text.decode()).ids
        for end in range(len(text) + 1):
            check_own_token(artifact, text, own, end)
        place = rng.randrange(len(own))
        matcher = artifact.matcher()
        for token_id in own[:place]:
            matcher.advance(token_id)
        done = b"".join(map(vocabulary.token, own[:place]))
        listed = set(tokenset.to_ids(matcher.mask()).tolist())
        state = artifact.machine().start
        for token_id in own[:place]:
            state = artifact.machine().take(state, token_id)
        for token_id in rng.sample(sorted(listed), min(5, len(listed))):
            rest = completion[artifact.machine().take(state, token_id)]
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
    dfa = artifact.runtime.token_dfa
    assert dfa is not None
    before: dict[int, list[tuple[int, int]]] = {}
    for state in range(dfa.states):
        tokens, targets = dfa.edges_of(state)
        allowed = tokenset.to_flags(artifact.machine().row(state))[tokens]
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
