"""Lark's own example grammars: their members, and near misses, by both engines and by Lark."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from support import LARK_STARTS

from constrain.artifacts.network.configurations import Network
from constrain.compiler.automata.members import Members
from constrain.compiler.frontend import Automaton, Parser
from constrain.compiler.limits import Limits
from constrain.compiler.pipeline import build_engine

Data = Callable[[str], Path]

# All that can be read without a lexer's help and begin with a rule; how long samples are.
EXAMPLES = {
    "lark/examples/composition/csv.lark": 24,
    "lark/examples/composition/json.lark": 16,
    "lark/examples/standalone/json.lark": 16,
    "lark/tests/grammars/ab.lark": 12,
    "lark/tests/grammars/leading_underscore_grammar.lark": 8,
    "lark/tests/grammars/three_rules_using_same_token.lark": 8,
}


def verdicts(text: str, start: str | None) -> list[Callable[[str], bool]]:
    """By the network, by Earley, and by Lark, whose lexer tries every match."""
    parser = build_engine(text, dialect="lark", start=start, engine="network", meaning="exact")
    assert isinstance(parser, Parser)
    assert parser.network is not None
    found = Network(parser.network)
    theirs = Lark(text, parser="earley", lexer="dynamic_complete", start=start or "start")

    def by_network(sample: str) -> bool:
        octets = sample.encode()
        whole = found.viable(octets) == len(octets)
        return whole and found.may_end(found.read(found.start, octets))

    def by_earley(sample: str) -> bool:
        earley = parser.recogniser()
        return earley.feed(sample.encode()) == len(sample.encode()) and earley.is_accepting

    def by_lark(sample: str) -> bool:
        try:
            theirs.parse(sample)
        except UnexpectedInput:
            return False
        return True

    return [by_network, by_earley, by_lark]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_and_their_samples(name: str, data: Data, full: bool) -> None:
    """Uniform draws are members to all three, and a changed one is to all or to none."""
    text = data(f"grammars/{name}").read_text(encoding="utf-8")
    start = LARK_STARTS.get(name)
    network, earley, theirs = verdicts(text, start)
    unrolled = build_engine(text, dialect="lark", start=start, max_depth=2, meaning="exact")
    assert isinstance(unrolled, Automaton)
    rng = random.Random(3)
    for member in islice(
        Members(unrolled.dfa, Limits()).draws(EXAMPLES[name], 5), 200 if full else 6
    ):
        sample = member.decode()
        assert (True, True, True) == (network(sample), earley(sample), theirs(sample)), sample
        place = rng.randrange(len(sample) + 1)
        changed = (
            sample[:place] + rng.choice(' \n"1[]{},:ab#A') + sample[place + rng.randrange(2) :]
        )
        assert network(changed) == earley(changed) == theirs(changed), changed
