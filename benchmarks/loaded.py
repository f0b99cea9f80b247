"""What a saved artifact costs a server that decodes: opening it, its first mask, steps and copies.

python benchmarks/loaded.py TOKENIZER.json [--grammars FOLDER] [--artifacts FOLDER] [--only NAME]

Two tables. Of each artifact, a line of

    load, matcher, mask   milliseconds of CPU time from a file to the first mask: the least of five
                          loads, modules imported and the file in the system's cache
    copy, fill            microseconds to fill a buffer along a text, and of the bare copy of the
                          same rows; each place counts with the least of ten passes

and of regular grammars the microseconds of an ``advance`` along texts that were read before, and of
those of a freshly loaded artifact; beside outlines-core's guide, if it is installed.

``--grammars``: a folder of grammars in GBNF, beside the examples. ``--artifacts`` keeps what was
compiled for another run: with a large tokenizer compiling takes minutes. ``--only``: the cases
whose name has this text.
"""

import argparse
import gc
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter_ns, process_time
from typing import Any

import numpy as np
from compile import index_of
from samples import code_document, json_document

from constrain.artifacts import Artifact, load
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Limits, Tokenizer, load_tokenizer

EXAMPLES = Path(__file__).parent.parent / "examples"
ANY, CANONICAL = {"tokenization": "any"}, {"tokenization": "canonical"}

LOADS, PASSES = 5, 10

# Tokens that are read of a text; freshly loaded artifacts whose steps count.
TOKENS, FRESH = 300, 40

# Compiling may take so long.
SECONDS = 600.0

WORDS = ("the", "cat", "sat", "on", "mat", "understanding", "tokenizers", "a")


@dataclass(frozen=True)
class Case:
    """A grammar, how it is compiled, and a text of it; without one a text is drawn by its masks."""

    name: str
    grammar: Path
    dialect: str
    options: dict[str, Any] = field(default_factory=dict)
    text: str = ""


def cases(folder: Path | None) -> Iterator[Case]:
    """All engines, under ``any`` and canonical."""
    json, code, date = (EXAMPLES / name for name in ("json.ebnf", "code.lark", "date.ebnf"))
    document, program = json_document(1), code_document(1)
    for kind, options in (("any", ANY), ("canonical", CANONICAL)):
        exact = {**options, "meaning": "exact"}
        yield Case(f"date, {kind}", date, "kbnf", options, "2024-02-29")
        yield Case(f"JSON, {kind}", json, "kbnf", options, document)
        yield Case(f"C-like, {kind}", code, "lark", exact, program)
    yield Case("C-like, munch", code, "lark", {}, program)
    yield Case("JSON, Earley", json, "kbnf", {**ANY, "engine": "earley"}, document)
    for file in sorted(folder.glob("*.gbnf")) if folder else ():
        for kind, options in (("any", ANY), ("canonical", CANONICAL)):
            yield Case(f"{file.name}, {kind}", file, "gbnf", options)


def saved(case: Case, compiler: Compiler, folder: Path) -> Path:
    """The artifact of a case; compiled, if the folder has none."""
    path = folder / f"{case.name.replace(', ', '-')}.cst"
    if not path.exists():
        text = case.grammar.read_text(encoding="utf-8")
        compiler.compile(text, dialect=case.dialect, **case.options).save(path)
    return path


def opened(path: Path) -> tuple[float, float, float]:
    """Milliseconds of load, of the matcher, and of its first mask; the load with the least sum."""
    runs = []
    for _ in range(LOADS):
        gc.collect()
        times = [process_time()]
        artifact = load(path)
        times.append(process_time())
        matcher = artifact.matcher()
        times.append(process_time())
        matcher.mask()
        times.append(process_time())
        runs.append(tuple((b - a) * 1e3 for a, b in pairwise(times)))
    return min(runs, key=sum)  # type: ignore[return-value]


def drawn(artifact: Artifact, rng: random.Random) -> list[int]:
    """Tokens that the masks allow, at random, until the text ends."""
    matcher, found = artifact.matcher(), []
    while len(found) < TOKENS:
        token_id = rng.choice(tokenset.to_ids(matcher.mask()).tolist())
        matcher.advance(token_id)
        if matcher.is_finished:
            break
        found.append(token_id)
    return found


def copies(artifact: Artifact, ids: Sequence[int]) -> tuple[float, float]:
    """Microseconds, medians over the places of a text: the bare copy of a row, and ``fill``."""
    buffer = np.zeros(tokenset.word_count(artifact.vocab_size), dtype=np.uint32)

    def bare() -> Iterator[float]:
        matcher = artifact.matcher()
        for token_id in ids:
            row = matcher.mask()
            begin = perf_counter_ns()
            buffer[...] = row
            yield perf_counter_ns() - begin
            matcher.advance(token_id)

    def filled() -> Iterator[float]:
        matcher = artifact.matcher()
        for token_id in ids:
            begin = perf_counter_ns()
            matcher.fill(buffer)
            yield perf_counter_ns() - begin
            matcher.advance(token_id)

    passes = [(list(bare()), list(filled())) for _ in range(PASSES)]
    least = [list(map(min, zip(*times, strict=True))) for times in zip(*passes, strict=True)]
    return median(least[0]) / 1e3, median(least[1]) / 1e3


