"""Grammars that were thought out to take all time and memory of a library without a timer."""

import json
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from support.fuzzing import small_tokenizer
from support.limits import calls_counted, work
from support.oracles.utf8 import automaton_via_split

from constrain.artifacts.errors import ConstrainError
from constrain.compiler import Compiler, Limits, load_tokenizer
from constrain.compiler.automata import utf8
from constrain.compiler.automata.dfa import Dfa, trimmed
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.frontend import Parser
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import Choice, Literal
from constrain.compiler.limits import Interrupted, in_force
from constrain.compiler.maximal_munch.lexemes import lexeme_grammar
from constrain.compiler.network.from_tree import numbered
from constrain.compiler.network.tree_layout import Layout
from constrain.compiler.network.tree_plan import procedures_of
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_engine
from constrain.compiler.schema.formulas import Every, Keys, conjunction
from constrain.compiler.schema.goals import NOTHING
from constrain.compiler.token_ids import token_ids
from constrain.compiler.tokenizers import Tokenizer

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """One for a small tokenizer."""
    file = small_tokenizer(tmp_path_factory.mktemp("hostile"))
    return Compiler(load_tokenizer(file), cache=None)


# Grammars whose compilation has steps of seconds to hours, and the seconds that are allowed.
ENDLESS = {
    "a search over nested counts": ("regex", "((a{1000}){1000}){1000}", "canonical", 60.0),
    "a search for a member": (
        "regex-extended",
        "&".join(f"(.*{letter}.*)" for letter in "abcdefghijklmnopqrstuvwxyz"),
        "any",
        0.3,
    ),
    "a pattern of many characters": (
        "json-schema",
        json.dumps({"type": "string", "pattern": "ab" * 250_000}),
        "any",
        0.3,
    ),
    "items that each may be the last": (
        "json-schema",
        json.dumps({"type": "array", "prefixItems": [{"type": "integer"}] * 2_000}),
        "any",
        0.3,
    ),
    "sets of states": ("regex", "[ab]*a[ab]{18}", "canonical", 0.3),
    "a lexer of all subsets": (
        "lark",
        'start: "(" start ")" | ('
        + " | ".join(f"T{i}" for i in range(60))
        + ")*\n"
        + "".join(f"T{i}: /[a-z]*{chr(97 + i % 26)}[a-z]{{{i % 9}}}/\n" for i in range(60))
        + '%ignore " "\n',
        "any",
        0.3,
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_the_library_keeps_its_limits_without_a_timer(name: str, compiler: Compiler) -> None:
    """A step that may run long looks at the clock itself, and a rule is named."""
    dialect, text, tokenization, seconds = ENDLESS[name]
    limits = Limits(seconds=seconds)
    compiler.compile("a", dialect="regex", tokenization=tokenization)
    begin = time.process_time()

    with pytest.raises(LimitError) as found:
        compiler.compile(text, dialect=dialect, tokenization=tokenization, limits=limits)

    assert time.process_time() - begin < 1.2 * 0.3 + 0.5
    assert found.value.rules


def test_explaining_keeps_the_limits_of_one_compilation() -> None:
    """Also while a grammar is read for the first time, to see what it repeats."""
    options = CompileOptions(dialect="regex", limits=Limits(seconds=0.1))
    begin = time.process_time()

    with pytest.raises(LimitError):
        explainer_of_grammar("a|" * 100_000, options)

    assert time.process_time() - begin < 1.2 * 0.1 + 0.5


def test_lexemes_are_compared_with_what_is_ignored_alone() -> None:
    """And not each with each."""
    grammar = read_grammar('start: ("t")*\n%ignore " "\n', "lark")
    [rule] = grammar.rules
    names = tuple(Literal(b"t%d" % i, rule.span) for i in range(6_000))
    grammar = replace(grammar, rules=(replace(rule, body=Choice(names, rule.span)),))
    begin = time.process_time()

    assert len(lexeme_grammar(grammar, Limits().started()).lexemes) == 6_001

    assert time.process_time() - begin < 4


def test_what_a_compilation_makes_later_is_by_its_clock() -> None:
    """Earley's tables, where they are the last engine that is tried, have no clock of their own."""
    parser = build_engine('root ::= "a" root "b" | "c"', dialect="gbnf")
    assert isinstance(parser, Parser)

    with in_force(Limits(seconds=0)), pytest.raises(LimitError):
        assert parser.layout

    assert parser.layout


def test_each_member_of_an_object_looks_at_the_clock() -> None:
    """What a schema of 100,000 properties asks is made of as many formulas, and that took 3 s."""
    with in_force(Limits(seconds=0)), pytest.raises(LimitError, match="the schema's keywords"):
        conjunction(Every(Keys(("a",)), NOTHING))


def test_the_clock_of_an_explanation_stands_still_between_texts() -> None:
    """Whoever keeps one waits for texts; a clock that ran before runs on."""
    own, given = Interrupted(Limits(seconds=0.05)), Interrupted(Limits(seconds=0.05).started())
    work(0.06)

    with own.running():
        own.limits.check_resources("the lexer")
        work(0.06)
        with pytest.raises(LimitError):
            own.limits.check_resources("the lexer")
    with given.running(), pytest.raises(LimitError):
        given.limits.check_resources("the lexer")


def test_the_rules_around_thousands_of_keywords_take_little() -> None:
    """They are found over lexemes, each of which is one symbol: no table has a column for each."""
    words = " | ".join(f'"kw{i}"' for i in range(600))
    text = f'start: ("(" start ")" | NAME | {words})*\nNAME: /[a-z0-9]+/\n%ignore /\\s+/\n'
    explainer = explainer_of_grammar(text, CompileOptions(dialect="lark"))

    with calls_counted() as calls:
        verdict = explainer.verdict(b"(kw5 ?")

    assert calls.total() < 1_500 * 600
    assert verdict.path == ("start",)


def test_blank_text_of_any_length_is_within_the_limits() -> None:
    """What is ignored is counted as what is read."""
    with pytest.raises(LimitError):
        read_grammar("\n" * 10_000, "gbnf", limits=Limits(seconds=0).started())


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("regex", "a{" + "9" * 31 + "}"),
        ("regex", "(ab){1," + "9" * 5000 + "}"),
        ("gbnf", 'root ::= "a" root{0,1' + "0" * 30 + '} "b"'),
        ("json-schema", '{"type": "string", "maxLength": 1e30}'),
        ("json-schema", '{"type": "string", "maxLength": 1e400}'),
    ],
)
def test_a_count_of_any_size_is_compiled(dialect: str, text: str, compiler: Compiler) -> None:
    """Counters hold as many as any text is long."""
    artifact = compiler.compile(text, dialect=dialect, tokenization="any")

    assert artifact.matcher().mask().any()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("kbnf", f'(*{"c" * MEGABYTE}*) start ::= "a";'),
        ("w3c", f'/*{"c" * MEGABYTE}*/ start ::= "a"'),
        ("lark", f"start: {'a' * MEGABYTE}"),
    ],
)
def test_a_token_of_a_megabyte_takes_little_more_to_read(dialect: str, text: str) -> None:
    """Nothing is remembered of each character, to go back to."""
    tracemalloc.start()
    try:
        check(read_grammar(text, dialect))
    except ConstrainError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 20 * MEGABYTE


