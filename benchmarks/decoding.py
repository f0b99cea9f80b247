"""Time of a matcher's masks and steps on JSON that it has not read, beside a DFA in the same run.

python benchmarks/decoding.py --tokenizer TOKENIZER.json [--documents 40]

The peer is the same grammar unrolled to a depth of two: one table, for documents that fit it. The
network first reads as many other documents: what tokens do is cached then, these stacks are not.
"""

import argparse
import json
import random
import sys
from pathlib import Path
from time import perf_counter_ns

from constrain.artifacts import Artifact
from constrain.compiler import load_tokenizer
from constrain.compiler.pipeline import build_artifact, build_engine

GRAMMAR = Path(__file__).parent.parent / "examples" / "json.ebnf"
WORDS = ("a", "longer text with words", "é\n", "x" * 30)


def document(rng: random.Random, deepest: int) -> str:
    """A random JSON text, indented or not."""

    def value(depth: int) -> object:
        kind = rng.randrange(5 if depth < deepest else 3)
        if kind == 3:
            return [value(depth + 1) for _ in range(rng.randrange(6))]
        if kind == 4:
            return {rng.choice("abcdef") * rng.randint(1, 5): value(depth + 1) for _ in range(4)}
        return rng.choice([rng.randrange(10**6), -2.5e3, True, None, rng.choice(WORDS)])

    return json.dumps([value(1) for _ in range(20)], indent=rng.choice([None, 1, 2]))


def measured(artifact: Artifact, documents: list[list[int]]) -> tuple[list[int], list[int]]:
    """Nanoseconds of each look at a mask and of each advance, sorted."""
    views, steps = [], []
    for ids in documents:
        matcher = artifact.matcher()
        for token_id in ids:
            begin = perf_counter_ns()
            matcher.mask()
            middle = perf_counter_ns()
            matcher.advance(token_id)
            steps.append(perf_counter_ns() - middle)
            views.append(middle - begin)
    return sorted(views), sorted(steps)


def main() -> None:
    """Print microseconds and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--documents", type=int, default=40)
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    text = GRAMMAR.read_text(encoding="utf-8")
    rng = random.Random(1)

    def texts(deepest: int) -> list[list[int]]:
        return [tokenizer.encode(document(rng, deepest)) for _ in range(wanted.documents)]

    def artifact_of(depth: int | None) -> Artifact:
        recogniser = build_engine(text, dialect="kbnf", max_depth=depth)
        return build_artifact(recogniser, tokenizer, tokenization="any").artifact

    dfa, network = artifact_of(2), artifact_of(None)
    measured(dfa, texts(2))
    measured(network, texts(8))
    shallow, deep = texts(2), texts(8)
    rows = [
        ("dfa", *measured(dfa, shallow)),
        ("network, the same", *measured(network, shallow)),
        ("network, deep", *measured(network, deep)),
        ("network, deep again", *measured(network, deep)),
    ]
    lines = [f"{'µs':20} {'view p50':>9} {'p99':>7} {'advance p50':>12} {'p99':>7} {'ratio':>6}"]
    peer = rows[0][2][len(rows[0][2]) // 2]
    for name, views, steps in rows:
        figures = [list_[len(list_) * part // 100] for list_ in (views, steps) for part in (50, 99)]
        shown = " ".join(
            f"{figure / 1000:{width}.2f}"
            for figure, width in zip(figures, (9, 7, 12, 7), strict=True)
        )
        lines.append(f"{name:20} {shown} {figures[2] / peer:6.1f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
