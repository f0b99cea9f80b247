"""How coverage grows with texts, which texts it takes for members, and its limits."""

import random
import time
from dataclasses import replace

import pytest

from constrain.compiler.choose import engine_of
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.explain.report import Status
from constrain.compiler.frontend import read_checked
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions
from tests.support.grammars import ARITHMETIC, DYCK, JSON, MARKUP, RIGHT, SAMPLES, STATEMENTS

AMBIGUOUS = "s ::= s s | 'a';"

LARK = r"""
start: statement*
statement: NAME "=" sum ";" | "if" sum statement | "{" statement* "}"
sum: (sum "+")? atom
atom: NAME | /[0-9]+/ | "(" sum ")"
NAME: /[a-z]+/
%ignore /[ \n]+/
%ignore /#[^\n]*/
"""


def coverage_of(text: str, limits: Limits | None = None, dialect: str = "kbnf") -> Coverage:
    """Before any text."""
    options = CompileOptions(dialect=dialect)
    grammar = read_checked(text, options, "g")
    over_lexemes = engine_of(grammar, options).semantics == "maximal-munch"
    return Coverage(grammar, limits or Limits().started(), over_lexemes=over_lexemes)


def configurations(text: bytes, grammar: str) -> int:
    """How much is reached of a text, which is the same on each machine."""
    from constrain.compiler.coverage.chart import read

    coverage = coverage_of(grammar)
    chart = read(coverage.graph, coverage.graph.start(), text, 0, len(text), Limits().started())
    assert chart.has_ended(len(text))
    chart.used(len(text))
    return sum(len(column.seen) for column in chart.columns.values())


@pytest.mark.parametrize(
    ("grammar", "begin", "repeated", "end"),
    [
        (JSON, b"[1", b"," + SAMPLES[JSON], b"]"),
        (ARITHMETIC, b"1", b"+" + SAMPLES[ARITHMETIC], b""),
        (DYCK, b"", SAMPLES[DYCK], b""),
        (MARKUP, b"<r>", SAMPLES[MARKUP], b"</r>"),
        (STATEMENTS, b"", SAMPLES[STATEMENTS], b""),
        (RIGHT, b"", b"aaaaaaaaaa", b""),
    ],
    ids=["json", "arithmetic", "dyck", "markup", "statements", "right"],
)
def test_texts_of_grammars_that_people_write_take_time_linear_in_their_length(
    grammar: str, begin: bytes, repeated: bytes, end: bytes
) -> None:
    """Ten times the text is ten times as much; what ends again and again is skipped."""
    once = configurations(begin + repeated * 4 + end, grammar)

    assert configurations(begin + repeated * 40 + end, grammar) < 10.5 * once


def test_ambiguous_texts_are_cubic_and_not_exponential() -> None:
    """A text of n bytes has a number of derivations exponential in n, and n² configurations."""
    small, large = (configurations(b"a" * n, AMBIGUOUS) for n in (15, 30))

    assert large < 4.5 * small


def test_a_text_of_ten_kilobytes_takes_seconds(full: bool) -> None:
    """Half a second on two quiet cores; within five whatever else they do."""
    text = b"[" + b", ".join([SAMPLES[JSON]] * (170 if full else 20)) + b"]"
    coverage = coverage_of(JSON)
    before = time.process_time()

    assert coverage.add(text)
    assert time.process_time() - before < 5


def test_limits_end_the_work_and_name_the_rule() -> None:
    """Counted memory, and time."""
    with pytest.raises(LimitError, match=r"coverage of a text.*memory.*rule 's'"):
        coverage_of(AMBIGUOUS, Limits(memory=5_000_000).started()).add(b"a" * 300)
    limits = Limits().started()
    assert limits.meter is not None
    coverage = coverage_of(AMBIGUOUS, replace(limits, seconds=0.0))
    limits.meter.clock.spend(60)
    with pytest.raises(LimitError, match="seconds"):
        coverage.add(b"a" * 100)


def test_exceptions_inside_exceptions_are_read_within_a_bound() -> None:
    """Each is read while the one around it is: 120 of them were an internal error."""
    rules = [f"x{i} ::= ([a-z]* - x{i + 1}) | '{i}'\n" for i in range(120)]

    def nested(depth: int) -> Coverage:
        inner = "".join(rules[120 - depth :])
        return coverage_of(f"start ::= x{120 - depth}\n{inner}x120 ::= 'z'\n", dialect="w3c")

    assert nested(31).add(b"a")
    with pytest.raises(LimitError, match=r"more than 50 levels of nesting.*; simplify"):
        nested(120).add(b"a")


@pytest.mark.parametrize(
    ("grammar", "dialect", "sample"),
    [
        (JSON, "kbnf", SAMPLES[JSON]),
        (STATEMENTS, "kbnf", SAMPLES[STATEMENTS]),
        (LARK, "lark", b"x = 1 + (y) ; if x { y = ifx; # c\n }"),
        (LARK + "%llguidance {}\n", "lark", b"x = 1 + (y) ; if x { y = ifx; # c\n }"),
    ],
    ids=["json", "statements", "lark", "llguidance"],
)
def test_members_are_those_of_the_engine(
    grammar: str, dialect: str, sample: bytes, full: bool
) -> None:
    """A text with bytes left out, doubled or changed is covered just if the engine accepts it."""
    rng = random.Random(1)
    coverage = coverage_of(grammar, dialect=dialect)
    explainer = explainer_of_grammar(grammar, CompileOptions(dialect=dialect), "g")
    found = {True: 0, False: 0}
    for _ in range(2_000 if full else 24):
        text = bytearray(sample)
        for _ in range(rng.randint(0, 2)):
            at = rng.randrange(len(text))
            other = rng.choice(sample)
            text[at : at + 1] = rng.choice([b"", text[at : at + 1] * 2, bytes([other])])
        is_member = explainer.verdict(bytes(text)).status is Status.ACCEPTED
        assert is_member == (coverage.covered_by(bytes(text)) is not None), bytes(text)
        found[is_member] += 1

    assert min(found.values()) > 5
