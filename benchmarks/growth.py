"""How compiling grows with the number of rules: CPU time, states, and the exponent fitted to them.

python benchmarks/growth.py [--rules 10 100 1000 10000] [--tokenizer TOKENIZER.json]
python benchmarks/growth.py --counts [--tokenizer TOKENIZER.json]

Grammars of n rules, as networks without precomputed masks (``prewarm=0``), or as DFAs with all of
them where nothing nests itself. The exponent is the
slope of log t over log n, least squares, of times that are above 50 ms: below, what each
compilation costs counts most. With ``--counts``: repetitions of ten, a thousand and a million
items instead (``workloads/counts.py``).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from math import log
from time import process_time

import workloads.counts

from constrain.compiler import Limits, compile_grammar, load_tokenizer
from constrain.compiler.tokenizers import default_path

# Ten thousand objects are a network of half a million states.
_STATES = 3_000_000

VALUES = """
string ::= #'"[^"\\\\\\x00-\\x1f]*"';
number ::= #'-?[0-9]+';
"""


def nested_rules(count: int) -> str:
    """Rules that nest themselves, each of which may go on with the next one."""
    rules = [f'r{i} ::= "(" r{i} ")" | "x{i}" r{i + 1};' for i in range(count)]
    return "\n".join(["start ::= r0;", *rules, f'r{count} ::= "y";', ""])


def object_rules(count: int, fields: int = 3) -> str:
    """Objects whose fields may be others of them: all call one another."""
    rules = []
    for i in range(count):
        members = ' "," '.join(
            f'"\\"k{i}_{field}\\":" (o{(7 * i + 13 * field + 1) % count} | string | number)'
            for field in range(fields)
        )
        rules.append(f'o{i} ::= "{{" {members} "}}";')
    return "\n".join(["start ::= o0;", *rules, VALUES])


def optional_object_rules(count: int) -> str:
    """Objects in a ring, each with an optional field that leads elsewhere."""
    rules = [
        f'o{i} ::= "{{" "\\"k\\":" (o{(i + 1) % count} | string | number) '
        f'("," "\\"m{i}\\":" o{(i * i + 3) % count})? "}}";'
        for i in range(count)
    ]
    return "\n".join(["start ::= o0;", *rules, VALUES])


def object_tree(count: int, fields: int = 3) -> str:
    """Objects in a tree: each has three below it, or texts and numbers. A regular language."""
    rules = []
    for i in range(count):
        below = range(fields * i + 1, fields * i + fields + 1)
        values = [f"o{j}" if j < count else ("number", "string")[j % 2] for j in below]
        members = ' "," '.join(f'"\\"k{i}_{f}\\":" {value}' for f, value in enumerate(values))
        rules.append(f'o{i} ::= "{{" {members} "}}";')
    return "\n".join(["start ::= o0;", *rules, VALUES])


def optional_keys(count: int) -> str:
    """An object with one key that must be there and others, in order, that may be."""
    rules = [f'r{i} ::= ("," "\\"key{i}\\":" value)? r{i + 1};' for i in range(count)]
    return "\n".join(
        [
            'start ::= "{\\"id\\":" value r0 "}";',
            *rules,
            f'r{count} ::= "";',
            f"value ::= string | number | start;{VALUES}",
        ]
    )


FAMILIES: dict[str, Callable[[int], str]] = {
    "rules that nest themselves": nested_rules,
    "objects that call each other": object_rules,
    "objects in a ring": optional_object_rules,
    "objects in a tree": object_tree,
    "optional keys": optional_keys,
}


def slope(points: Sequence[tuple[int, float]]) -> float:
    """The exponent e of the power law n^e that fits (n, t) best, by least squares of logarithms."""
    xs, ys = [log(n) for n, _ in points], [log(t) for _, t in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread


def main() -> None:
    """Print a table with a line for each family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--tokenizer")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--counts", action="store_true")
    wanted = parser.parse_args()
    tokenizer = load_tokenizer(wanted.tokenizer or default_path())
    if wanted.counts:
        workloads.counts.report(tokenizer)
        return
    limits = Limits(states=_STATES, seconds=wanted.seconds)

    def compiled(text: str) -> tuple[float, int]:
        """Seconds of CPU, and states, 0 if it is neither a network nor a DFA."""
        begin = process_time()
        found = compile_grammar(
            text,
            dialect="kbnf",
            tokenizer=tokenizer,
            tokenization="any",
            prewarm=0,
            limits=limits,
        )
        counts = found.manifest.counts
        return process_time() - begin, counts.get("network_states", counts.get("dfa_states", 0))

    compiled(nested_rules(3))
    sys.stdout.write(f"{'':30}" + "".join(f"{n:>16,}" for n in wanted.rules) + "   exponent\n")
    for name, family in FAMILIES.items():
        sys.stdout.write(f"{name:30}")
        times = []
        for count in wanted.rules:
            try:
                seconds, states = compiled(family(count))
            except Exception as error:
                sys.stdout.write(f"{type(error).__name__:>16}")
                continue
            times.append((count, seconds))
            sys.stdout.write(f"{seconds:>7.2f} s{states:>7,}")
            sys.stdout.flush()
        slow = [(n, t) for n, t in times if t > 0.05]
        sys.stdout.write(f"   {slope(slow):8.2f}\n" if len(slow) > 1 else "\n")


if __name__ == "__main__":
    main()
