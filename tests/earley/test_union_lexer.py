"""All terminals of a grammar in one DFA, as a drawing shows it."""

# Tests here say `expected == actual`.

import random

import pytest
from support.grammars import JSON, STATEMENTS, lnf_of

from constrain.compiler.diagnostics import LimitError
from constrain.compiler.earley.tables import layout, stacked
from constrain.compiler.earley.union_lexer import joint_lexer
from constrain.compiler.limits import Limits


@pytest.mark.quick
@pytest.mark.parametrize("text", [JSON, STATEMENTS], ids=["json", "code"])
def test_the_union_lexer_says_which_terminals_end(text: str) -> None:
    """Along random bytes it is in all terminals' states at once."""
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


def test_the_union_lexer_keeps_the_limit() -> None:
    """Too many states are a limit error."""
    terminals = stacked(layout(lnf_of(JSON)).nodes)
    with pytest.raises(LimitError, match="the lexer needs more than 5 states"):
        joint_lexer(terminals, Limits(states=5))
