"""MLX-LM: a logits processor for ``generate_step(logits_processors=[…])`` and what is made of it.

The host calls it for one text at a time, with the tokens of prompt and text as far as it keeps
them, (n,), and logits (1, v); with a draft model also for drafted tokens, and again after those
that it took. One processor serves one text, also in a batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..artifact import Artifact
from .bitmask import allowed
from .texts import Texts


class GrammarProcessor:
    """Gives logits of which those that no text of the grammar goes on with are -inf. ``texts``:
    the text that it follows."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """Raises ``ServingError`` for tokens of another text."""
        import mlx.core as mx

        width = logits.shape[-1]
        rows = self.texts.rows(np.array(tokens)[np.newaxis], width)
        flags = mx.array(allowed(rows, width))
        return mx.where(flags, logits, mx.array(-float("inf"), logits.dtype))


def processor(
    artifact: Artifact,
    *,
    prompt_length: int | None = None,
    prompt: Sequence[int] | None = None,
    stop_ids: Sequence[int] | None = None,
) -> GrammarProcessor:
    """A processor of one text.

    ``prompt_length``: by default the number of tokens of the first call. ``prompt``: its ids, which
    canonical masks then follow. ``stop_ids``: end the text instead of the artifact's EOS, as
    ``TokenizerWrapper.eos_token_ids`` do.
    """
    prompts = None if prompt is None else [prompt]
    return GrammarProcessor(
        Texts(artifact, prompt_length=prompt_length, prompts=prompts, stop_ids=stop_ids)
    )
