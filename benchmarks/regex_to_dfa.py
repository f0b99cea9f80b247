"""Time from an expression to a minimal DFA, side by side with other libraries.

python benchmarks/regex_to_dfa.py [--runs 5] [--patience 20]

Medians of CPU milliseconds. Measured is, from the parsed expression on where the library
separates it:

    constrain      Thompson's construction, subset construction, Hopcroft's minimisation
    derivatives    the second construction, minimised
    interegular    ``to_fsm().reduce()`` of a parsed pattern
    greenery       ``to_fsm().reduce()`` of a parsed pattern
    automata-lib   ``NFA.from_regex`` (it parses) and a minimal ``DFA.from_nfa``
    outlines-core  ``Index`` over the 256 bytes as tokens: Rust's regex-automata parses, builds
                   an unminimised dense DFA, and each state is walked once by each byte

What a library cannot read, or not do within ``--patience`` seconds, is a dash.
"""

import argparse
import random
import signal
import string
import sys
import time
from collections.abc import Callable
from statistics import median

from support.derivatives.construct import minimal_via_derivatives

from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.regex_ir import Node
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.tree import Pattern

OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
HOST = "[a-zA-Z0-9-]+([.][a-zA-Z0-9-]+)*"
JSON_STRING = r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'


def words(count: int) -> str:
    """An enumeration of made-up words."""
    rng = random.Random(count)
    letters = string.ascii_lowercase
    return "|".join("".join(rng.choices(letters, k=rng.randint(3, 11))) for _ in range(count))


PATTERNS = {
    "ISO date": "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "IPv4": rf"({OCTET}[.]){{3}}{OCTET}",
    "UUID": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "email": f"[a-zA-Z0-9._+-]+@{HOST}[.][a-zA-Z]{{2,}}",
    "URL": f"https?://{HOST}(:[0-9]{{1,5}})?(/[a-zA-Z0-9._~-]*)*([?][a-zA-Z0-9=_-]*)?",
    "word{1,64}": r"\w{1,64}",
    "letters": r"\p{L}+",
    "JSON string": JSON_STRING,
    "JSON object": r"\{" + ",".join(f'"k{i}": ({JSON_STRING}|-?[0-9]+)' for i in range(10)) + r"\}",
    "1,000 words": words(1000),
}

Job = Callable[[], object]


def main() -> None:
    """Measure all libraries in turn on each pattern, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--patience", type=int, default=20)
    wanted = parser.parse_args()
    sys.setrecursionlimit(100_000)
    signal.signal(signal.SIGALRM, _out_of_patience)
    names = ("constrain", "derivatives", "interegular", "greenery", "automata-lib", "outlines-core")
    _write(f"{'ms':12} {'states':>7} " + " ".join(f"{name:>13}" for name in names))
    for label, pattern in PATTERNS.items():
        makers = dict(zip(names, (_ours, _derivatives, *_PEERS), strict=True))
        times: dict[str, list[float]] = {name: [] for name in names}
        jobs = {name: _within(wanted.patience, make, pattern) for name, make in makers.items()}
        for _ in range(wanted.runs):
            for name, job in jobs.items():
                seconds = job and _within(wanted.patience, _cpu_seconds, job)
                if seconds is None:
                    jobs[name] = None
                else:
                    times[name].append(seconds)
        states = minimize(determinize(thompson(_node(pattern)))).states
        cells = []
        for name in names:
            if jobs[name] is None:
                cells.append("-")
            else:
                ratio = median(times[name]) / median(times["constrain"])
                cells.append(f"{1e3 * median(times[name]):.4g} ({ratio:.2g}x)")
        _write(f"{label:12} {states:7} " + " ".join(f"{cell:>13}" for cell in cells))


def _node(pattern: str) -> Node:
    body = read_grammar(pattern, "regex").rules[0].body
    assert isinstance(body, Pattern)
    return resolved(body.node)


def _ours(pattern: str) -> Job:
    node = _node(pattern)
    return lambda: minimize(determinize(thompson(node)))


def _derivatives(pattern: str) -> Job:
    node = _node(pattern)
    return lambda: minimal_via_derivatives(node)


def _interegular(pattern: str) -> Job:
    import interegular

    _only_its_own(pattern)
    parsed = interegular.parse_pattern(pattern)
    return lambda: parsed.to_fsm().reduce()


def _greenery(pattern: str) -> Job:
    import greenery

    _only_its_own(pattern)
    return lambda: greenery.parse(pattern).to_fsm().reduce()


def _automata_lib(pattern: str) -> Job:
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    _only_its_own(pattern)
    alphabet = set(map(chr, range(32, 127)))
    return lambda: DFA.from_nfa(NFA.from_regex(pattern, input_symbols=alphabet), minify=True)


def _outlines_core(pattern: str) -> Job:
    from outlines_core import Index, Vocabulary

    vocabulary = Vocabulary(256, {bytes([octet]): [octet] for octet in range(256)})
    return lambda: Index(pattern, vocabulary)


_PEERS = (_interegular, _greenery, _automata_lib, _outlines_core)


def _only_its_own(pattern: str) -> None:
    r"""Libraries over characters read \w as ASCII or list all of Unicode: not the same task."""
    if r"\w" in pattern or r"\p" in pattern:
        raise ValueError("it has no classes of Unicode")


def _cpu_seconds(job: Job) -> float:
    before = time.process_time()
    job()
    return time.process_time() - before


def _within(seconds: int, call: Callable[..., object], argument: object) -> object:
    """What a call returns, or None if it fails or takes too long."""
    signal.alarm(seconds)
    try:
        return call(argument)
    except Exception:
        return None
    finally:
        signal.alarm(0)


def _out_of_patience(*_: object) -> None:
    raise TimeoutError


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
