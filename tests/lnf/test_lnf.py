"""Loup's normal form: no pass changes the language, and the result has the form."""

import random
from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
from support.lnf import (
    full_lnf_of,
    lnf_of,
    random_grammar,
    shown,
    words_of_lnf,
    words_of_tree,
)

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.graphs import strongly_connected
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import PASSES_WITHOUT_NULLABLE
from constrain.compiler.lnf.flatten import expand_repetitions, flatten_nested
from constrain.compiler.lnf.form import Lnf
from constrain.compiler.lnf.remove_units import eliminate_nullable


def test_each_pass_keeps_the_language(full: bool) -> None:
    """On random grammars the short members stay the same after every pass, ε included."""
    rng = random.Random(11)
    nonempty = nullable = 0
    for _ in range(3000 if full else 35):
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
    assert nonempty > (40 if full else 20)
    assert nullable > (12 if full else 5)


def test_long_bodies_are_rewritten_in_linear_time() -> None:
    """A body of 100,000 symbols, such as a count gives; it was copied for each of them."""
    lnf = lnf_of('s ::= "a" s "b" | "c";')
    long = max(lnf.productions, key=lambda p: len(p.body))
    body = long.body * 33_333
    start = process_time()
    found = eliminate_nullable(replace(lnf, productions=[replace(long, body=body)]))
    assert process_time() - start < 1
    assert [production.body for production in found.productions] == [body]


def test_bodies_are_made_flat_within_the_limits_of_time() -> None:
    """Each body and each repetition is a step that looks at the clock."""
    grammar = read_grammar('s ::= ("a" "b"*)*;', "kbnf")
    lnf = flatten_nested(grammar)
    limits = Limits().started()
    assert limits.meter is not None
    limits.meter.clock.spend(limits.seconds)
    with pytest.raises(LimitError, match="the normal form needs more than 60 seconds"):
        flatten_nested(grammar, limits)
    with pytest.raises(LimitError, match="the normal form needs more than 60 seconds"):
        expand_repetitions(lnf, limits)


def check_form(lnf: Lnf) -> None:
    """Conditions 1 to 6 of ``form``."""
    bodies = [(p.head, lnf.body_key(p.body)) for p in lnf.productions]
    assert len(set(bodies)) == len(bodies)
    assert [h for h, _ in bodies] == sorted(h for h, _ in bodies)
    for production in lnf.productions:
        assert production.times == (1, 1)
        assert production.origins
        if len(production.body) == 1 and production.body[0] >= 0:
            assert lnf.is_suffix(production)
        texts = [s < 0 and isinstance(lnf.terminals[~s].content, bytes) for s in production.body]
        assert not any(a and b for a, b in pairwise(texts))
        assert b"" not in [lnf.terminals[~s].content for s in production.body if s < 0]
    alone = [{p.body[0] for p in own if lnf.is_suffix(p)} for own in lnf.by_head]
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


@pytest.mark.quick
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


@pytest.mark.quick
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


@pytest.mark.quick
def test_merged_nonterminals_keep_all_places() -> None:
    """The text that is left comes from both rules."""
    lnf = lnf_of('a ::= "x" b | "y" c; b ::= "z"; c ::= "z";')
    production = lnf.productions[-1]
    assert {rule for rule, _, _ in production.origins} == {"b", "c"}
    assert {rule for rule, _, _ in lnf.terminals[~production.body[0]].origins} == {"b", "c"}


@pytest.mark.parametrize("size", [10, 300])
def test_long_chains_that_differ_at_the_end_stay_apart(size: int) -> None:
    """Blocks split one by one, from the last of many rules up; the same rules twice are one."""
    one = [f'p{i} ::= "x" p{i + 1} | "y" a;' for i in range(size)]
    two = [line.replace("p", "q") for line in one]
    ends = [f'p{size} ::= "end" a;', f'q{size} ::= "end" a;']
    lnf = lnf_of(" ".join(['a ::= "" | p0 | "-" q0;', *one, *two, *ends]))
    assert len({p.head for p in lnf.productions}) == size + 2
    ends = [f'p{size} ::= "end" a;', f'q{size} ::= "other" a;']
    other = lnf_of(" ".join(['a ::= "" | p0 | "-" q0;', *one, *two, *ends]))
    assert len({p.head for p in other.productions}) == 2 * size + 2


@pytest.mark.quick
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
