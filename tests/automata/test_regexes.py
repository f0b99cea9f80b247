"""Regular expressions: the extended operators, flags, properties, writing, and what limits say."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import regex
from support import constrain
from support.automata import build_automaton
from support.regex_oracle import random_node
from support.regexes import accepts, automaton_of, dfa_of, node_of

from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.automata.unicode_properties import property_code_points, with_other_cases
from constrain.compiler.automata.utf8 import ANY, complement, intersection, normalized
from constrain.compiler.diagnostics import DialectError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lints import lint
from constrain.compiler.writers import WRITERS
from constrain.compiler.writers.printer import node_text
from constrain.compiler.writers.regex import RegexStyle


def test_expressions_are_written_and_read_again(data: Callable[[str], Path], full: bool) -> None:
    """text -> node -> text -> node has the same language, on the suites and at random."""
    random = Random(3)
    texts = [
        text
        for file in sorted(data("suites/rust-regex/testdata").rglob("*.toml"))
        for test in tomllib.loads(file.read_text(encoding="utf-8"))["test"]
        for text in ([test["regex"]] if isinstance(test["regex"], str) else test["regex"])
    ]
    lines = data("suites/python-re/re_tests.jsonl").read_text(encoding="utf-8").splitlines()
    texts = sorted({*texts, *(json.loads(line)["pattern"] for line in lines)}, key=len)[:-10]
    nodes = [random_node(random, 3) for _ in range(400 if full else 13)]
    for text in texts if full else random.sample(texts, 35):
        try:
            nodes.append(node_of(text))
        except DialectError:
            continue
    for node in nodes:
        text = node_text(node, RegexStyle(extended=True)).text
        again = node_of(text, extended=True)
        first, second = (minimize(determinize(thompson(resolved(n)))) for n in (node, again))
        assert first.table.tolist() == second.table.tolist(), text
        assert first.accepting.tolist() == second.accepting.tolist(), text


@pytest.mark.parametrize(
    ("text", "accepted", "rejected"),
    [
        ("~(.*ab.*)&.{2,3}", ["aa", "bba"], ["ab", "aab", "a"]),
        (r"(?s:.*)\bé(?s:.*)&~(x.*)", ["é", "a é"], ["aé", "xy é"]),
        ("~~a", ["a"], ["b", ""]),
        (r"a\&b\~", ["a&b~"], ["a"]),
        ("[&~]", ["&", "~"], ["a"]),
        ("a|b&c", ["a"], ["b", "c"]),
        ("~a*", ["", "b", "aa"], ["a"]),
        ("~(a*)", ["b", "ab"], ["", "a"]),
        (r"a(\b&~x)b|c(\B&~x)d", ["cd"], ["ab"]),
    ],
)
def test_extended_operators(text: str, accepted: list[str], rejected: list[str]) -> None:
    """& is looser than a sequence and tighter than |; ~ is tighter than a quantifier."""
    nfa = automaton_of(text, extended=True)

    assert [] == [word for word in accepted if not nfa.accepts(word.encode())]
    assert [] == [word for word in rejected if nfa.accepts(word.encode())]


def test_without_the_extension_the_operators_are_characters() -> None:
    """Expressions of others use them plainly."""
    assert accepts("a&b~", "a&b~")
    assert not accepts("a&a", "a")


def test_complements_hold_valid_utf_8_alone() -> None:
    """No byte that is no character is ever in one."""
    nfa = automaton_of("~(a)", extended=True)

    assert nfa.accepts("é".encode())
    assert not nfa.accepts(b"\xff")
    assert not nfa.accepts("é".encode()[:1])


@pytest.mark.parametrize(
    ("flags", "text", "word", "member"),
    [
        ("i", "k", "\u212a", True),
        ("", "k", "K", False),
        ("s", "a.", "a\n", True),
        ("x", "a b # c", "ab", True),
        ("m", "a\n^b", "a\nb", True),
        ("u", r"\w", "é", True),
        ("a", r"\w", "é", False),
    ],
)
def test_flags_from_outside(flags: str, text: str, word: str, member: bool) -> None:
    """What another dialect writes after a regex holds from its beginning."""
    assert member == accepts(text, word, flags)


@pytest.mark.parametrize("name", ["Lu", "L", "LC", "Greek", "scx=Grek", "White_Space", "Emoji"])
def test_properties_are_those_of_the_generator(name: str) -> None:
    """A sample of the data against the package that it was made from."""
    if not regex.match(r"\P{Cn}", "\u20c1"):
        pytest.skip("regex knows an older Unicode than 17")
    ranges = property_code_points(name)
    matches = regex.compile(rf"\p{{{name}}}").fullmatch
    codes = [*range(0x600), *range(0x1E00, 0x2100), *range(0x1F600, 0x1F650)]

    assert [c for c in codes if matches(chr(c))] == [
        c for c in codes if any(low <= c <= high for low, high in ranges)
    ]


def test_names_of_properties_match_loosely() -> None:
    """Case, separators and a leading "is" do not matter; != turns a value round."""
    assert property_code_points("Lu") == property_code_points("is uppercase-LETTER")
    assert property_code_points("gc=Lu") == property_code_points("General_Category:Lu")
    assert complement(property_code_points("Lu")) == property_code_points("gc!=Lu")


def test_case_folding_is_simple() -> None:
    """s has the long s and k the Kelvin sign; ß has no ss, and i none of Turkish."""
    assert {"s", "S", "ſ"} == {chr(low) for low, _ in with_other_cases(((115, 115),))}
    assert {"k", "K", "\u212a"} == {chr(low) for low, _ in with_other_cases(((107, 107),))}
    assert {"i", "I"} == {chr(low) for low, _ in with_other_cases(((105, 105),))}
    assert not accepts("(?i)ß", "ss")


def test_other_cases_of_any_set(full: bool) -> None:
    """Of few characters, of all but few and of many: those that Python's own regexes match in any
    case. These also match characters that fold to several, which are left out."""
    random = Random(5)
    plain = [chr(c) for c in range(0x3000) if len(chr(c).casefold()) == len(chr(c).upper()) == 1]
    for _ in range(300 if full else 8):
        most, size = random.choice([(0x80, 3), (0x80, 40), (0x3000, 3), (0x3000, 600)])
        chosen = {random.randrange(most) for _ in range(size)}
        for ranges in (normalized((c, c) for c in chosen), complement((c, c) for c in chosen)):
            found = with_other_cases(ranges)
            inside = "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges)
            expected = re.compile(f"[{inside}]", re.IGNORECASE)
            read = {chr(c) for low, high in found for c in range(low, min(high + 1, 0x3000))}
            for char in random.sample(plain, 200) + [chr(c) for c in range(0x80)]:
                assert (expected.match(char) is not None) == (char in read), (ranges, char)


def test_sets_of_code_points() -> None:
    """Intersection and complement against plain sets."""
    random = Random(1)
    for _ in range(50):
        left, right = (
            normalized((a, a + random.randint(0, 9)) for a in random.sample(range(200), 6))
            for _ in range(2)
        )
        one, two = ({c for a, b in side for c in range(a, b + 1)} for side in (left, right))
        assert one & two == {c for a, b in intersection(left, right) for c in range(a, b + 1)}
    assert () == intersection(ANY, ((0xD800, 0xDFFF),))


@pytest.mark.parametrize(
    ("text", "part", "stage"),
    [
        ("b(?:a|b)*a(?:a|b){14}c", "(?:a|b){14}", "determinisation"),
        ("x((a{0,99}){0,99}){0,99}", "((a{0,99}){0,99}){0,99}", "the NFA"),
        ("x~(.*a.{14})", ".{14}", "determinisation"),
    ],
)
def test_limits_name_the_part_at_fault(text: str, part: str, stage: str) -> None:
    """As its author wrote it."""
    with pytest.raises(LimitError) as caught:
        dfa_of(text, extended=True, limits=Limits(states=3000))

    assert (stage, part) == (caught.value.stage, caught.value.part)
    assert f"in '{part}')" in str(caught.value)


def test_a_limit_ends_the_program_with_three() -> None:
    """And says so on stderr, naming the part."""
    run = constrain(
        *("show", "-", "--dialect", "regex", "--extended", "--stage", "dfa"),
        *("--max-states", "2000"),
        stdin=b"~(.*a.{20})",
    )

    assert (3, b"") == (run.returncode, run.stdout)
    assert b"in '.{20}')" in run.stderr


def test_twenty_thousand_groups() -> None:
    """Nesting takes no stack and no more than linear time."""
    assert accepts("(" * 20_000 + "a" + ")" * 20_000, "a")


def test_assertions_look_at_their_own_regex_alone() -> None:
    """In a grammar each use of a regex is a text of its own."""
    kbnf = 'start ::= "x" #"^a$" #"\\\\bb"{};'.replace("{}", "")
    dfa = build_automaton(kbnf, dialect="kbnf").dfa

    assert dfa.accepts(b"xab")
    gbnf = build_automaton('start ::= { #"\\\\ba" };', dialect="kbnf").dfa
    assert dfa.accepts(b"xab") and gbnf.accepts(b"aaa")


def test_extended_is_about_regexes() -> None:
    """The option is refused with another dialect."""
    run = constrain("show", "-", "--extended", "--stage", "dfa", stdin=b'a ::= "b";')

    assert 2 == run.returncode
    assert b"--extended is about regexes" in run.stderr


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (r's ::= #"a\\b" #"\\bb" #"(x|^y|\\B)+"*;', "kbnf"),
        (r"(a\b.?)*", "regex"),
        ("~(.*ab.*)&[ab]{2,3}", "regex-extended"),
    ],
)
def test_as_one_regex(text: str, dialect: str) -> None:
    """Assertions of one part of a grammar do not see the others when all is written as one."""
    before = build_automaton(text, dialect=dialect)
    written = WRITERS["regex"](before.grammar).removesuffix("\n")
    after = minimize(determinize(automaton_of(written)))

    assert before.dfa.table.tolist() == after.table.tolist()
    assert before.dfa.accepting.tolist() == after.accepting.tolist()


def test_lints_meet_assertions() -> None:
    """Neither repetitions around them nor complements stop the lints."""
    grammar = read_grammar(r"(a\b|\bb)*(?:c~(d))*", "regex-extended")

    assert "ambiguous-repetition" in {finding.lint for finding in lint(grammar)}


def test_counted_repetitions_grow_with_their_count() -> None:
    """States of a class counted, and of a star counted, which is the star."""
    states = [minimize(dfa_of(rf'[^"\\]{{0,{n}}}')).states for n in (50, 100)]

    assert 2 * (states[0] - 2) == states[1] - 2
    assert minimize(dfa_of("(.*){50}")).states == minimize(dfa_of(".*")).states
