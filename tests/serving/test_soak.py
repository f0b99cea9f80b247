"""A service for a long time: hostile requests, processes that are killed, a folder that is full.

Two services share a folder. Each request is answered, whatever befalls it; masks are those of fresh
compilations; memory does not grow. Without --full it is a short time.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ctypes
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from constrain.compiler import Compiler, load_tokenizer
from constrain.compiler.children import resident_bytes_of
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions
from constrain.compiler.serving.requests import request_of
from constrain.compiler.serving.service import CompileService, ServiceError
from constrain.compiler.tokenizers import default_path

# Limits that hostile requests meet soon.
OPTIONS = CompileOptions(
    tokenization="any", prewarm=0, limits=Limits(seconds=5, memory=400_000_000)
)
DIALECTS = ("gbnf", "lark")

# At work at a time.
BATCH = 16


def _usual(rng: random.Random) -> dict[str, Any]:
    """A request of one of five kinds, one in many alike."""
    number = rng.randrange(10_000)
    match rng.randrange(5):
        case 0:
            properties = {f"k{number % 97}": {"type": "integer"}, "s": {"maxLength": number}}
            schema = {"properties": properties}
            return {"response_format": {"type": "json_schema", "schema": schema}}
        case 1:
            return {"structured_outputs": {"choice": [f"a{number}", "b", f"c{number}"]}}
        case 2:
            return {"structured_outputs": {"regex": f"x{number}-[0-9]{{{number % 9}}}"}}
        case 3:
            return {"structured_outputs": {"grammar": f'root ::= "{number}" root | "."'}}
        case _:
            tool = {"name": f"f{number}", "parameters": {"properties": {"a": {}}}}
            return {"tools": [{"type": "function", "function": tool}], "tool_choice": "required"}


def _hostile(rng: random.Random) -> dict[str, Any]:
    """What takes long, is large, nests deep, or is wrong."""
    number = rng.randrange(10_000)
    deep = f'root ::= {"(" * 9_999}"{number}"{")" * 9_999}'
    return rng.choice(
        [
            {"structured_outputs": {"regex": f"(a|b)*{number}(a|b){{{number}}}(a|b)*c"}},
            {"structured_outputs": {"grammar": deep}},
            {"structured_outputs": {"json": "[" * 50_000}},
            {"structured_outputs": {"choice": [f"{number}{'x' * 10_000_000}"]}},
            {"response_format": {"type": "yaml", "number": number}},
            {"structured_outputs": {"json": {"$ref": f"#/{number}"}}},
        ]
    )


def _ended(future: Any) -> str:
    """How a future has ended; not to be done within two minutes is an error."""
    try:
        assert future.result(120) is not None
    except CancelledError:
        return "cancelled"
    except ServiceError as error:
        return str(error.status)
    return "served"


def _resident() -> int:
    """Bytes of this process that are in memory, without those that the C library keeps of bodies
    which this test has made and freed, in pieces of 10 MB."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes_of(os.getpid())


def test_all_requests_are_answered_and_masks_are_right(
    tmp_path: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """One in twenty is hostile or cancelled; processes are killed at random, and the folder holds a
    few files alone."""
    rng, compiler = random.Random(5), Compiler(load_tokenizer())
    count, ends, wrong, held = 10_000 if full else 24, Counter[str](), [], list[int]()
    with ExitStack() as stack:
        services = [
            stack.enter_context(
                CompileService(
                    default_path(),
                    folder=tmp_path,
                    options=OPTIONS,
                    open_bytes=20_000_000,
                    folder_bytes=1_000_000,
                    cache_bytes=1 << 20,
                )
            )
            for _ in range(2)
        ]
        for begin in range(0, count, BATCH):
            asked = []
            for _ in range(BATCH):
                kind = rng.choices(["usual", "hostile", "cancelled"], [38, 1, 1])[0]
                body = _hostile(rng) if kind == "hostile" else _usual(rng)
                service = rng.choice(services)
                future = service.ask(json.dumps(body).encode("ascii"), dialects=DIALECTS)
                if kind == "cancelled":
                    future.cancel()
                asked.append((kind, body, future))
            if rng.random() < 0.1:
                running = list(rng.choice(services)._workers._all)
                if running:
                    rng.choice(running)._running.kill()
            for kind, body, future in asked:
                ended = _ended(future)
                ends[f"{kind} {ended}"] += 1
                if ended == "served" and kind == "usual" and rng.random() < 0.02:
                    artifact = future.result(0)
                    request = request_of(body, options=OPTIONS, dialects=DIALECTS)
                    assert request is not None
                    here = compiler.compile(request.text, **request.changes)
                    if here.matcher().mask().tobytes() != artifact.matcher().mask().tobytes():
                        wrong.append(body)
            asked.clear()
            if begin >= count // 5:
                held.append(_resident())
        metrics = [service.metrics() for service in services]

    assert [] == wrong
    assert [0, 0] == [found["waiting"] for found in metrics]
    # A process that is killed fails its own request, and no other.
    assert ends["usual served"] > 0.97 * sum(n for end, n in ends.items() if "usual" in end)
    assert not {end for end in ends if end in ("usual 400", "usual 503")}
    if full:
        assert max(held[-20:]) < 1.1 * max(held[:20])
    for ended, number in sorted(ends.items()):
        record_property(ended, number)
    for tenth in range(0, len(held), len(held) // 8 or 1):
        record_property(f"kB held in batch {count // 5 // BATCH + tenth}", held[tenth] // 1000)
