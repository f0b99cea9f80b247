"""Throughput of WordPiece beside other libraries, and how time grows with a word's length.

python benchmarks/wordpiece.py TOKENIZER TEXT [--lines 1000] [--runs 5]

TOKENIZER is a folder with a tokenizer.json, TEXT a UTF-8 text file or a folder of them, of which
lines are sampled. Needs `tokenizers`; `blingfire`, if it is installed, runs its own BERT model on
the same lines. All systems run in turn, in one process, on one thread.
"""

import argparse
import gc
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from support.oracles.linmaxmatch import LinMaxMatch
from support.oracles.wordpiece import max_match_via_substrings
from tokenizers import Tokenizer

from constrain.compiler.wordpiece.load import load_wordpiece
from constrain.compiler.wordpiece.tokenizer import WordPieceTokenizer

System = Callable[[str], object]


def seconds(encode: System, texts: Sequence[str]) -> list[float]:
    """Wall time of each text, without the garbage collector."""
    found = []
    gc.collect()
    gc.disable()
    for text in texts:
        before = time.perf_counter()
        encode(text)
        found.append(time.perf_counter() - before)
    gc.enable()
    return found


def total(run: Callable[[], object]) -> float:
    """CPU time of one long call, which other work on the machine does not lengthen."""
    before = time.process_time()
    run()
    return time.process_time() - before


def sampled(folder: Path, count: int) -> list[str]:
    """Lines of about one sentence, as many of each file."""
    files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    draw = random.Random(0)
    lines: list[str] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        fitting = [line for line in text.split("\n") if 30 <= len(line) <= 250]
        lines += draw.sample(fitting, min(-(-count // len(files)), len(fitting)))
    draw.shuffle(lines)
    return lines[:count]


def row(name: str, times: Sequence[float], against: float) -> str:
    """Mean and 95th percentile in microseconds, and how many times faster than ``against``."""
    mean = statistics.fmean(times)
    tail = sorted(times)[int(len(times) * 0.95)]
    return f"{name:34} {mean * 1e6:9.2f} {tail * 1e6:9.2f} {against / mean:8.2f}x\n"


def end_to_end(reference: Any, ours: WordPieceTokenizer, lines: Sequence[str], runs: int) -> str:
    """Text to ids, each line's best time. Cold: no word has been seen; warm: all have."""
    best: dict[str, list[float]] = {}

    def keep(name: str, times: list[float]) -> None:
        best[name] = [min(pair) for pair in zip(best.get(name, times), times, strict=True)]

    for _ in range(runs):
        keep("Hugging Face encode", seconds(reference.encode, lines))
        batch = total(lambda: reference.encode_batch_fast(lines))
        keep("Hugging Face encode_batch_fast", [batch / len(lines)] * len(lines))
        bling = blingfire()
        if bling is not None:
            keep("blingfire (its own BERT)", seconds(bling, lines))
        ours.forget()
        keep("constrain, no cache", seconds(ours.spans, lines))
        keep("constrain, cold", seconds(ours.encode, lines))
        keep("constrain, warm", seconds(ours.encode, lines))
    against = statistics.fmean(best["Hugging Face encode"])
    return "".join(row(name, times, against) for name, times in best.items())


def blingfire() -> System | None:
    """blingfire's BERT tokenizer, if it is installed."""
    try:
        import blingfire as library
    except ImportError:
        return None
    model = library.load_model(str(Path(library.__file__).parent / "bert_base_tok.bin"))
    return lambda text: library.text_to_ids(model, text, 512, 100, True)


def single_words(reference: Any, ours: WordPieceTokenizer, words: Sequence[str], runs: int) -> str:
    """Normalised words to ids: the model alone, by length, as Figure 2 has it."""
    matcher = LinMaxMatch(ours.ids, ours.indicator, ours.max_chars)
    longest = max(map(len, ours.ids))
    systems: dict[str, System] = {
        "Hugging Face model": reference.model.tokenize,
        "naive": lambda w: max_match_via_substrings(w, ours.ids, ours.indicator, longest),
        "LinMaxMatch": matcher.tokenize,
        "constrain, warm": ours.encode,
    }
    best = {name: [min(t) for t in zip(*(seconds(run, words) for _ in range(runs)), strict=True)]
            for name, run in systems.items()}  # fmt: skip
    against = statistics.fmean(best["Hugging Face model"])
    lines = [row(name, times, against) for name, times in best.items()]
    lines.append("\nmicroseconds by characters of a word\n")
    lines.append(f"{'':20}" + "".join(f"{name:>22}" for name in systems) + "\n")
    lengths = [len(word) for word in words]
    for low, high in ((1, 4), (5, 8), (9, 12), (13, 16), (17, 24), (25, 100)):
        places = [i for i, n in enumerate(lengths) if low <= n <= high]
        if places:
            means = [statistics.fmean(best[name][i] for i in places) * 1e6 for name in systems]
            count = f"{low}-{high} ({len(places):,})"
            lines.append(f"{count:20}" + "".join(f"{mean:22.2f}" for mean in means) + "\n")
    return "".join(lines)


def growth() -> str:
    """Steps on the worst words, a's where only runs of m a's end in b: 2n against n times m."""
    lines = [f"{'m':>6} {'n':>6} {'transitions':>12} {'naive look-ups':>15}\n"]
    for m in (8, 32, 128):
        vocabulary = {"a": 0, "##a": 1, "a" * m + "b": 2, "##" + "a" * m + "b": 3}
        word = "a" * 4096
        steps = sum(1 for _ in LinMaxMatch(vocabulary, "##").trace(word))
        naive = max_match_via_substrings(word, vocabulary, "##", longest=m + 1).lookups
        lines.append(f"{m:6} {len(word):6} {steps:12,} {naive:15,}\n")
    return "".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--lines", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ours = load_wordpiece(options.tokenizer)
    reference = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json"))
    reference.post_processor = None
    lines = sampled(options.text, options.lines)
    normal = ours.normalizer.spaced if ours.normalizer else str
    words = list(chain.from_iterable(normal(line).split(" ") for line in lines))
    words = [word for word in words if word]
    out = sys.stdout.write
    out(f"{len(lines):,} lines of {statistics.fmean(map(len, lines)):.0f} characters; ")
    out(f"{len(words):,} words, {len(set(words)):,} different\n\n")
    heading = f"{'mean':>9} {'95 %':>9} {'faster':>9}\n"
    out(f"{'end to end, microseconds a line':34} {heading}")
    out(end_to_end(reference, ours, lines, options.runs))
    out(f"\n{'single word, microseconds':34} {heading}")
    out(single_words(reference, ours, words, options.runs))
    out("\n" + growth())


if __name__ == "__main__":
    main()
