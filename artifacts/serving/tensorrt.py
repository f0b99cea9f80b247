"""TensorRT-LLM: a logits processor for ``SamplingParams(logits_processor=…)``.

The host calls it for one request at a time, with the ids of each beam, its prompt included, and
logits (1, beams, v), which it writes to in place, on the stream that the host names. Requests are
told from each other by their number, so one processor serves all that share its parameters.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..artifact import Artifact
from ..read import load_bytes
from .bitmask import apply, apply_torch
from .texts import Texts

# With more requests than these, those whose texts have ended are forgotten.
_MOST_REQUESTS = 1024


class GrammarProcessor:
    """Sets the logits of tokens that no text of the grammar goes on with to -inf, in place.

    It can be pickled for the host's own processes: as this class and data of Python's own types,
    the artifact's file among them, so that this class alone has to be approved there.
    """

    def __init__(
        self, artifact: Artifact, prompt_length: int | None, stop_ids: Sequence[int] | None
    ) -> None:
        self._begin(artifact, prompt_length, stop_ids)

    def _begin(
        self, artifact: Artifact, prompt_length: int | None, stop_ids: Sequence[int] | None
    ) -> None:
        self._artifact, self._prompt_length, self._stop_ids = artifact, prompt_length, stop_ids
        self._texts: dict[int, Texts] = {}

    def __call__(
        self,
        req_id: int,
        logits: Any,
        token_ids: list[list[int]],
        stream_ptr: int | None,
        client_id: int | None = None,
    ) -> None:
        """Raises ``ServingError`` for ids that are not those of the request."""
        width = logits.shape[-1]
        rows = self.texts_of(req_id).rows(np.array(token_ids, np.int64), width)
        if isinstance(logits, np.ndarray):
            apply(logits.reshape(-1, width), rows)
        else:
            with _stream(logits, stream_ptr):
                apply_torch(logits.view(-1, width), rows)

    def __getstate__(self) -> dict[str, Any]:
        stops = None if self._stop_ids is None else [*self._stop_ids]
        return {"file": self._artifact.to_bytes(), "begin": self._prompt_length, "stops": stops}

    def __setstate__(self, state: dict[str, Any]) -> None:
        artifact = load_bytes(state["file"])
        self._begin(artifact, state["begin"], state["stops"])

    def texts_of(self, req_id: int) -> Texts:
        """The texts of a request's beams."""
        found = self._texts.get(req_id)
        if found is None:
            if len(self._texts) >= _MOST_REQUESTS:
                live = self._texts.items()
                self._texts = {number: texts for number, texts in live if not texts.have_ended}
            found = Texts(
                self._artifact, prompt_length=self._prompt_length, stop_ids=self._stop_ids
            )
            self._texts[req_id] = found
        return found


def processor(
    artifact: Artifact,
    *,
    prompt_length: int | None = None,
    stop_ids: Sequence[int] | None = None,
) -> GrammarProcessor:
    """A processor of all requests with its parameters.

    ``prompt_length``: by default the number of ids of a request's first call. ``stop_ids``: end a
    text instead of the artifact's EOS, as ``SamplingParams.end_id`` does.
    """
    return GrammarProcessor(artifact, prompt_length, stop_ids)


def _stream(logits: Any, stream_ptr: int | None) -> Any:
    """What makes PyTorch write on the stream of the host."""
    if stream_ptr is None or not logits.is_cuda:
        return nullcontext()
    import torch

    return torch.cuda.stream(torch.cuda.ExternalStream(stream_ptr))
