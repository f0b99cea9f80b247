"""One grammar and one tokenizer into a store: what a process of a batch does.

    compile_job(CompileJob(text, options, "tokenizer.json"), "s3://bucket/grammars") -> JobResult

Jobs and results are small and can be sent between processes; artifacts go to the store, where they
are written once. What a process makes of a tokenizer it makes once.
"""

import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any

from constrain.artifacts.errors import ConstrainError, visible
from constrain.artifacts.store.keys import StoreError
from constrain.artifacts.store.store import Store

from ..compiler import Compiler
from ..diagnostics import GrammarError, WeakerMasksWarning
from ..dialects import DIALECTS
from ..options import CompileOptions
from ..serving.artifact_key import TokenizerKey, artifact_key, tokenizer_key
from ..tokenizers import load_tokenizer

COMPILED, PRESENT, FAILED = "compiled", "present", "failed"

# Kinds of errors: what is wrong with a job, what it hit, and where it ended.
GRAMMAR, LIMIT, STORE, PROCESS, INTERNAL = "grammar", "limit", "store", "process", "internal"

# Tokenizers that a process keeps, those used last.
_MOST_TOKENIZERS = 8

_LIMIT_CODE = 3


@dataclass(frozen=True, slots=True)
class CompileJob:
    """A grammar's ``text``, to be compiled by ``options`` for a tokenizer.

    ``tokenizer``: a path or name that ``load_tokenizer`` takes, wherever the job is done; None for
    the embedded one. ``name``: what errors call the grammar. ``options`` need a dialect; with
    ``thin`` the store has the tokenizer's tables once for all. Their limits are each job's. Raises
    ``ValueError`` for a dialect that there is not.
    """

    text: str
    options: CompileOptions
    tokenizer: str | None = None
    name: str = "<grammar>"

    def __post_init__(self) -> None:
        if self.options.dialect not in DIALECTS:
            raise ValueError(f"options need a dialect: one of {', '.join(DIALECTS)}")
        # A clock that runs elsewhere is none of the job's.
        limits = replace(self.options.limits, meter=None)
        object.__setattr__(self, "options", replace(self.options, limits=limits))


@dataclass(frozen=True, slots=True)
class JobError:
    """Why there is no artifact. ``kind``: ``grammar`` (or its tokenizer or options), ``limit``,
    ``store`` (it cannot be written), ``process`` (it ended, or never began) or ``internal``.
    ``line``, ``column``: from 1, of the first place in the grammar that is at fault."""

    kind: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became of a job. ``status``: ``compiled``, ``present`` (it was there, and whole) or
    ``failed``. ``key``: what the store calls the artifact; None where it cannot be known.
    ``bytes``: of its file, without shared tables. ``seconds``: that it took, writing included."""

    name: str
    tokenizer: str | None
    key: str | None
    status: str
    bytes: int | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    error: JobError | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**asdict(self), "notes": list(self.notes), "seconds": round(self.seconds, 4)}


def compile_job(job: CompileJob, store: str, key: str | None = None) -> JobResult:
    """Compile a job into the store at a URL, unless the store has its artifact, whole.

    ``key``: the artifact's, where the caller knows it; another tokenizer or release here, which
    would have another key, is an error. Whatever becomes of the job is in the result: only what
    ends processes raises.
    """
    begin = time.perf_counter()
    found = key
    try:
        compiler, known = _compiler(job.tokenizer)
        found = artifact_key(job.text, job.options, known)
        if key not in (None, found):
            # The file may have changed since this process read it.
            _compiler.cache_clear()
            compiler, known = _compiler(job.tokenizer)
            found = artifact_key(job.text, job.options, known)
        if key not in (None, found):
            raise StoreError(
                f"the key is {found} here and {key} where the batch began: this machine has "
                f"another file at {visible(job.tokenizer)}, other files that the grammar refers "
                "to, or another release"
            )
        notes, wrong = list[str](), None
        there = _store(store)
        if there.has(found):
            wrong = there.flaw(found)
            if wrong is None:
                return result(job, found, PRESENT, bytes=there.size(found))
            there.delete(found)
            notes.append(
                f"the store's file was not what was written, and is compiled again: {wrong}"
            )
        notes += _compiled(compiler, job, there, found)
        return result(
            job,
            found,
            COMPILED,
            bytes=there.size(found),
            seconds=time.perf_counter() - begin,
            notes=notes,
        )
    except Exception as error:
        return failed(job, found, error, time.perf_counter() - begin)


def _compiled(compiler: Compiler, job: CompileJob, store: Store, key: str) -> tuple[str, ...]:
    """Compile a job and write it; the artifact's notes."""
    wanted = {each.name: getattr(job.options, each.name) for each in fields(job.options)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakerMasksWarning)  # The notes say so.
        artifact = compiler.compile_whole(job.text, name=job.name, **wanted)
    store.put(key, artifact, thin=job.options.thin)
    return artifact.notes


def result(job: CompileJob, key: str | None, status: str, **more: Any) -> JobResult:
    """What became of a job."""
    notes: Iterable[str] = more.pop("notes", ())
    return JobResult(job.name, job.tokenizer, key, status, notes=tuple(notes), **more)


def failed(
    job: CompileJob, key: str | None, error: BaseException, seconds: float = 0.0
) -> JobResult:
    """That a job ended with an error."""
    return result(job, key, FAILED, seconds=seconds, error=error_of(error))


def error_of(error: BaseException) -> JobError:
    """What an exception says of a job."""
    match error:
        case GrammarError():
            span = error.diagnostics[0].span if error.diagnostics else None
            if span is None:
                return JobError(GRAMMAR, str(error))
            text = error.source.text
            return JobError(GRAMMAR, str(error), *error.source.position(min(span.start, len(text))))
        case StoreError():
            return JobError(STORE, str(error))
        case ConstrainError():
            return JobError(LIMIT if error.exit_code == _LIMIT_CODE else GRAMMAR, str(error))
        case MemoryError():
            return JobError(LIMIT, "out of memory; a lower --max-memory refuses earlier")
        case OSError():
            where = f"{visible(error.filename)}: " if error.filename else ""
            return JobError(STORE, f"{where}{error.strerror or error}")
        case _:
            return JobError(INTERNAL, f"internal error: {type(error).__name__}: {visible(error)}")


@lru_cache(maxsize=_MOST_TOKENIZERS)
def _compiler(tokenizer: str | None) -> tuple[Compiler, TokenizerKey]:
    """The compiler of a tokenizer, with tables that the processes of a machine share."""
    loaded = load_tokenizer(tokenizer)
    return Compiler(loaded), tokenizer_key(loaded)


@lru_cache(maxsize=_MOST_TOKENIZERS)
def _store(url: str) -> Store:
    return Store(url)
