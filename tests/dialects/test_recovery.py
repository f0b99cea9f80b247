"""All syntax errors of a text at once, and nothing but those."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import time
import tracemalloc

import pytest

from constrain.compiler.diagnostics import Diagnostic, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.dialects.builder import unescape
from constrain.compiler.limits import Limits

pytestmark = pytest.mark.quick


def error_lines(text: str, dialect: str) -> list[int]:
    """The lines that errors are reported in."""
    with pytest.raises(DialectError) as found:
        read_grammar(text, dialect)
    return [found.value.source.position(d.span.start)[0] for d in found.value.diagnostics if d.span]


KBNF = """\
start ::= a b;
a ::= "x" | ;
(* b ::= in a comment;
c ::= too; *)
b ::= ("x" "y";
c ::= "fine";
d ::= "no end"
e ::= "fine", "; f = ";
g ::= "\\q";
h ::= "x"] ; i ::= "fine" ; j ::= * ;
k ::= "fine";
"""

GBNF = """\
root ::= a "x"
  ; "leading"
a ::= ("x" "y"
b ::= "fine"
c ::= 'x'
# d ::= ((
e ::= "x" )
f ::= [a-z
g ::= "\\q" "fine"
h ::= "fine"
"""

W3C = """\
[1] a ::= b | | c
[2] b ::= "fine"
[3] c ::= ( "x"
/* d ::= ) */
[4] e ::= "x" ) "y"
[5] f ::= "fine" [#xD800]
"""

ISO = """\
a = b c, "x" "y";
b = "fine".
c = "x", , "y";
d = ( "x" ] ;
e = "fine"; f ::= "x";
g = "";
"""


@pytest.mark.parametrize(
    ("dialect", "text", "lines"),
    [
        ("kbnf", KBNF, [2, 5, 8, 9, 10, 10]),
        ("gbnf", GBNF, [2, 4, 5, 7, 8, 9]),
        ("w3c", W3C, [1, 5, 5, 6]),
        ("iso14977", ISO, [1, 3, 4, 5, 6]),
    ],
)
def test_planted_errors_are_all_reported(dialect: str, text: str, lines: list[int]) -> None:
    """Each rule's first mistake, where it shows, and none in rules without."""
    assert lines == error_lines(text, dialect)


def test_twenty_errors_are_enough() -> None:
    """A text with more has its first twenty reported."""
    assert list(range(1, 21)) == error_lines("a ::= ] ;\n" * 1000, "kbnf")


def test_nothing_is_read_behind_an_open_comment() -> None:
    """A comment without an end hides all rules after it, and they are not reported."""
    assert [1, 2] == error_lines('a ::= ];\nb ::= (* "x";\nc ::= ];\n', "kbnf")


def test_one_error_for_a_text_of_another_dialect() -> None:
    """Where just one other dialect reads the text, one error says so."""
    assert [1] == error_lines('root ::= "a"{2}\na ::= [a-z]\n', "kbnf")


def test_names_of_unread_rules_are_not_missed() -> None:
    """A name with a space may be defined where nothing could be read, so it is not reported."""
    assert [1] == error_lines('b c = "x" "y";\nb = "1";\nc = "2";\nd = b c;\n', "iso14977")


def test_rules_before_and_behind_a_mistake_are_read_once() -> None:
    """What stands on one line with a mistake is not reported twice."""
    text = 'a ::= "\\q"; b ::= "\\q"; "y"; c ::= "\\q";'
    with pytest.raises(DialectError) as found:
        read_grammar(text, "kbnf")
    starts = [d.span.start for d in found.value.diagnostics if d.span]
    assert sorted([text.index('"y"'), *(i for i in range(len(text)) if text[i] == "\\")]) == starts


@pytest.mark.parametrize("dialect", ["kbnf", "gbnf", "w3c", "iso14977", "lark"])
def test_what_is_open_at_the_end_takes_no_memory_for_each_character(dialect: str) -> None:
    """A string, a class and a comment, for the message that says so in any dialect."""
    for opening in ('"', "[", "(*", "/*", "/"):
        text = f"a {'=' if dialect == 'iso14977' else '::='} {opening}{'ab' * 100_000}"
        tracemalloc.start()
        with pytest.raises(DialectError):
            read_grammar(text, dialect)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * len(text), opening


@pytest.mark.parametrize(
    ("dialect", "rule"), [("kbnf", ";a ::= "), ("iso14977", ";a = "), ("iso14977", ".a = ")]
)
def test_the_next_rule_is_looked_for_in_one_pass(dialect: str, rule: str) -> None:
    """Where all that looks like one stands in a string."""
    text = f'a = "a" $ " {rule * 50_000}'
    start = time.process_time()

    assert [1] == error_lines(text, dialect)
    assert time.process_time() - start < 2


def test_the_end_of_an_escape_is_looked_for_nearby() -> None:
    """Braces that never close are not looked for to the end of the text each time."""
    found: list[Diagnostic] = []
    begun = time.process_time()
    unescape(r"\u{" * 50_000 + r"\u{41}", 0, found, keep_unknown=False)

    assert 50_000 == len(found)
    # To the end each time it takes minutes.
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("w3c", f"a ::= [{'ab' * 50_000}]"),
        ("gbnf", f"root ::= [{'ab' * 50_000}]"),
        ("kbnf", f'a ::= #substrs"{"ab" * 50_000}";'),
        ("lark", f'start: %regex {{"substring_chars": "{"ab" * 50_000}"}}'),
    ],
)
def test_long_classes_and_parts_of_texts_are_more_than_one_step(
    dialect: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is looked at while one token is read, whatever its length."""
    looks = 0

    def check_resources(*_: object) -> None:
        nonlocal looks
        looks += 1

    monkeypatch.setattr(Limits, "check_resources", check_resources)
    read_grammar(text, dialect)
    assert looks > len(text) // 1100
