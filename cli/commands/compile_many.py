"""``constrain compile-many``: many grammars and tokenizers into a store."""

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..batch.results import Format, Results
from ..console import UsageError, status, write_pieces, write_text
from ..everywhere import panels
from ..quoting import octets_of

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

_SHARD = re.compile(r"(\d{1,9})/(\d{1,9})")


@options.compile_options(
    *(n for n in options.ALL if n not in ("tokenizer", "thin", "no_cache")), of_each=True
)
def compile_many(
    given: options.Given,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE…]")] = None,
    tokenizer: Annotated[
        list[str] | None, panels.of_tokenizer("--tokenizer", "-t", metavar="FILE")
    ] = None,
    store: options.Store = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", metavar="N", min=1)] = None,
    thin: Annotated[bool, panels.of_compilation("--thin/--no-thin")] = True,
    shard: Annotated[str | None, typer.Option(metavar="I/N")] = None,
    executor: Annotated[str | None, typer.Option(metavar="URL")] = None,
    format_: Annotated[Format, typer.Option("--format", "-f")] = "text",
    output: options.Output = None,
) -> int:
    """Compile many grammars for many tokenizers into a store, and report what became of each.

    What the store has is not compiled again, so an interrupted run goes on where it stopped; one
    failure stops no other job. Limits are those of each job. Exit code 1 if any failed.

    \b
    Examples:
      constrain compile-many grammars/ -t gpt2.json -t qwen.json --store artifacts/
      constrain compile-many jobs.jsonl -t hf:ORG/REPO --store s3://bucket/g --shard 3/8

    - ``files``: Grammars, folders of grammars, or files .jsonl of jobs (- for those of standard
      input).  [default: the grammars of the project file]
    - ``tokenizer``: As for `compile`; may be repeated, and each grammar is compiled for each.
      [default: the project file's, else the embedded one]
    - ``jobs``: Processes.  [default: one a processor]
    - ``thin``: Keep the tokenizer's tables once in the store, for all.
    - ``shard``: Of N shares of the jobs, by key, the one of I from 0.
    - ``executor``: Compile on a cluster of Dask, dask://HOST:PORT, instead of here.
    - ``format_``: text, json, or jsonl: a line of JSON as a job ends.
    """
    from constrain.compiler import compile_many as compile_all

    from ..batch.jobs_of import jobs_of

    url, share = options.store_url(store), _shard_of(shard)
    if executor is not None and jobs is not None:
        raise UsageError("--jobs is about processes of this machine, and --executor names others")
    wanted = jobs_of(files, given, tokenizer or (), thin=thin)
    unread = wanted.unread if share is None or share[0] == 0 else []
    total = len(wanted.jobs) // (share[1] if share else 1) + len(unread)
    stream = write_text if format_ == "jsonl" and output in (None, "-") else None
    results = Results(total, wanted.shown, stream)
    for each in unread:
        results.add(each)
    try:
        with _executor_of(executor) as engine:
            found = compile_all(
                wanted.jobs,
                store=url,
                executor=engine,
                processes=jobs,
                shard=share,
                on_result=results.add,
            )
        results.ordered([*found, *unread])
    finally:
        # What is known is reported, too, where this is interrupted.
        if stream is None:
            _report(results, format_, output, url)
    status(results.summary())
    return 1 if results.count("failed") else 0


def _report(results: Results, format_: Format, output: str | None, store: str) -> None:
    match format_:
        case "text":
            text = results.as_text()
        case "json":
            text = results.as_json(store)
        case "jsonl":
            text = results.as_lines()
    write_pieces([octets_of(text)], output, "-")


def _shard_of(said: str | None) -> tuple[int, int] | None:
    if said is None:
        return None
    found = _SHARD.fullmatch(said)
    if found is None or not int(found[1]) < int(found[2]):
        raise UsageError(f"--shard takes I/N with I from 0 to N - 1, as 0/8, not {said!r}")
    return int(found[1]), int(found[2])


def _executor_of(url: str | None) -> "AbstractContextManager[Executor | None]":
    if url is None:
        return nullcontext()
    from constrain.compiler.batch.dask import dask_executor

    return dask_executor(url)
