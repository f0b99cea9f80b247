"""All terminals in one automaton, and networks as text."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import pytest
from support.grammars import JSON, STATEMENTS, lnf_of, nullable_lnf_of

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.earley.tables import layout, stacked
from constrain.compiler.earley.union_lexer import joint_lexer
from constrain.compiler.limits import Limits
from constrain.compiler.network.build import network
from constrain.compiler.network.dump import network_text


@pytest.mark.parametrize("text", [JSON, STATEMENTS], ids=["json", "code"])
def test_the_lexer_says_which_terminals_end(text: str) -> None:
    """Along random bytes the joint automaton is in all terminals' states at once."""
    terminals = stacked(layout(lnf_of(text)).nodes)
    lexer = joint_lexer(terminals)
    rng = random.Random(3)
    ended = 0
    for _ in range(300):
        state = lexer.dfa.start
        states = terminals.starts.tolist()
        for _ in range(12):
            octets = [o for o in range(256) if lexer.dfa.run(state, bytes([o]))]
            octet = rng.choice(octets) if octets and rng.random() < 0.9 else rng.randrange(256)
            state = lexer.dfa.run(state, bytes([octet]))
            states = [terminals.step(s, octet) for s in states]
            expected = tuple(t for t, s in enumerate(states) if s and terminals.accepts(s))
            assert expected == lexer.ends[state]
            assert any(states) == (state != 0)
            ended += len(expected)
    assert ended > 100


def test_the_lexer_keeps_the_limit() -> None:
    """Too many states are a limit error."""
    terminals = stacked(layout(lnf_of(JSON)).nodes)
    with pytest.raises(LimitError, match="the lexer needs more than 5 states"):
        joint_lexer(terminals, Limits(states=5))


def test_a_network_as_text() -> None:
    """States, edges and calls, with the rule that is called and where it goes on."""
    tables = network(nullable_lnf_of("s ::= '[' s ']' | 'x';"))
    assert (
        "network: 4 states, 1 calls, 1 frames, start 1, final 3\n"
        "  rule s starts in 1\n"
        '  1 -- "[" -> 2\n'
        '  1 -- "x" -> 3\n'
        "  2 -- call s from 1, then 4\n"
        '  4 -- "]" -> 3\n'
    ) == network_text(tables)
