"""Many jobs into a store: each once, by any executor, whatever becomes of the others."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.stores import damage, files_of, masks_of

from constrain.artifacts.container.write import TEMPORARY
from constrain.artifacts.store.places import Folder
from constrain.artifacts.store.store import Store
from constrain.compiler import (
    CompileJob,
    CompileOptions,
    Limits,
    artifact_key,
    compile_job,
    compile_many,
    load_tokenizer,
)
from constrain.compiler.batch import job as batch_job
from constrain.compiler.batch.processes import Processes

pytestmark = pytest.mark.quick

REGEX = CompileOptions(dialect="regex", tokenization="any", prewarm=0, thin=True)


def jobs_of(*texts: str, options: CompileOptions = REGEX) -> list[CompileJob]:
    """Jobs for the embedded tokenizer, named by their texts."""
    return [CompileJob(text, options, None, text) for text in texts]


def statuses(results: Any) -> list[str]:
    """What became of each."""
    return [each.status for each in results]


def content(folder: Path) -> dict[str, bytes]:
    """All files of a store but temporary ones, which a process that is killed leaves."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != TEMPORARY
    }


class Here(Executor):
    """Calls at once, in this thread."""

    def __init__(self, call: Callable[..., Any] | None = None) -> None:
        self._call, self.calls = call, 0

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        self.calls += 1
        future: Future[Any] = Future()
        try:
            future.set_result((self._call or fn)(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_second_run_compiles_nothing(tmp_path: Path) -> None:
    """Keys are those that ``artifact_key`` says before; one job of two of a key is compiled."""
    jobs = jobs_of("[ab]{2}", "[cd]+", "(x|y)z", "[ab]{2}")
    keys = [artifact_key(job.text, job.options) for job in jobs]
    seen: list[Any] = []
    first = compile_many(jobs, store=tmp_path, executor=Here(), on_result=seen.append)
    executor = Here()
    again = compile_many(jobs, store=tmp_path, executor=executor)

    assert ["compiled"] * 3 + ["present"] == statuses(first)
    assert ["present"] * 4 == statuses(again)
    assert keys == [each.key for each in first] == [each.key for each in again]
    assert 4 == len(seen)
    assert 0 == executor.calls
    assert [each.bytes for each in first] == [each.bytes for each in again]
    found = Store(tmp_path).get(keys[0])
    assert found is not None
    assert found.manifest.source == "[ab]{2}"


def test_shards_are_all_jobs_once(tmp_path: Path) -> None:
    """By key, so the order and the machine say nothing."""
    jobs = jobs_of(*(f"a{{{n}}}" for n in range(1, 9)))
    shares = [
        compile_many(jobs, store=tmp_path, executor=Here(), shard=(index, 3)) for index in range(3)
    ]

    assert sorted(job.name for job in jobs) == sorted(r.name for share in shares for r in share)
    assert {"compiled"} == {each.status for share in shares for each in share}
    assert all(int(r.key or "", 16) % 3 == index for index in range(3) for r in shares[index])
    with pytest.raises(ValueError, match="shard"):
        compile_many(jobs, store=tmp_path, shard=(3, 3))


def test_a_failure_is_of_its_job_alone(tmp_path: Path) -> None:
    """A mistake has its place, a limit its name, a tokenizer that is not there its file."""
    tight = replace(REGEX, limits=Limits(states=5))
    jobs = [
        *jobs_of("a(", "[ab]{3}"),
        *jobs_of("abcdefghijkl", options=tight),
        CompileJob("a", REGEX, str(tmp_path / "none.json"), "no tokenizer"),
    ]
    results = compile_many(jobs, store=tmp_path / "store", executor=Here())

    assert ["failed", "compiled", "failed", "failed"] == statuses(results)
    mistake, _, limit, tokenizer = (each.error for each in results)
    assert mistake is not None
    assert ("grammar", 1) == (mistake.kind, mistake.line)
    assert "a(:1:" in mistake.message
    assert limit is not None
    assert "limit" == limit.kind
    assert "--max-states" in limit.message
    assert tokenizer is not None
    assert "none.json" in tokenizer.message
    assert results[3].key is None


def test_a_full_disk_fails_a_job_and_leaves_the_store_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ENOSPC: nothing is half written, and a later run writes what is missing."""
    written, first = Folder.write, threading.Event()

    def full(place: Folder, name: str, chunks: Any) -> bool:
        if name.endswith(".cst") and not first.is_set():
            first.set()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        return written(place, name, chunks)

    monkeypatch.setattr(Folder, "write", full)
    jobs = jobs_of("[ab]{2}", "[cd]+")
    results = compile_many(jobs, store=tmp_path, executor=Here())

    assert ["failed", "compiled"] == statuses(results)
    assert results[0].error is not None
    assert "store" == results[0].error.kind
    assert os.strerror(errno.ENOSPC) in results[0].error.message
    assert [] == list(Store(tmp_path).verify())
    assert ["compiled", "present"] == statuses(compile_many(jobs, store=tmp_path, executor=Here()))


def test_too_little_memory_fails_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``MemoryError`` is a limit, and the next job is done."""
    compiled = batch_job._compiled

    def greedy(compiler: Any, job: CompileJob, *others: Any) -> Any:
        if job.name == "[ab]{2}":
            raise MemoryError
        return compiled(compiler, job, *others)

    monkeypatch.setattr(batch_job, "_compiled", greedy)
    results = compile_many(jobs_of("[ab]{2}", "[cd]+"), store=tmp_path, executor=Here())

    assert ["failed", "compiled"] == statuses(results)
    assert results[0].error is not None
    assert "limit" == results[0].error.kind


@pytest.mark.parametrize("kind", ["damaged", "truncated", "of another key", "damaged tables"])
def test_a_poisoned_file_is_compiled_again_and_reported(kind: str, tmp_path: Path) -> None:
    """Files of the store that are not what was written; nothing of them is served."""
    jobs = jobs_of("[ab]{2}", "[cd]+")
    keys = [each.key or "" for each in compile_many(jobs, store=tmp_path, executor=Here())]
    before, store = content(tmp_path), Store(tmp_path)
    damage(store, keys[0], keys[1], kind)

    again = compile_many(jobs, store=tmp_path, executor=Here())

    assert ["compiled", "present"] == statuses(again)
    assert "is compiled again" in again[0].notes[0]
    assert before == content(tmp_path)
    found = store.get(keys[0])
    assert found is not None
    expected = compile_many(jobs[:1], store=tmp_path / "other", executor=Here())
    other = Store(tmp_path / "other").get(expected[0].key or "")
    assert other is not None
    assert masks_of(other) == masks_of(found)


def test_what_an_executor_loses_is_tried_once_more(tmp_path: Path) -> None:
    """One at a time, so that only the job at fault fails; those after it are done."""
    tries: list[str] = []

    def unreliable(job: CompileJob, *others: Any) -> Any:
        tries.append(job.name)
        if job.name == "[ab]{2}" or len(tries) == 3:
            raise BrokenExecutor("a process has ended")
        return compile_job(job, *others)

    jobs = jobs_of("[ab]{2}", "[cd]+", "[ef]+", "[gh]+")
    results = compile_many(jobs, store=tmp_path, executor=Here(unreliable))

    assert ["failed", "compiled", "compiled", "compiled"] == statuses(results)
    assert results[0].error is not None
    assert "process" == results[0].error.kind
    assert 2 == tries.count("[ab]{2}")


def test_a_machine_with_another_tokenizer_is_refused(tmp_path: Path) -> None:
    """A key that is not that of the batch is an error, and nothing is written."""
    (job,) = jobs_of("[ab]{2}")
    found = compile_job(job, str(tmp_path), "0" * 64)

    assert "failed" == found.status
    assert found.error is not None
    assert "another" in found.error.message
    assert [] == files_of(Store(tmp_path))


def test_a_killed_process_costs_no_job(tmp_path: Path) -> None:
    """Its pool is replaced, and the jobs that it may have had are done again: the same bytes as
    without processes. None is left."""
    jobs = jobs_of(*(f"[a-e]{{{n}}}x" for n in range(1, 8)))
    killed: list[int] = []

    def kill(_: Any) -> None:
        if not killed:
            killed.extend(children())
            os.kill(killed[-1], signal.SIGKILL)

    results = compile_many(jobs, store=tmp_path / "pool", processes=2, on_result=kill)
    compile_many(jobs, store=tmp_path / "here", executor=Here())

    assert killed
    assert {*statuses(results)} <= {"compiled", "present"}
    assert not {*killed} & {*children()}
    assert content(tmp_path / "here") == content(tmp_path / "pool")


def children() -> list[int]:
    """Processes that do jobs of this one."""
    import multiprocessing

    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def test_processes_are_replaced_after_so_many_calls() -> None:
    """What they gather is given back; each call has its result."""
    processes = Processes(1, jobs_each=2)
    try:
        pids = [processes.submit(os.getpid).result(60) for _ in range(4)]
    finally:
        processes.end()

    assert pids[0] == pids[1] != pids[2] == pids[3]
    deadline = time.monotonic() + 60
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [] == children()


def test_the_key_of_a_tokenizer_goes_by_what_is_given(tmp_path: Path) -> None:
    """An object, a path and none say the same of the embedded one."""
    from constrain.compiler.serving.artifact_key import tokenizer_key
    from constrain.compiler.tokenizers import default_path

    loaded = load_tokenizer()
    keys = {
        artifact_key("a", REGEX, tokenizer)
        for tokenizer in (None, loaded, default_path(), str(default_path()), tokenizer_key(loaded))
    }

    assert 1 == len(keys)


def test_threads_share_what_is_made_of_a_tokenizer(tmp_path: Path) -> None:
    """As the workers of a cluster may: the same bytes as one after the other."""
    jobs = jobs_of(*(f"[a-e]{{{n}}}" for n in range(1, 7)))
    with ThreadPoolExecutor(4) as threads:
        compile_many(jobs, store=tmp_path / "threads", executor=threads)
    compile_many(jobs, store=tmp_path / "one", executor=Here())

    assert content(tmp_path / "one") == content(tmp_path / "threads")
