"""Loup's normal form: every pass keeps the language, and the result has the form."""

import random
from functools import cache
from itertools import pairwise

import pytest

from constrain.compiler.automata import regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.epsilon import without_epsilon
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError, Source, Span
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
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import (
    PASSES_WITHOUT_NULLABLE,
    eliminate_nullable,
    flatten_nested,
    normalize,
    normalize_without_nullable,
)
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.components import strongly_connected
from constrain.compiler.lnf.form import Lnf

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
    return frozenset(bytes(w) for w in determinize(thompson(node)).members(LONGEST))


def words_of_lnf(lnf: Lnf) -> Words:
    """The same for productions, repetitions included, and ε if the form tells it apart."""
    known: list[Words] = [frozenset() for _ in lnf.names]
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
            return known[lnf.start] | apart
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
    nonempty = nullable = 0
    for _ in range(3000 if full else 400):
        grammar = random_grammar(rng)
        expected = words_of_tree(grammar)
        lnf = flatten_nested(grammar)
        assert words_of_lnf(lnf) == expected
        try:
            for normal_pass in PASSES_WITHOUT_NULLABLE:
                if normal_pass is eliminate_nullable:
                    check_form(lnf)
                lnf = normal_pass(lnf)
                assert words_of_lnf(lnf) == expected, normal_pass.__name__
        except CheckError:
            assert expected == frozenset()
            continue
        nonempty += 1
        nullable += lnf.nullable_start
        assert lnf.nullable_start == (b"" in expected)
        check_form(lnf)
        check_nothing_is_nullable(lnf)
    assert nonempty > 100
    assert nullable > 50


def check_form(lnf: Lnf) -> None:
    """Conditions 1 to 6 of ``form``."""
    bodies = [(p.head, lnf.body_key(p.body)) for p in lnf.productions]
    assert len(set(bodies)) == len(bodies)
    assert [h for h, _ in bodies] == sorted(h for h, _ in bodies)
    for production in lnf.productions:
        assert production.times == (1, 1)
        assert production.origins
        if len(production.body) == 1 and production.body[0] >= 0:
            assert lnf.is_rest(production)
        texts = [s < 0 and isinstance(lnf.terminals[~s].content, bytes) for s in production.body]
        assert not any(a and b for a, b in pairwise(texts))
        assert b"" not in [lnf.terminals[~s].content for s in production.body if s < 0]
    alone = [{p.body[0] for p in own if lnf.is_rest(p)} for own in lnf.by_head]
    assert all(len(found) == 1 for found in strongly_connected([sorted(s) for s in alone]))
    used = {lnf.start} | {s for p in lnf.productions for s in p.body if s >= 0}
    assert {h for h, _ in bodies} | {lnf.start} == used
    reached = {lnf.start}
    for _ in lnf.names:
        reached |= {s for p in lnf.productions if p.head in reached for s in p.body if s >= 0}
    assert reached == used
    block = dict.fromkeys(used, 0)
    for _ in used:
        sets = {
            head: frozenset(
                tuple(("n", block[s]) if s >= 0 else lnf.body_key([s]) for s in p.body)
                for p in lnf.by_head[head]
            )
            for head in used
        }
        numbers = {found: i for i, found in enumerate(set(sets.values()))}
        block = {head: numbers[sets[head]] for head in used}
    assert len(set(block.values())) == len(used)


def check_nothing_is_nullable(lnf: Lnf) -> None:
    """Condition 7 of ``form``."""
    for production in lnf.productions:
        assert production.body
        for symbol in production.body:
            content = lnf.terminals[~symbol].content if symbol < 0 else b"."
            assert isinstance(content, bytes) or not regex.is_nullable(content)


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


