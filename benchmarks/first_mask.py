"""Time from a grammar's text to its first mask, and masks along texts, beside other engines.

    python benchmarks/first_mask.py TOKENIZER.json GBNF [--only NAME] [--runs 5] [--masks] [--cpu]
                                                 [--tokenization canonical]
    python benchmarks/first_mask.py TOKENIZER.json --large [the same]

GBNF is a folder of llama.cpp's grammars. CPU time in one process, garbage collection included; the
compiler of the tokenizer is ready, and so are the others' tokenizers. *First* is the first time
that the process meets a grammar, *ours* the median of later ones, each with a new artifact; nothing
is precomputed. With ``--masks``, also the masks along the texts of each grammar, computed lazily:
in wall time, or with ``--cpu`` in CPU time, whose clock takes a fifth of a microsecond itself.

``--cold``: before each run what the process keeps is emptied: results of functions, the dialects'
tables, Python's regexes, walks of other grammars. What is made of the tokenizer alone stays.

``--large``: grammars whose terminals are too large to be built instead, as host names; of these
one artifact serves all texts, as in a server.
"""

import argparse
import math
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
import workloads.languages
import workloads.large_terminals
import workloads.schemas
from workloads.others import Opened, Session, others
from workloads.request import Request

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.matcher import Matcher
from constrain.compiler import Compiler, Tokenizer, load_tokenizer


class Ours:
    """A matcher as a session."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    def fill(self) -> object:
        return self.matcher.mask()

    def accept(self, token: int) -> bool:
        self.matcher.advance(token)
        return True


def milliseconds(
    work: Callable[[], object], runs: int, before: Callable[[], object]
) -> list[float]:
    """CPU time of each run, without what is called before it."""
    taken = []
    for _ in range(runs):
        before()
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1e3)
    return taken


# Whose functions keep what is made of a tokenizer, or which form of the walk runs.
READY = ("constrain.compiler.tokenizers", "constrain.artifacts.walk.forms")

# Other caches than those of functions.
KEPT = {
    "constrain.compiler.dialects.parse": "_TABLES",
    "constrain.compiler.dialects.characters": "_known",
}


def empty_caches() -> None:
    """Forget what the process keeps of grammars that it has read."""
    for name, module in list(sys.modules.items()):
        if name.startswith("constrain."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and not value.__module__.startswith(READY):
                    value.cache_clear()
            if name in KEPT:
                getattr(module, KEPT[name]).clear()
    re.purge()


def first_masks(
    requests: list[Request],
    engines: dict[str, Opened],
    runs: int,
    before: Callable[[], object] = lambda: None,
) -> None:
    """A line for each grammar. ``before``: called before each run, untimed."""
    names = list(engines)
    sys.stdout.write(f"{'first mask, ms':26}{'first':>8}" + "".join(f"{n:>12}" for n in names))
    sys.stdout.write(f"{'ratio':>8}\n")
    medians: list[float] = []
    ratios: list[float] = []
    for request in requests:
        row: list[float] = []
        first = math.nan
        for name, opened in engines.items():

            def work(opened: Opened = opened, request: Request = request) -> object:
                return opened(request).fill()

            try:
                once = milliseconds(work, 1, before)[0]
                row.append(median(milliseconds(work, runs, before)))
            except (ValueError, ConstrainError) as error:
                row.append(math.nan)
                if name == "constrain":
                    sys.stderr.write(f"{request.name}: {error}\n")
                continue
            if name == "constrain":
                first = once
        medians.append(row[0])
        ratio = row[0] / row[1] if len(row) > 1 else math.nan
        ratios += [] if math.isnan(ratio) else [ratio]
        cells = "".join(f"{t:12.2f}" for t in row)
        sys.stdout.write(f"{request.name:26}{first:8.2f}{cells}{ratio:8.1f}\n")
        sys.stdout.flush()
    sys.stdout.write(f"median {np.nanmedian(medians):.2f}, largest {np.nanmax(medians):.2f} ms")
    if ratios:
        sys.stdout.write(
            f"; ratios: median {median(ratios):.1f}, mean {geometric_mean(ratios):.1f}"
        )
    sys.stdout.write("\n\n")


def along(
    session: Session, tokens: list[int], clock: Callable[[], float]
) -> tuple[list[float], bool]:
    """Microseconds of each mask of a text; false: a token was refused."""
    taken = []
    for token in tokens:
        begin = clock()
        session.fill()
        taken.append((clock() - begin) * 1e6)
        if not session.accept(token):
            return taken, False
    return taken, True


def quantiles(taken: list[float]) -> str:
    """Median and 99th percentile."""
    if not taken:
        return "-"
    middle, high = np.percentile(taken, [50, 99])
    return f"{middle:9.2f} / {high:<9,.2f}"


def masks(
    requests: list[Request],
    engines: dict[str, Opened],
    tokenizer: Tokenizer,
    clock: Callable[[], float],
) -> None:
    """Masks along texts: of each grammar, and over all of them together."""
    sys.stdout.write(f"{'masks, µs':26}" + "".join(f"{name:>22}" for name in engines))
    sys.stdout.write(f"{'constrain, again':>22}\n")
    every: dict[str, list[float]] = {name: [] for name in [*engines, "again"]}
    for request in requests:
        texts = [tokenizer.encode(text) for text in request.documents]
        cells = []
        again: list[float] = []
        for name, opened in engines.items():
            met: list[float] = []
            for tokens in texts:
                try:
                    session = opened(request)
                    taken, fits = along(session, tokens, clock)
                except (ValueError, ConstrainError):
                    continue
                met += taken if fits else []
                if isinstance(session, Ours):
                    matcher = session.matcher
                    matcher.rollback(len(tokens))
                    again += along(session, tokens, clock)[0]
            cells.append(f"{quantiles(met):>22}")
            every[name] += met
        every["again"] += again
        sys.stdout.write(f"{request.name:26}{''.join(cells)}{quantiles(again):>22}\n")
        sys.stdout.flush()
    together = "".join(f"{quantiles(met):>22}" for met in every.values() if met)
    sys.stdout.write(f"{'all':26}{together}\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("gbnf", type=Path, nargs="?")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", help="grammars with this text in their name")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--masks", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--tokenization", choices=("any", "canonical"), default="any")
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)

    def ours(request: Request) -> Session:
        artifact = compiler.compile(
            request.grammar, dialect=request.dialect, tokenization=given.tokenization, prewarm=0
        )
        return Ours(artifact.matcher())

    served: dict[str, Artifact] = {}

    def of_a_server(request: Request) -> Session:
        if request.name not in served:
            served[request.name] = compiler.compile(
                request.grammar, dialect=request.dialect, tokenization=given.tokenization, prewarm=0
            )
        return Ours(served[request.name].matcher())

    engines: dict[str, Opened] = {"constrain": ours, **dict(others(tokenizer, given.tokenizer))}
    ours(Request("ready", "gbnf", 'root ::= "(" root ")" | [a-z]*', ()))
    if given.large:
        requests = list(workloads.large_terminals.requests())
    elif given.gbnf is None:
        parser.error("a folder of llama.cpp's grammars is needed, or --large")
    else:
        requests = [*workloads.schemas.requests(), *workloads.languages.requests(given.gbnf)]
    requests = [request for request in requests if given.only in request.name]
    before = empty_caches if given.cold else lambda: None
    first_masks(requests, engines, given.runs, before)
    if given.masks:
        clock = time.process_time if given.cpu else time.perf_counter
        if given.large:
            engines["constrain"] = of_a_server
        masks(requests, engines, tokenizer, clock)


if __name__ == "__main__":
    main()
