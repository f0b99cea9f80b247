"""Commands that are killed at any moment leave nothing half-written, and the next run recovers."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import random
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from support import EXAMPLES, sampled
from support.fuzzing import small_tokenizer
from support.fuzzing.killed import Forks, forks

from constrain.artifacts.container.sections import decode
from constrain.artifacts.read import load
from constrain.artifacts.store.store import Store
from constrain.compiler import compile_grammar, load_tokenizer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")

# Where in the length of a run it is killed: anywhere, and often where files are written.
_LATE = 0.85


@pytest.fixture(scope="module")
def forking(own_cache: None) -> Iterator[Forks]:
    """A process that runs commands and kills them."""
    with forks() as found:
        yield found


def moments(count: int, seed: str) -> list[float]:
    """Shares of a run's length, spread over it; the same ones each time."""
    rng = random.Random(seed)
    spread = [(number + rng.random()) / count * 1.05 for number in range(count)]
    return [rng.uniform(_LATE, 1.05) if number % 3 == 2 else m for number, m in enumerate(spread)]


def whole_files(folder: Path) -> dict[str, bytes]:
    """The files of a folder that have their final names, by name; each has been verified."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix == ".tmp":
            continue
        data = found[path.relative_to(folder).as_posix()] = path.read_bytes()
        # Before an entry of the cache is its authentication code.
        decode(data[32:] if path.suffix == ".tables" else data, verify=True)
    return found


@sampled(
    ("is_cold", "is_thin"),
    [(True, False), (False, True)],
    [(True, False), (False, True), (True, True), (False, False)],
)
def test_a_killed_compile_leaves_whole_files_and_the_next_writes_the_same(
    is_cold: bool,
    is_thin: bool,
    forking: Forks,
    tmp_path: Path,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Artifact, shared tables and cache: what has its final name is whole, at any moment."""
    tokenizer, out, cache = small_tokenizer(tmp_path), tmp_path / "out", tmp_path / "cache"
    command = ["compile", EXAMPLES / "date.ebnf", "-t", tokenizer, "-o", out / "date.cst", "-q"]
    command += ["--tokenization", "canonical", *(["--thin"] if is_thin else [])]
    expected, length = undisturbed(forking, command, out, cache, is_cold)
    count = 30 if full else 1
    for moment in moments(count, f"compile {is_cold} {is_thin}"):
        emptied(out, *([cache] if is_cold else []))
        forking.run(command, moment * length, CONSTRAIN_CACHE_DIR=cache)
        left = {**whole_files(out), **whole_files(cache)}
        assert left.items() <= expected.items()
        if (out / "date.cst").exists():  # With its tables, if they are in a file of their own.
            load(out / "date.cst", verify=True)
        assert forking.run(command, CONSTRAIN_CACHE_DIR=cache)[0] == 0
        assert expected == {**whole_files(out), **whole_files(cache)}
    record_property("moments", count)


@pytest.mark.parametrize("is_cold", [True, False])
def test_a_killed_batch_leaves_whole_artifacts_and_the_next_compiles_the_others(
    is_cold: bool,
    forking: Forks,
    tmp_path: Path,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Artifacts of a store, shared tables and cache, by one process and by two."""
    if not full:
        pytest.skip("each batch starts processes, which takes seconds: --full")
    tokenizer, out, cache = small_tokenizer(tmp_path), tmp_path / "out", tmp_path / "cache"
    grammars = [tmp_path / f"{letter}.regex" for letter in "abcdefgh"]
    for number, grammar in enumerate(grammars):
        grammar.write_text(f"(x|yz{{{number + 1}}})*[a-c]{{{number}}}")
    command = ["compile-many", *grammars, "-t", tokenizer, "--store", out, "-q"]
    command += ["--jobs", 1 if is_cold else 2, "--tokenization", "canonical"]
    expected, length = undisturbed(forking, command, out, cache, is_cold)
    assert len(grammars) + 1 <= len(whole_files(out))
    count = 15
    for moment in moments(count, f"compile-many {is_cold}"):
        emptied(out, *([cache] if is_cold else []))
        forking.run(command, moment * length, CONSTRAIN_CACHE_DIR=cache)
        left = {**whole_files(out), **whole_files(cache)}
        assert left.items() <= expected.items()
        assert [] == list(Store(out).verify())
        assert forking.run(command, CONSTRAIN_CACHE_DIR=cache)[0] == 0
        assert expected == {**whole_files(out), **whole_files(cache)}
    record_property("moments", count)


def undisturbed(
    forking: Forks, command: list[object], out: Path, cache: Path, is_cold: bool
) -> tuple[dict[str, bytes], float]:
    """The files that a run leaves that is not killed, and its seconds."""
    emptied(out, cache)
    code, length = forking.run(command, CONSTRAIN_CACHE_DIR=cache)
    assert code == 0
    if not is_cold:
        emptied(out)
        _, length = forking.run(command, CONSTRAIN_CACHE_DIR=cache)
    return {**whole_files(out), **whole_files(cache)}, length


def emptied(*folders: Path) -> None:
    """Make folders new."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()


def test_a_killed_collection_takes_whole_artifacts_and_the_next_ends_as_it_would_have(
    forking: Forks, tmp_path: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """What is left is served or gone, and tables do not go before the artifacts that need them."""
    filled, place = tmp_path / "filled", tmp_path / "store"
    keys = fill(filled, small_tokenizer(tmp_path))
    size = sum(path.stat().st_size for path in filled.rglob("*") if path.is_file())
    command = ["store", "gc", "--store", place, "--max-bytes", size // 3, "-q"]
    shutil.copytree(filled, place)
    code, length = forking.run(command)
    assert code == 0
    expected, count = whole_files(place), 50 if full else 1
    assert 0 < len(expected) < len(whole_files(filled))
    for moment in moments(count, "gc"):
        shutil.rmtree(place)
        shutil.copytree(filled, place)
        forking.run(command, moment * length)
        left = whole_files(place)
        assert expected.items() <= left.items() <= whole_files(filled).items()
        store = Store(place)
        assert [] == list(store.verify())
        assert all((store.get(key) is not None) == store.has(key) for key in keys)
        assert forking.run(command)[0] == 0
        assert expected == whole_files(place)
    record_property("moments", count)


def fill(folder: Path, tokenizer: Path) -> list[str]:
    """Put a few artifacts into a store, half of them with shared tables; they were used one after
    the other. Their keys."""
    store, keys, loaded = Store(folder), [], load_tokenizer(tokenizer)
    for number in range(16):
        artifact = compile_grammar(
            "ab" * number + "c", dialect="regex", tokenizer=loaded, tokenization="any", prewarm=0
        )
        keys.append(sha256(bytes([number])).hexdigest())
        assert store.put(keys[-1], artifact, thin=number % 2 == 0)
    for number, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        os.utime(path, (1_700_000_000 + number * 10_000, 1_700_000_000 + number * 10_000))
    return keys
