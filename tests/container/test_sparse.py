"""Large tables of which most cells are 0 are written by the others."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts import ArtifactError
from constrain.artifacts.container.sections import decode, encode
from constrain.artifacts.container.sparse import filled_cells, sparse_names, whole_tables

pytestmark = pytest.mark.quick


def _table(rows: int, columns: int, filled: int, seed: int = 1) -> NDArray[np.int32]:
    rng = np.random.default_rng(seed)
    found = np.zeros(rows * columns, dtype=np.int32)
    found[rng.choice(rows * columns, filled, replace=False)] = rng.integers(1, 1 << 30, filled)
    return found.reshape(rows, columns)


def test_a_large_sparse_table_is_small_in_the_file_and_whole_behind_it() -> None:
    """Read as it was, and nobody can write to it; the same in a file by bytes."""
    table, other = _table(8_000, 64, 20_000), np.arange(5, dtype=np.int32)
    data = b"".join(encode({"a": 1}, {"t": table, "o": other}))
    found = decode(data, verify=True).arrays

    assert table.nbytes > 10 * len(data)
    assert ["o", "t"] == sorted(found)
    assert np.array_equal(table, found["t"])
    assert table.dtype == found["t"].dtype
    assert not found["t"].flags.writeable
    assert data == b"".join(encode({"a": 1}, found))


@pytest.mark.parametrize(
    "table",
    [
        _table(8_000, 64, 70_000),
        _table(8_000, 64, 10),
        _table(100, 64, 100),
        _table(8_000, 64, 20_000).astype(np.uint32),
        _table(300_000, 7, 20_000),
    ],
    ids=["dense", "nearly empty", "small", "of another type", "long"],
)
def test_other_tables_are_written_as_they_are(table: NDArray[np.int32]) -> None:
    """Those that are dense, nearly empty, small, of another type, or long lists."""
    assert [] == sparse_names({"t": table})


def test_cells_that_are_none_of_a_table_are_refused() -> None:
    """Parts that are missing, of another type or length, out of order or outside."""
    good = filled_cells("t", _table(8_000, 64, 20_000))
    shape, places, values = good["t:shape"], good["t:places"], good["t:values"]
    outside = np.append(places[:-1], np.uint32(1 << 30))
    for change in (
        {"t:places": None},
        {"t:values": None},
        {"t:shape": shape.astype(np.int32)},
        {"t:shape": np.array([[8_000, 64]])},
        {"t:shape": np.array([], dtype=np.int64)},
        {"t:shape": np.array([-8_000, -64])},
        {"t:shape": np.array([1 << 40, 1 << 40])},
        {"t:shape": np.array([1 << 20, 64])},
        {"t:shape": np.array([100, 64])},
        {"t:places": places[:-1]},
        {"t:places": places[::-1].copy()},
        {"t:places": np.repeat(places[::2], 2)},
        {"t:places": outside},
        {"t:places": places[:0], "t:values": values[:0]},
    ):
        arrays = {k: v for k, v in {**good, **change}.items() if v is not None}
        with pytest.raises(ArtifactError, match=r"section 't' is damaged"):
            whole_tables(arrays)
    assert 1 == len(whole_tables(good))
