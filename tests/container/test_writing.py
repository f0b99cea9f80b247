"""Files are written whole or not at all."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from constrain.artifacts import Artifact, ArtifactError, load
from constrain.artifacts.container.write import write_atomically

pytestmark = pytest.mark.quick


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """When the content ends in an error, the file keeps what it held, and nothing is left."""
    path = tmp_path / "a.cst"
    path.write_bytes(b"old")

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, chunks())

    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    """An interruption is cleaned up like an error."""

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a.cst", chunks())

    assert [] == list(tmp_path.iterdir())


def test_a_failed_rename_leaves_the_old_file(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step may fail too."""
    path = tmp_path / "a.cst"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "not now")

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(os, "replace", refuse)

    with pytest.raises(PermissionError):
        tiny["any", 0].save(path)

    monkeypatch.undo()
    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_system_error(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Folders are not made on the way."""
    with pytest.raises(FileNotFoundError):
        tiny["any", 0].save(tmp_path / "no" / "a.cst")

    assert [] == list(tmp_path.iterdir())


def test_writing_replaces_the_file_whole(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """A reader that has mapped the old file keeps it."""
    path = tmp_path / "a.cst"
    tiny["any", 0].save(path)
    before = load(path)

    tiny["canonical", 1_000_000].save(path)

    assert tiny["any", 0].to_bytes() == before.to_bytes()
    assert "token-dfa" == load(path).manifest.kind
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_files_get_the_usual_permissions(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Who may read the file is what the umask says."""
    before = os.umask(0o027)
    try:
        tiny["any", 0].save(tmp_path / "a.cst")
    finally:
        os.umask(before)

    assert 0o640 == (tmp_path / "a.cst").stat().st_mode & 0o777


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_target_that_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A pipe or a device (as /dev/null) is written to or refused, but stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with suppress(OSError, ArtifactError):
            write_atomically(pipe, [b"data"])
    finally:
        os.close(reader)

    assert pipe.is_fifo()
