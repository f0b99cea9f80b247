"""Many different grammars for one tokenizer, one after the other: CPU time and memory.

    python benchmarks/many_requests.py TOKENIZER.json [--count 1000] [--masks 20]
    python benchmarks/many_requests.py TOKENIZER.json --service

Each is compiled by the same compiler under ``any`` with nothing precomputed, then come the first
masks along a text of it; llguidance does the same, if it is installed. Memory is what the process
holds in RAM (Linux), above what it held with the compiler ready.

``--service``: how late an event loop wakes that wants to every 10 ms, while 50 schemas are
compiled: by nobody, in a thread of its process, and by a ``CompileService``.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import workloads.generated
from workloads.others import Session, others
from workloads.schema_growth import SHAPES

from constrain.compiler import Compiler, Tokenizer, load_tokenizer
from constrain.compiler.serving.service import SERVER_OPTIONS, CompileService

# Seconds between two ticks of the event loop.
TICK = 0.01


def resident() -> int:
    """Bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def main() -> None:
    """A line for each tenth of the grammars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--masks", type=int, default=20)
    parser.add_argument("--service", action="store_true")
    given = parser.parse_args()
    if given.service:
        asyncio.run(late(given.tokenizer))
        return
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)
    compiler.compile('root ::= "(" root ")" | [a-z]*', dialect="gbnf", tokenization="any")
    theirs = dict(others(tokenizer, given.tokenizer)).get("llguidance")
    before = resident()
    spent = [0.0, 0.0, 0.0]
    line = "{:>9}{:>14}{:>14}{:>16}{:>12}\n"
    sys.stdout.write(
        line.format("grammars", "compiling, s", "masks, s", "llguidance, s", "memory, MB")
    )
    for number, request in enumerate(workloads.generated.requests(given.count), 1):
        ids = tokenizer.encode(request.documents[0])[: given.masks]
        begin = time.process_time()
        matcher = compiler.compile(
            request.grammar, dialect="gbnf", tokenization="any", prewarm=0
        ).matcher()
        compiled = time.process_time()
        for token in ids:
            matcher.mask()
            matcher.advance(token)
        done = time.process_time()
        if theirs is not None:
            along(theirs(request), ids)
        spent[0] += compiled - begin
        spent[1] += done - compiled
        spent[2] += time.process_time() - done
        if number % max(1, given.count // 10) == 0:
            held = (resident() - before) / 1e6
            figures = [f"{seconds:.2f}" for seconds in spent]
            sys.stdout.write(line.format(number, *figures, f"{held:.0f}"))
            sys.stdout.flush()


def schemas() -> list[str]:
    """50 schemas of five shapes."""
    shapes = [make for name, (_, make) in SHAPES.items() if "bytes" not in name][:5]
    return [json.dumps(make(size)) for size in range(3, 23, 2) for make in shapes]


async def late(tokenizer: Path) -> None:
    """A line for each way to compile."""
    wanted = replace(SERVER_OPTIONS, dialect="json-schema")
    compiler, loop = Compiler(load_tokenizer(tokenizer)), asyncio.get_running_loop()
    compiler.compile("{}", dialect="json-schema", tokenization="any", prewarm=0).matcher().mask()
    fields = {name: getattr(wanted, name) for name in wanted.__slots__}

    async def nobody() -> None:
        await asyncio.sleep(5)

    async def thread() -> None:
        with ThreadPoolExecutor(1) as pool:
            for text in schemas():
                await loop.run_in_executor(pool, lambda text=text: compiler.compile(text, **fields))

    with CompileService(tokenizer) as service:
        for text in ("true", "{}"):
            service.get(text, wanted).result()

        async def processes() -> None:
            await asyncio.gather(
                *(asyncio.wrap_future(service.get(text, wanted)) for text in schemas())
            )

        line = "{:<12}{:>12}{:>10}{:>10}{:>10}\n"
        sys.stdout.write(line.format("compiled by", "seconds", "p50, ms", "p99, ms", "worst, ms"))
        for ways in (nobody, thread, processes):
            begin = time.perf_counter()
            waits = 1e3 * np.array(await overshoots(ways))
            seconds = time.perf_counter() - begin
            found = (np.median(waits), np.percentile(waits, 99), waits.max())
            sys.stdout.write(
                line.format(ways.__name__, f"{seconds:.1f}", *(f"{each:.2f}" for each in found))
            )


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


def along(session: Session, ids: list[int]) -> None:
    """Masks and steps along a text."""
    for token in ids:
        session.fill()
        session.accept(token)


if __name__ == "__main__":
    main()
