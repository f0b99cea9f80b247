"""A store of artifacts: written once, found by key, verified, and collected by last use."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.stores import KEYS, OTHER_KEY, damage, files_of, made, masks_of

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.store.keys import StoreError
from constrain.artifacts.store.store import Store
from constrain.compiler import Tokenizer

pytestmark = pytest.mark.quick

DAY = 86_400


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A new store in a folder, and one by an fsspec URL."""
    if request.param == "folder":
        return Store(tmp_path / "store")
    pytest.importorskip("fsspec", reason="stores that are no folders need fsspec")
    return Store(f"memory://{tmp_path.name}-{os.getpid()}", folder=tmp_path / "copies")


@pytest.mark.parametrize("thin", [False, True])
def test_what_was_put_is_what_is_found(
    store: Store, thin: bool, default_tokenizer: Tokenizer
) -> None:
    """Masks and bytes; under another key there is nothing."""
    artifact = made("[a-c]{2,5}", default_tokenizer)
    key = KEYS[0]

    assert (False, None) == (store.has(key), store.get(key))
    assert store.put(key, artifact, thin=thin)
    found = store.get(key)

    assert found is not None
    assert artifact.keyed(key).to_bytes() == found.to_bytes()
    assert masks_of(artifact) == masks_of(found)
    assert (True, False) == (store.has(key), store.has(OTHER_KEY))
    assert [key] == [entry.key for entry in store.entries()]
    assert [] == list(store.verify())


def test_nothing_is_written_twice(store: Store, default_tokenizer: Tokenizer) -> None:
    """The first artifact of a key stays, also where two writers race."""
    first, second = (made(text, default_tokenizer) for text in ("[ab]{2}", "[cd]{2}"))
    key = KEYS[0]

    assert store.put(key, first)
    assert not store.put(key, second)
    with ThreadPoolExecutor(8) as pool:
        wrote = list(pool.map(lambda _: store.put(OTHER_KEY, second, thin=True), range(16)))

    assert 1 == wrote.count(True)
    for name, expected in ((key, first), (OTHER_KEY, second)):
        found = store.get(name)
        assert found is not None
        assert masks_of(expected) == masks_of(found)


def test_tables_are_shared_between_artifacts(tmp_path: Path, default_tokenizer: Tokenizer) -> None:
    """One file for all; each artifact is a hundredth of it."""
    store = Store(tmp_path)
    for number, key in enumerate(KEYS):
        assert store.put(key, made(f"{number}[a-c]+", default_tokenizer, thin=True), thin=True)

    tables = list(tmp_path.glob("tok/*"))
    assert 1 == len(tables)
    assert all(entry.bytes * 30 < tables[0].stat().st_size for entry in store.entries())


@pytest.mark.parametrize(
    "kind", ["damaged", "truncated", "empty", "of another key", "no tables", "damaged tables"]
)
def test_no_wrong_file_is_served(kind: str, store: Store, default_tokenizer: Tokenizer) -> None:
    """It is named by ``verify`` and by ``flaw``, is gone when it was asked for, and can be written
    again. One without its tables is whole as soon as these are written again."""
    key, artifact = KEYS[0], made("[a-c]{2,5}", default_tokenizer, thin=True)
    assert store.put(key, artifact, thin=True)
    assert store.put(OTHER_KEY, made("[x-z]+", default_tokenizer))
    assert store.flaw(key) is None
    damage(store, key, OTHER_KEY, kind)

    wrong = dict(store.verify())
    assert [f"{key[:2]}/{key}.cst"] == list(wrong)
    assert store.flaw(key)
    assert store.get(key) is None
    assert store.has(key) == (kind in ("no tables", "damaged tables"))
    store.put(key, artifact, thin=True)
    assert store.flaw(key) is None
    found = store.get(key)
    assert found is not None
    assert masks_of(artifact) == masks_of(found)


