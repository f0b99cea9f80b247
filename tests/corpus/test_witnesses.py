"""Infinite languages: each allowed token has a member, and a refused one none of bounded length.

A *witness* of a token after some tokens is a member that the tokenizer's own library encodes as
those tokens, the token, and more.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from support import offenders, sampled
from support.corpus.engines import ENGINES
from support.corpus.languages import INFINITE, member, typical
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import SAMPLED, TINY, TOKENIZERS, Case
from support.matcher import Completions, Places

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset

KINDS = ("prefixes", "allowed", "refused", "members")
Count = Callable[[str, object], None]

# Bytes after the tokens so far.
_MORE = 12


class Witnesses:
    """The witnesses of tokens after ``ids``."""

    def __init__(self, here: Case, artifact: Artifact, ways: Completions, ids: list[int]) -> None:
        self.here, self.ways, self.ids = here, ways, ids
        self.text_prefix = artifact.text_prefix
        self.token = artifact.vocabulary.token
        self.text = b"".join(map(self.token, ids))
        self.state = ways.machine.start
        for token_id in ids:
            after = ways.machine.take(self.state, token_id)
            assert after is not None
            self.state = after

    def next_tokens(self, more: Sequence[bytes]) -> set[int]:
        """What the library's tokens of the texts that go on so have next, -1 for the end: those
        of texts that it gives back and whose tokens begin with ``ids``."""
        texts = [(self.text + m).removeprefix(self.text_prefix).decode() for m in more]
        found = set[int]()
        for text, own in zip(texts, self.here.encode_all(texts), strict=True):
            if own[: len(self.ids)] == self.ids:
                token_id = [*own, -1][len(self.ids)]
                if token_id not in found and self.here.gives_back(text, own):
                    found.add(token_id)
        return found

    def without(self, tokens: Sequence[int]) -> set[int]:
        """Those allowed tokens that the short way to the end after them is no witness of."""
        places, more = self.ways.places, []
        here = places.run(places.start, self.text)
        for token_id in tokens:
            after = self.ways.machine.take(self.state, token_id)
            assert after is not None
            place = places.run(here, self.token(token_id))
            rest = self.ways.completion(after, place)
            more.append(b"".join(map(self.token, [token_id, *rest])))
        return set(tokens) - self.next_tokens(more)


@pytest.mark.parametrize("name", TINY)
def test_a_token_is_allowed_iff_it_has_a_witness(
    name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """All allowed tokens have one; all that members which go on by twelve bytes or less (seven
    without --full) have there are allowed."""
    here, counts = case(name), dict.fromkeys(KINDS, 0)
    enough = 250_000 if full else 1_000

    def check(language: Language) -> None:
        assert language.automaton is not None
        artifact = ENGINES["CartesianMerge"].stored(language, here)
        ways = Completions(artifact)
        plain = Places(language.automaton.dfa.tables(), b"", artifact.vocabulary)
        rng = random.Random(12)
        eos = artifact.manifest.eos[0]
        refused = allowed_tokens = prefixes = members = 0
        while members < enough or (refused == 0 and members < 4 * enough):
            matcher, ids = artifact.matcher(), list[int]()
            for _ in range((prefixes + 1) % 5):
                token_id = int(rng.choice(tokenset.to_ids(matcher.mask())))
                if token_id == eos:
                    break
                matcher.advance(token_id)
                ids.append(token_id)
            found = Witnesses(here, artifact, ways, ids)
            place = plain.run(plain.start, found.text)
            more = plain.members(place, _MORE if full else 7)
            allowed = set(tokenset.to_ids(matcher.mask()).tolist())
            assert found.without(sorted(allowed - {eos})) == set()
            given = found.next_tokens(more)
            assert {eos if token == -1 else token for token in given} <= allowed
            assert (eos in allowed) == (-1 in given)
            refused += len(set(np.flatnonzero(plain.after(place)).tolist()) - allowed)
            allowed_tokens += len(allowed)
            members += len(more)
            prefixes += 1
        # The other tokenizers have few merges of these letters.
        assert refused > 0 or name != "tiny-bpe-4000"
        add(counts, prefixes, allowed_tokens, refused, members)

    assert {} == offenders(INFINITE, check)
    for kind, count in counts.items():
        record_property(kind, count)


@sampled("name", (*SAMPLED, TINY[1]), (*TOKENIZERS, *TINY))
def test_sampled_tokens_are_allowed_iff_they_have_a_witness(
    name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """Inside encodings of random members: of sampled tokens that the grammar's bytes can read,
    those allowed have one; those refused have none among some texts that go on by twelve bytes
    or less, or by any token and the shortest text after it."""
    here, counts = case(name), dict.fromkeys(KINDS, 0)

    def check(language: Language) -> None:
        assert language.automaton is not None
        artifact = ENGINES["CartesianMerge"].stored(language, here)
        ways = Completions(artifact)
        tables = language.automaton.dfa.tables()
        plain = Places(tables, artifact.text_prefix, artifact.vocabulary)
        rng, drawn = random.Random(2026), np.random.default_rng(2026)
        eos = artifact.manifest.eos
        prefixes, allowed_tokens, refused_tokens, members = (16 if full else 1), 0, 0, 0
        for _ in range(prefixes):
            text = member(language, rng)
            while not here.is_left_alone(text):
                text = member(language, rng)
            own = here.encode(text)
            found = Witnesses(here, artifact, ways, own[: rng.randrange(len(own) + 1)])
            place = plain.run(plain.start, found.text)
            read = plain.after(place) != 0
            mask = tokenset.to_flags(ways.machine.row(found.state))[: len(read)].copy()
            mask[list(eos)] = False
            assert not (mask & ~read).any()
            allowed, refused = np.flatnonzero(mask), np.flatnonzero(read & ~mask)
            some = drawn.permutation(allowed)[:200].tolist()
            assert found.without(some) == set()
            allowed_tokens += len(some)
            some = drawn.permutation(refused)[: 60 if full else 20].tolist()
            more = list[bytes]()
            for token_id in some:
                octets = artifact.vocabulary.token(token_id)
                after = int(plain.after(place)[token_id])
                rest = plain.some_members(after, _MORE - len(octets), 20, drawn)
                more += [octets + text for text in sorted(rest)]
            assert found.next_tokens(more).isdisjoint(some)
            refused_tokens += len(some)
            members += len(more)
        add(counts, prefixes, allowed_tokens, refused_tokens, members)

    assert {} == offenders(typical(name, full), check)
    for kind, count in counts.items():
        record_property(kind, count)


def add(counts: dict[str, int], *more: int) -> None:
    """Count more of ``KINDS``."""
    for kind, number in zip(KINDS, more, strict=True):
        counts[kind] += number
