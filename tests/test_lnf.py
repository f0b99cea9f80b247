"""Loup's normal form: every pass keeps the language, and the result has the form."""

import random
from functools import cache
from itertools import pairwise

import pytest

from constrain.compiler.automata import regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.diagnostics import CheckError, NotRegularError, Source, Span
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
from constrain.compiler.lnf import PASSES, flatten_nested, normalize
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.components import strongly_connected
from constrain.compiler.lnf.form import Lnf

LONGEST = 5


def lnf_of(text: str) -> Lnf:
    """The normal form of a kbnf text."""
    grammar = read_grammar(text, "kbnf")
    check(grammar)
    return normalize(grammar)


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
    known: dict[str, Words] = {name: frozenset() for name in bodies}

    def words(expr: Expr) -> Words:
        match expr:
            case Literal():
                return frozenset([expr.data]) if len(expr.data) <= LONGEST else frozenset()
            case Pattern():
                return words_of_node(expr.node)
            case Reference():
                return known[expr.name]
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
        if new == known:
            return known[grammar.start]
        known = new


@cache
def words_of_node(node: regex.Node) -> Words:
    """The short members of a regex terminal."""
    from constrain.compiler.automata.nfa import thompson

    return frozenset(bytes(w) for w in determinize(thompson(node)).members(LONGEST))


def words_of_lnf(lnf: Lnf) -> Words:
    """The same for productions, repetitions included."""
    known: list[Words] = [frozenset() for _ in lnf.names]
    while True:
        new: list[Words] = []
        for productions in lnf.by_head:
            found: Words = frozenset()
            for production in productions:
                body: Words = frozenset([b""])
                for s in production.body:
                    content = lnf.terminals[~s].content if s < 0 else b""
                    if s >= 0:
                        body = joined(body, known[s])
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
        if new == known:
            return known[lnf.start]
        known = new


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


def test_each_pass_keeps_the_language(full: bool) -> None:
    """On random grammars the short members stay the same after every pass, ε included."""
    rng = random.Random(11)
    nonempty = 0
    for _ in range(3000 if full else 400):
        grammar = random_grammar(rng)
        expected = words_of_tree(grammar)
        lnf = flatten_nested(grammar)
        assert words_of_lnf(lnf) == expected
        try:
            for normal_pass in PASSES:
                lnf = normal_pass(lnf)
                assert words_of_lnf(lnf) == expected, normal_pass.__name__
        except CheckError:
            assert expected == frozenset()
            continue
        nonempty += 1
        check_form(lnf)
    assert nonempty > 100


def check_form(lnf: Lnf) -> None:
    """The five conditions of ``form``."""
    bodies = [(p.head, lnf.body_key(p.body)) for p in lnf.productions]
    assert len(set(bodies)) == len(bodies)
    assert [h for h, _ in bodies] == sorted(h for h, _ in bodies)
    for production in lnf.productions:
        assert production.times == (1, 1)
        assert production.origins
        assert not (len(production.body) == 1 and production.body[0] >= 0)
        texts = [s < 0 and isinstance(lnf.terminals[~s].content, bytes) for s in production.body]
        assert not any(a and b for a, b in pairwise(texts))


def test_automaton_has_the_language_of_the_grammar(full: bool) -> None:
    """Where a random grammar is not self-embedding, its DFA has the same short members."""
    rng = random.Random(13)
    regular = 0
    for _ in range(4000 if full else 600):
        grammar = random_grammar(rng)
        expected = words_of_tree(grammar)
        try:
            nfa, _ = to_nfa(normalize(grammar))
        except (NotRegularError, CheckError):
            continue
        regular += 1
        dfa = minimize(determinize(nfa))
        assert frozenset(bytes(w) for w in dfa.members(LONGEST)) == expected
        origins = {o for found in dfa.origins for o in found}
        assert expected <= {b""} or origins
    assert regular > 100


