"""Walks by the masks alone: none ends early, and each spells a text that is encoded so."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.canonical import GRAMMARS
from support.cartesian import SAMPLED, TINY, TOKENIZERS, Case, skip_unless_sampled
from support.matcher import Completions

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset

# Of walks in full, so that those of six tokenizers and twelve grammars are 100,000.
_WALKS = 1389
_LONGEST = 12


class Walker:
    """Random tokens of masks, often such as begin or end inside a character."""

    def __init__(self, artifact: Artifact, seed: int) -> None:
        self.vocabulary = artifact.vocabulary
        self.eos = artifact.manifest.eos
        self.machine = artifact.machine()
        self.ways = Completions(artifact)
        self.rng = np.random.default_rng(seed)
        texts = self.vocabulary.text_ids()
        self.texts = texts
        self.odd = np.array([i for i in texts.tolist() if is_odd(self.vocabulary.token(i))])

    def walk(self) -> list[int]:
        """Some random tokens, then the shortest way to the end."""
        state, ids = self.machine.start, list[int]()
        for _ in range(int(self.rng.integers(_LONGEST + 1))):
            mask = self.machine.row(state)
            assert mask.any(), ids
            token = self._pick(mask)
            if token in self.eos and self.machine.is_accepting(state):
                return ids
            state = self.machine.take(state, token)
            ids.append(token)
        text = b"".join(map(self.vocabulary.token, ids))
        place = self.ways.places.run(self.ways.places.start, text)
        return [*ids, *self.ways.completion(state, place)]

    def _pick(self, mask: NDArray[np.uint32]) -> int:
        """Of a few tokens drawn from all, or else of those of the mask, one by a random wish."""
        pool = self.odd if len(self.odd) and self.rng.random() < 0.3 else self.texts
        drawn = pool[self.rng.integers(len(pool), size=24)]
        found = drawn[(mask[drawn >> 5] >> (drawn & 31).astype(np.uint32) & 1) != 0]
        if len(found) < 2:
            found = self.rng.permutation(tokenset.to_ids(mask))[:24]
        if self.rng.random() < 0.3:
            return int(found[np.argmin(self.vocabulary.lengths[found])])
        return int(found[0])


def is_odd(octets: bytes) -> bool:
    """Whether a token begins or ends inside a character."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return True
    return False


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("name", [*TOKENIZERS, TINY[1]])
def test_walks_end_in_texts_that_are_encoded_so(
    name: str,
    grammar: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """No mask before the end is empty, and from where a walk has come to there is an end."""
    skip_unless_sampled(name, grammar, full, (*SAMPLED, TINY[1]))
    here = case(name)
    artifact = here.artifact(grammar)
    walker = Walker(artifact, 11)
    walks = [walker.walk() for _ in range(_WALKS if full else 20)]
    token = artifact.vocabulary.token
    texts = [b"".join(map(token, ids)).removeprefix(artifact.text_prefix) for ids in walks]
    encoded = here.encode_all([text.decode() for text in texts])
    wrong = [(a, b) for a, b in zip(walks, encoded, strict=True) if a != b]
    assert wrong == []
    record_property("walks", len(walks))
    record_property("tokens", sum(map(len, walks)))
