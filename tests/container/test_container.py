"""The artifact's file as it is written, and its arrays in memory."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import io
from pathlib import Path

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy
from safetensors import safe_open
from support import EXAMPLES, compiled, opened
from support.container import KINDS, encoded

from constrain.artifacts import Artifact, ArtifactError, load
from constrain.artifacts.container import sections as layout
from constrain.artifacts.dfa import byte_dfa, check
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer


@pytest.mark.parametrize("kind", KINDS)
def test_the_real_library_reads_every_section(
    dates: dict[str, Artifact], kind: str, tmp_path: Path
) -> None:
    """safetensors itself loads the file and sees the same arrays."""
    path = tmp_path / "date.cst"
    dates[kind].save(path)

    found = safetensors_numpy.load_file(path)

    assert sorted(dates[kind].arrays) == sorted(found)
    for name, array in dates[kind].arrays.items():
        assert array.dtype == found[name].dtype
        assert np.array_equal(array, found[name])


def test_the_real_library_reads_the_metadata(dates: dict[str, Artifact], tmp_path: Path) -> None:
    """safe_open shows the manifest and the header's checksum as metadata."""
    path = tmp_path / "date.cst"
    dates["any"].save(path)

    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()

    assert ["constrain", "header_sha256"] == sorted(metadata)


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_a_table_take_two_bytes_while_there_are_few(
    dates: dict[str, Artifact], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four where there are more; what is read is the same, and a table of the other type is
    refused."""
    table = dates[kind].byte_dfa.table
    assert dates[kind].arrays["dfa.table"].dtype == np.uint16
    assert table.dtype == np.int32
    monkeypatch.setattr(byte_dfa, "NARROW_STATES", len(table) - 1)
    assert dates[kind].byte_dfa.stored_table().dtype == np.int32
    wide = {"dfa.table": dates[kind].byte_dfa.stored_table()}
    with pytest.raises(ArtifactError, match=r"dfa\.table"):
        load_bytes(encoded(dates[kind], wide))
    monkeypatch.setattr(check, "NARROW_STATES", len(table) - 1)
    assert np.array_equal(load_bytes(encoded(dates[kind], wide)).byte_dfa.table, table)
    with pytest.raises(ArtifactError, match=r"dfa\.table"):
        load_bytes(dates[kind].to_bytes())


@pytest.mark.parametrize("kind", KINDS)
def test_sections_stand_by_item_size_and_aligned(dates: dict[str, Artifact], kind: str) -> None:
    """Larger items come first, then by name; data starts at a multiple of 8, items of theirs."""
    data = dates[kind].to_bytes()
    _, described, body = opened(data)
    sizes = {name: array.dtype.itemsize for name, array in dates[kind].arrays.items()}
    position = 0

    assert (len(data) - len(body)) % 8 == 0
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        start, end = described[name]["data_offsets"]
        assert position == start
        assert start % sizes[name] == 0
        position = end
    assert len(body) == position


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_input_gives_the_same_bytes(
    default_tokenizer: Tokenizer, dates: dict[str, Artifact], kind: str
) -> None:
    """Compiling twice gives one file."""
    text = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")

    assert dates[kind].to_bytes() == compiled(text, default_tokenizer, kind).to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_reading_undoes_writing(dates: dict[str, Artifact], kind: str, tmp_path: Path) -> None:
    """A file read and written again is the same file, mapped or from memory."""
    data = dates[kind].to_bytes()
    path = tmp_path / "date.cst"
    path.write_bytes(data)

    assert data == load_bytes(data, verify=True).to_bytes()
    assert data == load(path, verify=True).to_bytes()
    assert dates[kind].manifest == load(path).manifest


def test_arrays_of_any_byte_order_and_stride_are_written_alike() -> None:
    """The file is little-endian and dense whatever the arrays in memory are."""
    dense = np.arange(6, dtype="<i4").reshape(2, 3)
    others = (dense.astype(">i4"), np.asfortranarray(dense), np.repeat(dense, 2, axis=1)[:, ::2])

    for other in others:
        assert layout.encode({}, {"a": dense}) == layout.encode({}, {"a": other})


def test_a_type_that_the_format_lacks_is_not_written() -> None:
    """Arrays without a file type are a mistake of the caller."""
    with pytest.raises(TypeError, match="'a'"):
        layout.encode({}, {"a": np.zeros(1, dtype=np.float64)})


# --- in memory


def test_arrays_of_an_artifact_are_read_only(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Neither a compiled nor a loaded artifact can be changed by accident."""
    path = tmp_path / "a.cst"
    tiny["any", 0].save(path)
    for artifact in (tiny["any", 0], load(path), load_bytes(path.read_bytes())):
        for array in artifact.arrays.values():
            assert array.flags.writeable is False


def test_bytes_of_other_buffers_are_read(tiny: dict[tuple[str, int], Artifact]) -> None:
    """A view and a buffer that can be written are as good as bytes."""
    artifact = tiny["any", 1_000_000]
    data = artifact.to_bytes()

    assert artifact.manifest == load_bytes(memoryview(data), verify=True).manifest
    assert artifact.manifest == load_bytes(io.BytesIO(data).getbuffer(), verify=True).manifest
