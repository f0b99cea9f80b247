"""Tables that are cached on disk between runs."""

import dataclasses
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support import constrain, sampled, tokenizer_json, written

from constrain.artifacts.store import folders
from constrain.artifacts.store.folders import default_folder
from constrain.compiler import Cache, Tokenizer, load_tokenizer
from constrain.compiler.cache import Tables
from constrain.compiler.tokenizers.cached_arrays import from_arrays, to_arrays

# One of each kind of file, behind a second one of the first kind.
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
        tables = cache.cached("kind", "key", build)
        assert tables["a"].tolist() == [0, 1, 2]
        assert tables["b"].shape == (2, 0)
    assert build.calls == 1
    cache.cached("kind", "other key", build)
    assert build.calls == 2
    assert len(cache.entries()) == 2


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    """No folder, or one that cannot be made: built every time, without complaint."""
    (tmp_path / "file").write_bytes(b"")
    for folder in (None, tmp_path / "file"):
        build = Builder()
        for _ in range(2):
            assert Cache(folder).cached("kind", "key", build)["a"].tolist() == [0, 1, 2]
        assert build.calls == 2


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "foreign", "other key"])
def test_damaged_entries_are_built_again(tmp_path: Path, damage: str) -> None:
    """Whatever was done to an entry, it is replaced by a whole one."""
    cache, build = Cache(tmp_path), Builder()
    cache.cached("kind", "key", build)
    (path,) = cache.entries()
    content = path.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    changed = {"empty": b"", "short": content[:-4], "flipped": flipped, "foreign": b"x" * 100}
    if damage == "other key":
        Cache(tmp_path / "else").cached("kind", "kex", build)
        changed[damage] = Cache(tmp_path / "else").entries()[0].read_bytes()
        build.calls = 1
    path.write_bytes(changed[damage])
    assert cache.cached("kind", "key", build)["a"].tolist() == [0, 1, 2]
    assert build.calls == 2
    assert path.read_bytes() == content


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    """Beyond the limit entries are deleted by the time of their last use."""
    cache, build = Cache(tmp_path, max_bytes=20_000), Builder(1000)
    for number in range(3):
        cache.cached("kind", str(number), build)
        for age, path in enumerate(cache.entries()):
            os.utime(path, (1_000_000 - age, 1_000_000 - age))
    cache.cached("kind", "0", build)
    assert build.calls == 3
    for number in range(3, 5):
        cache.cached("kind", str(number), build)
    assert sum(path.stat().st_size for path in cache.entries()) <= 20_000
    calls = build.calls
    cache.cached("kind", "0", build)
    assert build.calls == calls
    cache.cached("kind", "1", build)
    assert build.calls == calls + 1


def test_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable of its own, else the convention of the system."""
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
    for (platform, named), expected in places.items():
        monkeypatch.setattr(folders.sys, "platform", platform)
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        assert expected == default_folder()


@sampled("name", REAL[1:], REAL)
def test_tokenizers_come_back_as_they_were(
    data: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    """Every field, and at most thirty megabytes on disk."""
    path = data(f"tokenizers/{name}")
    tokenizer, cache = load_tokenizer(path), Cache(tmp_path)
    assert equal(tokenizer, from_arrays("x", to_arrays(tokenizer)))
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
    """cache dir, cache clean, and --no-cache."""
    folder = tmp_path / "cache"
    variables = {"CONSTRAIN_CACHE_DIR": str(folder)}
    assert constrain("cache", "dir", variables=variables).stdout.decode() == f"{folder}\n"
    constrain("tokenize", "a", "--no-cache", variables=variables)
    assert not folder.exists()
    one, two = (constrain("tokenize", "a b", variables=variables).stdout for _ in range(2))
    assert one == two
    assert len(list(folder.iterdir())) == 1
    assert b"1 file deleted" in constrain("cache", "clean", variables=variables).stderr
    assert list(folder.iterdir()) == []
