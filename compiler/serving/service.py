"""Artifacts for a server: as futures, compiled in other processes, each text once.

    service = CompileService("tokenizer.json", folder="artifacts")
    future = service.get(request_of(fields))    at once: open, on disk, being compiled, or to be
    matcher = future.result().matcher()         in the server's own threads

What an artifact depends on is its key (``artifact_key``). It is looked for among the open
ones, then in the folder, then in the store, and else compiled by a process (``workers``), once
however many ask meanwhile.
"""

import json
import logging
import os
import tempfile
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ArtifactError, ConstrainError
from constrain.artifacts.read import load
from constrain.artifacts.store.store import Store

from ..dialects import DIALECTS
from ..limits import Limits
from ..options import ANY, CompileOptions
from ..tokenizers import load_tokenizer
from ..tokenizers.host import host_file, host_tokenizer
from .artifact_key import artifact_key, tokenizer_key
from .jobs import Job, Outcome
from .requests import Request
from .workers import Workers

# What a request may take unless the caller says otherwise: servers wait for answers.
SERVER_LIMITS = Limits(seconds=10, memory=1_000_000_000)

# Options of requests that say nothing: masks in milliseconds, found while decoding.
SERVER_OPTIONS = CompileOptions(tokenization=ANY, prewarm=0, limits=SERVER_LIMITS)

_REFUSED, _LIMIT = 2, 3

_LOG = logging.getLogger(__name__)


class ServiceError(ConstrainError):
    """A request that has no artifact; the message is for the one who asked.

    ``status``: what an HTTP server answers. 400: the grammar is wrong or too large, and the
    message says where and how to mend it; 503: too many are waiting; 500: the compiling process
    ended, or a defect. ``exit_code`` is that of the command line for the same.
    """

    def __init__(self, message: str, status: int, exit_code: int) -> None:
        super().__init__(message)
        self.status, self.exit_code = status, exit_code