@pytest.mark.parametrize(
    ("text", "productions"),
    [
        ('a ::= "x" b | "y" c; b ::= "z"; c ::= "z";',
         ["a ::= 'x' b", "a ::= 'y' b", "b ::= 'z'"]),
        ('a ::= "x" b | "x" c; b ::= "z"; c ::= "z" | "z";', ["a ::= 'x' b", "b ::= 'z'"]),
        ('a ::= l m; l ::= "" | l "x"; m ::= m "x" | "";',
         ["a ::= l l", "l ::= ε", "l ::= l 'x'"]),
        ('a ::= l m; l ::= "" | m "x"; m ::= "" | l "x";',
         ["a ::= l l", "l ::= ε", "l ::= l 'x'"]),
        ('a ::= "x" b | "y"; b ::= "x" c | "y"; c ::= "x" a | "y";',
         ["a ::= 'x' a", "a ::= 'y'"]),
        ('a ::= l m; l ::= "" | l "x"; m ::= "" | m "y";',
         ["a ::= l m", "l ::= ε", "l ::= l 'x'", "m ::= ε", "m ::= m 'y'"]),
        ('a ::= "x" b | c b; b ::= "x" "y" | "z"; c ::= "x" "z" | "y";',
         ["a ::= 'x' b", "a ::= c b", "b ::= 'xy'", "b ::= 'z'", "c ::= 'xz'", "c ::= 'y'"]),
        ('a ::= b "-" c; b ::= "x" b | "y"; c ::= "x" "x" | b "x" | "y";',
         ["a ::= b '-' c", "b ::= 'x' b", "b ::= 'y'", "c ::= 'xx'", "c ::= b 'x'",
          "c ::= 'y'"]),
        ('a ::= "x" b c; b ::= d "x" | "z"; c ::= d c | "z"; d ::= "d" | "e";',
         ["a ::= 'x' b c", "b ::= d 'x'", "b ::= 'z'", "c ::= d c", "c ::= 'z'", "d ::= 'd'",
          "d ::= 'e'"]),
        ('a ::= b b? b?; b ::= "x" "y" | "z";',
         ["a ::= b a/1 a/1", "b ::= 'xy'", "b ::= 'z'", "a/1 ::= ε", "a/1 ::= 'xy'",
          "a/1 ::= 'z'"]),
    ],
)  # fmt: skip
def test_nonterminals_with_the_same_productions_become_one(
    text: str, productions: list[str]
) -> None:
    """Also where they recurse, into themselves or into each other; the start keeps its name."""
    assert shown(lnf_of(text)) == productions


def test_merged_nonterminals_keep_all_places() -> None:
    """The text that is left comes from both rules."""
    lnf = lnf_of('a ::= "x" b | "y" c; b ::= "z"; c ::= "z";')
    production = lnf.productions[-1]
    assert {rule for rule, _, _ in production.origins} == {"b", "c"}
    assert {rule for rule, _, _ in lnf.terminals[~production.body[0]].origins} == {"b", "c"}


@pytest.mark.parametrize("size", [10, 300])
def test_long_chains_that_differ_at_the_end_stay_apart(size: int) -> None:
    """Blocks split one by one, up a chain; the same chain twice is one."""
    one = [f'p{i} ::= "x" p{i + 1} | "y" a;' for i in range(size)]
    two = [line.replace("p", "q") for line in one]
    ends = [f'p{size} ::= "end" a;', f'q{size} ::= "end" a;']
    lnf = lnf_of(" ".join(['a ::= "" | p0 | "-" q0;', *one, *two, *ends]))
    assert len({p.head for p in lnf.productions}) == size + 2
    ends = [f'p{size} ::= "end" a;', f'q{size} ::= "other" a;']
    other = lnf_of(" ".join(['a ::= "" | p0 | "-" q0;', *one, *two, *ends]))
    assert len({p.head for p in other.productions}) == 2 * size + 2


