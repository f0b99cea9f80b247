"""The bytes of all tokens as two arrays that read like a dictionary."""

from collections.abc import ItemsView, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


class TokenTable(Mapping[int, bytes]):
    """Token id to bytes, ids ascending.

    ``data``: uint8, the bytes one after another. ``offsets``: int64 (V + 1,), token i is
    ``data[offsets[i]:offsets[i + 1]]``. ``present``: uint8 (V,), 1 where there is such a token.
    """

    def __init__(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], present: NDArray[np.uint8]
    ) -> None:
        self.data, self.offsets, self.present = data, offsets, present

    @classmethod
    def of(cls, tokens: Mapping[int, bytes]) -> "TokenTable":
        """Lay out a dictionary."""
        size = max(tokens, default=-1) + 1
        parts = [tokens.get(i, b"") for i in range(size)]
        present = np.zeros(size, dtype=np.uint8)
        present[list(tokens)] = 1
        offsets = np.zeros(size + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), offsets, present)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What ``TokenTable`` is made from, by name."""
        return {"data": self.data, "offsets": self.offsets, "present": self.present}

    @cached_property
    def _bytes(self) -> bytes:
        return self.data.tobytes()

    def __contains__(self, token_id: object) -> bool:
        if not isinstance(token_id, int) or not 0 <= token_id < len(self.present):
            return False
        return bool(self.present[token_id])

    def __getitem__(self, token_id: int) -> bytes:
        if token_id not in self:
            raise KeyError(token_id)
        return self._bytes[self.offsets[token_id] : self.offsets[token_id + 1]]

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.present).tolist())

    def items(self) -> ItemsView[int, bytes]:
        """All ids with their bytes, read at once."""
        data, bounds = self._bytes, self.offsets.tolist()
        return {i: data[bounds[i] : bounds[i + 1]] for i in self}.items()

    def __len__(self) -> int:
        return int(np.count_nonzero(self.present))
