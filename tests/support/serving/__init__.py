"""Hosts of models for tests: they batch, reorder, draft, refuse, stop and pad as real ones do, and
hold each mask against that of a new matcher.

The model after them is a function of the tokens so far, so that what is chosen greedily depends on
nothing else.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts import Artifact
from constrain.artifacts.serving import llama_cpp, mlx, tensorrt, transformers
from constrain.artifacts.tokens import tokenset

# What the tests with hosts themselves ask for.
SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"enum": ["red", "dark green"]},
        "text": {"type": "string", "maxLength": 20},
    },
    "required": ["colour"],
    "additionalProperties": False,
}

PROMPTS = ([5, 6, 7], [8, 5, 9])

# What a host calls: the tokens of all rows, prompts included, and their logits (B, v).
Call = Callable[[list[list[int]], NDArray[np.float32]], NDArray[np.float32]]
Adapter = Callable[[Sequence[Artifact], Any], Call]


def _transformers(artifacts: Sequence[Artifact], given: Any) -> Call:
    made = transformers.processor(artifacts, **given)

    def call(ids: list[list[int]], logits: NDArray[np.float32]) -> NDArray[np.float32]:
        before = logits.copy()
        found = made(np.array(ids), logits)
        assert np.array_equal(before, logits)
        return np.asarray(found)

    return call


def _of_one_text(module: Any, artifacts: Sequence[Artifact], given: Any) -> Call:
    """A processor a row, as such hosts have them."""
    processors: dict[int, Any] = {}

    def call(ids: list[list[int]], logits: NDArray[np.float32]) -> NDArray[np.float32]:
        found = []
        for row, tokens in enumerate(ids):
            if row not in processors:
                artifact = artifacts[row * len(artifacts) // len(ids)]
                processors[row] = module.processor(artifact, **given)
            found.append(_called(module, processors[row], tokens, logits[row]))
        return np.array(found)

    return call


def _called(module: Any, processor: Any, tokens: list[int], logits: NDArray[np.float32]) -> Any:
    if module is mlx:
        return processor(np.array(tokens), logits[np.newaxis])[0]
    # A view into records of ids and logits, as llama.cpp has them.
    records = np.zeros(len(logits), [("id", np.intc), ("logit", np.single)])
    records["logit"] = logits
    return processor(np.array(tokens, np.intc), records["logit"]).copy()


def _tensorrt(artifacts: Sequence[Artifact], given: Any) -> Call:
    """One processor an artifact, and one request a prompt."""
    made = [tensorrt.processor(artifact, **given) for artifact in artifacts]

    def call(ids: list[list[int]], logits: NDArray[np.float32]) -> NDArray[np.float32]:
        found = logits.copy()
        beams = len(ids) // len(PROMPTS) or 1
        for request, row in enumerate(range(0, len(ids), beams)):
            own = made[row * len(made) // len(ids)]
            view = found[np.newaxis, row : row + beams]
            assert own(request, view, ids[row : row + beams], None, None) is None
        return found

    return call


ADAPTERS: dict[str, Adapter] = {
    "transformers": _transformers,
    "llama_cpp": lambda artifacts, given: _of_one_text(llama_cpp, artifacts, given),
    "mlx": lambda artifacts, given: _of_one_text(mlx, artifacts, given),
    "tensorrt": _tensorrt,
}
WITH_BEAMS = ("transformers", "tensorrt")


def fake_modules(patch: pytest.MonkeyPatch) -> None:
    """What the adapters import of their hosts, where these are not installed."""
    core = ModuleType("mlx.core")
    core.array = np.asarray  # type: ignore[attr-defined]
    core.where = np.where  # type: ignore[attr-defined]
    package = ModuleType("mlx")
    package.core = core  # type: ignore[attr-defined]
    hugging = ModuleType("transformers")
    hugging.LogitsProcessor = type("LogitsProcessor", (), {})  # type: ignore[attr-defined]
    for module in (core, package, hugging):
        patch.setitem(sys.modules, module.__name__, module)
    transformers._subclass.cache_clear()


@dataclass
class Host:
    """Runs ``call`` over texts of a model with ``width`` logits, and checks what it gives.

    ``artifacts``: one, or one for each prompt.
    """

    call: Call
    artifacts: Sequence[Artifact]
    width: int
    seed: int = 0
    rows: int = 0
    finished: list[list[int]] = field(default_factory=list)

    @property
    def eos(self) -> int:
        """What pads texts that have ended."""
        return self.artifacts[0].manifest.eos[0]

    def logits(self, tokens: Sequence[int], seed: int | None = None) -> NDArray[np.float32]:
        """The model's, which depend on a few tokens and on their number."""
        key = (self.seed if seed is None else seed, len(tokens), *tokens[-3:])
        found = np.random.default_rng(key).standard_normal(self.width, np.float32)
        # Texts end sooner or later.
        found[self.eos] += len(tokens) / 8
        return found

    def scores(
        self, texts: Sequence[list[int]], seed: int | None = None, prompts: Any = PROMPTS
    ) -> NDArray[np.float32]:
        """The logits of texts after their prompts, as the processor leaves them."""
        size = len(texts) // len(prompts) or 1
        ids = [[*prompts[row // size], *text] for row, text in enumerate(texts)]
        given = np.array([self.logits(tokens, seed) for tokens in ids])
        found = self.call(ids, given)
        for row, text in enumerate(texts):
            artifact = self.artifacts[row * len(self.artifacts) // len(texts)]
            allowed = np.zeros(self.width, np.bool_)
            allowed[allowed_after(artifact, text)] = True
            assert np.array_equal(np.where(allowed, given[row], -np.inf), found[row])
            self.rows += 1
        return found

    def sample(self, answers: int = 1, steps: int = 24) -> list[list[int]]:
        """So many answers to each prompt, chosen by chance; those that end first are padded."""
        chance = np.random.default_rng(self.seed)
        texts: list[list[int]] = [[] for _ in range(answers * len(PROMPTS))]
        for _ in range(steps):
            noise = chance.gumbel(size=(len(texts), self.width))
            chosen = (self.scores(texts) + noise).argmax(axis=1).tolist()
            for text, token_id in zip(texts, chosen, strict=True):
                text.append(self.eos if self.eos in text else token_id)
        return texts

    def greedy(self, steps: int = 24) -> list[int]:
        """The first prompt's answer, the likeliest token at each place."""
        text: list[int] = []
        while len(text) < steps and self.eos not in text:
            text.append(int(self.scores([text], prompts=PROMPTS[:1])[0].argmax()))
        return text

    def assisted(self, drafts: int = 4, steps: int = 24, masked: bool = True) -> list[int]:
        """The same by another model's drafts, which the processor sees, or not; then it is called
        for every drafted place, also after those that differ."""
        text: list[int] = []
        while len(text) < steps and self.eos not in text:
            drafted = list(text)
            for i in range(drafts):
                # Every other draft is what will be taken, the others any token's.
                seed = None if (len(text) + i) % 2 else self.seed + 1
                if masked:
                    found = self.scores([drafted], seed, PROMPTS[:1])[0]
                else:
                    found = self.logits([*PROMPTS[0], *drafted], seed)
                drafted.append(int(found.argmax()))
            for end in range(len(text), len(drafted) + 1):
                scores = self.scores([drafted[:end]], prompts=PROMPTS[:1])
                if drafted[:end] == text and len(text) < steps and self.eos not in text:
                    text.append(int(scores[0].argmax()))
        return text

    def beams(self, count: int, steps: int = 12) -> list[list[int]]:
        """The likeliest texts of each prompt; rows go where their beam does, and some stay though
        nothing allows them."""
        texts: list[list[int]] = [[] for _ in range(count * len(PROMPTS))]
        likely = np.where(np.arange(len(texts)) % count, -1e9, 0.0)
        for _ in range(steps):
            scores = self.scores(texts) + likely[:, np.newaxis]
            new: list[list[int]] = []
            for begin in range(0, len(texts), count):
                own = scores[begin : begin + count].reshape(-1)
                best = np.argsort(-own, kind="stable")[:count]
                for place in best.tolist():
                    parent, token_id = divmod(place, self.width)
                    likely[len(new)] = own[place]
                    new.append([*texts[begin + parent], token_id])
            texts = new
        return texts


def allowed_after(artifact: Artifact, text: Sequence[int]) -> list[int]:
    """The ids that may follow, by a matcher that has read the text from its start."""
    matcher = artifact.matcher()
    if matcher.accept(text) < len(text) and not matcher.is_finished:
        return list(artifact.manifest.eos)
    return [int(token_id) for token_id in tokenset.to_ids(matcher.mask())]
