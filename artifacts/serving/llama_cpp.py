"""llama-cpp-python: a logits processor for ``Llama.create_completion(logits_processor=[…])``.

The host calls it for one text at a time, with the ids of prompt and text, (n,), and scores (v,),
which are a strided view of its own memory. One processor serves one completion.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..artifact import Artifact
from .bitmask import apply
from .texts import Texts


class GrammarProcessor:
    """Sets the scores of tokens that no text of the grammar goes on with to -inf, in place, and
    gives them back. ``texts``: the text that it follows."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[Any]:
        """Raises ``ServingError`` for ids of another completion."""
        rows = self.texts.rows(np.asarray(input_ids)[np.newaxis], len(scores))
        apply(scores[np.newaxis], rows)
        return scores


def processor(
    artifact: Artifact,
    *,
    prompt_length: int | None = None,
    prompt: Sequence[int] | None = None,
    stop_ids: Sequence[int] | None = None,
) -> GrammarProcessor:
    """A processor of one completion.

    ``prompt_length``: by default the number of ids of the first call. ``prompt``: its ids, which
    canonical masks then follow. ``stop_ids``: end the text instead of the artifact's EOS, as
    ``Llama.token_eos()`` does.
    """
    prompts = None if prompt is None else [prompt]
    return GrammarProcessor(
        Texts(artifact, prompt_length=prompt_length, prompts=prompts, stop_ids=stop_ids)
    )
