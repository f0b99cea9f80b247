"""Masks of context-free grammars, beside other engines in the same run.

python benchmarks/grammars.py TOKENIZER.json [--documents 3] [--tokens 300] [--repeats 3]

All engines get the same grammar, tokenizer and documents. Ours are artifacts, compiled, saved and
loaded:

    bytes              the exact network over bytes
    munch              maximal munch, masks precomputed
    munch, lazy        maximal munch, nothing precomputed
    munch, both        a keyword that may be a name is read both ways (``%llguidance {}``), as
                       llguidance does

Each engine is loaded once a repeat and reads the documents twice: the first pass is *cold*, the
second *warm*. At each token it makes the mask and reads the token; the time of a place in a text is
the least of all repeats, which keeps other processes out. Our mask is a *view* of a cached row;
*filled* also copies it into a buffer, as the other engines always do. *Load* is the time of opening
an artifact, in milliseconds. llguidance and xgrammar take part if they are installed (pip install
llguidance xgrammar torch).
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import peers
from numpy.typing import NDArray
from samples import SCHEMA, code_document, json_document, schema_document

from constrain.artifacts import Matcher, load
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer

# A repeat that would end later than so many seconds after the first has begun is not made.
PATIENCE = 120.0

EXAMPLES = Path(__file__).parent.parent / "examples"

Seconds: TypeAlias = NDArray[np.float64]


class Session(Protocol):
    """One text that is read from its beginning."""

    def mask(self) -> object:
        """Make the mask of the next token."""

    def allows(self, token_id: int) -> bool:
        """Whether the mask that was made last holds a token."""

    def advance(self, token_id: int) -> None:
        """Read a token."""


T = TypeVar("T")


class Ours:
    """A session of one of our engines; with a buffer, masks are copied into it."""

    def __init__(self, matcher: Matcher, buffer: Words | None) -> None:
        self.advance, self.allowed = matcher.advance, matcher.mask
        self.mask = matcher.mask if buffer is None else lambda: matcher.fill(buffer)

    def allows(self, token_id: int) -> bool:
        return tokenset.contains(self.allowed(), token_id)


@dataclass(frozen=True)
class Compiler:
    """Our engines for one grammar and one tokenizer; artifacts are saved in ``folder``."""

    grammar: str
    tokenizer: Tokenizer
    folder: Path

    def engines(self) -> Iterator[tuple[str, Callable[[], peers.Compiled]]]:
        """Names, and functions that compile the grammar, once for both ways to look at masks."""
        buffer = np.zeros(tokenset.word_count(self.tokenizer.vocab_size), dtype=np.uint32)
        both = "%llguidance {}\n" + self.grammar
        for name, grammar, meaning, prewarm in (
            ("bytes", self.grammar, "exact", None),
            ("munch", self.grammar, "maximal-munch", None),
            ("munch, both", both, "maximal-munch", None),
            ("munch, lazy", self.grammar, "maximal-munch", 0),
            ("munch, lazy, both", both, "maximal-munch", 0),
        ):
            wanted = self.folder / f"{name}.cst", grammar, meaning, prewarm
            once = cache(lambda w=wanted: _timed(lambda: self._saved(*w)))
            yield f"{name}: view", lambda k=once: _viewing(*k(), None)
            yield f"{name}: filled", lambda k=once: _viewing(*k(), buffer)

    def _saved(self, path: Path, grammar: str, meaning: str, prewarm: int | None) -> Path:
        """The artifact, compiled and saved."""
        compile_grammar(
            grammar,
            dialect="lark",
            tokenizer=self.tokenizer,
            tokenization="any",
            meaning=meaning,
            prewarm=prewarm,
        ).save(path)
        return path


def _viewing(path: Path, seconds: float, buffer: Words | None) -> peers.Compiled:
    """An artifact as the peers' engines are: loaded for each engine, so that they share nothing."""

    def fresh() -> Callable[[], Session]:
        matcher = load(path).matcher
        matcher()
        return lambda: Ours(matcher(), buffer)

    loading = min(_timed(lambda: load(path))[1] for _ in range(5))
    return fresh, seconds, loading * 1e3


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result, and the seconds of CPU time that it took."""
    before = time.process_time()
    done = work()
    return done, time.process_time() - before


def read(make: Callable[[], Session], documents: Sequence[Sequence[int]]) -> tuple[Seconds, int]:
    """Seconds of each mask and each step, (2, tokens), and how many tokens were not allowed."""
    masks, steps = [], []
    refused = 0
    gc.collect()
    gc.disable()
    for ids in documents:
        session = make()
        for token in ids:
            before = time.perf_counter()
            session.mask()
            between = time.perf_counter()
            refused += not session.allows(token)
            then = time.perf_counter()
            session.advance(token)
            steps.append(time.perf_counter() - then)
            masks.append(between - before)
    gc.enable()
    return np.array([masks, steps]), refused


def line(name: str, pass_: str, times: Seconds, refused: int, compiling: float, load: float) -> str:
    """Percentiles and means in microseconds."""
    values = [
        figure * 1e6
        for seconds in times
        for figure in (*np.percentile(seconds, (50, 99)), np.mean(seconds))
    ]
    shown = " ".join(f"{value:9.2f}" for value in values)
    lost = f"  {refused} tokens not allowed" if refused else ""
    return f"{name:34} {pass_:5} {compiling:8.2f} {load:8.2f} {shown}{lost}\n"


def compare(
    name: str, compiled: Callable[[], peers.Compiled], documents: list[list[int]], repeats: int
) -> None:
    """Two lines of the table."""
    fresh, compiling, loading = compiled()
    least: dict[str, Seconds] = {}
    refused = 0
    begin = time.perf_counter()
    for done in range(repeats):
        passed = time.perf_counter() - begin
        if done and passed * (done + 1) / done > PATIENCE:
            break
        make = fresh()
        for pass_ in ("cold", "warm"):
            times, refused = read(make, documents)
            least[pass_] = np.minimum(least.get(pass_, times), times)
    for pass_, times in least.items():
        sys.stdout.write(line(name, pass_, times, refused, compiling, loading))
        sys.stdout.flush()


def main() -> None:
    """A table for each grammar."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--documents", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=300, help="of each document, at most")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="engines whose names begin so")
    parser.add_argument("--grammar", default="", help="the grammar whose title begins so")
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    for title, grammar, document in (
        ("JSON", (EXAMPLES / "json.lark").read_text(encoding="utf-8"), json_document),
        ("schema", SCHEMA, schema_document),
        ("C-like", (EXAMPLES / "code.lark").read_text(encoding="utf-8"), code_document),
    ):
        if not title.startswith(wanted.grammar):
            continue
        documents = [
            tokenizer.encode(document(seed))[: wanted.tokens] for seed in range(wanted.documents)
        ]
        tokens = sum(map(len, documents))
        sys.stdout.write(
            f"{title}, {tokens} tokens{'':{32 - len(title) - len(str(tokens))}}"
            " compile, s  load, ms"
            f"{'mask p50':>10}{'p99':>10}{'mean':>10}{'step p50':>10}{'p99':>10}{'mean':>10}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            ours = Compiler(grammar, tokenizer, Path(folder)).engines()
            for name, compiled in (*ours, *peers.engines(grammar, tokenizer, wanted.tokenizer)):
                if not name.startswith(wanted.only):
                    continue
                try:
                    compare(name, compiled, documents, wanted.repeats)
                except (ConstrainError, RuntimeError, ValueError) as error:
                    # A limit of ours, or another engine's language is smaller than the grammar's.
                    sys.stdout.write(f"{name:34} {error}\n")


if __name__ == "__main__":
    main()
