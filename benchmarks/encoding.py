"""Speed of encoding, and of loading, beside Hugging Face's library in the same run.

python benchmarks/encoding.py TOKENIZER.json TEXTS... [--runs 3]

TEXTS are files of UTF-8, or folders of them. Each text of a folder is encoded for itself. An
encoder that has seen nothing encodes a folder ("new"), then does so again ("again").
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import tokenizers

from constrain.compiler import Cache, load_tokenizer


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds, without the garbage collector (as timeit does)."""
    gc.collect()
    gc.disable()
    before = time.process_time()
    work()
    spent = time.process_time() - before
    gc.enable()
    return spent


def texts_at(path: Path) -> list[str]:
    """The text of a file, or all texts of a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file.read_text(encoding="utf-8") for file in files]


def speeds(tokenizer: Path, texts: list[str], runs: int) -> list[float]:
    """Medians of megabytes a second: ours new and again, the library's new and again."""
    size = sum(len(text.encode("utf-8")) for text in texts) / 1e6
    rows = []
    for _ in range(runs):
        ours = load_tokenizer(tokenizer)
        ours.encode("a")  # Tables are made when the first text comes.
        reference = tokenizers.Tokenizer.from_file(str(tokenizer))
        row = [seconds(lambda: [ours.encode(text) for text in texts]) for _ in range(2)]  # noqa: B023
        row += [
            seconds(lambda: [reference.encode(t, add_special_tokens=False).ids for t in texts])  # noqa: B023
            for _ in range(2)
        ]
        rows.append([size / spent for spent in row])
    return [median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    """Print a line for each text and one for loading."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()
    lines = [
        f"{'MB/s':16} {'new':>7} {'again':>7} {'library':>8} {'again':>7} {'ratio':>6} {'again':>6}"
    ]
    for path in wanted.texts:
        new, again, other, other_again = speeds(wanted.tokenizer, texts_at(path), wanted.runs)
        ratios = f"{new / other:6.2f} {again / other_again:6.2f}"
        lines.append(
            f"{path.name:16} {new:7.2f} {again:7.2f} {other:8.2f} {other_again:7.2f} {ratios}"
        )
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        built, cached = (
            seconds(lambda: load_tokenizer(wanted.tokenizer, cache=cache)) for _ in range(2)
        )
        reference = seconds(lambda: tokenizers.Tokenizer.from_file(str(wanted.tokenizer)))
        size = sum(entry.stat().st_size for entry in cache.entries()) / 1e6
        lines.append(
            f"loading: {built:.2f} s, from the cache {cached:.3f} s ({size:.1f} MB), "
            f"library {reference:.2f} s"
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
