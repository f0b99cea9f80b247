"""Many different grammars for one tokenizer, one after the other: CPU time and memory.

    python benchmarks/many_requests.py TOKENIZER.json [--count 1000] [--masks 20]

Each is compiled by the same compiler under ``any`` with nothing precomputed, then come the first
masks along a text of it; llguidance does the same, if it is installed. Memory is what the process
holds in RAM (Linux), above what it held with the compiler ready.
"""

import argparse
import sys
import time
from pathlib import Path

import workloads.generated
from workloads.others import Session, others

from constrain.compiler import Compiler, Tokenizer, load_tokenizer


def resident() -> int:
    """Bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def main() -> None:
    """A line for each tenth of the grammars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--masks", type=int, default=20)
    given = parser.parse_args()
    tokenizer = load_tokenizer(given.tokenizer)
    assert isinstance(tokenizer, Tokenizer)
    compiler = Compiler(tokenizer)
    compiler.compile('root ::= "(" root ")" | [a-z]*', dialect="gbnf", tokenization="any")
    theirs = dict(others(tokenizer, given.tokenizer)).get("llguidance")
    before = resident()
    spent = [0.0, 0.0, 0.0]
    line = "{:>9}{:>14}{:>14}{:>16}{:>12}\n"
    sys.stdout.write(
        line.format("grammars", "compiling, s", "masks, s", "llguidance, s", "memory, MB")
    )
    for number, request in enumerate(workloads.generated.requests(given.count), 1):
        ids = tokenizer.encode(request.documents[0])[: given.masks]
        begin = time.process_time()
        matcher = compiler.compile(
            request.grammar, dialect="gbnf", tokenization="any", prewarm=0
        ).matcher()
        compiled = time.process_time()
        for token in ids:
            matcher.mask()
            matcher.advance(token)
        done = time.process_time()
        if theirs is not None:
            along(theirs(request), ids)
        spent[0] += compiled - begin
        spent[1] += done - compiled
        spent[2] += time.process_time() - done
        if number % max(1, given.count // 10) == 0:
            held = (resident() - before) / 1e6
            figures = [f"{seconds:.2f}" for seconds in spent]
            sys.stdout.write(line.format(number, *figures, f"{held:.0f}"))
            sys.stdout.flush()


def along(session: Session, ids: list[int]) -> None:
    """Masks and steps along a text."""
    for token in ids:
        session.fill()
        session.accept(token)


if __name__ == "__main__":
    main()
