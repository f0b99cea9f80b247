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
    gives them back.

    ``texts``: the text that it follows. ``drafts``: whether the ids hold drafted tokens after the
    place that is asked about. ``error``: what was raised, which the host prints and goes on from;
    from then on the text can do nothing but end.
    """

    def __init__(self, texts: Texts, drafts: bool = False) -> None:
        self.texts = texts
        self.error: Exception | None = None
        self._drafts = drafts

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[Any]:
        """Raises ``ServingError`` for ids of another completion."""
        ids = np.asarray(input_ids)
        if self._drafts and self.texts.longest:
            # The host samples one token after the other: this is the place after the last one.
            ids = ids[: self.texts.longest + 1]
        try:
            if self.error is not None:
                raise self.error
            apply(scores[np.newaxis], self.texts.rows(ids[np.newaxis], len(scores)))
        except Exception as error:
            self.error = error
            ends = self.texts.ends[0]
            kept = scores[ends]
            scores[:] = -np.inf
            scores[ends] = kept
            raise
        return scores


def processor(
    artifact: Artifact,
    *,
    prompt_length: int | None = None,
    prompt: Sequence[int] | None = None,
    stop_ids: Sequence[int] | None = None,
    drafts: bool = False,
) -> GrammarProcessor:
    """A processor of one completion.

    ``prompt_length``: by default the number of ids of the first call. ``prompt``: its ids, which
    canonical masks then follow. ``stop_ids``: end the text instead of the artifact's EOS, as
    ``Llama.token_eos()`` does. ``drafts``: for a ``Llama`` with a ``draft_model``.
    """
    prompts = None if prompt is None else [prompt]
    texts = Texts(artifact, prompt_length=prompt_length, prompts=prompts, stop_ids=stop_ids)
    return GrammarProcessor(texts, drafts)
