"""Masks of context-free grammars, beside other engines in the same run.

python benchmarks/grammars.py TOKENIZER.json [--documents 3] [--tokens 300] [--repeats 3]

Same grammar, tokenizer and documents for all. Each engine is made anew so many times, and reads
the documents twice each time: *cold* is the first, *warm* the second. At each token it makes the
mask and reads the token; the time of a place in the text is the least of all repeats, which keeps
other processes out. Where the mask is a view of ours, *filled* also copies it into a buffer, as
the others always do. *Closed* machines have worked out their masks ahead, in at most so many
seconds. *Both* follows keywords that may be names in both readings, as llguidance does.
*Load* is the time of opening an artifact, in milliseconds.
llguidance and xgrammar take part if they are installed (pip install llguidance xgrammar torch).
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

from constrain.artifacts import Artifact, Matcher, load
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.slices import Slices
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexer_tables import json_slices, maximal_munch_tables
from constrain.compiler.maximal_munch.precompute import precompute, reachable

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
    """Our engines for one grammar and one tokenizer. ``seconds``: bound of precomputing."""

    grammar: str
    tokenizer: Tokenizer
    seconds: float
    folder: Path

    def engines(self) -> Iterator[tuple[str, Callable[[], peers.Compiled]]]:
        """Names, and functions that compile the grammar, once for both ways to look at masks."""
        buffer = np.zeros(tokenset.word_count(self.tokenizer.vocab_size), dtype=np.uint32)
        for name, compiled in (
            ("bytes", self._network),
            ("longest, closed", self._longest),
            ("longest, closed, both", lambda: self._longest(both=True)),
            ("longest, lazy", lambda: self._longest(closed=False)),
            ("longest, lazy, both", lambda: self._longest(closed=False, both=True)),
        ):
            kept = cache(lambda c=compiled: _timed(c))
            yield f"{name}: view", lambda k=kept: _viewing(*k(), None)
            yield f"{name}: filled", lambda k=kept: _viewing(*k(), buffer)

    def _network(self) -> tuple[Callable[[], Callable[[], Matcher]], float]:
        artifact = compile_grammar(
            self.grammar,
            dialect="lark",
            tokenizer=self.tokenizer,
            tokenization="any",
            engine="network",
            meaning="exact",
        )
        path = self.folder / "grammar.cst"
        artifact.save(path)
        loading = min(_timed(lambda: load(path))[1] for _ in range(5))

        def fresh() -> Callable[[], Matcher]:
            loaded: Artifact = load(path)
            loaded.matcher()
            return loaded.matcher

        return fresh, loading * 1e3

    def _longest(
        self, *, closed: bool = True, both: bool = False
    ) -> tuple[Callable[[], Callable[[], Matcher]], float]:
        grammar = "%llguidance {}\n" + self.grammar if both else self.grammar
        tables = maximal_munch_tables(read_grammar(grammar, "lark"))
        size, eos = self.tokenizer.vocab_size, self.tokenizer.eos
        vocabulary = self.tokenizer.vocabulary(size)
        trie = Trie.from_vocabulary(vocabulary)
        slices = Slices(json_slices(), trie, size)
        rest = vocabulary, eos, size, lambda: slices

        def masks() -> MaximalMunchMasks:
            return MaximalMunchMasks(tables, lambda: trie, *rest, *ahead)

        ahead: tuple[HeadSummaryTables, ParserTransitionTables] | tuple[()] = ()
        if closed:
            whole = masks()
            reached = precompute(whole, Limits(seconds=self.seconds))
            tables_of = whole.summary_tables()
            stored = reachable(tables_of) if reached.complete else tables_of
            ahead = stored, whole.configurations.transitions.tables()

        def fresh() -> Callable[[], Matcher]:
            machine = masks()
            return lambda: Matcher(machine, eos, size)

        return fresh, float("nan")


def _viewing(
    compiled: tuple[Callable[[], Callable[[], Matcher]], float],
    seconds: float,
    buffer: Words | None,
) -> peers.Compiled:
    make, loading = compiled

    def fresh() -> Callable[[], Session]:
        matchers = make()
        return lambda: Ours(matchers(), buffer)

    return fresh, seconds, loading


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--documents", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=300, help="of each document, at most")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30, help="for precomputing")
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
            ours = Compiler(grammar, tokenizer, wanted.seconds, Path(folder)).engines()
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
