"""Finite languages against all encodings by a tokenizer's own library, whatever its steps are.

A member is kept if the library finds no added token in it, writes the text as it is or after one
space, and its tokens spell what it writes.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import pytest
from tokenizers import Tokenizer

from constrain.artifacts import ArtifactError
from constrain.compiler.diagnostics import CheckError, TokenizerError
from constrain.compiler.tokenizers import byte_alphabet
from support.corpus.encodings import check_masks, following
from support.corpus.engines import ENGINES
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import Case

BY_ENGINE = ("DirectMerge", "CartesianMerge", "canonical network", "canonical network, lazily")

# What kinds of artifacts are refused for, by name: nothing else may be.
REFUSED = (
    "it merges characters|no other order is exact|puts (a space )?before (a )?text|"
    "do not support the step|canonical masks do not follow"
)


def found_by_name(library: Tokenizer) -> Any:
    """The library's tokenizer of the same normalizer and added tokens that has no other token."""
    value = {**json.loads(library.to_str()), "post_processor": None}
    value["model"] = {"type": "BPE", "vocab": {}, "merges": []}
    return Tokenizer.from_str(json.dumps(value))


class OwnEncodings:
    """What the library writes for texts that it keeps as they are."""

    def __init__(self, here: Case) -> None:
        self.here = here

    @cached_property
    def _finder(self) -> Any:
        return found_by_name(self.here.library)

    def encode(self, text: str) -> list[int] | None:
        """Its tokens of a text; None where it finds, changes, drops or removes a part of it."""
        ids, tokenizer = self.here.encode(text), self.here.tokenizer
        if self._finder.encode(text).ids or not all(i in tokenizer.tokens for i in ids):
            return None
        written = self._written(text)
        if written not in (text.encode(), b" " * bool(text) + text.encode()):
            return None
        return ids if written == b"".join(tokenizer.tokens[i] for i in ids) else None

    def _written(self, text: str) -> bytes | None:
        """The pieces that the library's own steps give, joined."""
        library, bytewise = self.here.library, self.here.tokenizer.byte_level
        if library.normalizer is not None:
            text = library.normalizer.normalize_str(text)
        if library.pre_tokenizer is not None:
            text = "".join(piece for piece, _ in library.pre_tokenizer.pre_tokenize_str(text))
        if bytewise:
            return byte_alphabet.decode(text)
        return text.replace("▁", " " if self._writes_spaces else "▁").encode()

    @cached_property
    def _writes_spaces(self) -> bool:
        """Whether a step writes "▁" for a space."""
        steps = json.loads(self.here.library.to_str())
        return "▁" in json.dumps([steps["normalizer"], steps["pre_tokenizer"]], ensure_ascii=False)

    def behind(self, prompt: Sequence[int], text: str, members: Iterable[str]) -> list[list[int]]:
        """What it writes after a prompt's tokens, wherever they stay as they are."""
        wholes = [self.encode(text + member) for member in members]
        kept = [ids for ids in wholes if ids is not None and ids[: len(prompt)] == list(prompt)]
        return [ids[len(prompt) :] for ids in kept]


def compare_random(own: OwnEncodings, words: Sequence[str], rng: random.Random) -> Counter[str]:
    """Compare the masks of a random language of three words, by each kind of artifact, at the
    start of a text and after a prompt; what was counted. Where members are left out a note says
    so, and only there."""
    counts: Counter[str] = Counter()
    parts = [rng.sample(words, 4) for _ in range(3)]
    texts = sorted({"".join(chosen) for chosen in product(*parts)})
    kept = {text: ids for text in texts if (ids := own.encode(text)) is not None}
    regex = "".join(f"({'|'.join(map(re.escape, part))})" for part in parts)
    prompt = "".join(rng.choices(words, k=2))
    before, eos = own.encode(prompt), own.here.eos_ids
    for engine in BY_ENGINE:
        try:
            artifact = ENGINES[engine].artifact(Language("language", regex, "regex"), own.here)
        except TokenizerError as error:
            assert re.search(REFUSED, str(error)), error
            counts["refused"] += 1
            continue
        except CheckError as error:
            assert not kept, error
            counts["without members"] += 1
            continue
        counts[engine] += 1
        is_network = "network" in engine
        noted = any("left out" in note for note in artifact.notes)
        assert noted or len(kept) == len(texts), engine
        assert is_network or noted == (len(kept) < len(texts)), engine
        counts["tokens"] += check_masks(artifact.matcher(), following(kept.values(), eos))
        if before is None or engine == "DirectMerge":
            continue
        # A product leaves out the same members as without, a network what is lost there.
        rest = own.behind(before, prompt, texts if is_network else kept)
        if not rest:
            with pytest.raises(ArtifactError):
                artifact.matcher(after=before)
            continue
        counts["prompts"] += 1
        counts["tokens"] += check_masks(artifact.matcher(after=before), following(rest, eos))
    return counts
