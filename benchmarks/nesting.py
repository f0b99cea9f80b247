"""Canonical masks of grammars that nest: compiling, loading, and documents not read before.

python benchmarks/nesting.py --tokenizer TOKENIZER.json [--documents 10] [--lazy]

Microseconds of CPU of a mask and the step after it, along random documents: the first time
that a matcher reads them, and once more. The peer is the same grammar without precomputed rows.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time, thread_time_ns

from decoding import GRAMMAR, document

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.compiler import load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.pipeline import build_artifact, build_engine

KEYS = [f"{'abcdefghijklmnopqrstuvwxyz'[i % 26]}_field{i}" for i in range(30)]
KINDS = ("string", "number", '("true" | "false")', "value", "array")
C_LIKE = r"""
start ::= statement+;
statement ::= 'if' ws '(' ws e ')' ws statement ('else' sp statement)?
            | 'while' ws '(' ws e ')' ws statement | '{' ws statement* '}' ws
            | 'return' (sp e)? ';' ws | 'int' sp name ws '=' ws e ';' ws | e ';' ws;
e ::= e op ws e | call | '(' ws e ')' ws | name ws | number ws | string ws;
call ::= name ws '(' ws (e (',' ws e)*)? ')' ws;
op ::= '+' | '-' | '*' | '/' | '==' | '<' | '>' | '&&' | '||' | '=';
name ::= #'[a-zA-Z_][a-zA-Z0-9_]*'; number ::= #'[0-9]+'; string ::= #'"[^"\n]*"';
ws ::= #'[ \n\t]*'; sp ::= #'[ \n\t]+';
"""
WORDS = ("naïve café", "plain words", "日本語の文", "🙂 ok", "a\\b", "Ελλάδα", "x" * 20, "ru: да")


def object_grammar() -> str:
    """An object of 30 keys, in this order, some of them any JSON value."""
    fields = ' "," '.join(
        f'ws "\\"{key}\\"" ws ":" ws {KINDS[i % len(KINDS)]} ws' for i, key in enumerate(KEYS)
    )
    return f'start ::= ws "{{" {fields} "}}" ws;\n' + GRAMMAR.read_text(encoding="utf-8")


def json_text(rng: random.Random) -> str:
    """A nested document with text of several scripts."""
    found = json.loads(document(rng, 6))
    found.append([rng.choice(WORDS) for _ in range(5)])
    return json.dumps(found, indent=rng.choice([None, 1, 2]), ensure_ascii=rng.random() < 0.2)


def object_text(rng: random.Random) -> str:
    """A member of ``object_grammar``."""

    def value(kind: str) -> object:
        if kind == "number":
            return rng.choice([rng.randrange(10**6), -rng.random(), 1e30])
        if kind.startswith("("):
            return rng.random() < 0.5
        if kind == "string":
            return " ".join(rng.choices(WORDS, k=rng.randrange(4)))
        nested = json.loads(document(rng, 3))
        return nested[: rng.randrange(4)]

    found = {key: value(KINDS[i % len(KINDS)]) for i, key in enumerate(KEYS)}
    return json.dumps(found, indent=rng.choice([None, 2]), ensure_ascii=False)


def program(rng: random.Random) -> str:
    """Statements inside statements."""
    names = ("i", "count", "total_sum", "x1", "value", "is_done", "returned", "iffy")

    def e(depth: int) -> str:
        kind = rng.randrange(6 if depth < 3 else 3)
        if kind == 0:
            return str(rng.randrange(10**5))
        if kind in (1, 2):
            return rng.choice([*names, f'"{rng.choice(WORDS)}"'])
        if kind == 3:
            return f"({e(depth + 1)})"
        if kind == 4:
            return (
                f"{rng.choice(names)}({', '.join(e(depth + 1) for _ in range(rng.randrange(3)))})"
            )
        return f"{e(depth + 1)} {rng.choice(['+', '-', '*', '==', '<', '&&'])} {e(depth + 1)}"

    def statement(depth: int) -> str:
        kind, pad = rng.randrange(6 if depth < 3 else 3), "    " * depth
        if kind < 2:
            return f"{pad}{e(0)};\n"
        if kind == 2:
            return f"{pad}int {rng.choice(names)} = {e(0)};\n"
        if kind == 3:
            return f"{pad}return {e(0)};\n"
        body = "".join(statement(depth + 1) for _ in range(rng.randint(1, 3)))
        word = rng.choice(["if", "while"])
        return f"{pad}{word} ({e(1)}) {{\n{body}{pad}}}\n"

    return "".join(statement(0) for _ in range(12)).lstrip()


CASES: dict[str, tuple[Callable[[], str], Callable[[random.Random], str]]] = {
    "JSON": (lambda: GRAMMAR.read_text(encoding="utf-8"), json_text),
    "object of 30 keys": (object_grammar, object_text),
    "C-like": (lambda: C_LIKE, program),
}


@dataclass(frozen=True)
class Pass:
    """Nanoseconds of each mask and step, ascending."""

    times: Sequence[int]

    def share(self, part: float) -> float:
        """A quantile in microseconds."""
        return self.times[min(len(self.times) - 1, int(len(self.times) * part))] / 1000

    def __str__(self) -> str:
        return (
            f"{self.share(0.5):6.1f} {self.share(0.99):8.1f} {self.times[-1] / 1000:9.0f} "
            f"{sum(self.times) / 1e9:6.2f} s"
        )


def measured(artifact: Artifact, documents: Sequence[Sequence[int]]) -> Pass:
    """Read all documents. What reading the clock takes is left out."""
    clock = sorted(-thread_time_ns() + thread_time_ns() for _ in range(1001))[500]
    times = []
    for ids in documents:
        matcher = artifact.matcher()
        for token_id in ids:
            begin = thread_time_ns()
            matcher.mask()
            matcher.advance(token_id)
            times.append(thread_time_ns() - begin - clock)
        assert matcher.is_accepting
    return Pass(sorted(times))


def main() -> None:
    """Print one line for each grammar and pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--lazy", action="store_true", help="measure the peer, too")
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    tables = TokenizerTables(tokenizer)
    tables.pretokenizer, tables.pairs  # noqa: B018
    rng = random.Random(1)
    sys.stdout.write(f"{'µs: median, 99 %, most; all':>70}\n")
    for name, (grammar, text) in CASES.items():
        engine = build_engine(grammar(), dialect="kbnf", start="json" if name == "JSON" else None)
        documents = [tokenizer.encode(text(rng)) for _ in range(wanted.documents)]
        for label, prewarm in (("", None), (", lazily", 0))[: 1 + wanted.lazy]:
            begin = process_time()
            more = {} if prewarm is None else {"prewarm": prewarm}
            found = build_artifact(engine, tokenizer, tables=tables, **more).artifact
            seconds = process_time() - begin
            data = found.to_bytes()
            begin = process_time()
            artifact = load_bytes(data)
            loaded = (process_time() - begin) * 1000
            counts = found.manifest.counts
            sys.stdout.write(
                f"{name}{label}: compiled in {seconds:.2f} s, {counts.get('answers', 0):,} "
                f"summaries, {counts.get('rows', 0):,} rows, {len(data):,} bytes, loaded in "
                f"{loaded:.1f} ms\n"
            )
            for which in ("first pass", "second pass"):
                tokens = sum(map(len, documents))
                sys.stdout.write(
                    f"{which:>16}, {tokens:,} tokens {measured(artifact, documents)}\n"
                )


if __name__ == "__main__":
    main()