class CompileService:
    """Compiles grammars for one tokenizer, away from the threads that ask.

    - ``tokenizer``: a name or path that ``load_tokenizer`` takes, or a server's tokenizer object.
    - ``folder``: where artifacts are kept by their keys, between runs too; several services may
      share one. By default a temporary one, which lasts as long as the service.
    - ``store``: a folder or URL of a store, such as ``compile_many`` fills, that is asked before
      anything is compiled; what is compiled is put there, too, unless ``read_only``. Trouble with
      it is logged, and no request fails by it.
    - ``thin``: keys of the store are those of options with ``thin``, as ``constrain compile-many``
      has them by default; without a store it changes nothing.
    - ``workers``: processes, each with its own copy of the tokenizer's tables (mapped where the
      cache on disk has them).
    - ``options``: those of requests that bring none. By default any token sequences, nothing
      precomputed, at most 10 seconds and 1 GB.
    - ``open_bytes``: of the files of artifacts that are kept open; the least recently used are
      closed when all together are larger. Matchers keep theirs open.
    - ``cache_bytes``: of each open artifact's caches, as for ``load``.
    - ``waiting``: how many compilations may be waiting or at work; beyond, requests are refused.

    All methods may be called from any thread. Raises ``TokenizerError``.
    """

    def __init__(
        self,
        tokenizer: object,
        *,
        folder: str | PathLike[str] | None = None,
        workers: int = 2,
        options: CompileOptions = SERVER_OPTIONS,
        open_bytes: int = 512_000_000,
        cache_bytes: int = 1 << 26,
        waiting: int = 256,
        store: str | PathLike[str] | None = None,
        read_only: bool = False,
        thin: bool = True,
    ) -> None:
        self._store = None if store is None else Store(store)
        self._writes, self._thin = not read_only, thin and store is not None
        self._temporary = tempfile.TemporaryDirectory(prefix="constrain-")
        self._folder = Path(self._temporary.name) if folder is None else Path(folder)
        name = _named(tokenizer, Path(self._temporary.name))
        self._tokenizer = tokenizer_key(load_tokenizer(name))
        self._options, self._cache_bytes, self._most_waiting = options, cache_bytes, waiting
        self._open = _OpenArtifacts(open_bytes)
        self._lock = threading.Lock()
        self._is_closed, self._process = False, os.getpid()
        self._asked: dict[str, Future[Artifact]] = {}
        self._workers = Workers(name, workers)
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="constrain-load")

    def get(
        self, spec: "Request | str", options: CompileOptions | None = None
    ) -> "Future[Artifact]":
        """The artifact of a request, or of a grammar's text by ``options``; returns at once.

        The future's exception is a ``ServiceError``. It cannot be cancelled: others may wait for
        the same. Raises ``RuntimeError`` when the service is closed, or was made before this
        process was forked; ``TypeError`` and ``ValueError`` for a text that is no string and
        options without a dialect that there is, which are mistakes of the program that asks.
        """
        if isinstance(spec, Request):
            text, wanted, name = spec.text, spec.options, spec.name
        else:
            text, wanted, name = spec, options or self._options, "<grammar>"
        if not isinstance(text, str):
            raise TypeError(f"a grammar is a string, not {type(text).__name__}")
        if wanted.dialect not in DIALECTS:
            raise ValueError(f"options need a dialect: one of {', '.join(DIALECTS)}")
        if os.getpid() != self._process:
            # Threads and locks are not what they were, and a future would never be done.
            raise RuntimeError("a service is of the process that made it: make one in each fork")
        if self._thin:
            wanted = replace(wanted, thin=True)
        key = artifact_key(text, wanted, self._tokenizer)
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the service is closed")
            found = self._open.get(key)
            if found is not None:
                return _settled(found)
            if key in self._asked:
                return self._asked[key]
            future: Future[Artifact] = Future()
            future.set_running_or_notify_cancel()
            if len(self._asked) >= self._most_waiting:
                message = f"{len(self._asked)} compilations are waiting; try again later"
                future.set_exception(ServiceError(message, 503, 1))
                return future
            job = Job(text, wanted, fspath(self._path(key)), name)
            self._readers.submit(self._look, key, job)
            self._asked[key] = future
            return future

    def close(self) -> None:
        """End the processes; what is being compiled fails. Artifacts that were given stay open.

        Waits for the service's threads, so it must not be called by what a future calls when done.
        """
        with self._lock:
            self._is_closed = True
        self._workers.close()
        self._readers.shutdown(wait=True)
        with suppress(OSError):
            self._temporary.cleanup()

    def __enter__(self) -> "CompileService":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.cst"

    def _look(self, key: str, job: Job) -> None:
        """Open the file of a key, or have it compiled: in the thread that reads files."""
        try:
            found = self._read(key, verify=True) or self._stored(key)
            if found is None:
                Path(job.path).parent.mkdir(parents=True, exist_ok=True)
                outcome = self._workers.submit(job)
                outcome.add_done_callback(partial(self._compiled, key))
                return
        except Exception as error:  # Whatever it is, the future has to be done.
            self._settle(key, _failure(error))
            return
        self._settle(key, found)

    def _compiled(self, key: str, done: "Future[Outcome]") -> None:
        """Open what a process has written: in the thread that waited for it."""
        if done.cancelled():
            self._settle(key, ServiceError("the service was closed", 503, 1))
            return
        try:
            outcome = done.result()
            found = None if outcome.exit_code else self._read(key, verify=False)
        except Exception as error:  # As when no process can be started.
            self._settle(key, _failure(error))
            return
        if outcome.exit_code:
            status = 400 if outcome.exit_code in (_REFUSED, _LIMIT) else 500
            self._settle(key, ServiceError(outcome.message, status, outcome.exit_code))
            return
        self._settle(key, found or ServiceError("the artifact is gone from its folder", 500, 70))
        if found is not None and self._store is not None and self._writes:
            with suppress(RuntimeError):  # The service was closed since.
                self._readers.submit(self._put, self._store, key, found)

    def _read(self, key: str, *, verify: bool) -> Artifact | None:
        """The artifact in the folder; None if there is none, or a damaged one, which goes.

        ``verify``: its checksums too, but of what was written a moment ago.
        """
        path = self._path(key)
        try:
            found = load(path, verify=verify, cache_bytes=self._cache_bytes)
            size = path.stat().st_size
        except ArtifactError:
            with suppress(OSError):
                path.unlink()
            return None
        except OSError:
            return None
        with self._lock:
            self._open.add(key, found, size)
        return found

    def _stored(self, key: str) -> Artifact | None:
        """The artifact in the store; None if there is none, or no store to be read."""
        if self._store is None:
            return None
        try:
            found = self._store.get(key, cache_bytes=self._cache_bytes)
            size = self._store.size(key) or 0
        except Exception as error:  # Of whatever the place is: the request is compiled.
            _LOG.warning("%s cannot be read: %s: %s", self._store.url, type(error).__name__, error)
            return None
        if found is not None:
            with self._lock:
                self._open.add(key, found, size)
        return found

    def _put(self, store: Store, key: str, artifact: Artifact) -> None:
        try:
            store.put(key, artifact, thin=self._thin)
        except Exception as error:  # As when it is full, or read-only.
            _LOG.warning("%s cannot be written: %s: %s", store.url, type(error).__name__, error)

    def _settle(self, key: str, result: Artifact | ServiceError) -> None:
        with self._lock:
            future = self._asked.pop(key)
        if isinstance(result, ServiceError):
            future.set_exception(result)
        else:
            future.set_result(result)


class _OpenArtifacts:
    """Artifacts by key, the least recently used first, with the bytes of their files."""

    def __init__(self, capacity: int) -> None:
        self._capacity, self._total = capacity, 0
        self._entries: OrderedDict[str, tuple[Artifact, int]] = OrderedDict()

    def get(self, key: str) -> Artifact | None:
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def add(self, key: str, artifact: Artifact, size: int) -> None:
        """Keep an artifact, and of the others as many as there is room for."""
        self._entries[key] = (artifact, size)
        self._total += size
        while self._total > self._capacity and len(self._entries) > 1:
            _, (_, gone) = self._entries.popitem(last=False)
            self._total -= gone


def _failure(error: Exception) -> ServiceError:
    return ServiceError(f"{type(error).__name__}: {error}", 500, 70)


def _settled(artifact: Artifact) -> "Future[Artifact]":
    future: Future[Artifact] = Future()
    future.set_result(artifact)
    return future


def _named(tokenizer: object, folder: Path) -> str:
    """A name by which other processes load the tokenizer: its own, or a file in ``folder``."""
    path = tokenizer if isinstance(tokenizer, str | PathLike) else host_file(tokenizer)
    if path is not None:
        return fspath(path)
    host = host_tokenizer(tokenizer)
    file = folder / "tokenizer" / "tokenizer.json"
    file.parent.mkdir()
    file.write_bytes(host.raw)
    if host.eos is not None:
        config = json.dumps({"eos_token": host.eos})
        file.with_name("tokenizer_config.json").write_text(config, encoding="ascii")
    return fspath(file)
