"""CartesianMerge: tables of a tokenizer, preprocessing of twelve grammars, masks while decoding.

python benchmarks/cartesian.py --tokenizer FOLDER [--members 200] [--repeat 3]

CPU time of compiling, the time of masks: the least of some repetitions, each with an artifact of
its own. The peer is Hugging Face's own encoder: its time for one token of the same members is the
unit of the last column.
"""

import argparse
import random
import sys
from pathlib import Path
from time import perf_counter_ns, process_time

import tokenizers

from constrain.artifacts import Artifact
from constrain.artifacts.errors import TokenRefusedError
from constrain.compiler import load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.pipeline import build_artifact, build_automaton

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.corpus.languages import TYPICAL, member


def main() -> None:
    """Print a line for each grammar."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer)
    library = tokenizers.Tokenizer.from_file(str(wanted.tokenizer / "tokenizer.json"))
    tables = TokenizerTables(tokenizer)
    begin = process_time()
    pretokenizer = tables.pretokenizer
    middle = process_time()
    pairs = tables.pairs
    end = process_time()
    stable = tables.normal_form
    sys.stdout.write(
        f"pre-tokenizer {middle - begin:.2f} s, {pretokenizer.dfa.states:,} states; "
        f"pairs {end - middle:.2f} s, {pairs.forbidden.rows.classes:,} classes; "
        f"stable texts {process_time() - end:.2f} s, "
        f"{0 if stable is None else len(stable.table):,} states\n"
        "grammar    compile s  cold p50  p99 µs  warm p50  p99 µs  warm p50 / encoding a token\n"
    )
    for name, language in TYPICAL.items():
        automaton = build_automaton(language.text, dialect=language.dialect)
        seconds, artifacts = [], []
        for _ in range(wanted.repeat):
            begin = process_time()
            built = build_artifact(automaton, tokenizer, method="cartesian", tables=tables)
            seconds.append(process_time() - begin)
            artifacts.append(built.artifact)
        rng = random.Random(1)
        texts = [member(language, rng) for _ in range(wanted.members)]
        encoded = [library.encode(text, add_special_tokens=False).ids for text in texts]
        start = perf_counter_ns()
        for text in texts:
            library.encode(text, add_special_tokens=False)
        unit = (perf_counter_ns() - start) / 1000 / max(1, sum(map(len, encoded)))
        cold, warm = (_masks(artifacts, encoded) for _ in range(2))
        sys.stdout.write(
            f"{name:10} {min(seconds):9.2f} {_share(cold, 50):9.1f} {_share(cold, 99):7.1f} "
            f"{_share(warm, 50):9.2f} {_share(warm, 99):7.1f} {_share(warm, 50) / unit:10.3f}\n"
        )


def _masks(artifacts: list[Artifact], encoded: list[list[int]]) -> list[float]:
    """Microseconds of each mask along the members, the least that one of the artifacts took."""
    found = []
    for artifact in artifacts:
        times = []
        for ids in encoded:
            matcher = artifact.matcher()
            for token_id in ids:
                begin = perf_counter_ns()
                matcher.mask()
                times.append((perf_counter_ns() - begin) / 1000)
                try:
                    matcher.advance(token_id)
                except TokenRefusedError:
                    break  # A member that holds an added token.
        found.append(times)
    return sorted(map(min, zip(*found, strict=True)))


def _share(times: list[float], percent: int) -> float:
    return times[min(len(times) - 1, len(times) * percent // 100)]


if __name__ == "__main__":
    main()