@pytest.mark.parametrize(
    ("text", "productions", "nullable_start"),
    [
        ('a ::= b? b? b? b? b?; b ::= "b";',
         ["a ::= a/1 a~3", "a ::= a~3", "a ::= 'b'", "a/1 ::= 'b'", "a~1 ::= a/1 a/1",
          "a~1 ::= 'b'", "a~2 ::= a/1 a~1", "a~2 ::= a~1", "a~2 ::= 'b'", "a~3 ::= a/1 a~2",
          "a~3 ::= a~2", "a~3 ::= 'b'"], True),
        ('a ::= "x" "y"? "z";', ["a ::= 'x' a/1 'z'", "a ::= 'xz'", "a/1 ::= 'y'"], False),
        ('a ::= b; b ::= "b"?;', ["a ::= 'b'"], True),
        ('a ::= "";', [], True),
        ('a ::= "x"*;', ["a ::= a 'x'", "a ::= 'x'"], True),
        ('a ::= b "x" | ""; b ::= "" | "b";', ["a ::= b 'x'", "a ::= 'x'", "b ::= 'b'"], True),
    ],
)  # fmt: skip
def test_elimination_of_nullable_rules(
    text: str, productions: list[str], nullable_start: bool
) -> None:
    """The seed document's examples and their like: nothing derives ε, the flag tells it."""
    lnf = full_lnf_of(text)
    assert shown(lnf) == productions
    assert lnf.nullable_start == nullable_start


@pytest.mark.parametrize("options", [40, 400])
@pytest.mark.parametrize(("option", "productions"), [('"t{}."?', 5), ('("t{0}." | "!t{0}")?', 7)])
def test_many_options_in_a_row_stay_linear(option: str, productions: int, options: int) -> None:
    """Forty symbols that may all be missing have 2^40 forms and fewer than 200 productions."""
    lnf = full_lnf_of(f"a ::= {' '.join(map(option.format, range(options)))};")
    check_nothing_is_nullable(lnf)
    assert len(lnf.productions) < productions * options
    assert sum(len(p.body) for p in lnf.productions) < 2 * productions * options


def test_long_chains_of_rules_stay_linear() -> None:
    """A body that came through thousands of rules does not name them all."""
    rules = [f'r{i} ::= r{i + 1} | "x{i}";' for i in range(3000)]
    lnf = lnf_of(" ".join([*rules, 'r3000 ::= "end";']))
    assert len(lnf.productions) == 3001
    assert sum(len(p.origins) for p in lnf.productions) < 20 * 3001


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
    for _ in range(5000 if full else 500):
        node = random_node(rng, 4)
        expected = words_of_node(node)
        assert regex.is_nullable(node) == (b"" in expected)
        without = without_epsilon(node)
        assert not regex.is_nullable(without)
        assert words_of_node(without) == expected - {b""}


def test_losing_epsilon_needs_no_python_stack() -> None:
    """Deep expressions, and sequences of many nullable parts."""
    node: regex.Node = regex.Lit(b"a")
    for _ in range(60_000):
        node = regex.Repeat(regex.Optional(node), 0, None)
    assert not regex.is_nullable(without_epsilon(node))
    node = regex.Lit(b"a")
    for _ in range(60_000):
        node = regex.Optional(regex.Alt((regex.Lit(b"b"), node)))
    without = without_epsilon(node)
    assert isinstance(without, regex.Alt)
    assert len(without.options) == 60_001
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


def test_deep_nesting_needs_no_python_stack() -> None:
    """Sixty thousand nested options and groups become an automaton."""
    depth = 60_000
    text = "a ::= " + "(" * depth + '"x"' + ")" * depth + ";"
    assert to_nfa(lnf_of(text))[0].accepts(b"x")
    text = "a ::= " + "[" * 5000 + '"x"' + "]" * 5000 + ";"
    nfa = to_nfa(lnf_of(text))[0]
    assert nfa.accepts(b"x")
    assert nfa.accepts(b"")


def test_chains_of_units_are_bounded() -> None:
    """A body at every link of a long chain grows quadratically, and is refused by name."""
    rules = [f'r{i} ::= r{i + 1} | r{i + 1} "y";' for i in range(400)]
    text = " ".join(rules) + ' r400 ::= "c";'
    grammar = read_grammar(text, "kbnf")
    with pytest.raises(LimitError, match=r"the normal form needs more than .* bytes.*rule 'r"):
        normalize(grammar, Limits(memory=1_000_000))
