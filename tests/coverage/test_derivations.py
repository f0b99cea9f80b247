"""Coverage of random small grammars is that of their derivations, one by one."""

import itertools
import random

import pytest
from support.oracles.coverage import TooManyError, coverage_via_derivations

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.diagnostics import CheckError, Source, Span
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import (
    Choice,
    Difference,
    Expr,
    Grammar,
    Literal,
    Part,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Rule,
    Sequence,
    walk,
)

PLACE = Span(0, 1)
AB = regex.char_class([(97, 98)])
PATTERNS = [
    AB,
    regex.repeat(AB, 1, None),
    regex.seq(regex.Lit(b"a"), regex.optional(regex.char_class([(98, 98), (0xE4, 0xE4)]))),
    regex.alt(regex.Lit(b"ab"), regex.EPSILON),
]
TEXTS = [
    *(bytes(word) for n in range(4) for word in itertools.product(b"ab", repeat=n)),
    "aä".encode(),
    b"abab",
]


def random_expression(rng: random.Random, depth: int, rules: list[str]) -> Expr:
    """Empty texts, cycles, counts, permutations and differences included."""

    def inside() -> Expr:
        return random_expression(rng, depth - 1, rules)

    kind = rng.random()
    if depth == 0 or kind < 0.25:
        literal = Literal(rng.choice([b"a", b"a", b"b", b"ab", b""]), PLACE)
        pattern = Pattern(rng.choice(PATTERNS), "p", PLACE)
        return rng.choice([literal, pattern, Reference(rng.choice(rules), PLACE)])
    if kind < 0.65:
        parts = tuple(inside() for _ in range(rng.randint(2, 3)))
        return Sequence(parts, PLACE) if kind < 0.45 else Choice(parts, PLACE)
    if kind < 0.85:
        low = rng.choice([0, 0, 0, 1, 1, 2])
        return Repetition(inside(), low, rng.choice([None, low or 1, low + 1, low + 2]), PLACE)
    if kind < 0.93:
        return random_permutation(rng, depth, rules)
    right = random_expression(rng, depth - 1, ["t"])
    return Difference(random_expression(rng, depth - 1, ["t"]), right, PLACE)


def random_permutation(rng: random.Random, depth: int, rules: list[str]) -> Permutation:
    """Two or three parts, some of them required, repeated or bounded in number."""
    number, repeats = rng.randint(2, 3), rng.random() < 0.3
    parts = tuple(
        Part(
            random_expression(rng, rng.choice([0, 0, depth - 1]), rules),
            rng.random() < 0.4,
            repeats and rng.random() < 0.5,
        )
        for _ in range(number)
    )
    least, most = 0, None
    if not repeats and rng.random() < 0.3:
        least = rng.randint(0, number)
        most = rng.choice([None, max(least, number - 1)])
    separator = rng.choice([None, None, Literal(b"b", PLACE)])
    return Permutation(parts, separator, PLACE, least, most)


def random_grammar(seed: int) -> Grammar:
    """One to three rules; of some there are two definitions."""
    rng = random.Random(seed)
    names = ["r", "s"][: rng.randint(1, 2)]
    rules = []
    for name in names:
        body = random_expression(rng, rng.randint(1, 3), [*names, "t"])
        rules.append(Rule(name, PLACE, body, PLACE))
        if rng.random() < 0.2:
            body = random_expression(rng, 1, [*names, "t"])
            rules.append(Rule(name, PLACE, body, PLACE))
    either = Choice((Literal(b"a", PLACE), Literal(b"b", PLACE)), PLACE)
    rules.append(Rule("t", PLACE, either, PLACE))
    return Grammar(Source("xx", "random", "kbnf"), tuple(rules), "r")


def grammars(count: int) -> list[tuple[int, Grammar]]:
    """Those that have no error."""
    found = []
    for seed in range(count):
        grammar = random_grammar(seed)
        try:
            check(grammar)
        except CheckError:
            continue
        found.append((seed, grammar))
    return found


def has_difference(grammar: Grammar) -> bool:
    """Whether something is taken away."""
    return any(isinstance(e, Difference) for rule in grammar.rules for e in walk(rule.body))


@pytest.mark.quick
def test_items_are_those_of_all_derivations(full: bool) -> None:
    """By recursion over the tree: ambiguous, cyclic and empty derivations, counts, permutations,
    differences and the edges of patterns."""
    compared = 0
    for seed, grammar in grammars(3_000 if full else 20):
        coverage = Coverage(grammar)
        for text in TEXTS:
            try:
                wanted = coverage_via_derivations(coverage, text)
            except TooManyError:
                break
            assert wanted == coverage.covered_by(text), (seed, text)
            compared += wanted is not None

    assert compared > (100 if full else 50)


def test_members_are_shortest_and_cover_and_unused_items_are_unused(full: bool) -> None:
    """No text that covers an item is shorter than the member that is found for it, and what no
    member is said to use no text covers."""
    found = unused = 0
    for seed, grammar in grammars(3_000 if full else 80):
        coverage = Coverage(grammar)
        try:
            lines = coverage.lines()
        except CheckError:
            continue
        covered = {text: coverage.covered_by(text) or frozenset() for text in TEXTS}
        for number, line in enumerate(lines):
            known = [text for text, items in covered.items() if number in items]
            if line.is_unreachable:
                assert not known, (seed, line)
                unused += 1
            elif line.member is None:
                # What is left of a difference is searched, and no further than its first words.
                assert has_difference(grammar), (seed, line)
            else:
                assert number in (coverage.covered_by(line.member) or ()), (seed, line)
                is_shortest = all(len(line.member) <= len(text) for text in known)
                assert is_shortest or has_difference(grammar), (seed, line)
                found += 1

    assert found > 300
    assert unused > 60
