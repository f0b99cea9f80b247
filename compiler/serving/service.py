"""Artifacts for a server: as futures, compiled in other processes, each text once.

    service = CompileService("tokenizer.json", folder="artifacts")
    future = service.ask(body)                  at once: a request's body, as bytes
    future = service.get(request_of(fields))    the same of what was read here
    matcher = future.result().matcher()         in the server's own threads

What an artifact depends on is its key (``artifact_key``). It is looked for among the open
ones, then in the folder, then in the store, and else compiled by a process (``workers``), once
however many ask meanwhile. Whoever asks waits for a bounded time, whatever it is about: what takes
time in the length of a text is done by other threads and processes.
"""

import json
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.store.store import Store

from ..dialects import DIALECTS
from ..limits import Limits
from ..options import ANY, CompileOptions
from ..tokenizers import load_tokenizer
from ..tokenizers.host import host_file, host_tokenizer
from .artifact_key import artifact_key, tokenizer_key
from .folder import Folder
from .jobs import FULL, Job, Outcome, options_to_json
from .metrics import Metrics, prometheus
from .open_artifacts import OpenArtifacts
from .requests import Request, RequestError, body_of
from .workers import STARVED, Workers

Found: TypeAlias = "Future[Artifact | None]"

# What a request may take unless the caller says otherwise: servers wait for answers.
SERVER_LIMITS = Limits(seconds=10, memory=1_000_000_000)

# Options of requests that say nothing: masks in milliseconds, found while decoding.
SERVER_OPTIONS = CompileOptions(tokenization=ANY, prewarm=0, limits=SERVER_LIMITS)

_REFUSED, _LIMIT, _DEFECT = 2, 3, 70

# Characters of a text, or bytes of a body, that the thread that asks may read.
_AT_ONCE = 1 << 15

# Bytes of all bodies and texts that wait or are at work, at most: an attacker has long ones.
_MOST_TOGETHER = 1 << 27

# Threads that ask a store, which may be slow to answer; seconds without it where it could not.
_AT_STORE, _WITHOUT_STORE = 8, 30.0

# Bodies whose keys are known.
_KNOWN = 1 << 14

_LOG = logging.getLogger(__name__)


