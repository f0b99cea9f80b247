"""A service that compiles: what is waited for, what its process holds, how late its loop is.

    python benchmarks/service.py TOKENIZER.json [--count 1000]
    python benchmarks/service.py TOKENIZER.json --late [--busy 8]

Distinct requests of six kinds, one after the other: milliseconds from a body to its first mask, and
of the same body again; of the processor, in this process and in those that compile. Then the files,
the folder and what this process holds in RAM (Linux).

``--late``: how late an event loop wakes that wants to every 10 ms, beside busy processes, by
nothing else to do and while a service answers the requests; and the most time of the processor that
one of its callbacks takes, without Python's collector of cycles (``compiler/serving/README.md``).
"""

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time
from asyncio import events
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from workloads.six_kinds import bodies

from constrain.artifacts.tokens import tokenset
from constrain.compiler.children import cpu_seconds_of, resident_bytes_of
from constrain.compiler.serving.service import CompileService

# Bounds of the service: what is open, and what its folder holds.
OPEN, FOLDER = 200_000_000, 16_000_000

# Masks of each text, and requests at work at a time beside the event loop.
MASKS, AT_ONCE = 8, 8

# Seconds between two ticks of the event loop, and for how many one with nothing to do is watched.
TICK, EMPTY = 0.01, 10.0


def main() -> None:
    """A table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--busy", type=int, default=8)
    parser.add_argument("--late", action="store_true")
    given = parser.parse_args()
    asked = [(kind, json.dumps(body).encode("ascii")) for kind, body in bodies(given.count)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        service = stack.enter_context(
            CompileService(given.tokenizer, folder=folder, open_bytes=OPEN, folder_bytes=FOLDER)
        )
        # Others, by which both processes make the tokenizer's tables.
        warm = [service.ask(body, dialects=("gbnf",)) for _, body in bodies(24, seed=2)]
        for future in warm:
            first_mask(future.result())
        if given.late:
            stack.enter_context(busy(given.busy))
            asyncio.run(late(service, [body for _, body in asked]))
        else:
            one_by_one(service, folder, asked)


def first_mask(artifact: Any) -> Any:
    """The matcher of an artifact, whose first mask was made."""
    matcher = artifact.matcher()
    matcher.mask()
    return matcher


def one_by_one(service: CompileService, folder: Path, asked: list[tuple[str, bytes]]) -> None:
    """Times by kind, and what was held."""
    compiling = [process._running.pid for process in service._workers._all]
    rows, again, held, sizes, room = [], list[float](), 0, dict[str, int](), 0

    def spent() -> float:
        return sum(cpu_seconds_of(process) or 0.0 for process in compiling)

    for kind, body in asked:
        there, begin, here = spent(), time.perf_counter(), time.process_time()
        matcher = first_mask(service.ask(body, dialects=("gbnf",)).result())
        rows.append(
            (kind, time.perf_counter() - begin, time.process_time() - here, spent() - there)
        )
        for _ in range(MASKS - 1):
            allowed = tokenset.to_ids(matcher.mask())
            if not len(allowed) or matcher.is_finished:
                break
            matcher.advance(int(allowed[len(allowed) // 2]))
        begin = time.perf_counter()
        first_mask(service.ask(body, dialects=("gbnf",)).result())
        again.append(time.perf_counter() - begin)
        held = max(held, resident_bytes_of(os.getpid()))
        now = {file.name: file.stat().st_size for file in folder.glob("*/*.cst")}
        sizes, room = sizes | now, max(room, sum(now.values()))
    write = sys.stdout.write
    write(f"{'ms':<10}{'p50':>8}{'p99':>8}{'CPU here':>10}{'compiling':>11}\n")
    for name in (*dict.fromkeys(kind for kind, *_ in rows), "all"):
        found = 1e3 * np.array([row[1:] for row in rows if name in ("all", row[0])])
        # The clock of another process ticks in hundredths of a second: a mean.
        middle, high = np.percentile(found[:, 0], [50, 99])
        figures = (np.median(found[:, 1]), np.mean(found[:, 2]))
        write(f"{name:<10}{middle:>8.1f}{high:>8.1f}{figures[0]:>10.1f}{figures[1]:>11.1f}\n")
    middle, high = 1e3 * np.percentile(again, [50, 99])
    write(f"{'again':<10}{middle:>8.2f}{high:>8.2f}\n")
    write(f"files: {np.median([*sizes.values()]) / 1e3:.0f} kB at the median; ")
    write(f"folder: {room / 1e6:.1f} MB of {FOLDER / 1e6:.0f}; ")
    write(f"process: {held / 1e6:.0f} MB, of {OPEN / 1e6:.0f} open\n")


async def late(service: CompileService, asked: list[bytes]) -> None:
    """A line for the loop that has nothing to do, and one for that which answers requests."""

    async def nothing() -> None:
        await asyncio.sleep(EMPTY)

    async def answer(mine: list[bytes]) -> None:
        for body in mine:
            first_mask(await asyncio.wrap_future(service.ask(body, dialects=("gbnf",))))

    async def answers() -> None:
        await asyncio.gather(*(answer(asked[i::AT_ONCE]) for i in range(AT_ONCE)))

    sys.stdout.write(f"{'late, ms':<10}{'p50':>8}{'p99':>8}{'worst':>8}{'callback, CPU':>15}\n")
    for work in (nothing, answers):
        with clocked() as spent:
            waits = 1e3 * np.array(await overshoots(work))
        figures = (np.median(waits), np.percentile(waits, 99), waits.max())
        row = "".join(f"{each:>8.2f}" for each in figures)
        sys.stdout.write(f"{work.__name__:<10}{row}{1e3 * max(spent):>15.2f}\n")


@contextmanager
def clocked() -> Iterator[list[float]]:
    """The seconds of the processor that each callback of event loops takes, without those of the
    collector of cycles, which looks at all that the process holds."""
    spent, run = list[float](), events.Handle._run  # type: ignore[attr-defined]
    collecting = 0.0

    def collects(phase: str, _: object) -> None:
        nonlocal collecting
        if threading.current_thread() is threading.main_thread():
            collecting += time.thread_time() * (1 if phase == "stop" else -1)

    def timed(handle: events.Handle) -> None:
        begin = time.thread_time() - collecting
        run(handle)
        spent.append(time.thread_time() - collecting - begin)

    events.Handle._run = timed  # type: ignore[attr-defined]
    gc.callbacks.append(collects)
    try:
        yield spent
    finally:
        gc.callbacks.remove(collects)
        events.Handle._run = run  # type: ignore[attr-defined]


async def overshoots(work: Callable[[], Awaitable[None]]) -> list[float]:
    """By how many seconds each tick is late until the work is done."""
    found = []
    task = asyncio.ensure_future(work())
    while not task.done():
        begin = time.perf_counter()
        await asyncio.sleep(TICK)
        found.append(time.perf_counter() - begin - TICK)
    await task
    return found


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that want all of a processor."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
