"""Languages of small grammars by definition, and random grammars: for tests of normal forms."""

import random
from functools import cache

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import Source, Span
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Reference,
    Repetition,
    Rule,
    Sequence,
)
from constrain.compiler.lnf import normalize, normalize_without_nullable
from constrain.compiler.lnf.form import Lnf
from support.automata import words_of

LONGEST = 5


def lnf_of(text: str) -> Lnf:
    """The normal form of a kbnf text."""
    grammar = read_grammar(text, "kbnf")
    check(grammar)
    return normalize(grammar)


def full_lnf_of(text: str) -> Lnf:
    """The normal form of a kbnf text in which nothing derives ε."""
    grammar = read_grammar(text, "kbnf")
    check(grammar)
    return normalize_without_nullable(grammar)


def shown(lnf: Lnf) -> list[str]:
    """The productions as text."""

    def symbol(number: int) -> str:
        if number >= 0:
            return lnf.names[number]
        content = lnf.terminals[~number].content
        return repr(content.decode()) if isinstance(content, bytes) else "#regex"

    return [
        f"{lnf.names[p.head]} ::= {' '.join(map(symbol, p.body)) or 'ε'}" for p in lnf.productions
    ]


Words = frozenset[bytes]


def joined(left: Words, right: Words) -> Words:
    """Concatenation, cut at the length that the tests look at."""
    return frozenset(a + b for a in left for b in right if len(a + b) <= LONGEST)


def words_of_tree(grammar: Grammar) -> Words:
    """The members of at most LONGEST bytes, by the least fixpoint over the tree (the oracle)."""
    bodies: dict[str, list[Expr]] = {}
    for rule in grammar.rules:
        bodies.setdefault(rule.name, []).append(rule.body)
    found_so_far: dict[str, Words] = {name: frozenset() for name in bodies}

    def words(expr: Expr) -> Words:
        match expr:
            case Literal():
                return frozenset([expr.data]) if len(expr.data) <= LONGEST else frozenset()
            case Pattern():
                return words_of_node(expr.node)
            case Reference():
                return found_so_far[expr.name]
            case Choice():
                return frozenset().union(*map(words, expr.options))
            case Sequence():
                found: Words = frozenset([b""])
                for item in expr.items:
                    found = joined(found, words(item))
                return found
            case Repetition():
                item = words(expr.item)
                power: Words = frozenset([b""])
                found = power if expr.min_times == 0 else frozenset()
                top = LONGEST + expr.min_times if expr.max_times is None else expr.max_times
                for times in range(1, top + 1):
                    power = joined(power, item)
                    if times >= expr.min_times:
                        found |= power
                return found

    while True:
        new = {name: frozenset().union(*map(words, found)) for name, found in bodies.items()}
        if new == found_so_far:
            return found_so_far[grammar.start]
        found_so_far = new


@cache
def words_of_node(node: regex.Node) -> Words:
    """The short members of a regex terminal."""
    return frozenset(bytes(w) for w in words_of(determinize(thompson(node)), LONGEST))


def words_of_lnf(lnf: Lnf) -> Words:
    """The same for productions, repetitions included, and ε if the form tells it apart."""
    found_so_far: list[Words] = [frozenset() for _ in lnf.names]
    apart: Words = frozenset([b""] if lnf.nullable_start else [])
    while True:
        new: list[Words] = []
        for productions in lnf.by_head:
            found: Words = frozenset()
            for production in productions:
                body: Words = frozenset([b""])
                for s in production.body:
                    content = lnf.terminals[~s].content if s < 0 else b""
                    if s >= 0:
                        body = joined(body, found_so_far[s])
                    elif isinstance(content, bytes):
                        body = joined(body, frozenset([content]))
                    else:
                        body = joined(body, words_of_node(content))
                low, high = production.times
                power: Words = frozenset([b""])
                if low == 0:
                    found |= power
                for times in range(1, (LONGEST + low if high is None else high) + 1):
                    power = joined(power, body)
                    if times >= low:
                        found |= power
            new.append(found)
        if new == found_so_far:
            return found_so_far[lnf.start] | apart
        found_so_far = new


def random_grammar(rng: random.Random) -> Grammar:
    """A few rules over a, b; nullable, recursive and repeated parts all occur."""
    names = ["s", "t", "u", "v"][: rng.randrange(1, 5)]
    places = iter(range(10**9))

    def span() -> Span:
        place = next(places)
        return Span(place, place + 1)

    def expr(depth: int) -> Expr:
        kind = rng.random()
        if depth == 0 or kind < 0.45:
            if rng.random() < 0.4:
                return Reference(rng.choice(names), span())
            if rng.random() < 0.15:
                return Pattern(regex.optional(regex.Lit(b"b")), "b?", span())
            return Literal(rng.choice([b"", b"a", b"b", b"ab"]), span())
        if kind < 0.65:
            return Sequence(tuple(expr(depth - 1) for _ in range(rng.randrange(2, 4))), span())
        if kind < 0.85:
            return Choice(tuple(expr(depth - 1) for _ in range(rng.randrange(2, 4))), span())
        low, high = rng.choice([(0, 1), (0, None), (1, None), (2, 3), (2, None), (0, 2)])
        return Repetition(expr(depth - 1), low, high, span())

    rules = [
        Rule(name, span(), expr(3), span())
        for name in names
        for _ in range(rng.choice([1, 1, 1, 2]))
    ]
    return Grammar(Source("", "random", "kbnf"), tuple(rules), "s")