@pytest.mark.parametrize(
    ("text", "productions"),
    [
        ('a ::= ("x" | "y") b; b ::= "z"; c ::= "no";',
         ["a ::= a/1 b", "b ::= 'z'", "a/1 ::= 'x'", "a/1 ::= 'y'"]),
        ('a ::= "b" "c", "d";', ["a ::= 'bcd'"]),
        ('a ::= "x" | "y" | "x";', ["a ::= 'x'", "a ::= 'y'"]),
        ('a ::= b; b ::= c; c ::= "x" | "y";', ["a ::= 'x'", "a ::= 'y'"]),
        ('a ::= "x" a | "y" | a; b ::= b;', ["a ::= 'x' a", "a ::= 'y'"]),
        ('a ::= "x" d | "y"; d ::= "z" d;', ["a ::= 'y'"]),
        ('a ::= "x" e "y"; e ::= "";', ["a ::= 'xy'"]),
        ('a ::= b* "x"; b ::= "y" "z";',
         ["a ::= a/1 'x'", "b ::= 'yz'", "a/1 ::= ε", "a/1 ::= a/1 b"]),
        ('a ::= "x"; a ::= "y";', ["a ::= 'x'", "a ::= 'y'"]),
        ('a ::= "x"?;', ["a ::= ε", "a ::= 'x'"]),
    ],
)  # fmt: skip
def test_normal_form_of_small_grammars(text: str, productions: list[str]) -> None:
    """The seed document's examples and their like."""
    assert shown(lnf_of(text)) == productions


def test_origins_add_up() -> None:
    """Merged texts and replaced units carry the places of all that they came from."""
    text = 'a ::= b; b ::= "x" "y";'
    (production,) = lnf_of(text).productions
    places = {(rule, text[start:end]) for rule, start, end in production.origins}
    assert places == {("a", "b"), ("b", '"x" "y"')}
    lnf = lnf_of(text)
    terminal = lnf.terminals[~production.body[0]]
    assert {text[s:e] for _, s, e in terminal.origins} == {'"x"', '"y"'}


def test_empty_language_names_the_rule() -> None:
    """A start without a finite member is refused."""
    with pytest.raises(CheckError, match="rule 's' is an empty language"):
        lnf_of('s ::= "x" s | t; t ::= "y" s;')


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ('s ::= "(" s ")" | "";', "s → s"),
        ('e ::= t | e "+" t; t ::= "(" e ")" | "n";', "t → e → t"),
        ('s ::= "a" t | "x"; t ::= s "b";', "s → t → s"),
        ('s ::= "a" (s | "x") "b" | "c";', "s → s"),
    ],
)
def test_self_embedding_names_the_cycle(text: str, cycle: str) -> None:
    """A rule that nests itself is refused with the way around."""
    with pytest.raises(NotRegularError) as caught:
        to_nfa(lnf_of(text))
    assert f"({cycle})" in str(caught.value)
    assert "not known to be regular" in str(caught.value)


def test_wide_sharing_stays_small() -> None:
    """Thirty rules that each use the next one twice take time by their language's size."""
    rules = [f'r{i} ::= "a" r{i + 1} | "b" r{i + 1};' for i in range(60)]
    nfa, _ = to_nfa(lnf_of(" ".join(rules) + ' r60 ::= "c";'))
    assert nfa.states < 1000


def test_strongly_connected_components_come_callees_first() -> None:
    """A component comes after all that it uses; members are sorted."""
    assert strongly_connected([[1], [0], [0]]) == [(0, 1), (2,)]
    assert strongly_connected([[1], [2], [], [0]]) == [(2,), (1,), (0,), (3,)]


def test_deep_nesting_needs_no_python_stack() -> None:
    """Sixty thousand nested options and groups become an automaton."""
    depth = 60_000
    text = "a ::= " + "(" * depth + '"x"' + ")" * depth + ";"
    assert to_nfa(lnf_of(text))[0].accepts(b"x")
    text = "a ::= " + "[" * 5000 + '"x"' + "]" * 5000 + ";"
    nfa = to_nfa(lnf_of(text))[0]
    assert nfa.accepts(b"x")
    assert nfa.accepts(b"")
