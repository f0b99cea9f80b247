"""Processes of this machine that do the jobs of a batch, and end with it.

    processes = Processes(2)
    future = processes.submit(compile_job, job, store)
    processes.renew()              after one has died: the others of its pool are of no use
    processes.end()                all at once, whatever they are doing

Each pool is a ``ProcessPoolExecutor`` of spawned processes. After so many jobs another takes its
place, so that what a process gathers is given back. Its own ``max_tasks_per_child`` is not used:
up to Python 3.13 a pool with it may wait for ever (github.com/python/cpython/issues/115634).
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Jobs of a process, on the average, before another takes its place.
JOBS_OF_A_PROCESS = 1_000


class Processes:
    """``count`` spawned processes."""

    def __init__(self, count: int, jobs_each: int = JOBS_OF_A_PROCESS) -> None:
        self.count, self._most = count, count * jobs_each
        self._retired: list[_Pool] = []
        self._pool: _Pool | None = None

    def submit(self, call: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> "Future[R]":
        """The result of a call. Raises ``BrokenProcessPool`` until ``renew`` where one has died."""
        if self._pool is not None and self._pool.calls >= self._most:
            # What it has is done yet, while the next one begins.
            self._pool.executor.shutdown(wait=False)
            self._retired.append(self._pool)
            self._pool = None
        if self._pool is None:
            self._pool = _Pool(self.count)
        self._pool.calls += 1
        return self._pool.executor.submit(call, *arguments, **named)

    def renew(self) -> None:
        """Go on with other processes."""
        if self._pool is not None:
            self._pool.end()
            self._pool = None

    def end(self) -> None:
        """End all processes."""
        for pool in self._retired:
            pool.end()
        self._retired.clear()
        self.renew()


class _Pool:
    """Processes, and the pipe whose end is theirs."""

    def __init__(self, count: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        reader, self._writer = spawn.Pipe(duplex=False)
        self._reader, self.calls = reader, 0
        self.executor = ProcessPoolExecutor(
            count, mp_context=spawn, initializer=_begin, initargs=(reader,)
        )

    def end(self) -> None:
        self._writer.close()
        self.executor.shutdown(wait=True, cancel_futures=True)
        self._reader.close()


def _begin(batch: Connection) -> None:
    """What a process does first: from here on it ends when its batch does, however that ends."""
    # A Ctrl-C in the terminal is the batch's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(batch,), daemon=True).start()


def _end_with(batch: Connection) -> None:
    with suppress(EOFError, OSError):
        batch.recv_bytes()
    os._exit(1)
