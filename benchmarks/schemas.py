"""JSON Schemas from their text to the first mask, and verdicts on instances, beside other engines.

    python benchmarks/schemas.py TOKENIZER.json [--only NAME] [--runs 5] [--served] [--growth]
                                 [--folder DIR] [--plot FILE.svg] [--order any] [--integer decimal]

CPU time in one process; the compiler of the tokenizer is ready, and so are the others' tokenizers.
*Tree* is from a schema's text to its grammar, *written* the first mask of a grammar of the same
language that was written by hand.

``--served``: more schemas, without the two: of models with 5 to 60 keys, large ones in the style of
files of configuration, and unions and conditions that are many. llguidance reads these leniently:
it takes oneOf for anyOf, and leaves out what it does not know.

``--growth``: schemas of one shape and growing size instead, each in a process of its own: CPU time
to the first mask, the memory that this takes at most, and states of the network.

``--folder``: files with the keys ``schema`` and ``tests`` (of which each has ``data`` and
``valid``), or arrays of such: how many schemas each engine reads, on how many of them it makes no
mistake, how many tests it decides wrongly, and times of first and of all masks. ``--plot`` draws
how those times are distributed.
"""

import argparse
import json
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import numpy as np
import workloads.large_schemas
import workloads.models
import workloads.schemas
import workloads.unions
from workloads.distributions import drawing
from workloads.others import Opened, Reader, others
from workloads.request import Request
from workloads.schema_growth import SHAPES
from workloads.schema_tests import cases_in, table, verdicts

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.compiler import Compiler, SchemaOptions, Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import Source
from constrain.compiler.schema.convert import schema_grammar


class Ours:
    """A matcher as a session."""

    def __init__(self, artifact: Artifact) -> None:
        self.artifact, self.matcher = artifact, artifact.matcher()

    def fill(self) -> object:
        return self.matcher.mask()

    def accept(self, token: int) -> bool:
        row = self.matcher.mask()
        if not row[token >> 5] >> (token & 31) & 1:
            return False
        self.matcher.advance(token)
        return True

    def ends(self) -> bool:
        return self.matcher.is_accepting

    def again(self) -> "Ours":
        return Ours(self.artifact)


def milliseconds(work: Callable[[], object], runs: int) -> float:
    """The median of the CPU times of some runs."""
    taken = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1e3)
    return median(taken)


def first_masks(
    requests: list[Request], engines: dict[str, Opened], runs: int, *, has_tree: bool = True
) -> None:
    """A line for each schema, and how ours compares."""
    sys.stdout.write(f"{'first mask, ms':26}{'tree' * has_tree:>9}")
    sys.stdout.write("".join(f"{n:>12}" for n in engines) + "\n")
    medians: dict[str, list[float]] = {name: [] for name in engines}
    for request in requests:
        source = Source(request.schema or "", request.name, "json-schema")
        cells = " " * 9
        if has_tree:
            tree = milliseconds(lambda source=source: schema_grammar(source), runs)  # type: ignore[misc]
            cells = f"{tree:9.2f}"
        for name, opened in engines.items():

            def work(opened: Opened = opened, request: Request = request) -> object:
                return opened(request).fill()

            try:
                work()
                taken = milliseconds(work, runs)
            except (ValueError, ConstrainError) as error:
                sys.stderr.write(f"{request.name}, {name}: {error}\n")
                taken = math.nan
            medians[name].append(taken)
            cells += f"{taken:12.2f}"
        sys.stdout.write(f"{request.name:26}{cells}\n")
        sys.stdout.flush()
    for name, taken_all in medians.items():
        ours, both = np.array(medians["constrain"]), ~np.isnan(taken_all)
        ratio = np.nanmedian(ours / np.array(taken_all))
        sys.stdout.write(
            f"{name}: median {np.nanmedian(taken_all):.2f}, largest {np.nanmax(taken_all):.2f} ms; "
            f"of {both.sum()}, constrain takes {ratio:.2f} times as long in the median, and "
            f"{ours[both].max():.2f} ms at most\n"
        )


def growth(compiler: Compiler, only: str) -> None:
    """A line for each shape: of each size time, memory and states."""
    fork = multiprocessing.get_context("fork")
    for name, (sizes, make) in SHAPES.items():
        if only not in name:
            continue
        cells = []
        for size in sizes:
            ours, theirs = fork.Pipe(duplex=False)
            text = json.dumps(make(size))
            child = fork.Process(target=_measure, args=(compiler, text, theirs))
            child.start()
            theirs.close()
            cells.append(f"{size:,}: {ours.recv()}")
            child.join()
            sys.stdout.write(f"{name:26}{cells[-1]}\n")
            sys.stdout.flush()


def _measure(compiler: Compiler, text: str, answer: Connection) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    try:
        artifact = compiler.compile(text, dialect="json-schema", tokenization="any", prewarm=0)
        artifact.matcher().mask()
    except ConstrainError as error:
        answer.send(f"{time.process_time() - begin:8.3f} s, {error}".partition("\n")[0])
        return
    taken = time.process_time() - begin
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    states = len(artifact.arrays["network.accepting"])
    narrowed = ", narrowed" * any("[narrowed]" in note for note in artifact.manifest.notes)
    answer.send(f"{taken:8.3f} s {more:7.0f} MB {states:9,} states{narrowed}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--only", default="", help="schemas with this text in their name")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--served", action="store_true", help="more schemas")
    parser.add_argument("--growth", action="store_true", help="growing schemas")
    parser.add_argument("--folder", type=Path, help="schemas with tests")
    parser.add_argument("--plot", type=Path, help="an SVG of the times of a folder")
    parser.add_argument("--order", default="fixed", help="of keys: fixed or any")
    parser.add_argument("--integer", default="plain", help="plain or decimal")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)
    options = SchemaOptions(order=given.order, integer=given.integer)

    def opened(text: str, dialect: str) -> Reader:
        schema = options if dialect == "json-schema" else None
        return Ours(
            compiler.compile(text, dialect=dialect, tokenization="any", prewarm=0, schema=schema)
        )

    def ours(request: Request) -> Reader:
        return opened(request.schema or "", "json-schema")

    def written(request: Request) -> Reader:
        return opened(request.grammar, request.dialect)

    ours(Request("ready", "json-schema", "", (), '{"type": "object"}')).fill()
    if given.growth:
        growth(compiler, given.only)
        return
    peers = dict(others(tokenizer, given.tokenizer, is_lenient=given.served))
    if given.folder is not None:
        cases = list(cases_in(given.folder))
        engines = {"constrain": ours, **peers}
        found = {name: verdicts(cases, engine, tokenizer) for name, engine in engines.items()}
        sys.stdout.write(table(found, len(cases)))
        if given.plot is not None:
            first = {name: each.first for name, each in found.items()}
            masks = {name: each.masks for name, each in found.items()}
            drawn = [("to the first mask, ms of CPU time", first), ("a mask, µs", masks)]
            given.plot.write_text(drawing(drawn), encoding="utf-8")
        return
    longer = [workloads.schemas.max_length(most) for most in (1_000, 10_000)]
    requests = [*workloads.schemas.requests(), *longer]
    if given.served:
        more = (workloads.models, workloads.large_schemas, workloads.unions)
        requests += [each for module in more for each in module.requests()]
    requests = [each for each in requests if each.schema and given.only in each.name]
    by_hand: dict[str, Opened] = {} if given.served else {"written": written}
    engines = {"constrain": ours, **by_hand, **peers}
    first_masks(requests, engines, given.runs, has_tree=not given.served)


if __name__ == "__main__":
    main()