def test_long_names_are_not_compared_with_each_other() -> None:
    """To find out which one was meant takes the time of their product."""
    uses = " ".join(f"{'u' * 2000}{i}" for i in range(30))
    rules = "".join(f'{"u" * 2000}x{i} ::= "a"\n' for i in range(30))

    with calls_counted() as calls, pytest.raises(CheckError, match="is not defined"):
        check(read_grammar(f"root ::= {uses}\n{rules}", "gbnf"))

    assert calls.total() < 150_000


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("regex", rf"\p{{{'L' * MEGABYTE}}}"),
        ("iso14977", f"a = ?{'x' * MEGABYTE}?;"),
        ("lark", 'start: t{"a"}\nt{x}: u{' + ",".join('x"a"' for _ in range(5000)) + "}"),
    ],
)
def test_a_message_is_short_whatever_it_names(dialect: str, text: str) -> None:
    """The beginning of a name is enough."""
    with pytest.raises(ConstrainError) as found:
        check(read_grammar(text, dialect))

    assert len(str(found.value)) < 10_000


def test_a_limit_in_reading_a_schema_names_where_it_starts() -> None:
    """It has no rules yet."""
    with pytest.raises(LimitError) as found:
        read_grammar("[" + "1," * 5_000, "json-schema", limits=Limits(seconds=0).started())

    assert found.value.rules == ("#",)


