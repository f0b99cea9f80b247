"""Time from a regex's text to an artifact with all its mask rows, beside outlines-core's index.

    python benchmarks/compile.py TOKENIZER.json [--runs 5]

Medians of CPU milliseconds in one process. ``constrain`` is ``Compiler.compile`` under ``any`` with
the compiler of the tokenizer ready, from text to artifact: reading, automaton, rows, sections.
``outlines-core`` is ``Index(regex, vocabulary)`` with its vocabulary ready, which holds for each
state the allowed tokens and where they lead. The last lines are the geometric mean of the ratios
and the largest one, and how the time of growing languages grows.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from statistics import geometric_mean, median

from regex_to_dfa import PATTERNS, words

from constrain.compiler import Compiler, Tokenizer, load_tokenizer

DATE_TIME = (
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9](Z|[+-][0-9]{2}:[0-9]{2})"
)

MEASURED = {
    **{name: text for name, text in PATTERNS.items() if name != "1,000 words"},
    "40 words": words(40),
    ".{0,200}": ".{0,200}",
    "date with a time": DATE_TIME,
}

# By size; the last size of each says how fast a language of one kind grows.
GROWING: dict[str, tuple[Callable[[int], str], tuple[int, ...]]] = {
    "[a-z]{0,n}": (lambda n: f"[a-z]{{0,{n}}}", (10, 100, 1_000, 10_000)),
    "n words": (words, (10, 100, 1_000, 10_000)),
}


def milliseconds(work: Callable[[], object], runs: int) -> float:
    """The median of CPU time."""
    taken = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        taken.append((time.process_time() - begin) * 1e3)
    return median(taken)


def index_of(tokenizer: Tokenizer) -> Callable[[str], object] | None:
    """outlines-core's index for a regex, if the library is there."""
    try:
        from outlines_core import Index, Vocabulary
    except ImportError:
        return None
    eos = tokenizer.eos[0]
    by_text: dict[bytes, list[int]] = {}
    for number, octets in tokenizer.tokens.items():
        if number != eos:
            by_text.setdefault(octets, []).append(number)
    vocabulary = Vocabulary(eos, by_text)
    return lambda regex: Index(regex, vocabulary)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)

    def compiled(regex: str) -> object:
        return compiler.compile(regex, dialect="regex", tokenization="any")

    compiled("ready")
    index = index_of(tokenizer)
    sys.stdout.write(f"{'':18}{'constrain':>12}{'outlines-core':>16}{'ratio':>8}\n")
    ratios = []
    for name, regex in MEASURED.items():
        ours = milliseconds(lambda: compiled(regex), given.runs)  # noqa: B023
        theirs = math.nan
        if index is not None:
            with suppress(ValueError):  # What it cannot read.
                theirs = milliseconds(lambda: index(regex), max(1, given.runs // 2))  # noqa: B023
        if not math.isnan(theirs):
            ratios.append(ours / theirs)
        sys.stdout.write(f"{name:18}{ours:12.1f}{theirs:16.1f}{ours / theirs:8.2f}\n")
    if ratios:
        mean, largest = geometric_mean(ratios), max(ratios)
        sys.stdout.write(f"geometric mean {mean:.3f}, largest {largest:.2f}\n\n")
    for name, (regex_of, sizes) in GROWING.items():
        taken = [milliseconds(lambda: compiled(regex_of(n)), given.runs) for n in sizes]  # noqa: B023
        exponent = math.log(taken[-1] / taken[-2]) / math.log(sizes[-1] / sizes[-2])
        listed = ", ".join(f"{n:,}: {t:,.1f}" for n, t in zip(sizes, taken, strict=True))
        sys.stdout.write(f"{name:12} {listed} ms; last exponent {exponent:.2f}\n")


if __name__ == "__main__":
    main()