def percentiles(times: list[int]) -> tuple[float, float]:
    """The median and the 99th percentile of nanoseconds, in microseconds."""
    ordered = sorted(times)
    return ordered[len(ordered) // 2] / 1e3, ordered[len(ordered) * 99 // 100] / 1e3


def stepped(begin: Callable[[], Callable[[int], object]], texts: list[list[int]]) -> list[int]:
    """Nanoseconds of each step along texts."""
    times = []
    for ids in texts:
        advance = begin()
        for token_id in ids:
            before = perf_counter_ns()
            advance(token_id)
            times.append(perf_counter_ns() - before)
    return times


def step_rows(compiler: Compiler, tokenizer: Tokenizer, folder: Path) -> Iterator[str]:
    """Lines of the table of steps."""
    rng = random.Random(1)
    sentences = [" ".join(rng.choice(WORDS) for _ in range(60)) for _ in range(12)]
    dates = [
        "".join(
            f"{rng.randrange(9999):04}-{rng.randrange(99):02}-{rng.randrange(99):02} "
            for _ in range(20)
        )
        for _ in range(12)
    ]
    index = index_of(tokenizer)
    for name, regex, texts in (
        ("words", "[a-z]+( [a-z]+)*", sentences),
        ("dates", "([0-9]{4}-[0-9]{2}-[0-9]{2} )*", dates),
    ):
        documents = [tokenizer.encode(text) for text in texts]
        for options in (
            ANY,
            {**CANONICAL, "method": "direct"},
            {**CANONICAL, "method": "cartesian"},
        ):
            try:
                made = compiler.compile(regex, dialect="regex", **options)
            except ConstrainError:  # A table of all token states is too large, or there is none.
                continue
            path = folder / "steps.cst"
            made.save(path)
            first: list[int] = []
            for _ in range(FRESH):
                artifact = load(path)
                artifact.matcher().mask()
                first += stepped(lambda: artifact.matcher().advance, documents[:1])  # noqa: B023
            stepped(lambda: artifact.matcher().advance, documents)  # noqa: B023
            again = stepped(lambda: artifact.matcher().advance, documents)  # noqa: B023
            yield _steps(f"{name}: {made.manifest.kind}", percentiles(again), percentiles(first))
        if index is not None:
            from outlines_core import Guide

            built = index(regex)

            def guide() -> Callable[[int], object]:
                begun = Guide(built)  # noqa: B023
                return lambda token_id: begun.advance(token_id, False)

            stepped(guide, documents)
            yield _steps(f"{name}: outlines-core", percentiles(stepped(guide, documents)), None)


def _steps(name: str, again: tuple[float, float], first: tuple[float, float] | None) -> str:
    shown = f"{name:28}{again[0]:12.2f}{again[1]:8.2f}"
    return shown + (f"{first[0]:14.2f}{first[1]:8.2f}" if first else "")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer")
    parser.add_argument("--grammars", type=Path)
    parser.add_argument("--artifacts", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer, limits=Limits(seconds=SECONDS))
    write = sys.stdout.write
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.artifacts or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write(
            f"{'':28}{'kind':10}{'MB':>6}{'load':>8}{'matcher':>9}{'mask':>8}"
            f"{'copy µs':>10}{'fill µs':>9}{'ratio':>7}\n"
        )
        for case in cases(given.grammars):
            if given.only not in case.name:
                continue
            try:
                path = saved(case, compiler, folder)
            except ConstrainError as error:
                write(f"{case.name:28}{type(error).__name__}: {str(error)[:60]}\n")
                continue
            shown = "".join(f"{t:{w}.2f}" for t, w in zip(opened(path), (8, 9, 8), strict=True))
            artifact = load(path)
            ids = tokenizer.encode(case.text)[:TOKENS] or drawn(artifact, random.Random(1))
            bare, filled = copies(artifact, ids)
            write(
                f"{case.name:28}{artifact.manifest.kind:10}{path.stat().st_size / 1e6:6.1f}{shown}"
                f"{bare:10.2f}{filled:9.2f}{filled / bare:7.2f}\n"
            )
            sys.stdout.flush()
        write(f"\n{'':28}{'again: p50':>12}{'p99':>8}{'first: p50':>14}{'p99':>8}\n")
        for line in step_rows(compiler, tokenizer, Path(temporary)):
            write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
