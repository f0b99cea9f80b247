"""The key of the user's own: entries of the cache that anybody else wrote are built again."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.cli import Cli

from constrain.artifacts.container import sections
from constrain.compiler.files import cache_key as keys
from constrain.compiler.files.cache import Cache, Tables
from constrain.compiler.files.cache_key import CacheKey, cache_key
from constrain.compiler.files.packed import packed

pytestmark = pytest.mark.quick

needs_modes = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such modes, and links for few"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a home and a place for temporary files, and without variables."""
    monkeypatch.delenv("CONSTRAIN_CACHE_KEY", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for variable in ("HOME", "USERPROFILE", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    return tmp_path / "home"


def file_of(key: CacheKey) -> Path:
    """The file of a key."""
    assert key.lasts
    return Path(key.origin)


def builds(folder: Path, key: str = "key", value: int = 7) -> Callable[[], tuple[int, bool]]:
    """Asks a cache for an entry of a number: which it is, and whether it was built."""

    def ask() -> tuple[int, bool]:
        built = []

        def build() -> Tables:
            built.append(True)
            return {"a": np.array([value], dtype=np.int32)}

        found = Cache(folder).made("kind", key, build)
        return int(found["a"][0]), bool(built)

    return ask


def test_the_key_is_made_once_and_for_its_user_alone(home: Path, tmp_path: Path) -> None:
    """32 bytes in a file of the user's state, which others cannot read; found again by the next."""
    first, second = cache_key(tmp_path / "cache"), cache_key(tmp_path / "cache")

    assert first == second
    assert file_of(first).is_relative_to(home)
    assert file_of(first).read_bytes() == first.secret and len(first.secret) == 32
    assert [file_of(first)] == list(file_of(first).parent.iterdir())
    if os.name == "posix":
        assert file_of(first).stat().st_mode & 0o777 == 0o600
        assert file_of(first).parent.stat().st_mode & 0o777 == 0o700


@needs_modes
@pytest.mark.parametrize("has_links", [True, False])
def test_processes_that_make_the_key_at_once_have_the_same(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """Whoever is first; nothing of the others is left. Without links the last may be it, and all
    later processes have that."""

    def no_link(*_: object) -> None:
        raise PermissionError

    if not has_links:
        monkeypatch.setattr(os, "link", no_link)
    for number in range(20):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / str(number)))
        monkeypatch.setattr(keys, "state_folder", lambda n=number: tmp_path / str(n))
        with ThreadPoolExecutor(8) as threads:
            made = list(threads.map(cache_key, [tmp_path / "cache"] * 8))
        assert all(key.lasts for key in made)
        assert len({key.secret for key in made}) == 1 or not has_links
        assert cache_key(tmp_path / "cache").secret in {key.secret for key in made}
        assert [file_of(made[0])] == list((tmp_path / str(number)).iterdir())


@needs_modes
@pytest.mark.parametrize(
    "kind", ["empty", "short", "long", "readable", "writable", "link", "loop", "fifo", "foreign"]
)
def test_what_is_no_key_of_ones_own_is_replaced(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A file that others could have read or written, or is of another size; what is no file."""
    path = file_of(cache_key(tmp_path / "cache"))
    given = bytes(range(32))
    path.write_bytes({"empty": b"", "short": given[1:], "long": given + b"\n"}.get(kind, given))
    if kind == "readable":
        path.chmod(0o640)
    elif kind == "writable":
        path.chmod(0o602)
    elif kind in ("link", "loop", "fifo"):
        path.rename(tmp_path / "other")
        if kind == "fifo":
            os.mkfifo(path, 0o600)
        else:
            path.symlink_to(tmp_path / "other" if kind == "link" else path)
    elif kind == "foreign":
        real = os.fstat

        def stranger(descriptor: int) -> os.stat_result:
            found = list(real(descriptor))
            if os.read(os.dup(descriptor), 32) == given:
                found[4] += 1
            os.lseek(descriptor, 0, os.SEEK_SET)
            return os.stat_result(found)

        monkeypatch.setattr(os, "fstat", stranger)

    found = cache_key(tmp_path / "cache")

    assert file_of(found) == path
    assert found.secret != given
    assert path.read_bytes() == found.secret and not path.is_symlink()
    assert found == cache_key(tmp_path / "cache")


@needs_modes
@pytest.mark.parametrize("kind", ["folder", "writable", "a file", "link", "foreign"])
def test_where_others_can_put_files_no_key_is_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It is below the folder for temporary files instead; and where that is no better, nowhere."""
    path = file_of(cache_key(tmp_path / "cache"))
    if kind == "folder":
        path.unlink()
        path.mkdir()
    elif kind == "writable":
        path.parent.chmod(0o770)
    elif kind == "foreign":
        real = Path.lstat

        def stranger(self: Path) -> os.stat_result:
            found = list(real(self))
            found[4] += self == path.parent
            return os.stat_result(found)

        monkeypatch.setattr(Path, "lstat", stranger)
    else:
        path.parent.rename(tmp_path / "moved")
        if kind == "link":
            path.parent.symlink_to(tmp_path / "moved")
        else:
            path.parent.touch()

    found = cache_key(tmp_path / "cache")

    assert file_of(found).parent == tmp_path / "tmp" / f"constrain-{os.geteuid()}"
    assert found == cache_key(tmp_path / "cache")
    file_of(found).parent.chmod(0o777)
    last = cache_key(tmp_path / "cache")
    assert not last.lasts
    assert str(path) in last.origin and str(file_of(found)) in last.origin


@needs_modes
def test_root_makes_no_key_in_the_home_of_another(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by sudo, which may keep HOME: that user could not write there any more."""
    real = Path.stat

    def stranger(self: Path, **given: bool) -> os.stat_result:
        found = list(real(self, **given))
        found[4] = 1000 if self.is_relative_to(home) else 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "stat", stranger)

    assert not cache_key(tmp_path / "cache").origin.startswith(str(home / ".local" / "state") + "/")
    assert [] == list(home.iterdir())


@needs_modes
def test_a_folder_of_entries_does_not_bring_its_own_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file in it, nor in a folder above which it is, counts."""
    path = file_of(cache_key(tmp_path / "cache"))
    (tmp_path / "linked").symlink_to(path.parent)
    for cache in (path.parent, path.parent.parent, home, tmp_path / "linked"):
        assert cache_key(cache).origin != str(path)
    assert not cache_key(tmp_path).lasts


def test_without_a_key_that_lasts_entries_are_of_use_to_their_process_alone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error; the next process builds its own in the same file."""
    monkeypatch.setattr(keys, "_folders", list)
    ask = builds(tmp_path / "cache")

    assert [(7, True), (7, False)] == [ask(), ask()]
    monkeypatch.setattr(keys, "_OWN", bytes(32))
    assert [(7, True), (7, False)] == [ask(), ask()]
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_who_shares_a_folder_agrees_on_a_key_or_is_not_in_the_others_way(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``CONSTRAIN_CACHE_KEY`` of any text; users with keys of their own have entries of their
    own, which are still there when they come back."""
    ask, built = builds(tmp_path / "cache"), []
    for variable in (None, "ours", "theirs é", "ours", None, "theirs é", "x" * 10_000):
        if variable is None:
            monkeypatch.delenv("CONSTRAIN_CACHE_KEY", raising=False)
        else:
            monkeypatch.setenv("CONSTRAIN_CACHE_KEY", variable)
        built.append(ask()[1])

    assert [True, True, True, False, False, False, True] == built
    assert len(list((tmp_path / "cache").iterdir())) == 4


@pytest.mark.parametrize("how", ["no code", "their code", "their name"])
def test_what_others_wrote_is_built_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Values that fit, with right checksums: by somebody who does not have the key."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    builds(ours)()
    [entry] = ours.iterdir()
    content = entry.read_bytes()
    key = cache_key(ours)
    for wrong in (8, 7):
        monkeypatch.setenv("CONSTRAIN_CACHE_KEY", "that of somebody else")
        builds(theirs, value=wrong)()
        monkeypatch.delenv("CONSTRAIN_CACHE_KEY")
        [made] = theirs.iterdir()
        arrays = packed({"a": np.array([wrong], dtype=np.int32)})
        plain = b"".join(sections.encode({"kind": "kind", "key": "key"}, arrays))
        forged = {"no code": plain, "their code": made.read_bytes(), "their name": plain}
        if how == "their name":
            forged[how] = content[:32] + plain
        entry.write_bytes(forged[how])
        assert wrong == 7 or entry.read_bytes() != content
        made.unlink()

        # An entry that says what is right, and has the right code, was ours.
        assert (7, how != "their name" or wrong != 7) == builds(ours)()
        assert content == entry.read_bytes()
        assert key == cache_key(ours)


@needs_modes
def test_a_file_that_others_can_write_is_not_mapped(home: Path, tmp_path: Path) -> None:
    """Once it was found right, it stays what it was."""
    cache, build = Cache(tmp_path), builds(tmp_path)
    build()
    [entry] = tmp_path.glob("*.tables")
    assert entry.stat().st_mode & 0o022 == 0
    entry.chmod(0o666)
    tables = cache.made("kind", "key", dict)
    with entry.open("r+b") as file:
        file.truncate(40)

    assert [7] == tables["a"].tolist()


def test_no_key_is_shown(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """Neither by itself nor by what may be known of it; ``cache info`` says where it is from."""
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    key = cache_key(tmp_path / "cache")

    for variable, origin in (("", key.origin), ("a secret", "CONSTRAIN_CACHE_KEY")):
        monkeypatch.setenv("CONSTRAIN_CACHE_KEY", variable)
        said = json.loads(cli("cache", "info", "-f", "json").out)
        assert {"from": origin, "lasts": True} == said["key"]
        assert "a secret" not in str(said)
    monkeypatch.setenv("CONSTRAIN_CACHE_KEY", "")
    monkeypatch.setattr(keys, "_folders", list)
    assert {"from": None, "lasts": False} == json.loads(cli("cache", "info", "-f", "json").out)[
        "key"
    ]
    assert "key: none that lasts" in cli("cache", "info").out.decode()
    assert key.secret not in key.id
    assert not any(shown in repr(key) for shown in (key.secret.hex(), repr(key.secret)))
