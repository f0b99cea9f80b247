"""Time of Loup's normal form for generated grammars, to show that it grows linearly.

python benchmarks/normal_form.py [--rules 1250 2500 5000] [--runs 3]
"""

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable

from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.lnf import Lnf, normalize, normalize_without_nullable


def generated(rules: int) -> str:
    """A grammar that an exporter might write; every rule can be reached and ends.

    One rule in five is recursive, in five nullable, in five a twin of another, in five just
    another rule.
    """
    rng = random.Random(rules)
    lines = ["start ::= r0 | start r0;"]
    for number in range(rules - 1):
        following = f"r{min(number + 1, rules - 2)}"
        other = f"r{rng.randrange(max(number - 50, 0), min(number + 50, rules - 1))}"
        text = f'"t{rng.randrange(rules)}"'
        match number % 5:
            case 0:
                body = f'{text} {following} {{{other}}} "," | "stop"'
            case 1:
                body = f'[{text}] [{other}] {{"x" | "y"}} [{following}]'
            case 2:
                body = f"{following} | {other} {other} | {text}"
            case 3:
                body = f'"(" {following} ")" | {text} "-" {text}, "twin{number % 25}"'
            case _:
                body = f'{following} | "x"+ {text}? | r{number} "again" | #"[0-9]*(a|b)?"'
        lines.append(f"r{number} ::= {body};")
    lines[-1] = f'r{rules - 2} ::= "end";'
    return "\n".join(lines)


def fastest(normal_form: Callable[[Grammar], Lnf], grammar: Grammar, runs: int) -> float:
    """CPU seconds of the fastest of some runs, without the garbage collector (as timeit does)."""
    times = []
    for _ in range(runs):
        gc.collect()
        gc.disable()
        before = time.process_time()
        normal_form(grammar)
        times.append(time.process_time() - before)
        gc.enable()
    return min(times)


def main() -> None:
    """Print seconds, and microseconds for each rule, of both forms."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, nargs="+", default=[1250, 2500, 5000])
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()
    forms = {"normal form": normalize, "without nullable": normalize_without_nullable}
    lines = [f"{'':18} {'rules':>7} {'out':>8} {'CPU s':>7} {'us/rule':>8}"]
    for rules in wanted.rules:
        grammar = read_grammar(generated(rules), "kbnf")
        check(grammar)
        for name, normal_form in forms.items():
            seconds = fastest(normal_form, grammar, wanted.runs)
            out = len(normal_form(grammar).productions)
            lines.append(f"{name:18} {rules:7} {out:8} {seconds:7.3f} {seconds / rules * 1e6:8.1f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
