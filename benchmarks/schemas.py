"""JSON Schemas from their text to the first mask, and verdicts on instances, beside other engines.

    python benchmarks/schemas.py TOKENIZER.json [--only NAME] [--runs 5] [--folder DIR]

CPU time in one process; the compiler of the tokenizer is ready, and so are the others' tokenizers.
*Tree* is from a schema's text to its grammar, *written* the first mask of a grammar of the same
language that was written by hand. With ``--folder``, of files with the keys ``schema`` and
``tests`` (of which each has ``data`` and ``valid``): how many schemas each engine reads, how many
of their tests it decides wrongly, and on how many schemas it makes no mistake.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import workloads.schemas
from workloads.others import Opened, Session, others
from workloads.request import Request

from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.matcher import Matcher
from constrain.compiler import Compiler, Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import Source
from constrain.compiler.schema import schema_grammar


class Ours:
    """A matcher as a session."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    def fill(self) -> object:
        return self.matcher.mask()

    def accept(self, token: int) -> bool:
        row = self.matcher.mask()
        if not row[token >> 5] >> (token & 31) & 1:
            return False
        self.matcher.advance(token)
        return True

    def ends(self, end: int) -> bool:
        """Whether the text may end here."""
        row = self.matcher.mask()
        return bool(row[end >> 5] >> (end & 31) & 1)


def milliseconds(work: Callable[[], object], runs: int) -> float:
    """The median of the CPU times of some runs."""
    taken = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1e3)
    return median(taken)


def first_masks(requests: list[Request], engines: dict[str, Opened], runs: int) -> None:
    """A line for each schema."""
    sys.stdout.write(f"{'first mask, ms':26}{'tree':>9}" + "".join(f"{n:>12}" for n in engines))
    sys.stdout.write("\n")
    medians: dict[str, list[float]] = {name: [] for name in engines}
    for request in requests:
        source = Source(request.schema or "", request.name, "json-schema")
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
        sys.stdout.write(
            f"{name}: median {np.nanmedian(taken_all):.2f}, largest {np.nanmax(taken_all):.2f} ms\n"
        )


def verdicts(folder: Path, engines: dict[str, Opened], tokenizer: Tokenizer) -> None:
    """A line for each engine: schemas read, wrong verdicts, schemas without any, times."""
    end = tokenizer.eos[0]
    files = sorted(folder.rglob("*.json"))
    sys.stdout.write(
        f"\n{'of ' + str(len(files)) + ' schemas':16}{'read':>7}{'clean':>7}{'valid refused':>15}"
        f"{'invalid taken':>15}{'first mask, ms, p50 / p90 / p99':>36}\n"
    )
    for name, opened in engines.items():
        read = clean = refused = taken = 0
        times = []
        for file in files:
            case = json.loads(file.read_text(encoding="utf-8"))
            request = Request(file.stem, "json-schema", "", (), json.dumps(case["schema"]))
            begin = time.process_time()
            try:
                opened(request).fill()
            except (ValueError, ConstrainError):
                continue
            times.append((time.process_time() - begin) * 1e3)
            read += 1
            wrong = 0
            for test in case["tests"]:
                text = json.dumps(test["data"], ensure_ascii=False)
                is_valid = _accepts(opened(request), tokenizer.encode(text), end)
                refused += test["valid"] and not is_valid
                taken += is_valid and not test["valid"]
                wrong += is_valid != test["valid"]
            clean += not wrong
        quantiles = " / ".join(f"{t:,.1f}" for t in np.percentile(times or [0], [50, 90, 99]))
        sys.stdout.write(f"{name:16}{read:7}{clean:7}{refused:15}{taken:15}{quantiles:>36}\n")
        sys.stdout.flush()


def _accepts(session: Session, tokens: list[int], end: int) -> bool:
    for token in tokens:
        session.fill()
        if not session.accept(token):
            return False
    session.fill()
    return session.ends(end) if isinstance(session, Ours) else session.accept(end)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--only", default="", help="schemas with this text in their name")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="schemas with tests")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)

    def opened(text: str, dialect: str) -> Session:
        artifact = compiler.compile(text, dialect=dialect, tokenization="any", prewarm=0)
        return Ours(artifact.matcher())

    def ours(request: Request) -> Session:
        return opened(request.schema or "", "json-schema")

    def written(request: Request) -> Session:
        return opened(request.grammar, request.dialect)

    peers = dict(others(tokenizer, given.tokenizer))
    ours(Request("ready", "json-schema", "", (), '{"type": "object"}'))
    requests = [request for request in workloads.schemas.requests() if request.schema is not None]
    requests = [request for request in requests if given.only in request.name]
    first_masks(requests, {"constrain": ours, "written": written, **peers}, given.runs)
    if given.folder is not None:
        verdicts(given.folder, {"constrain": ours, **peers}, tokenizer)


if __name__ == "__main__":
    main()
