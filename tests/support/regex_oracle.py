"""What an expression matches, by the definitions alone; slow, and the oracle of the automata."""

import re
from itertools import product
from random import Random

from constrain.compiler.automata import regex_ir as ir

ALPHABET = "ab \n\ré"
WORDS = ["".join(word) for n in range(5) for word in product(ALPHABET, repeat=n)]


def holds(kind: ir.LookKind, word: str, place: int) -> bool:
    """What an assertion says at a place of a word, spelled out."""
    before, behind = word[:place][-1:], word[place : place + 1]
    ascii_ = kind.name.startswith("ASCII_")
    left, right = (bool(re.match(r"\w", c, re.ASCII if ascii_ else 0)) for c in (before, behind))
    crlf = before == "\r" and behind == "\n"
    return {
        "START_TEXT": place == 0,
        "END_TEXT": place == len(word),
        "START_LINE": before in ("", "\n"),
        "END_LINE": behind in ("", "\n"),
        "START_CRLF_LINE": before in ("", "\n", "\r") and not crlf,
        "END_CRLF_LINE": behind in ("", "\n", "\r") and not crlf,
        "WORD": left != right,
        "NOT_WORD": left == right,
        "WORD_START": right and not left,
        "WORD_END": left and not right,
        "WORD_START_HALF": not left,
        "WORD_END_HALF": not right,
    }[kind.name.removeprefix("ASCII_")]


Spans = frozenset[tuple[int, int]]


def spans(node: ir.Node, word: str) -> Spans:
    """Where a node matches inside a word, by the definitions; the oracle."""
    places = range(len(word) + 1)
    every = frozenset((i, j) for i in places for j in places if i <= j)
    match node:
        case ir.Lit(data):
            text = data.decode()
            return frozenset((i, j) for i, j in every if word[i:j] == text)
        case ir.CharClass(ranges):
            return frozenset(
                (i, i + 1) for i, c in enumerate(word) if any(a <= ord(c) <= b for a, b in ranges)
            )
        case ir.Look(kind):
            return frozenset((i, i) for i in places if holds(kind, word, i))
        case ir.Seq(parts):
            found = frozenset((i, i) for i in places)
            for part in parts:
                found = joined(found, spans(part, word))
            return found
        case ir.Alt(options):
            return frozenset().union(*(spans(option, word) for option in options))
        case ir.And(parts):
            return frozenset.intersection(*(spans(part, word) for part in parts))
        case ir.Not(inner):
            return every - spans(inner, word)
        case ir.Optional(inner):
            return spans(inner, word) | {(i, i) for i in places}
        case ir.Repeat(inner, low, high):
            once = spans(inner, word)
            found = total = frozenset((i, i) for i in places) if low == 0 else frozenset()
            current = frozenset((i, i) for i in places)
            for count in range(1, (high or low + len(word) + 1) + 1):
                current = joined(current, once)
                total = total | current if count >= low else total
            return total or found
    raise AssertionError(node)


def joined(left: Spans, right: Spans) -> Spans:
    """One after the other."""
    return frozenset((i, k) for i, j in left for j2, k in right if j == j2)


def random_node(random: Random, depth: int) -> ir.Node:
    """A random expression over ``ALPHABET`` with assertions, intersections and complements."""
    kind = random.randrange(9 if depth else 4)
    if kind < 2:
        return ir.Lit(random.choice(ALPHABET).encode())
    if kind == 2:
        return ir.Look(random.choice(list(ir.LookKind)))
    if kind == 3:
        return random.choice([ir.ANY_CHARACTER, ir.char_class([(97, 98)]), ir.EPSILON])
    parts = [random_node(random, depth - 1) for _ in range(random.randint(2, 3))]
    if kind == 4:
        return ir.alt(*parts)
    if kind == 5:
        return ir.intersection(*parts)
    if kind == 6:
        return ir.negation(parts[0])
    if kind == 7:
        return ir.repeat(parts[0], random.randint(0, 2), random.choice([None, 2, 3]))
    return ir.seq(*parts)
