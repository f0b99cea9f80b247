"""Every command that writes a file writes it in the same way."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from support.cli import DATE, Cli, Result, content, leaves, names

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def _update(cli: Cli, folder: Path, target: str) -> tuple[str, ...]:
    return "test", DATE, target, "--update"


def _store_get(cli: Cli, folder: Path, target: str) -> tuple[str, ...]:
    key = cli("store", "key", DATE).out.decode().strip()
    artifact, store = str(folder / "date.cst"), str(folder / "store")
    assert cli("compile", DATE, "-o", artifact).code == 0
    cli("store", "put", artifact, "--key", key, "--store", store)
    return "store", "get", key, "--store", store, "-o", target


def _bench(cli: Cli, folder: Path, target: str) -> tuple[str, ...]:
    artifact, text = str(folder / "date.cst"), content(folder / "text", "2024-01-01")
    assert cli("compile", DATE, "-o", artifact).code == 0
    return "bench", artifact, text, "--runs", "1", "-f", "json", "-o", target


def _to(*arguments: str) -> Callable[[Cli, Path, str], tuple[str, ...]]:
    return lambda cli, folder, target: (*arguments, target)


# Commands, and what the file is called.
_WRITERS = {
    "compile": (_to("compile", DATE, "-o"), "a.cst"),
    "compile --thin": (_to("compile", DATE, "--thin", "-o"), "a.cst"),
    "convert": (_to("convert", DATE, "--to", "gbnf", "-o"), "a.gbnf"),
    "inspect": (_to("inspect", DATE, "-o"), "a.html"),
    "sample": (_to("sample", DATE, "-o"), "a.txt"),
    "show": (_to("show", DATE, "-o"), "a.txt"),
    "store get": (_store_get, "a.cst"),
    "test": (_to("test", DATE, "{cases}", "-o"), "a.txt"),
    "test --suggest": (_to("test", DATE, "{cases}", "--suggest"), "a.test"),
    "test --update": (_update, "a.test"),
    "viz": (_to("viz", DATE, "-o"), "a.dot"),
    "viz, rendered": (_to("viz", DATE, "-o"), "a.svg"),
    "bench": (_bench, "a.json"),
    "compile-many": (_to("compile-many", DATE, "-s", "batch", "-f", "json", "-o"), "a.json"),
}

# What --update changes: the text is a member.
_CASES = "====\none\n====\n2024-01-01\n---\ncount: 7\n"


# Those that take a second, or start processes.
_SLOW = {"bench", "compile", "compile --thin", "compile-many", "inspect", "store get"}
_SOME = [name for name in _WRITERS if name not in {"bench", "compile-many", "viz, rendered"}]
# An update writes to what it has read.
_NEW = [name for name in _WRITERS if name != "test --update"]
_FEW = [name for name in _NEW if name not in _SLOW]


def test_no_command_that_writes_files_is_left_out() -> None:
    """Whatever takes --output is below."""
    writers = {
        " ".join(leaf.words)
        for leaf in leaves()
        if any("--output" in each.opts for each in leaf.parameters)
    }
    assert writers <= {*_WRITERS}


@pytest.mark.sampled("name", _FEW, _NEW)
def test_all_commands_write_to_long_names_through_dangling_links_and_into_pipes(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    """A name has at most 255 bytes, and what cannot be written to is named: a link into nowhere,
    a folder that is not there, a full device."""
    make, file = _WRITERS[name]
    if name == "viz, rendered" and shutil.which("dot") is None:
        pytest.skip("Graphviz's program dot is not installed")
    suffix, folder = Path(file).suffix, tmp_path / "out"
    folder.mkdir()
    elsewhere = Path("/dev/shm") if Path("/dev/shm").is_dir() else tmp_path
    cases = content(tmp_path / "cases.test", _CASES.partition("count")[0])

    def wrote(target: Path) -> Result:
        line = make(cli, tmp_path, str(target))
        return cli(*(each.replace("{cases}", cases) for each in line))

    for length in (249, 255):
        long = folder / ("n" * (length - len(suffix)) + suffix)
        done = wrote(long)
        assert (done.code, long.is_file()) == (0, True), done
    old = os.umask(0o027)
    try:
        with TemporaryDirectory(dir=elsewhere) as other:
            link = folder / f"link{suffix}"
            link.symlink_to(Path(other) / "new")
            done = wrote(link)
            assert (done.code, link.is_symlink()) == (0, True), done
            assert (Path(other) / "new").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(old)
    (folder / f"nowhere{suffix}").symlink_to(folder / "none" / "x")
    (folder / f"loop{suffix}").symlink_to(folder / f"loop{suffix}")
    for target, reason in (
        (folder / ("n" * (256 - len(suffix)) + suffix), "File name too long"),
        (folder / f"nowhere{suffix}", "No such file or directory"),
        (folder / "none" / f"x{suffix}", "No such file or directory"),
        (folder / f"loop{suffix}", "Too many levels"),
    ):
        refused = wrote(target)
        assert (refused.code, reason in refused.err) == (2, True), (target, refused)
    received = list[bytes]()
    pipe = folder / f"pipe{suffix}"
    os.mkfifo(pipe)
    reader = Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = wrote(pipe)
    reader.join(10)
    assert (done.code, bool(received), pipe.is_fifo()) == (0, True, True), done
    if Path("/dev/full").exists() and not name.startswith("viz"):
        full = wrote(Path("/dev/full"))
        # What says nothing is not hindered.
        assert full.code == (0 if received == [b""] else 2), full
        assert not (full.code and "/dev/full: No space left" not in full.err), full
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.sampled("name", _SOME, [*_WRITERS])
def test_all_commands_follow_links_keep_modes_and_refuse_read_only_files(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    """The link stays, the mode stays, and what is read-only stays as it is."""
    make, file = _WRITERS[name]
    folder, real = tmp_path / "links", tmp_path / "real"
    folder.mkdir()
    real.mkdir()
    cases = content(tmp_path / "cases.test", _CASES.partition("count")[0])
    before = _CASES if file.endswith(".test") else "before"
    written, link = real / file, folder / file
    content(written, before)
    written.chmod(0o640)
    link.symlink_to(written)
    arguments = [each.replace("{cases}", cases) for each in make(cli, tmp_path, str(link))]

    done = cli(*arguments)
    assert done.code in (0, 1), done.err

    assert link.is_symlink()
    assert written.read_bytes() != before.encode()
    assert written.stat().st_mode & 0o777 == 0o640

    content(written, before)
    written.chmod(0o440)
    refused = cli(*arguments)

    assert refused.code == 2
    assert "read-only" in refused.err
    assert written.read_text() == before
    assert [file] == names(real)
