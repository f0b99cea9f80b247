"""Masks of context-free grammars, beside other engines in the same run.

python benchmarks/grammars.py TOKENIZER.json [--documents 3] [--tokens 300] [--seconds 30]

Same grammar, tokenizer and documents for all. Each engine reads the documents twice: *cold* is
the first time, *warm* the second. At each token it makes the mask and reads the token; where
the mask is a view of ours, *filled* also copies it into a buffer, as the others always do.
*Closed* machines have worked out their masks ahead, in at most so many seconds. *Both* follows
keywords that may be names in both readings, as llguidance does.
llguidance and xgrammar take part if they are installed (pip install llguidance xgrammar torch).
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import peers
from samples import code_document, json_document

from constrain.artifacts import tokenset
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.greedy_masks import GreedyMasks
from constrain.artifacts.network_masks import NetworkMasks
from constrain.artifacts.slices import Slices
from constrain.artifacts.tokenset import Words
from constrain.artifacts.trie import Trie
from constrain.artifacts.vocabulary import Vocabulary
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.weave_ignored import weave_ignored
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.resolve_exclusions import resolve_exclusions
from constrain.compiler.parsing.contextual_lexer import greedy_tables
from constrain.compiler.parsing.greedy_closure import close
from constrain.compiler.parsing.network import network
from constrain.compiler.parsing.slices import json_slices


class Session(Protocol):
    """One text that is read from its beginning."""

    def mask(self) -> object:
        """Make the mask of the next token."""

    def allows(self, token_id: int) -> bool:
        """Whether the mask that was made last holds a token."""

    def advance(self, token_id: int) -> None:
        """Read a token."""


# Compiles, and gives what begins a session.
Compiled: TypeAlias = Callable[[], Callable[[], Session]]


class Machine(Protocol):
    """What NetworkMasks and GreedyMasks have in common."""

    @property
    def start(self) -> int: ...
    def row(self, state: int) -> Words: ...
    def step(self, state: int, token_id: int) -> int: ...


class Ours:
    """A session of one of our engines; with a buffer, masks are copied into it."""

    def __init__(self, machine: Machine, buffer: Words | None) -> None:
        self.machine, self.buffer, self.state = machine, buffer, machine.start
        self.last: Words | None = None

    def mask(self) -> object:
        self.last = self.machine.row(self.state)
        if self.buffer is not None:
            np.copyto(self.buffer, self.last)
        return self.last

    def allows(self, token_id: int) -> bool:
        assert self.last is not None
        return tokenset.contains(self.last, token_id)

    def advance(self, token_id: int) -> None:
        self.state = self.machine.step(self.state, token_id)


@dataclass
class Times:
    """Seconds of each mask and each step, in the order of the text."""

    masks: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    refused: int = 0


@dataclass(frozen=True)
class Compiler:
    """Our engines for one grammar and one tokenizer. ``seconds``: bound of closing a memo."""

    grammar: str
    tokenizer: Tokenizer
    seconds: float

    def engines(self) -> Iterator[tuple[str, Compiled]]:
        """Names, and functions that compile the grammar into a maker of sessions."""
        buffer = np.zeros(tokenset.word_count(self.tokenizer.vocab_size), dtype=np.uint32)
        for name, compiled in (
            ("bytes", self._network),
            ("longest", self._longest),
            ("longest, slices", lambda: self._longest(sliced=True)),
            ("longest, closed", lambda: self._longest(closed=True)),
            ("longest, closed, both", lambda: self._longest(closed=True, both=True)),
        ):
            yield f"{name}: view", _sessions(compiled, None)
            yield f"{name}: filled", _sessions(compiled, buffer)

    def _network(self) -> Machine:
        tree = weave_ignored(resolve_exclusions(read_grammar(self.grammar, "lark")))
        trie, *rest = self._vocabulary()
        return NetworkMasks(network(normalize(tree)), lambda: trie, *rest)

    def _longest(
        self, *, closed: bool = False, sliced: bool = False, both: bool = False
    ) -> Machine:
        grammar = "%llguidance {}\n" + self.grammar if both else self.grammar
        tables = greedy_tables(read_grammar(grammar, "lark"))
        trie, *rest = self._vocabulary()
        size = self.tokenizer.vocab_size
        slices = (lambda: Slices(json_slices(), trie, size)) if sliced else None
        masks = GreedyMasks(tables, lambda: trie, *rest, slices)
        if closed:
            close(masks, Limits(seconds=self.seconds))
        return masks

    def _vocabulary(self) -> tuple[Trie, Vocabulary, Sequence[int], int]:
        size = self.tokenizer.vocab_size
        vocabulary = self.tokenizer.vocabulary(size)
        return Trie.from_vocabulary(vocabulary), vocabulary, self.tokenizer.eos, size


def _sessions(compiled: Callable[[], Machine], buffer: Words | None) -> Compiled:
    def make() -> Callable[[], Session]:
        machine = compiled()
        return lambda: Ours(machine, buffer)

    return make


def read(make: Callable[[], Session], documents: Sequence[Sequence[int]]) -> Times:
    """Read all documents; the garbage collector stays out of it."""
    times = Times()
    gc.collect()
    gc.disable()
    for ids in documents:
        session = make()
        for token in ids:
            before = time.perf_counter()
            session.mask()
            between = time.perf_counter()
            times.refused += not session.allows(token)
            then = time.perf_counter()
            session.advance(token)
            times.steps.append(time.perf_counter() - then)
            times.masks.append(between - before)
    gc.enable()
    return times


def line(name: str, pass_: str, times: Times, compiling: float) -> str:
    """Percentiles and means in microseconds."""
    values = [
        figure * 1e6
        for seconds in (times.masks, times.steps)
        for figure in (*np.percentile(seconds, (50, 99)), np.mean(seconds))
    ]
    shown = " ".join(f"{value:9.2f}" for value in values)
    refused = f"  {times.refused} tokens not allowed" if times.refused else ""
    return f"{name:34} {pass_:5} {compiling:8.2f} {shown}{refused}\n"


def main() -> None:
    """A table for each grammar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--documents", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=300, help="of each document, at most")
    parser.add_argument("--seconds", type=float, default=30, help="for closing a memo")
    parser.add_argument("--only", default="", help="engines whose names begin so")
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    examples = Path(__file__).parent.parent / "examples"
    for title, name, document in (
        ("JSON", "json.lark", json_document),
        ("C-like", "code.lark", code_document),
    ):
        grammar = (examples / name).read_text(encoding="utf-8")
        documents = [
            tokenizer.encode(document(seed))[: wanted.tokens] for seed in range(wanted.documents)
        ]
        tokens = sum(map(len, documents))
        sys.stdout.write(
            f"{title}, {tokens} tokens{'':{32 - len(title) - len(str(tokens))}} compile, s"
            f"{'mask p50':>11}{'p99':>10}{'mean':>10}{'step p50':>10}{'p99':>10}{'mean':>10}\n"
        )
        ours = Compiler(grammar, tokenizer, wanted.seconds).engines()
        for name, compiled in (*ours, *peers.engines(grammar, tokenizer, wanted.tokenizer)):
            if not name.startswith(wanted.only):
                continue
            before = time.perf_counter()
            try:
                make = compiled()
                compiling = time.perf_counter() - before
                for pass_ in ("cold", "warm"):
                    sys.stdout.write(line(name, pass_, read(make, documents), compiling))
                    sys.stdout.flush()
            except (ConstrainError, RuntimeError, ValueError) as error:
                # A limit of ours, or another engine's language is smaller than the grammar says.
                sys.stdout.write(f"{name:34} {error}\n")


if __name__ == "__main__":
    main()
