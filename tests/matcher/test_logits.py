"""What a decoder may rely on: masks written into its own rows and logits."""

# Tests here say `expected == actual`.

from typing import Any

import numpy as np
import pytest
from support.matcher import GRAMMARS, Compile, allowed

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("extra", [0, 1, 7])
def test_fill_copies_the_mask(artifacts: Compile, dtype: str, extra: int) -> None:
    """A row of either type gets the mask's bits; a longer row's tail is cleared."""
    matcher = artifacts(GRAMMARS[2], "canonical").matcher()
    mask = matcher.mask()
    row = np.full(len(mask) + extra, -1, dtype="int32").view(dtype)

    matcher.fill(row)

    assert [*mask.tolist(), *[0] * extra] == row.view("uint32").tolist()


def test_fill_takes_rows_of_a_batch(artifacts: Compile) -> None:
    """A row of a matrix is filled in place, contiguous or not."""
    matcher = artifacts(GRAMMARS[2], "any").matcher()
    words = len(matcher.mask())
    batch = np.zeros((3, words), dtype=np.int32)

    matcher.fill(batch[1])
    matcher.fill(batch.repeat(2, axis=1)[0, ::2])

    assert matcher.mask().tolist() == batch[1].view(np.uint32).tolist()
    assert not batch[[0, 2]].any()


@pytest.mark.parametrize(
    "row",
    [
        np.zeros(256, dtype=np.int64),
        np.zeros(256, dtype=np.uint8),
        np.zeros(256, dtype=np.float32),
        np.zeros(256, dtype=np.bool_),
        np.zeros(256, dtype=">u4"),
        np.zeros(255, dtype=np.uint32),
        np.zeros(0, dtype=np.uint32),
        np.zeros((1, 256), dtype=np.uint32),
        np.zeros((), dtype=np.uint32),
    ],
    ids=lambda row: f"{row.dtype}{row.shape}",
)
def test_fill_refuses_other_rows(artifacts: Compile, row: np.ndarray[Any, Any]) -> None:
    """Another type or shape is named, and the row is left alone."""
    with pytest.raises(ValueError, match=r"at least 256 words"):
        artifacts(GRAMMARS[2], "any").matcher().fill(row)
    assert not row.any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(8192,), (8200,), (3, 8192), (2, 2, 8193)])
def test_apply_leaves_what_is_allowed(
    artifacts: Compile, dtype: str, shape: tuple[int, ...]
) -> None:
    """Logits of allowed tokens stay, all others become -inf, those past the vocabulary too."""
    matcher = artifacts(GRAMMARS[1], "any").matcher()
    logits = np.arange(np.prod(shape), dtype=dtype).reshape(shape) % 100
    before = logits.copy()

    matcher.apply(logits)

    left = allowed(matcher)
    assert left
    assert before[..., left].tolist() == logits[..., left].tolist()
    assert np.isneginf(np.delete(logits, left, axis=-1)).all()


def test_apply_works_in_place_on_views(artifacts: Compile) -> None:
    """A row of a batch is changed in the batch, its neighbours are not."""
    matcher = artifacts(GRAMMARS[1], "any").matcher()
    batch = np.zeros((2, 8192), dtype=np.float32)

    matcher.apply(batch[0])

    assert len(allowed(matcher)) == int(np.isfinite(batch[0]).sum())
    assert not batch[1].any()


@pytest.mark.parametrize(
    "logits",
    [
        np.zeros(8192, dtype=np.int32),
        np.zeros(8191, dtype=np.float32),
        np.zeros((8192, 1), dtype=np.float32),
        np.zeros((), dtype=np.float32),
        np.zeros(8192, dtype=np.complex64),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_apply_refuses_other_logits(artifacts: Compile, logits: np.ndarray[Any, Any]) -> None:
    """Logits are floating and at least as long as the vocabulary."""
    with pytest.raises(ValueError, match="at least 8192 entries"):
        artifacts(GRAMMARS[1], "any").matcher().apply(logits)
    assert not logits.any()
