"""The quick look before an automaton is built to see whether it grows."""

import random

import pytest
from support.regexes import node_of

from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.lazy_dfa import behind_loops
from constrain.compiler.lazy_dfa.behind_loops import may_fall_behind
from constrain.compiler.lazy_dfa.joined_characters import with_joined_characters
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick

GROWING = [
    ".*a.{20}",
    "(?:a|b)*a(?:a|b){18}",
    "(?:[ab]*a[ab]{20}c)*",
    "(?:(?:a|b)*a(?:ba?|[ab]){17}){3}",
    "x(?:ab|a|b)*a[ab]{16}",
]
HARMLESS = [
    r'"(?:[^"\\]|\\(?:["\\nt]|u[0-9a-f]{4})){0,99}"',
    r'(?:[ \t]*"name"[ \t]*:[ \t]*[0-9]{1,40},)*',
    r"[a-z]+(?:\.[a-z](?:[a-z-]{0,61}[a-z])?)*",
    "[a-z]*-[0-9]{80}",
]


@pytest.mark.parametrize("text", GROWING)
def test_what_grows_is_seen(text: str) -> None:
    """Loops with many places after or inside them."""
    assert may_fall_behind(with_joined_characters(node_of(text)))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_stands_apart_from_its_loops_is_not_looked_at_further(text: str) -> None:
    """Strings, keys and host names, which schemas and grammars are full of."""
    assert not may_fall_behind(with_joined_characters(node_of(text)))


def test_no_random_expression_grows_unseen(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """With fewer places for many: what has many times the states of its NFA is seen."""
    monkeypatch.setattr(behind_loops, "MANY", 4)
    rng, grown = random.Random(12), 0

    def part(depth: int) -> str:
        kind = rng.randrange(6 if depth else 2)
        if kind < 2:
            return rng.choice(["a", "[ab]", "b", "[abc]", "c"])
        if kind == 2:
            return f"(?:{part(depth - 1)}|{part(depth - 1)})"
        if kind == 3:
            return f"(?:{part(depth - 1)})*"
        if kind == 4:
            return f"(?:{part(depth - 1)}){{{rng.randrange(1, 9)}}}"
        return part(depth - 1) + part(depth - 1)

    for _ in range(4_000 if full else 130):
        text = part(4) + part(4)
        node = node_of(text)
        nfa = thompson(node, Limits())
        if nfa.states > 400:
            continue
        try:
            determinize(nfa, Limits(states=16 * nfa.states))
        except LimitError:
            grown += 1
            assert may_fall_behind(with_joined_characters(node)), text
    assert grown > 1
