"""The automaton of a lazy regex takes of each text what Python's ``re.match`` takes."""

import random
import re

from constrain.compiler.automata import regex_ir as ir
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.preferred_matches import preferred_matches
from constrain.compiler.grammar.tree import Pattern

ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", "ab", "é"]
COUNTS = ["*", "+", "?", "*?", "+?", "??", "{1,2}", "{1,2}?", "{2}", "{1,}?", "{0,2}?"]


def random_regex(rng: random.Random, depth: int) -> str:
    """Sequences, alternatives and repetitions, greedy and lazy."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(ATOMS)
    inner = random_regex(rng, depth - 1)
    if kind < 0.5:
        return inner + random_regex(rng, depth - 1)
    if kind < 0.65:
        return f"(?:{inner}|{random_regex(rng, depth - 1) if rng.random() < 0.9 else ''})"
    return f"(?:{inner}){rng.choice(COUNTS)}"


def node_of(text: str) -> ir.Node:
    """The expression of a regex."""
    body = read_grammar(text, "regex").rules[0].body
    assert isinstance(body, Pattern)
    return body.node


def repeats_what_may_be_empty(node: ir.Node) -> bool:
    """Python cuts such a repetition off in a way of its own; they are refused where it matters."""
    nullable = ir.nullable_inside(node)
    parts = (part for part in ir.walk(node) if isinstance(part, ir.Repeat))
    return any(part.max_times != 1 and id(part.node) in nullable for part in parts)


def taken(node: ir.Node, texts: list[str]) -> list[int | None]:
    """The longest prefix of each text that the automaton accepts, in bytes."""
    dfa = preferred_matches(node)
    assert isinstance(dfa, Dfa)
    found: list[int | None] = []
    for text in texts:
        octets = text.encode()
        ends = [i for i in range(len(octets) + 1) if dfa.accepts(octets[:i])]
        found.append(max(ends, default=None))
    return found


def test_it_takes_what_re_match_takes(full: bool) -> None:
    """Random expressions and texts."""
    rng = random.Random(149)
    compared = 0
    for _ in range(20_000 if full else 500):
        text = random_regex(rng, rng.randrange(1, 5))
        node = node_of(text)
        if repeats_what_may_be_empty(node):
            continue
        texts = ["".join(rng.choice("aabbcé\n") for _ in range(rng.randrange(7))) for _ in range(8)]
        matches = [re.match(text, other) for other in texts]
        expected = [None if m is None else len(m[0].encode()) for m in matches]
        assert expected == taken(node, texts), text
        compared += 1
    assert compared > 400


def test_alternatives_are_tried_in_their_order() -> None:
    """The first that matches is taken, not the longest."""
    assert taken(node_of("a|ab"), ["ab", "b"]) == [1, None]
    assert taken(node_of("ab|a"), ["ab", "ac"]) == [2, 1]
