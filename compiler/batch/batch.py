"""Many jobs into one store: each that is not there yet, once, whatever becomes of the others.

    results = compile_many(jobs, store="artifacts/")                      processes of this machine
    results = compile_many(jobs, store="s3://…", executor=executor)       any ``Executor``

A job has a key before it is compiled (``serving.artifact_key``), so a batch that was ended goes on
where it stopped, batches of several machines share a store, and by keys they share the work.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.store.store import Store
from constrain.artifacts.tokens.memo import memoised

from ..serving.artifact_key import TokenizerKey, artifact_key, tokenizer_key
from ..tokenizers import load_tokenizer
from .job import (
    FAILED,
    PRESENT,
    PROCESS,
    CompileJob,
    JobError,
    JobResult,
    compile_job,
    failed,
    result,
)
from .processes import Processes

# Jobs that are with a foreign executor at a time, and with each process of this machine.
_IN_FLIGHT, _OF_A_PROCESS = 1_000, 2

# Threads that look what a store has that is no folder.
_READERS = 16

OnResult: TypeAlias = Callable[[JobResult], None]


@dataclass(frozen=True, slots=True)
class _Task:
    """A job to be done, and where its result belongs."""

    place: int
    job: CompileJob
    key: str


def compile_many(
    jobs: Iterable[CompileJob],
    *,
    store: str | PathLike[str],
    executor: Executor | None = None,
    processes: int | None = None,
    shard: tuple[int, int] | None = None,
    on_result: OnResult | None = None,
) -> list[JobResult]:
    """Compile jobs into the store at a folder or URL; what became of each, in their order.

    - ``executor``: where they are compiled. By default ``processes`` of this machine (as many as it
      has processors), which are spawned: a program that calls this guards its main module by
      ``if __name__ == "__main__"``.
    - ``shard``: ``(i, n)``: of n shares by key the i-th, from 0; results are of those jobs alone.
    - ``on_result``: is called with each result when it is there, in the caller's thread.

    What the store has is not compiled again, unless it is damaged. A job that fails is a result as
    well. Where a process ends (killed, out of memory), the jobs that it may have had are tried once
    more, one at a time, so that none fails by what another did. When this raises, as by Ctrl-C, its
    processes are ended; the store is sound, and another run goes on from there. Raises
    ``ValueError`` for a shard that there is not, ``StoreError`` and ``OSError``.
    """
    if shard is not None and not 0 <= shard[0] < shard[1]:
        raise ValueError(f"a shard is (i, n) with i from 0 to n - 1, not {shard}")
    url = _absolute(fspath(store))
    batch = _Batch(url, on_result)
    wanted = list(batch.wanted(jobs, shard))
    tasks = batch.missing(wanted)
    if tasks:
        run = _Run(batch, executor, processes or processors())
        try:
            run.all(tasks)
        finally:
            run.end()
    return batch.results()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Batch:
    """The results so far, and which jobs have none."""

    def __init__(self, url: str, on_result: OnResult | None) -> None:
        self.url, self._tell = url, on_result or (lambda _: None)
        self._store = Store(url)
        self._results: dict[int, JobResult] = {}
        # Jobs of a key that another job has as well: what becomes of that is theirs.
        self._same: dict[str, list[_Task]] = {}

    def wanted(self, jobs: Iterable[CompileJob], shard: tuple[int, int] | None) -> Iterator[_Task]:
        """The jobs of the shard, one of each key."""
        for place, job in enumerate(jobs):
            try:
                key = artifact_key(job.text, job.options, self._tokenizer(job.tokenizer))
            except (ConstrainError, OSError) as error:
                # No shard has it by key: the first says so.
                if shard is None or shard[0] == 0:
                    self.add(place, failed(job, None, error))
                continue
            if shard is not None and int(key, 16) % shard[1] != shard[0]:
                continue
            task = _Task(place, job, key)
            same = self._same.setdefault(key, [])
            same.append(task)
            if len(same) == 1:
                yield task

    @memoised
    def _tokenizer(self, name: str | None) -> TokenizerKey:
        return tokenizer_key(load_tokenizer(name))

    def missing(self, tasks: Sequence[_Task]) -> list[_Task]:
        """Those that the store has not, or not whole; of the others there are results."""
        found = []
        # One thread is as good for a folder, whose files are read at once.
        with ThreadPoolExecutor(_READERS if "://" in self.url else 1) as pool:
            for task, size in zip(tasks, pool.map(self._present, tasks), strict=True):
                if size is None:
                    found.append(task)
                else:
                    self.done(task, result(task.job, task.key, PRESENT, bytes=size))
        return found

    def _present(self, task: _Task) -> int | None:
        """The bytes of an artifact that may be served."""
        size = self._store.size(task.key)
        return None if size is None or self._store.flaw(task.key) else size

    def done(self, task: _Task, found: JobResult) -> None:
        """A result of a job, which is that of all others of its key."""
        self.add(task.place, found)
        for other in self._same[task.key][1:]:
            status = found.status if found.status == FAILED else PRESENT
            own = replace(found, name=other.job.name, tokenizer=other.job.tokenizer)
            self.add(other.place, replace(own, status=status, seconds=0.0))

    def add(self, place: int, found: JobResult) -> None:
        self._results[place] = found
        self._tell(found)

    def results(self) -> list[JobResult]:
        """In the order of the jobs."""
        return [found for _, found in sorted(self._results.items())]


class _Run:
    """The jobs that are to be compiled, on their way through an executor."""

    def __init__(self, batch: _Batch, executor: Executor | None, processes: int) -> None:
        self._batch = batch
        self._source = Processes(processes) if executor is None else executor
        self._most = _OF_A_PROCESS * processes if executor is None else _IN_FLIGHT
        self._finished: SimpleQueue[Future[JobResult]] = SimpleQueue()
        self._with: dict[Future[JobResult], _Task] = {}

    def all(self, tasks: Iterable[_Task]) -> None:
        """Do them all."""
        waiting, doubtful = deque(tasks), list[_Task]()
        while waiting or self._with:
            # After a failure of the executor's own nothing is begun until all has come back.
            while waiting and len(self._with) < self._most and not doubtful:
                task = waiting.popleft()
                if not self._begin(task):
                    doubtful.append(task)
            if self._with:
                doubtful += self._next()
            if doubtful and not self._with:
                self._one_by_one(doubtful)
                doubtful.clear()

    def end(self) -> None:
        """Give back what is at work: own processes end, an executor's jobs are cancelled."""
        if isinstance(self._source, Processes):
            self._source.end()
        for future in self._with:
            future.cancel()

    def _begin(self, task: _Task) -> bool:
        """Hand a job over; False if the executor takes none."""
        try:
            future = self._source.submit(compile_job, task.job, self._batch.url, task.key)
        except Exception:  # Of any executor: broken, closed, without its cluster.
            return False
        self._with[future] = task
        future.add_done_callback(self._finished.put)
        return True

    def _next(self) -> list[_Task]:
        """Wait for a job; it itself if the executor has no result of it."""
        future = self._finished.get()
        task = self._with.pop(future)
        try:
            found = future.result()
        except Exception as error:
            self._failure: Exception = error
            return [task]
        self._batch.done(task, found)
        return []

    def _one_by_one(self, tasks: Sequence[_Task]) -> None:
        """Try jobs once more that were with the executor when it failed."""
        self._renew()
        for task in tasks:
            if not self._begin(task):
                self._renew()
                message = "the executor takes no jobs any more"
            elif self._next():
                message = f"{type(self._failure).__name__}: {self._failure}"
                if isinstance(self._failure, BrokenExecutor):
                    message = (
                        "the process that compiled it ended, twice: it was killed, or there was "
                        "not enough memory for it; a lower --max-memory refuses earlier"
                    )
                self._renew()
            else:
                continue
            error = JobError(PROCESS, message)
            self._batch.done(task, result(task.job, task.key, FAILED, error=error))

    def _renew(self) -> None:
        if isinstance(self._source, Processes):
            self._source.renew()


def _absolute(store: str) -> str:
    """The store by a name that means the same in other processes."""
    return store if "://" in store else str(Path(store).absolute())
