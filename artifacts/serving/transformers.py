"""Hugging Face Transformers: a logits processor for ``model.generate(logits_processor=[…])``.

One processor serves one call of ``generate``: sampling and greedy search in batches, beams, several
answers to a prompt, assisted decoding. Continuous batching hands over no ids: there the processor
is not supported, and says so.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..artifact import Artifact
from .bitmask import apply, apply_torch
from .texts import Texts


class GrammarProcessor:
    """Called with the tokens of all rows, (B, L), and their scores, (B, v): gives scores of which
    those that no text of the grammar goes on with are -inf. What is given stays as it is.

    ``texts``: the texts that it follows. ``kernel``: that of ``bitmask.apply_torch``.
    """

    supports_continuous_batching = False

    def __init__(self, texts: Texts, kernel: str | None = None) -> None:
        self.texts = texts
        self._kernel = kernel

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Raises ``ServingError`` for ids of another generation."""
        is_array = isinstance(scores, np.ndarray)
        ids = input_ids if is_array else input_ids.detach().cpu().numpy()
        rows = self.texts.rows(ids, scores.shape[1])
        # A copy: hosts keep the scores of models, too.
        found = scores.copy() if is_array else scores.clone()
        if is_array:
            apply(found, rows)
        else:
            apply_torch(found, rows, self._kernel)
        return found


def processor(
    artifacts: Artifact | Sequence[Artifact],
    *,
    prompt_length: int | None = None,
    prompts: Sequence[Sequence[int]] | None = None,
    stop_ids: Sequence[int] | None = None,
    kernel: str | None = None,
) -> Any:
    """A ``transformers.LogitsProcessor``, for one call of ``generate``.

    ``artifacts``: one for all rows, or one for each prompt of the batch. ``prompt_length``: with
    left padding; by default the length of the first call. ``prompts``: the ids of each prompt
    without its padding, which canonical masks then follow: a first token that the tokenizer would
    join with the prompt's last is not allowed. ``stop_ids``: end a text instead of the artifact's
    EOS; name those of the model's generation config. ``kernel``: that of ``bitmask.apply_torch``.
    """
    texts = Texts(artifacts, prompt_length=prompt_length, prompts=prompts, stop_ids=stop_ids)
    return _subclass()(texts, kernel)


class ForcedCandidates:
    """A ``transformers.CandidateGenerator``: of the texts of a processor, what must come next.

    ``most``: tokens at a time; ``max_length``: of a whole row; ``encode``: as ``Drafts`` has it.
    """

    requires_model_outputs = False

    def __init__(
        self,
        texts: Texts,
        most: int,
        max_length: int,
        encode: Callable[[str], Sequence[int]] | None = None,
    ) -> None:
        self._texts, self._most, self._encode = texts, most, encode
        self._max_length = max_length

    def get_candidates(self, input_ids: Any, **given: Any) -> tuple[Any, None]:
        """The row (1, L) with drafts after it, and no logits of theirs."""
        # The model chooses one more token itself.
        most = min(self._most, self._max_length - input_ids.shape[1] - 1)
        found = self._texts.drafts(input_ids.cpu().numpy(), most, self._encode)
        return input_ids.new_tensor([[*input_ids[0].tolist(), *found]]), None

    def update_candidate_strategy(self, input_ids: Any, scores: Any, num_matches: int) -> None:
        """Nothing: drafts are what must come."""


def drafting(
    processor: GrammarProcessor,
    *,
    most: int = 16,
    encode: Callable[[str], Sequence[int]] | None = None,
) -> Callable[..., Any]:
    """What ``generate`` takes as ``custom_generate``, for one row: tokens that the grammar forces
    are not chosen by the model but checked, ``most`` of them in one step. The texts are the same.

    ``processor``: the one that is among the ``logits_processor`` of that call. ``encode``: the
    tokenizer's, from a text to its tokens without special ones; needed where any tokens may spell
    a text.
    """

    def generate(model: Any, input_ids: Any, **given: Any) -> Any:
        longest = given["generation_config"].max_length
        found = ForcedCandidates(processor.texts, most, longest, encode)
        # The library chooses among its own by the configuration, and has no other way in.
        model._get_candidate_generator = lambda **_: found
        try:
            return model._assisted_decoding(input_ids, inputs_tensor=input_ids, **given)
        finally:
            del model._get_candidate_generator

    return generate


@cache
def _subclass() -> type[GrammarProcessor]:
    from transformers import LogitsProcessor

    return type("GrammarLogitsProcessor", (GrammarProcessor, LogitsProcessor), {})
