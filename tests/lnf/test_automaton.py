"""From the normal form to automata, and what is refused on the way."""

import random

import pytest
from support.automata import words_of
from support.lnf import (
    LONGEST,
    lnf_of,
    random_grammar,
    words_of_node,
    words_of_tree,
)

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.graphs import strongly_connected
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson, without_epsilon
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import normalize
from constrain.compiler.lnf.automaton import to_nfa


def test_automaton_has_the_language_of_the_grammar(full: bool) -> None:
    """Where a random grammar is not self-embedding, its DFA has the same short members."""
    rng = random.Random(13)
    regular = 0
    for _ in range(4000 if full else 99):
        grammar = random_grammar(rng)
        expected = words_of_tree(grammar)
        try:
            nfa, _ = to_nfa(normalize(grammar))
        except (NotRegularError, CheckError):
            continue
        regular += 1
        dfa = minimize(determinize(nfa))
        assert frozenset(bytes(w) for w in words_of(dfa, LONGEST)) == expected
        origins = {o for found in dfa.origins for o in found}
        assert expected <= {b""} or origins
    assert regular > 50


def random_node(rng: random.Random, depth: int) -> regex.Node:
    """A regular expression over a, b, mostly nullable."""
    kind = rng.random() if depth else 0.0
    if kind < 0.2:
        automaton = thompson(regex.repeat(regex.Lit(rng.choice([b"a", b"ba"])), 0, 2))
        ends = [regex.Lit(b"a"), regex.Lit(b"b"), regex.EPSILON, regex.Lit(b"ab")]
        return rng.choice([*ends, regex.Embedded(automaton)])
    if kind < 0.45:
        return regex.seq(*(random_node(rng, depth - 1) for _ in range(rng.randrange(1, 4))))
    if kind < 0.65:
        return regex.alt(*(random_node(rng, depth - 1) for _ in range(rng.randrange(1, 4))))
    if kind < 0.8:
        return regex.optional(random_node(rng, depth - 1))
    low, high = rng.choice([(0, None), (1, None), (0, 2), (2, 3), (2, None)])
    return regex.repeat(random_node(rng, depth - 1), low, high)


def test_automata_lose_only_epsilon(full: bool) -> None:
    """``is_nullable`` and ``without_epsilon`` agree with the members of the automaton."""
    rng = random.Random(17)
    for _ in range(5000 if full else 82):
        node = random_node(rng, 4)
        expected = words_of_node(node)
        assert regex.is_nullable(node) == (b"" in expected)
        without = without_epsilon(node)
        assert not regex.is_nullable(without)
        assert words_of_node(without) == expected - {b""}


def test_losing_epsilon_needs_no_python_stack(deep: int) -> None:
    """Deep expressions, and sequences of many nullable parts."""
    node: regex.Node = regex.Lit(b"a")
    for _ in range(deep):
        node = regex.Repeat(regex.Optional(node), 0, None)
    assert not regex.is_nullable(without_epsilon(node))
    node = regex.Lit(b"a")
    for _ in range(deep):
        node = regex.Optional(regex.Alt((regex.Lit(b"b"), node)))
    without = without_epsilon(node)
    assert isinstance(without, regex.Alt)
    assert len(without.options) == deep + 1
    parts = [regex.Optional(regex.Lit(b"a")) for _ in range(40)]
    assert not regex.is_nullable(without_epsilon(regex.Seq(tuple(parts))))


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


def test_deep_nesting_needs_no_python_stack(deep: int) -> None:
    """Nested groups and options become an automaton."""
    text = "a ::= " + "(" * deep + '"x"' + ")" * deep + ";"
    assert to_nfa(lnf_of(text))[0].accepts(b"x")
    text = "a ::= " + "[" * 5000 + '"x"' + "]" * 5000 + ";"
    nfa = to_nfa(lnf_of(text))[0]
    assert nfa.accepts(b"x")
    assert nfa.accepts(b"")


def test_chains_of_units_are_bounded() -> None:
    """A body at each of many units in a row grows quadratically, and is refused by name."""
    rules = [f'r{i} ::= r{i + 1} | r{i + 1} "y";' for i in range(400)]
    text = " ".join(rules) + ' r400 ::= "c";'
    grammar = read_grammar(text, "kbnf")
    with pytest.raises(LimitError, match=r"the normal form needs more than .* bytes.*rule 'r"):
        normalize(grammar, Limits(memory=1_000_000))
