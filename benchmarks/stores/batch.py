"""Many schemas into stores: one process, two, and a cluster of Dask, beside each other.

    python benchmarks/stores/batch.py TOKENIZER.json… [--count 1000] [--engines one,two,dask]
    python benchmarks/stores/batch.py TOKENIZER.json… --canonical --count 50
    python benchmarks/stores/batch.py --regexes 100,1000,10000

Each engine has a store of its own; the same keys and bytes are in all. A second run finds all and
compiles nothing. Memory is what the largest worker holds in RAM (Linux), a quarter of the run after
the other. ``--regexes``: the embedded tokenizer, time and a look-up's by the number of them.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from constrain.artifacts.store.store import Store
from constrain.compiler import CompileJob, CompileOptions, JobResult, compile_many
from stores.schemas import schemas

# Seconds between two looks at the memory of workers.
_LOOK = 0.25

ANY = CompileOptions(dialect="json-schema", tokenization="any", prewarm=0, thin=True)
CANONICAL = CompileOptions(dialect="json-schema", tokenization="canonical", thin=True)
REGEX = CompileOptions(dialect="regex", tokenization="any", prewarm=0, thin=True)


class Memory:
    """The memory of the largest process below this one over time, in MB."""

    def __init__(self, *, own: bool) -> None:
        self._own, self._over, self.found = own, threading.Event(), list[float]()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def quarters(self) -> list[float]:
        """The most in each quarter of the time."""
        self._over.set()
        self._thread.join()
        size = max(1, len(self.found) // 4)
        return [round(max(self.found[i * size : (i + 1) * size] or [0])) for i in range(4)]

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            pids = [os.getpid()] if self._own else _below(os.getpid())
            self.found.append(max([*map(_resident, pids), 0.0]))


def _below(pid: int) -> list[int]:
    """Processes that a process started, and those that these did."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, thread.read_text(encoding="ascii").split()):
                found += [child, *_below(child)]
        except OSError:
            continue
    return found


def _resident(pid: int) -> float:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0.0
    return int(pages) * 4096 / 1e6


@contextmanager
def executor_of(engine: str) -> Iterator[Executor | None]:
    """One process is this one; two are the default; Dask has two workers of one thread."""
    if engine == "one":
        with ThreadPoolExecutor(1) as serial:
            yield serial
    elif engine == "two":
        yield None
    else:
        from distributed import LocalCluster

        from constrain.compiler.batch.dask import dask_executor

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            address = cluster.scheduler_address.removeprefix("tcp://")
            with dask_executor(f"dask://{address}") as executor:
                yield executor


def content(store: Path) -> dict[str, str]:
    """The hash of each file."""
    return {
        path.relative_to(store).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in store.rglob("*")
        if path.is_file()
    }


def measure(engine: str, jobs: list[CompileJob], store: Path) -> dict[str, Any]:
    """A first run and a second one."""
    with executor_of(engine) as executor:
        memory = Memory(own=engine == "one")
        begin = time.perf_counter()
        results = compile_many(jobs, store=store, executor=executor, processes=2)
        seconds, quarters = time.perf_counter() - begin, memory.quarters()
        begin = time.perf_counter()
        again = compile_many(jobs, store=store, executor=executor, processes=2)
        second = time.perf_counter() - begin
    compiled = [each for each in results if each.status == "compiled"]
    return {
        "engine": engine,
        "jobs": len(jobs),
        "statuses": _counts(results),
        "again": _counts(again),
        "seconds": round(seconds, 1),
        "per second": round(len(jobs) / seconds, 1),
        "second run, seconds": round(second, 2),
        "in jobs, seconds": round(sum(each.seconds for each in compiled), 1),
        "a job, ms": round(1e3 * statistics.median(each.seconds for each in compiled), 1),
        "slowest job, s": round(max(each.seconds for each in compiled), 2),
        "memory by quarters, MB": quarters,
        **_sizes(results, store),
        "failed": sorted({each.error.message[:200] for each in results if each.error})[:5],
    }


def _counts(results: list[JobResult]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in results:
        found[each.status] = found.get(each.status, 0) + 1
    return found


def _sizes(results: list[JobResult], store: Path) -> dict[str, Any]:
    sizes = {}
    for tokenizer in dict.fromkeys(each.tokenizer for each in results):
        own = {r.key: r.bytes or 0 for r in results if r.tokenizer == tokenizer}
        sizes[Path(tokenizer or "embedded").parent.name] = {
            "files": len(own),
            "bytes": sum(own.values()),
            "median": statistics.median(own.values()),
            "largest": max(own.values()),
        }
    tables = {path.name[:8]: path.stat().st_size for path in store.glob("tok/*")}
    return {"bytes": sizes, "tables": tables}


def regexes(counts: list[int]) -> None:
    """Time by the number of small regexes, and a look-up's."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefgh", k=5)) for _ in range(max(counts))]
    for count in counts:
        jobs = [
            CompileJob(f"{word}-[0-9]{{{n % 7 + 1}}}{n}", REGEX, None, f"regex {n}")
            for n, word in enumerate(words[:count])
        ]
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            results = compile_many(jobs, store=folder, processes=2)
            seconds = time.perf_counter() - begin
            store, chosen, times = Store(folder), rng.sample(results, min(100, count)), []
            for each in chosen:
                begin = time.perf_counter()
                assert store.get(each.key or "") is not None
                times.append(time.perf_counter() - begin)
            look_up = 1e3 * statistics.median(times)
            say(
                f"{count:6,} regexes: {seconds:7.1f} s, {1e3 * seconds / count:5.2f} ms each, "
                f"a look-up {look_up:.2f} ms; {_counts(results)}"
            )


def say(text: str) -> None:
    """A line, now."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizers", nargs="*")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default="one,two,dask")
    parser.add_argument("--canonical", action="store_true")
    parser.add_argument("--regexes")
    given = parser.parse_args()
    if given.regexes:
        regexes([int(count) for count in given.regexes.split(",")])
        return
    options = CANONICAL if given.canonical else ANY
    jobs = [
        CompileJob(text, options, tokenizer, f"schema {number}")
        for tokenizer in given.tokenizers
        for number, text in enumerate(schemas(given.count, given.seed))
    ]
    contents = []
    for engine in given.engines.split(","):
        with tempfile.TemporaryDirectory() as folder:
            say(json.dumps(measure(engine, jobs, Path(folder)), indent=1))
            contents.append(content(Path(folder)))
    say(f"the same keys and bytes: {all(each == contents[0] for each in contents)}")


if __name__ == "__main__":
    main()