def test_many_terminals_of_almost_all_tokens_are_within_the_limits(compiler: Compiler) -> None:
    """There may be one for each token of a vocabulary."""
    grammar = read_grammar("root ::= " + " | ".join(f"!<[{i}]>" for i in range(100)), "gbnf")
    assert isinstance(compiler.tokenizer, Tokenizer)

    with pytest.raises(LimitError, match="token terminals") as found:
        token_ids(grammar, compiler.tokenizer, (), Limits(memory=40_000))

    assert found.value.rules == ("root",)


def test_words_take_memory_in_line_with_their_length() -> None:
    """However many of them there are: their beginnings are no keys."""
    limits = Limits().started()
    words = " | ".join(f'"{chr(97 + i) * 3000}"' for i in range(16))
    rules = numbered(read_grammar(f'root ::= root "!" root | {words}', "gbnf"), limits)
    tracemalloc.start()
    try:
        layout = Layout(rules, procedures_of(rules, frozenset()), limits)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert layout.components.states > 16 * 2999
    assert peak < 40 * MEGABYTE


def test_the_end_of_a_rule_by_a_long_string_is_within_the_limits(compiler: Compiler) -> None:
    """A string that overlaps itself at each place is at as many places at once."""
    text = f'start: t\nt[stop="{"a" * 20_000}"]: /[ab]*/'

    with pytest.raises(LimitError, match="bytes of memory"):
        compiler.compile(text, dialect="lark", limits=Limits(memory=50 * MEGABYTE))


def test_what_is_called_by_a_long_way_is_within_the_limits(compiler: Compiler) -> None:
    """Each way to push frames is a step of its own: the grammar is compiled in time, or refused."""
    rules = "".join(f'a{i} ::= a{i - 1} "{i}" | "{i}" a{i - 1} a{i - 1}\n' for i in range(1, 61))
    text = f'root ::= a60\na0 ::= "x"\n{rules}'
    begin = time.process_time()

    try:
        compiler.compile(text, dialect="gbnf", tokenization="any", limits=Limits(seconds=0.5))
    except LimitError as error:
        assert error.rules

    assert time.process_time() - begin < 1.2 * 0.5 + 0.5


def test_many_numbers_of_a_schema_are_met_as_sets() -> None:
    """And not each with each."""
    text = json.dumps({"allOf": [{"enum": [*range(i, 2000 + i)]} for i in range(2)]})

    with calls_counted() as calls:
        read_grammar(text, "json-schema")

    assert calls.total() < 2_000_000


def test_the_automaton_of_a_class_takes_little_for_each_of_its_ranges() -> None:
    """And not a set of what is left of each."""
    ranges = [(code, code) for code in range(0x10000, 0x10000 + 2 * 10_000, 2)]

    with calls_counted() as calls:
        found = utf8.automaton(ranges)

    assert found == automaton_via_split(ranges)
    assert calls.total() < 20 * len(ranges)


def test_a_large_table_is_trimmed_beside_one_more_of_its_size() -> None:
    """And not beside copies of it by columns, of its live states, and of all in their new order."""
    states, width = 4_000, 128
    rows, columns = np.ogrid[:states, :width]
    table = (rows + 1 + (columns >> rows % 7) % 2).astype(np.int32)
    table[[0, -2, -1]] = 0
    accepting = np.arange(states) == states - 2
    classes = np.minimum(np.arange(256), width - 1).astype(np.uint8)
    dfa = Dfa(table, classes, accepting, 1, (frozenset(),) * states)
    tracemalloc.start()
    try:
        found = trimmed(dfa)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 1 < found.states < states
    assert peak < 6 * table.nbytes


def test_trimming_looks_at_the_clock() -> None:
    """It may be of hundreds of thousands of states."""
    dfa = Dfa(
        np.array([[0], [1]], dtype=np.int32),
        np.zeros(256, dtype=np.uint8),
        np.array([False, True]),
        1,
        (frozenset(),) * 2,
    )
    with pytest.raises(LimitError):
        trimmed(dfa, Limits(seconds=0).started())