class ServiceError(ConstrainError):
    """A request that has no artifact; the message is for the one who asked.

    ``status``: what an HTTP server answers. 400: the grammar is wrong or too large, and the
    message says where and how to mend it; 503: too many are waiting, or the machine is too busy,
    and ``retry_after`` says in how many seconds to ask again; 500: the compiling process ended, or
    a defect. ``exit_code`` is that of the command line for the same.
    """

    def __init__(
        self, message: str, status: int, exit_code: int, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.exit_code, self.retry_after = status, exit_code, retry_after


@dataclass(eq=False)
class _Asked:
    """What is being looked for, by whom, and since when; ``is_again``: after room was made."""

    key: str
    job: Job
    futures: list[Found]
    unwanted: threading.Event = field(default_factory=threading.Event)
    since: float = field(default_factory=time.monotonic)
    is_again: bool = False


class CompileService:
    """Compiles grammars for one tokenizer, away from the threads that ask.

    - ``tokenizer``: a name or path that ``load_tokenizer`` takes, or a server's tokenizer object.
      Its tables are made once a process, whatever number of artifacts is open.
    - ``folder``: where artifacts are kept by their keys, between runs too; several services may
      share one. By default a temporary one, which lasts as long as the service. ``folder_bytes``:
      of all artifacts in it; the least recently used are removed when there are more.
    - ``store``: a folder or URL of a store, such as ``compile_many`` fills, that is asked before
      anything is compiled; what is compiled is put there, too, unless ``read_only``. Trouble with
      it is logged, and no request fails by it. Its keys are those of thin artifacts.
    - ``workers``: processes, each with its own copy of the tokenizer's tables (mapped where the
      cache on disk has them).
    - ``options``: those of requests that bring none. By default any token sequences, nothing
      precomputed, at most 10 seconds and 1 GB.
    - ``open_bytes``: what open artifacts hold together, files, rows and objects; the least recently
      used are closed when there is more. Matchers keep theirs open.
    - ``cache_bytes``: of each open artifact's caches, as for ``load``.
    - ``waiting``: how many compilations may be waiting or at work; beyond, requests are refused,
      and so they are beyond 128 MB of bodies together.

    All methods may be called from any thread. Raises ``TokenizerError`` and ``OSError``.
    """

    def __init__(
        self,
        tokenizer: object,
        *,
        folder: str | PathLike[str] | None = None,
        folder_bytes: int = 4_000_000_000,
        workers: int = 2,
        options: CompileOptions = SERVER_OPTIONS,
        open_bytes: int = 512_000_000,
        cache_bytes: int = 1 << 26,
        waiting: int = 256,
        store: str | PathLike[str] | None = None,
        read_only: bool = False,
    ) -> None:
        self._store, self._writes = None if store is None else Store(store), not read_only
        self._store_again = 0.0
        self._folder = Folder(None if folder is None else Path(folder), folder_bytes)
        name = _named(tokenizer, self._folder.own)
        self._tokenizer = tokenizer_key(load_tokenizer(name))
        self._options, self._cache_bytes, self._most_waiting = options, cache_bytes, waiting
        self._open, self._metrics = OpenArtifacts(open_bytes), Metrics()
        self._lock = threading.Lock()
        self._is_closed, self._process = False, os.getpid()
        self._asked: dict[str, _Asked] = {}
        self._held = 0
        # The keys of bodies' artifacts by hashes, as bytes for there are many; empty for those that
        # ask for no format.
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self._workers = Workers(name, workers)
        # Long bodies hold up one another alone, not what is read of files.
        self._bodies = ThreadPoolExecutor(1, thread_name_prefix="constrain-read")
        readers = 1 if store is None else _AT_STORE
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="constrain-load")

    def get(
        self, spec: "Request | str", options: CompileOptions | None = None
    ) -> "Future[Artifact]":
        """The artifact of a request, or of a grammar's text by ``options``; returns at once.

        The future's exception is a ``ServiceError``. If it is cancelled, and nobody else waits for
        the same, the compilation ends. Raises ``RuntimeError`` when the service is closed, or was
        made before this process was forked; ``TypeError`` and ``ValueError`` for a text that is no
        string and options without a dialect that there is, which are mistakes of the program that
        asks.
        """
        if isinstance(spec, Request):
            text, wanted, name = spec.text, spec.options, spec.name
        else:
            text, wanted, name = spec, options or self._options, "<grammar>"
        if not isinstance(text, str):
            raise TypeError(f"a grammar is a string, not {type(text).__name__}")
        if wanted.dialect not in DIALECTS:
            raise ValueError(f"options need a dialect: one of {', '.join(DIALECTS)}")
        job = self._job(text, replace(wanted, thin=True), name=name)
        future: Future[Any] = Future()
        self._in_time(len(text), future, partial(self._get, job, future))
        return future

    def ask(self, body: "bytes | str | Mapping[str, Any]", **how: Any) -> Found:
        """The artifact of a request by its body, as JSON or as its fields; None where it asks for
        no format. ``how``: what ``request_of`` takes besides, such as ``flags`` and ``style``.

        Nothing of the body is read here but its hash. The future's exception is a ``ServiceError``,
        400 for what ``RequestError`` says. Cancelled and raising as ``get``.
        """
        options = how.pop("options", None) or self._options
        job = self._job("", replace(options, thin=True), how=how)
        future: Found = Future()
        size = len(body) if isinstance(body, bytes | str) else _AT_ONCE + 1
        self._in_time(size, future, partial(self._ask, body, job, future))
        return future

    def metrics(self) -> dict[str, float]:
        """Numbers by name: requests by how they ended, seconds of the last compilations, those that
        wait, artifacts that are open and what they hold."""
        with self._lock:
            gauges = {"waiting": len(self._asked), "open_artifacts": len(self._open)}
            gauges["open_bytes"] = self._open.total
        return self._metrics.values(**gauges)

    def prometheus(self) -> str:
        """The same in the text format of Prometheus."""
        return prometheus(self.metrics())

    def close(self) -> None:
        """End the processes; what is being compiled fails. Artifacts that were given stay open.

        Waits for the service's threads, so it must not be called by what a future calls when done.
        """
        with self._lock:
            self._is_closed = True
        self._workers.close()
        self._bodies.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._folder.close()

    def __enter__(self) -> "CompileService":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what is asked for

    def _job(self, text: str, options: CompileOptions, **said: Any) -> Job:
        root, own = fspath(self._folder.root.absolute()), fspath(self._folder.own.absolute())
        return Job(text, options, root, own, **said)

    def _in_time(self, size: int, future: Found, read: "partial[None]") -> None:
        """Read something here if it is short, else in the thread that reads bodies."""
        if os.getpid() != self._process:
            # Threads and locks are not what they were, and a future would never be done.
            raise RuntimeError("a service is of the process that made it: make one in each fork")
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the service is closed")
        if not self._holds(size, future):
            return
        if size <= _AT_ONCE:
            read()
        else:
            self._bodies.submit(read)

    def _holds(self, size: int, future: Found) -> bool:
        """Count bytes until a future is done; with too many of them it is, as refused."""
        with self._lock:
            together = self._held + size
            if together <= _MOST_TOGETHER:
                self._held = together
        if together > _MOST_TOGETHER:
            self._refuse(future, f"{together:,} bytes of requests are waiting")
            return False
        future.add_done_callback(partial(self._let_go, size))
        return True

    def _let_go(self, size: int, _: Found) -> None:
        with self._lock:
            self._held -= size

    def _refuse(self, future: Found, why: str) -> None:
        self._metrics.count("busy")
        error = ServiceError(f"{why}; try again later", 503, 1, self._retry_after)
        self._end([future], error)

    def _get(self, job: Job, future: Found) -> None:
        try:
            key = artifact_key(job.text, job.options, self._tokenizer)
        except Exception as error:  # As of a folder of schemas that cannot be read.
            self._end([future], _failure(error))
            return
        self._join(key, key, replace(job, key=key), future)

    def _ask(self, body: "bytes | str | Mapping[str, Any]", job: Job, future: Found) -> None:
        try:
            octets = body_of(body)
            if not isinstance(body, bytes | str) and not self._holds(len(octets), future):
                return
            said = json.dumps([options_to_json(job.options), job.how], sort_keys=True)
        except (RequestError, ValueError, TypeError, RecursionError) as error:
            message = f"this is no JSON of a request: {error}"
            self._end([future], ServiceError(message, 400, _REFUSED))
            return
        # subtle: a body may be long, and what threads free after each other is not given back.
        hashed = sha256(said.encode("ascii") + b"\n")
        hashed.update(octets)
        number = hashed.digest()
        with self._lock:
            known = self._known.get(number)
            if known is not None:
                self._known.move_to_end(number)
        if known == b"":
            self._metrics.count("no_format")
            self._end([future], None)
            return
        key = "" if known is None else known.hex()
        self._join(f"body {number.hex()}", key, replace(job, body=octets, key=key), future)

    def _join(self, name: str, key: str, job: Job, future: Found) -> None:
        """Give what is open, wait with others for the same, or begin to look for it."""
        begun = None
        with self._lock:
            found = self._open.get(key)
            asked = self._asked.get(name)
            count = len(self._asked)
            if found is None and asked is not None:
                asked.futures.append(future)
            elif found is None and count < self._most_waiting:
                begun = self._asked[name] = _Asked(name, job, [future])
        if found is not None:
            self._metrics.count("open")
            self._end([future], found)
            return
        if asked is None and begun is None:
            self._refuse(future, f"{count} compilations are waiting")
            return
        future.add_done_callback(partial(self._left, name))
        if begun is not None:
            with suppress(RuntimeError):  # The service was closed since.
                self._readers.submit(self._look, begun)

    @property
    def _retry_after(self) -> int:
        """Seconds after which half of what waits should be done."""
        return 1 + int(self._metrics.quantile(0.5) * len(self._asked) / 2)

    def _left(self, name: str, future: Found) -> None:
        """End what nobody waits for any more."""
        if not future.cancelled():
            return
        with self._lock:
            asked = self._asked.get(name)
            if asked is None or not all(each.cancelled() for each in asked.futures):
                return
            del self._asked[name]
        self._metrics.count("cancelled")
        asked.unwanted.set()

    # --- where it is

    def _look(self, asked: _Asked) -> None:
        """Open the file of a key, or have it compiled: in the thread that reads files."""
        job = asked.job
        try:
            found = self._read(job.key, verify=True) if job.key else None
            where = "folder"
            if found is None and job.key:
                found, where = self._stored(job.key), "store"
            if found is None:
                # With a store the key comes first, for the artifact may be there.
                asked.job = replace(job, only_key=not job.key and self._store is not None)
                outcome = self._workers.submit(asked.job, asked.unwanted)
                outcome.add_done_callback(partial(self._compiled, asked))
                return
        except Exception as error:  # Whatever it is, the future has to be done.
            self._settle(asked, _failure(error), "failed")
            return
        self._settle(asked, found, where)

    def _compiled(self, asked: _Asked, done: "Future[Outcome]") -> None:
        """Open what a process has written: in the thread that waited for it."""
        if done.cancelled():
            error = ServiceError("the service was closed", 503, 1)
            self._settle(asked, error, "failed")
            return
        try:
            outcome = done.result()
            key = outcome.key
            if asked.unwanted.is_set():
                self._folder.wrote(outcome.size)
                return
            if outcome.exit_code == FULL and not asked.is_again:
                asked.is_again = True
                self._folder.make_room(is_full=True)
                self._readers.submit(self._look, asked)
                return
            if outcome.exit_code:
                error, ended = self._error(outcome)
                self._settle(asked, error, ended)
                return
            self._remember(asked, key)
            if not key:
                self._settle(asked, None, "no_format")
                return
            if asked.job.only_key:
                asked.job = replace(asked.job, key=key)
                self._readers.submit(self._look, asked)
                return
            self._folder.wrote(outcome.size)
            found = self._read(key, verify=not outcome.size)
            if found is None and not outcome.size:
                # It was there, and is damaged, or was removed by another service.
                self._readers.submit(self._look, asked)
                return
        except Exception as error:  # As when no process can be started.
            self._settle(asked, _failure(error), "failed")
            return
        seconds = time.monotonic() - asked.since
        self._metrics.took(seconds)
        _LOG.info("compiled %s: %d bytes in %.3f s", key, outcome.size, seconds)
        gone = ServiceError("the artifact is gone from its folder", 500, _DEFECT)
        self._settle(asked, found or gone, "compiled" if found else "failed")
        if found is not None and self._store is not None and self._writes:
            with suppress(RuntimeError):  # The service was closed since.
                self._readers.submit(self._put, self._store, key, found)

    def _error(self, outcome: Outcome) -> tuple[ServiceError, str]:
        """What the one who asked is told, and how that is counted."""
        code = outcome.exit_code
        if code == STARVED:
            return ServiceError(outcome.message, 503, 1, self._retry_after), "busy"
        if code in (_REFUSED, _LIMIT):
            return ServiceError(outcome.message, 400, code), "refused"
        _LOG.warning("not compiled: %s", outcome.message)
        return ServiceError(outcome.message, 500, code), "failed"

    def _remember(self, asked: _Asked, key: str) -> None:
        """The key of a body."""
        if asked.job.how is None:
            return
        with self._lock:
            self._known[bytes.fromhex(asked.key.removeprefix("body "))] = bytes.fromhex(key)
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)

    def _read(self, key: str, *, verify: bool) -> Artifact | None:
        """The artifact in the folder; None if there is none, or a damaged one, which goes.

        ``verify``: its checksums too, but of what was written a moment ago.
        """
        found = self._folder.open(key, verify=verify, cache_bytes=self._cache_bytes)
        return None if found is None else self._opened(key, *found)

    def _opened(self, key: str, artifact: Artifact, size: int) -> Artifact:
        with self._lock:
            self._open.add(key, artifact, size)
        return artifact

    def _stored(self, key: str) -> Artifact | None:
        """The artifact in the store; None if there is none, or no store to be read."""
        if self._store is None or time.monotonic() < self._store_again:
            return None
        try:
            found = self._store.get(key, cache_bytes=self._cache_bytes)
            size = self._store.size(key) or 0
        except Exception as error:  # Of whatever the place is: the request is compiled.
            _LOG.warning("%s cannot be read: %s: %s", self._store.url, type(error).__name__, error)
            self._store_again = time.monotonic() + _WITHOUT_STORE
            return None
        return None if found is None else self._opened(key, found, size)

    def _put(self, store: Store, key: str, artifact: Artifact) -> None:
        try:
            store.put(key, artifact, thin=True)
        except Exception as error:  # As when it is full, or read-only.
            _LOG.warning("%s cannot be written: %s: %s", store.url, type(error).__name__, error)

    def _settle(self, asked: _Asked, result: Artifact | ServiceError | None, ended: str) -> None:
        with self._lock:
            if self._asked.get(asked.key) is asked:
                del self._asked[asked.key]
        self._metrics.count(ended)
        self._end(asked.futures, result)

    @staticmethod
    def _end(futures: list[Found], result: Artifact | ServiceError | None) -> None:
        for future in futures:
            if not future.set_running_or_notify_cancel():
                continue
            if isinstance(result, ServiceError):
                future.set_exception(result)
            else:
                future.set_result(result)


def _failure(error: Exception) -> ServiceError:
    return ServiceError(f"{type(error).__name__}: {error}", 500, _DEFECT)


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
