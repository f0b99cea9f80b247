"""Generated schemas for two real tokenizers: the same store by each engine, and small enough."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stores.schemas import schemas

from constrain.artifacts.store.store import Store
from constrain.compiler import CompileJob, CompileOptions, compile_many

pytestmark = pytest.mark.quick

ANY = CompileOptions(dialect="json-schema", tokenization="any", prewarm=0, thin=True)
REGEX = CompileOptions(dialect="regex", tokenization="any", prewarm=0, thin=True)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a store."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_schemas_for_two_tokenizers(
    data: Callable[[str], Path], tmp_path: Path, full: bool
) -> None:
    """Tables are there once each, and a second run does nothing; in full, a pool writes the same
    bytes as one process, at most 100 kB a schema for the larger tokenizer with its tables."""
    count = 1_000 if full else 2
    paths = [str(data(f"tokenizers/{name}/tokenizer.json")) for name in ("gpt2", "qwen2_5")]
    jobs = [
        CompileJob(text, ANY, path, f"schema {number}")
        for path in paths
        for number, text in enumerate(schemas(count))
    ]
    with ThreadPoolExecutor(1) as executor:
        results = compile_many(jobs, store=tmp_path / "one", executor=executor)
        begin = time.process_time()
        again = compile_many(jobs, store=tmp_path / "one", executor=executor)
        seconds = time.process_time() - begin

    assert {"compiled"} == {each.status for each in results}
    assert {"present"} == {each.status for each in again}
    assert seconds < 5
    tables = max(path.stat().st_size for path in tmp_path.glob("one/tok/*"))
    own = sum(each.bytes or 0 for each in results if each.tokenizer == paths[1])
    assert 2 == len(list(tmp_path.glob("one/tok/*")))
    if full:
        assert tables + own <= 100_000 * count
        compile_many(jobs, store=tmp_path / "pool", processes=2)
        assert content(tmp_path / "one") == content(tmp_path / "pool")


def test_time_is_linear_in_the_number_of_jobs(tmp_path: Path, full: bool) -> None:
    """And that of a look-up is the same in a store of any size."""
    each, look_up = [], []
    for count in (100, 1_000, 10_000) if full else (10, 40):
        jobs = [CompileJob(f"[a-c]{n}", REGEX, None, str(n)) for n in range(count)]
        folder = tmp_path / str(count)
        begin = time.process_time()
        with ThreadPoolExecutor(1) as executor:
            results = compile_many(jobs, store=folder, executor=executor)
        each.append((time.process_time() - begin) / count)
        assert {"compiled"} == {result.status for result in results}
        store, times = Store(folder), []
        for result in results[:10]:
            begin = time.process_time()
            assert store.get(result.key or "") is not None
            times.append(time.process_time() - begin)
        look_up.append(min(times))

    # The first count pays for what is made once.
    assert each[-1] < 3 * each[0]
    assert look_up[-1] < 10 * look_up[0] + 0.005
