"""Every command that writes a file writes it in the same way."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import DATE, Cli, content, names

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def _update(cli: Cli, folder: Path, target: str) -> tuple[str, ...]:
    return "test", DATE, target, "--update"


def _store_get(cli: Cli, folder: Path, target: str) -> tuple[str, ...]:
    key = cli("store", "key", DATE).out.decode().strip()
    artifact, store = str(folder / "date.cst"), str(folder / "store")
    assert cli("compile", DATE, "-o", artifact).code == 0
    cli("store", "put", artifact, "--key", key, "--store", store)
    return "store", "get", key, "--store", store, "-o", target


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
}

# What --update changes: the text is a member.
_CASES = "====\none\n====\n2024-01-01\n---\ncount: 7\n"


@pytest.mark.parametrize("name", _WRITERS)
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
