"""CPU time of masks for WordPiece: each step of random members, first seen and seen again.

python benchmarks/wordpiece_masks.py TOKENIZER [--members 1000]

Hugging Face's library encodes the same members in the same run, as the measure.
"""

import argparse
import random
import statistics
import sys
import time
from pathlib import Path

from tokenizers import Tokenizer

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.wordpiece.load import load_wordpiece

GRAMMARS = {
    "date": r"(19|20)[0-9]{2} *- *(0[1-9]|1[0-2])-[0-3][0-9]",
    "uuid": r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}",
    "names": r"([A-ZÀÉÜ][a-zàéü]{1,14}  ?){1,3}",
    "object": r'\{ *"[a-z_]{1,12}" *: *("[^"\\]{0,20}"|-?[0-9]{1,6}(\.[0-9]+)?) *\}',
    "letters": r"[a-z]{30}",
    "mixed": r"([一-三中文a-f0-9,.!]|  ?){1,24}",
    "words": r"([a-z]{1,12}( |, |\. ))*[a-z]+",
    "any": r"[^\n]*",
}


def member(dfa: Dfa, draw: random.Random) -> str:
    """A random member, by a walk that ends at random."""
    out = bytearray()
    state = dfa.start
    while not (dfa.accepting[state] and draw.random() < 0.03):
        live = [b for b, c in enumerate(dfa.classes.tolist()) if dfa.table[state, c]]
        # Mostly ASCII, where there is a choice.
        ascii_only = [b for b in live if b < 0x80]
        live = ascii_only if ascii_only and draw.random() < 0.95 else live
        if not live:
            break
        out.append(draw.choice(live))
        state = int(dfa.table[state, dfa.classes[out[-1]]])
    return out.decode("utf-8")


def main() -> None:
    """Print a table, times in microseconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--members", type=int, default=1_000)
    options = parser.parse_args()
    tokenizer = load_wordpiece(options.tokenizer)
    reference = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json"))
    out = sys.stdout.write
    out(f"{'grammar':10}{'states':>8}{'compile s':>10}{'masks':>8}{'p50':>8}{'p99':>9}{'max':>9}")
    out(f"{'again':>8}{'encode/token':>14}\n")
    for name, pattern in GRAMMARS.items():
        automaton = build_engine(pattern, dialect="regex", engine="dfa")
        assert isinstance(automaton, Automaton)
        begin = time.thread_time()
        artifact = build_artifact(automaton, tokenizer).artifact
        compiled = time.thread_time() - begin
        draw = random.Random(name)
        texts = [member(automaton.dfa, draw) for _ in range(options.members)]
        begin = time.thread_time()
        encoded = [reference.encode(text, add_special_tokens=False).ids for text in texts]
        encoding = time.thread_time() - begin
        encoded = [ids for ids in encoded if tokenizer.unk not in ids]
        rounds: list[list[float]] = []
        for _ in range(2):
            times = []
            for ids in encoded:
                matcher = artifact.matcher()
                for token_id in ids:
                    begin = time.thread_time()
                    matcher.mask()
                    times.append(time.thread_time() - begin)
                    matcher.advance(token_id)
            rounds.append(sorted(t * 1e6 for t in times))
        times = rounds[0]
        out(f"{name:10}{artifact.manifest.counts['word_states']:8,}{compiled:10.2f}")
        out(f"{len(times):8,}{statistics.median(times):8.1f}{times[int(len(times) * 0.99)]:9.0f}")
        out(f"{times[-1]:9.0f}{statistics.median(rounds[1]):8.1f}")
        out(f"{encoding / max(1, len(times)) * 1e6:14.1f}\n")


if __name__ == "__main__":
    main()
