"""Assertions, intersections and complements inside expressions."""

from random import Random

from support.regex_oracle import WORDS, random_node, spans

from constrain.compiler.automata import regex_ir as ir
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.thompson import thompson


def test_assertions_and_set_operations_are_exact(full: bool) -> None:
    """All words of up to four characters, against the definitions; nullability too."""
    random = Random(5)
    for _ in range(400 if full else 8):
        node = random_node(random, 3)
        nfa = thompson(resolved(node))
        sample = WORDS if full else [*WORDS[:30], *random.sample(WORDS, 30)]
        for word in sample:
            expected = (0, len(word)) in spans(node, word)
            assert expected == nfa.accepts(word.encode()), (node, word)
        assert nfa.accepts(b"") == ir.is_nullable(node), node