def test_a_damaged_copy_is_fetched_again(tmp_path: Path, default_tokenizer: Tokenizer) -> None:
    """The object it is of is sound, and stays."""
    pytest.importorskip("fsspec", reason="stores that are no folders need fsspec")
    store = Store(f"memory://copies-{tmp_path.name}-{os.getpid()}", folder=tmp_path)
    artifact = made("[a-c]{2,5}", default_tokenizer)
    store.put(KEYS[0], artifact)
    assert store.get(KEYS[0])
    (copy,) = tmp_path.rglob("*.cst")
    copy.write_bytes(copy.read_bytes()[:-1])

    found = store.get(KEYS[0])

    assert found is not None
    assert masks_of(artifact) == masks_of(found)


def test_copies_are_never_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which anybody may have made: without a home a folder for them is to be named."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("CONSTRAIN_CACHE_DIR", raising=False)

    with pytest.raises(StoreError, match="s3://artifacts: there is no home folder for copies"):
        Store("s3://artifacts")
    assert Store(tmp_path).get(KEYS[0]) is None


def test_artifacts_are_collected_by_last_use(tmp_path: Path, default_tokenizer: Tokenizer) -> None:
    """Those used longest ago go first, tables after the last artifact that was used with them."""
    store = Store(tmp_path)
    now = time.time()
    for number, key in enumerate(KEYS):
        store.put(key, made(f"{number}[a-c]+", default_tokenizer, thin=True), thin=True)
    for age, name in enumerate(files_of(store)):
        os.utime(tmp_path / name, (now - (age + 2) * DAY,) * 2)
    old = next(name for name in files_of(store) if name.startswith(KEYS[1][:2]))
    os.utime(tmp_path / old, (now - 50 * DAY,) * 2)
    assert store.get(KEYS[0])  # Marks it and its tables.

    assert 1 == store.collect(unused_seconds=40 * DAY).files
    assert {KEYS[0], *KEYS[2:]} == {entry.key for entry in store.entries()}
    left = sum((tmp_path / name).stat().st_size for name in files_of(store))
    found = store.collect(most_bytes=left - 1)
    assert (1, left) == (found.files, found.bytes + found.bytes_left)
    assert store.has(KEYS[0])
    store.collect(most_bytes=0)
    assert [] == files_of(store)


def test_what_a_killed_process_left_is_tidied(tmp_path: Path, default_tokenizer: Tokenizer) -> None:
    """An hour later; a file that is being written stays."""
    store = Store(tmp_path)
    store.put(KEYS[0], made("[ab]", default_tokenizer))
    folder = tmp_path / KEYS[0][:2]
    old, new = folder / ".a.1.2.tmp", folder / ".b.1.2.tmp"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (time.time() - 4_000,) * 2)

    store.collect()

    assert (False, True) == (old.exists(), new.exists())
    assert [KEYS[0]] == [entry.key for entry in store.entries()]


@pytest.mark.parametrize("key", ["", "a", "../../etc/passwd", "A" * 64, "a" * 63 + "/", "g" * 64])
def test_a_key_names_nothing_else(store: Store, key: str, default_tokenizer: Tokenizer) -> None:
    """Whatever a request calls a key."""
    for call in (store.get, store.has, store.flaw):
        with pytest.raises(ConstrainError, match="is no key"):
            call(key)
    with pytest.raises(ConstrainError, match="is no key"):
        store.put(key, made("[ab]", default_tokenizer))


def test_unknown_urls_are_refused(tmp_path: Path) -> None:
    """With the name of what is not known."""
    pytest.importorskip("fsspec", reason="stores that are no folders need fsspec")
    with pytest.raises(ConstrainError, match="nowhere://x"):
        Store("nowhere://x", folder=tmp_path)


def test_a_full_disk_is_an_error_and_leaves_nothing(
    tmp_path: Path, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ENOSPC while a file is written, or when it gets its name."""
    store, artifact = Store(tmp_path), made("[ab]", default_tokenizer)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("constrain.artifacts.store.places.placed", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(KEYS[0], artifact)

    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]
