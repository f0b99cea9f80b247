"""Tables that are cached on disk between runs."""

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import constrain, sampled, tokenizer_json, written
from support.fuzzing import all_bytes_tokenizer

from constrain.artifacts.store import folders
from constrain.artifacts.store.folders import default_folder, state_folder
from constrain.compiler import Cache, Tokenizer, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.files.cache import _Entry
from constrain.compiler.files.packed import Tables, packed, unpacked
from constrain.compiler.tokenizers.cached_arrays import CLASSES
from constrain.compiler.tokenizers.load import load_bpe

# One of each kind of file, after a second one of the first kind.
REAL = ["mistral_nemo", "qwen2_5", "mistral-v3", "gpt2/gpt2.tiktoken"]


class Builder:
    """Makes tables and counts how often."""

    def __init__(self, size: int = 3) -> None:
        self.calls, self.size = 0, size

    def __call__(self) -> Tables:
        self.calls += 1
        return {"a": np.arange(self.size, dtype=np.int32), "b": np.zeros((2, 0), dtype=np.uint8)}


def equal(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers agree in everything but the name."""
    return all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name))
        if f.name in ("merges", "base")
        else getattr(one, f.name) == getattr(other, f.name)
        for f in dataclasses.fields(one)
        if f.name != "name"
    )


def test_tables_are_built_once(tmp_path: Path) -> None:
    """The second time they come from the disk, as they were; another key has others."""
    cache, build = Cache(tmp_path / "new" / "folder"), Builder()
    for _ in range(2):
        tables = cache.made("kind", "key", build)
        assert tables["a"].tolist() == [0, 1, 2]
        assert tables["b"].shape == (2, 0)
    assert build.calls == 1
    cache.made("kind", "other key", build)
    assert build.calls == 2
    assert len(cache.entries()) == 2


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    """No folder, or one that cannot be made: built every time, without complaint."""
    (tmp_path / "file").write_bytes(b"")
    for folder in (None, tmp_path / "file"):
        build = Builder()
        for _ in range(2):
            assert Cache(folder).made("kind", "key", build)["a"].tolist() == [0, 1, 2]
        assert build.calls == 2


@pytest.mark.parametrize(
    "damage", ["empty", "short", "flipped", "foreign", "other key", "other kind", "code", "long"]
)
def test_damaged_entries_are_built_again(tmp_path: Path, damage: str) -> None:
    """Whatever was done to an entry, it is replaced by a whole one."""
    cache, build = Cache(tmp_path), Builder()
    cache.made("kind", "key", build)
    (path,) = cache.entries()
    content = path.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    changed = {"empty": b"", "short": content[:-4], "flipped": flipped, "foreign": b"x" * 100}
    changed["code"] = bytes([content[0] ^ 1]) + content[1:]
    changed["long"] = b"x" * 32 + b"\xff" * 100
    for other, kind, key in (("other key", "kind", "kex"), ("other kind", "kine", "key")):
        elsewhere = Cache(tmp_path / other)
        elsewhere.made(kind, key, Builder())
        changed[other] = elsewhere.entries()[0].read_bytes()
    path.write_bytes(changed[damage])
    assert cache.made("kind", "key", build)["a"].tolist() == [0, 1, 2]
    assert build.calls == 2
    assert path.read_bytes() == content


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    """Beyond the limit entries are deleted by the time of their last use."""
    cache, build = Cache(tmp_path, max_bytes=20_000), Builder(1000)
    for number in range(3):
        cache.made("kind", str(number), build)
        for age, path in enumerate(cache.entries()):
            os.utime(path, (1_000_000 - age, 1_000_000 - age))
    cache.made("kind", "0", build)
    assert build.calls == 3
    for number in range(3, 5):
        cache.made("kind", str(number), build)
    assert sum(path.stat().st_size for path in cache.entries()) <= 20_000
    calls = build.calls
    cache.made("kind", "0", build)
    assert build.calls == calls
    cache.made("kind", "1", build)
    assert build.calls == calls + 1


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable of its own, else the convention of the system; that of the key likewise, but
    never one that depends on the current folder."""
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", "/x/y")
    assert default_folder() == Path("/x/y")
    monkeypatch.delenv("CONSTRAIN_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    places = {
        ("linux", ""): tmp_path / ".cache" / "constrain",
        ("linux", "relative"): tmp_path / ".cache" / "constrain",
        ("linux", "/xdg"): Path("/xdg/constrain"),
        ("darwin", "/xdg"): tmp_path / "Library" / "Caches" / "constrain",
        ("win32", "/xdg"): Path("/local/constrain/Cache"),
    }
    states = {
        ("linux", ""): tmp_path / ".local" / "state" / "constrain",
        ("linux", "relative"): tmp_path / ".local" / "state" / "constrain",
        ("linux", "/xdg"): Path("/xdg/constrain"),
        ("darwin", "/xdg"): tmp_path / "Library" / "Application Support" / "constrain",
        ("win32", "/xdg"): Path("/local/constrain"),
    }
    for (platform, named), expected in places.items():
        monkeypatch.setattr(folders.sys, "platform", platform)
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert expected == default_folder()
        assert states[platform, named] == state_folder()
    monkeypatch.setenv("HOME", ".")
    monkeypatch.setattr(folders.sys, "platform", "linux")
    assert state_folder() is None


@sampled("name", REAL[1:], REAL)
def test_tokenizers_come_back_as_they_were(
    data: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    """Every field, and at most thirty megabytes on disk."""
    path = data(f"tokenizers/{name}")
    tokenizer, cache = load_tokenizer(path), Cache(tmp_path)
    assert equal(tokenizer, unpacked(packed(tokenizer), CLASSES))
    for _ in range(2):
        assert equal(tokenizer, load_tokenizer(path, cache=cache))
    (entry,) = cache.entries()
    assert entry.stat().st_size < 30_000_000


def test_entries_depend_on_content_and_options(tmp_path: Path) -> None:
    """A changed file or another end of text is another entry; a copy elsewhere is not."""
    cache = Cache(tmp_path / "cache")
    path = written(tmp_path, tokenizer_json("ab", ["a b"]))
    assert load_tokenizer(path, cache=cache).encode("ab") == [2]
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    assert load_tokenizer(copy, cache=cache).name == str(copy)
    assert len(cache.entries()) == 1
    written(tmp_path / "tokenizer_config.json", {"eos_token": "b"})
    assert load_tokenizer(path, cache=cache).eos == (1,)
    written(tmp_path, tokenizer_json("ba", ["a b"]))
    assert load_tokenizer(path, cache=cache).encode("ab") == [2]
    assert load_tokenizer(path, cache=cache).encode("a") == [1]
    assert len(cache.entries()) == 3


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    """Started at once, all give the same, and leave one whole entry and nothing else."""
    variables = {"CONSTRAIN_CACHE_DIR": str(tmp_path)}
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(constrain, "tokenize", "a b", variables=variables) for _ in range(4)]
    assert len({(run.result().stdout, run.result().returncode) for run in runs}) == 1
    (path,) = tmp_path.iterdir()
    assert [path] == Cache(tmp_path).entries()
    content = path.read_bytes()
    constrain("tokenize", "a b", variables=variables)
    assert content == path.read_bytes()


def test_commands(tmp_path: Path) -> None:
    """cache dir, cache info, cache clean, and --no-cache."""
    folder = tmp_path / "cache"
    variables = {"CONSTRAIN_CACHE_DIR": str(folder)}
    assert constrain("cache", "dir", variables=variables).stdout.decode() == f"{folder}\n"
    constrain("tokenize", "a", "--no-cache", variables=variables)
    assert not folder.exists()
    one, two = (constrain("tokenize", "a b", variables=variables).stdout for _ in range(2))
    assert one == two
    [entry] = folder.iterdir()
    size = entry.stat().st_size
    said = constrain("cache", "info", variables=variables).stdout.decode()
    assert said == f"folder: {folder}\ntables: 1 file, {size:,} bytes\nkey: CONSTRAIN_CACHE_KEY\n"
    assert b"1 file deleted" in constrain("cache", "clean", variables=variables).stderr
    assert list(folder.iterdir()) == []


class Recorder(Cache):
    """Notes what was asked for: by kind the key, the value, and its classes."""

    def __init__(self) -> None:
        super().__init__(None)
        self.asked: dict[str, tuple[str, Any, Iterable[type]]] = {}

    def made(
        self, kind: str, key: str, build: Callable[[], Any], classes: Iterable[type] = ()
    ) -> Any:
        value = build()
        self.asked[kind] = key, value, classes
        return value


_KINDS = ["tokenizer", "pretokenizer", "pairs", "vocabulary", "normal-form"]


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[str, Any, Iterable[type]]]:
    """All kinds of entries that small tokenizers have."""
    document = all_bytes_tokenizer()
    found, path = Recorder(), tmp_path_factory.mktemp("poison") / "tokenizer.json"
    for normalizer in (None, {"type": "NFC"}):
        path.write_text(json.dumps(document | {"normalizer": normalizer}))
        tables = TokenizerTables(load_bpe(path, cache=found), found)
        assert tables.pretokenizer and tables.pairs
        assert tables.tokens.trie
        assert (tables.normal_form is None) == (normalizer is None)
    assert sorted(found.asked) == sorted(_KINDS)
    return found.asked


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same arrays, and say the same."""
    left, right = packed(one), packed(other)
    return left.keys() == right.keys() and all(
        np.array_equal(array, right[name]) and array.dtype == right[name].dtype
        for name, array in left.items()
    )


@pytest.mark.parametrize("kind", _KINDS)
def test_values_of_all_kinds_come_back_as_they_were(
    asked: dict[str, tuple[str, Any, Iterable[type]]], tmp_path: Path, kind: str
) -> None:
    """From the disk, with the types of all arrays."""
    cache, (key, value, classes) = Cache(tmp_path), asked[kind]
    for _ in range(2):
        assert same(value, cache.made(kind, key, lambda: value, classes))

    def refused() -> Any:
        raise AssertionError("made again")

    assert same(value, cache.made(kind, key, refused, classes))


def test_ranges_are_packed_as_tuples() -> None:
    """Which numbers of tokens may be."""
    assert unpacked(packed({"ids": range(3)}), ()) == {"ids": (0, 1, 2)}


@pytest.mark.parametrize("kind", _KINDS)
def test_entries_that_cannot_be_read_are_built_again(
    asked: dict[str, tuple[str, Any, Iterable[type]]], tmp_path: Path, kind: str
) -> None:
    """Of each kind: of other classes, without an array, and of a text that says nothing, all as if
    this user had written them."""
    cache, (key, value, classes) = Cache(tmp_path), asked[kind]
    arrays = packed(value)

    def build() -> Any:
        built.append(True)
        return value

    built = list[bool]()
    cache.made(kind, key, build, classes)
    [entry] = cache.entries()
    content = entry.read_bytes()
    cuts = [{n: a for n, a in arrays.items() if n != name} for name in arrays]
    for changed in [{}, *cuts, arrays | {"about": np.frombuffer(b'["Other", 1]', np.uint8)}]:
        built.clear()
        entry.unlink()
        _Entry(tmp_path, cache.key, kind, key).write(changed)
        assert entry.read_bytes() != content
        cache.made(kind, key, build, classes)
        assert built == [True]
        assert entry.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize(
    "kind", ["fifo", "folder", "full folder", "loop", "link", "secret", "zeros", "terabyte"]
)
def test_what_is_no_file_in_the_cache_is_no_entry(tmp_path: Path, kind: str) -> None:
    """A pipe is not waited for, a link not followed when it is written; the tables are right."""
    cache, build = Cache(tmp_path / "cache"), Builder()
    cache.made("kind", "key", build)
    [entry] = cache.entries()
    content = entry.read_bytes()
    entry.unlink()
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    if kind == "fifo":
        os.mkfifo(entry)
    elif kind == "loop":
        entry.symlink_to(entry.name)
    elif kind == "link":
        entry.symlink_to(other)
    elif kind == "zeros":
        entry.symlink_to("/dev/zero")
    elif kind == "terabyte":
        entry.write_bytes(content)
        os.truncate(entry, 1 << 40)
    elif kind == "secret":
        entry.write_bytes(b"x")
        entry.chmod(0)
    else:
        entry.mkdir()
        if kind == "full folder":
            (entry / "file").touch()

    for _ in range(2):
        assert cache.made("kind", "key", build)["a"].tolist() == [0, 1, 2]

    assert other.read_bytes() == b"mine"
    if "folder" not in kind:
        assert (entry.is_symlink(), entry.read_bytes()) == (False, content)
        assert build.calls == 2
    cache.clean()
