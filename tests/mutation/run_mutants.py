"""Asks of random small changes of the code whether the tests notice them.

    python tests/mutation/run_mutants.py --count 100 > mutants.jsonl

Each mutant is tried in the checkout that this file is in, which is put back after it: first with
the tests of its room, then with the quick ones of ``tests/corpus``, up to the first failure. A
mutant that fails a test, or that keeps one from ending, is *killed*. One that passes *survived*: a
test is missing, or the code does the same with it. A line of JSON on stdout says which.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]

# The same places for the same code.
SEED = 20_261

# The tests of what has no folder of its own name, or less there than in others.
TESTS_OF = {
    "dfa": ["automata", "kinds", "matcher"],
    "files": ["tokenizers", "limits", "fuzz"],
    "grammar": ["grammar", "dialects", "lnf"],
    "machine": ["machine", "dfa", "kinds", "project"],
    "reduced": ["schema", "network"],
    "summaries": ["summaries", "network"],
    "tokens": ["container", "matcher", "kinds"],
}

# Tests of files in the folders themselves (compiler/choose.py, artifacts/matcher.py).
TESTS_OF_FOLDERS = ["matcher", "kinds", "project", "limits"]

# Seconds for the tests of one mutant: one that hangs is noticed.
PATIENCE = 900


def main() -> None:
    """Try so many mutants and say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--list", action="store_true", help="name the mutants, and try none")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for file, mutant in _chosen(options.count, options.seed):
        outcome = "" if options.list else _tried(file, mutant)
        outcomes[outcome.split(":")[0]] += 1
        row = {"file": str(file), **asdict(mutant), "outcome": outcome}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
    sys.stderr.write(f"{dict(outcomes)}\n")


def _chosen(count: int, seed: int) -> Iterator[tuple[Path, Mutant]]:
    """So many mutants, each of all that there are with the same chance; at most one a place."""
    every = [
        (file.relative_to(ROOT), mutant)
        for folder in ("artifacts", "compiler")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "packaging" not in file.parts
        for mutant in mutants_of(file.read_bytes())
    ]
    random.Random(seed).shuffle(every)
    seen = set()
    for file, mutant in every:
        if len(seen) < count and (file, mutant.line) not in seen:
            seen.add((file, mutant.line))
            yield file, mutant


def _tried(file: Path, mutant: Mutant) -> str:
    """``killed: TEST``, or ``survived``."""
    path = ROOT / file
    source, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(mutant.applied(source))
        for arguments in (_tests_of(file), ["tests/corpus", "-m", "quick"]):
            if failed := _failure(arguments):
                return f"killed: {failed}"
        return "survived"
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _tests_of(file: Path) -> list[str]:
    """The folders of tests that hold a file's room."""
    if len(file.parts) == 2:
        return [f"tests/{name}" for name in TESTS_OF_FOLDERS]
    return [f"tests/{name}" for name in TESTS_OF.get(file.parts[1], [file.parts[1]])]


def _failure(arguments: list[str]) -> str:
    """The first test that fails, ``""`` where all pass."""
    # subtle: bytecode of a mutant must not outlive it, as sources of one second look alike.
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {PATIENCE} s"
    if done.returncode in (0, 5):
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"exit {done.returncode}"


if __name__ == "__main__":
    main()
