"""What is not seen to overlap on numbered rules has no terminal that is too large to be built."""

import random
from collections.abc import Iterator

import pytest

from constrain.compiler.choose import engine_of
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import growing_terminals
from constrain.compiler.limits import Limits
from constrain.compiler.machine.overlaps import may_have_large
from constrain.compiler.network.from_tree import numbered
from constrain.compiler.options import CompileOptions

LEAVES = ('"a"', '"b"', '"ab"', "[a-c]", "[^a]", "[bc]")


def grammars(count: int) -> Iterator[str]:
    """Random rules that name those after them; some nest, all count."""
    rng = random.Random("overlaps")
    for _ in range(count):
        names = ["root", *(f"r{i}" for i in range(rng.randrange(5)))]

        def expression(depth: int, names: list[str]) -> str:
            kind = rng.random()
            if not depth or kind < 0.3:
                return rng.choice([*LEAVES, *names, *names])
            parts = [expression(depth - 1, names) for _ in range(rng.randint(2, 3))]
            if kind < 0.5:
                return " ".join(parts)
            if kind < 0.7:
                return f"({' | '.join(parts)})"
            return f"({parts[0]}){rng.choice(['?', '*', '*', '+', '{2,5}', '{20}', '{0,17}'])}"

        found = [f"{name} ::= {expression(2, names[i + 1 :])}" for i, name in enumerate(names)]
        if rng.random() < 0.3:
            found[-1] += ' | "(" root ")"'
        yield "\n".join(found)


SPACE = r"ws ::= [ \t\n]*"
HARMLESS = [
    'root ::= "[" ws ([0-9]+ (ws "," ws [0-9]+){0,99})? ws "]"\n' + SPACE,
    'root ::= "[" ws (n (ws "," ws n){0,99})? ws "]"\nn ::= "{" ws "}" ws | "-"* "0"\n' + SPACE,
    """root ::= atom ("." atom)* "@" label ("." label)* ws ws
atom ::= [a-z0-9+-]+
label ::= [a-z0-9] ([a-z0-9-]{0,61} [a-z0-9])?
"""
    + SPACE,
]


@pytest.mark.parametrize("text", HARMLESS)
def test_counts_that_no_loop_reads_are_not_looked_at_further(text: str) -> None:
    """Lists and addresses, whose loops stand side by side with others and far from counts."""
    assert not may_have_large(numbered(read_grammar(text, "gbnf"), Limits()))


def test_no_large_terminal_is_missed(*, full: bool) -> None:
    """Where bytes do not overlap, looking into terminals finds none."""
    options = CompileOptions(
        dialect="gbnf", tokenization="any", prewarm=0, limits=Limits(states=20_000)
    )
    seen = set()
    for text in grammars(2_000 if full else 82):
        grammar = read_grammar(text, "gbnf")
        overlaps = may_have_large(numbered(grammar, Limits()))
        if overlaps and (True, True) in seen:
            continue
        try:
            found = growing_terminals(grammar, engine_of(grammar, options), options)
        except LimitError:
            continue
        seen.add((overlaps, found is not None))
        assert overlaps or found is None, text
    assert (False, False) in seen
    assert (True, True) in seen
