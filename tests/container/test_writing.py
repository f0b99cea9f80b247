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


@pytest.mark.parametrize("name", ["n" * 249, "n" * 255, "ü" * 127])
def test_a_name_may_be_as_long_as_the_file_system_has_it(tmp_path: Path, name: str) -> None:
    """The temporary name is no longer, and cut between two characters."""
    write_atomically(tmp_path / name, [b"data"])

    assert [name] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes links for few users alone")
@pytest.mark.parametrize("content", [b"old", None])
def test_a_symbolic_link_stays_and_what_it_leads_to_is_written(
    tmp_path: Path, content: bytes | None
) -> None:
    """Through several links, into another folder, and where nothing is there yet."""
    folder = tmp_path / "inner"
    folder.mkdir()
    if content is not None:
        (folder / "file").write_bytes(content)
    (folder / "link").symlink_to("file")
    (tmp_path / "link").symlink_to("inner/link")

    write_atomically(tmp_path / "link", [b"new"])

    assert (tmp_path / "link").is_symlink()
    assert (folder / "link").is_symlink()
    assert b"new" == (folder / "file").read_bytes()
    assert ["file", "link"] == sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes links for few users alone")
def test_links_in_a_circle_are_a_system_error(tmp_path: Path) -> None:
    """They stay what they are."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(OSError, match=f"{tmp_path / 'a'}"):
        write_atomically(tmp_path / "a", [b"new"])

    assert ["a", "b"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    """Though the folder would allow to replace it, and whoever asks."""
    path = tmp_path / "a.cst"
    path.write_bytes(b"old")
    path.chmod(0o444)

    with pytest.raises(PermissionError, match=r"read-only.*a\.cst"):
        write_atomically(path, [b"new"])

    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o666, 0o755])
def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    """And at no moment may others read what they could not read before."""
    path, seen = tmp_path / "a.cst", set[int]()
    path.write_bytes(b"old")
    path.chmod(mode)

    def chunks() -> Iterator[bytes]:
        for each in tmp_path.iterdir():
            seen.add(each.stat().st_mode & 0o777)
        yield b"new"

    write_atomically(path, chunks())

    assert {mode} == seen
    assert (b"new", mode) == (path.read_bytes(), path.stat().st_mode & 0o777)


def test_writers_share_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even those of two machines, or containers, whose processes have one number."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    path = tmp_path / "a"

    def chunks() -> Iterator[bytes]:
        yield b"out"
        write_atomically(path, [b"inner"])
        assert 2 == len(list(tmp_path.iterdir()))
        yield b"er"

    write_atomically(path, chunks())

    assert (b"outer", ["a"]) == (path.read_bytes(), [each.name for each in tmp_path.iterdir()])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of this kind")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """What the system says when a write is cut short, here by a limit of the process."""
    import resource
    import signal

    path = tmp_path / "a"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=f"{path}"):
            write_atomically(path, [b"x" * 600] * 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)

    assert (b"old", [path]) == (path.read_bytes(), list(tmp_path.iterdir()))
