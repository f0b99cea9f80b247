"""Hugging Face Transformers: a logits processor for ``model.generate(logits_processor=[…])``.

One processor serves one call of ``generate``: sampling and greedy search in batches, beams, several
answers to a prompt, assisted decoding. Continuous batching hands over no ids: there the processor
is not supported, and says so.
"""

from collections.abc import Sequence
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


@cache
def _subclass() -> type[GrammarProcessor]:
    from transformers import LogitsProcessor

    return type("GrammarLogitsProcessor", (GrammarProcessor, LogitsProcessor), {})
