"""The dialects: trees and their places, start rules, suffixes, and texts at the edge."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support import without_places
from support.automata import build_automaton, words_of

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.diagnostics import CheckError, DialectError, GrammarError, NotRegularError
from constrain.compiler.dialects import dialect_of, read_grammar
from constrain.compiler.grammar.tree import (
    Choice,
    Difference,
    Literal,
    Pattern,
    Reference,
    Repetition,
    Rule,
    Sequence,
    walk,
)
from constrain.compiler.grammar.tree_text import tree_text

pytestmark = pytest.mark.quick

# --- the tree


def test_spans_point_at_the_text() -> None:
    """Each node and each name stands where its span says, brackets and quotes included."""
    text = '\n(* é *) a ::= \'ö\' [b, {"c" | #"d"}]+\r\n | (b)?;\n\tb = "" "\\u{e9}" ;'
    first, second = read_grammar(text, "kbnf").rules

    def under(node: Choice | Literal | Pattern | Reference | Repetition | Sequence) -> str:
        return text[node.span.start : node.span.end]

    assert ["a", "b"] == [text[r.name_span.start : r.name_span.end] for r in (first, second)]
    assert 'a ::= \'ö\' [b, {"c" | #"d"}]+\r\n | (b)?;' == text[slice_of(first)]
    assert 'b = "" "\\u{e9}" ;' == text[slice_of(second)]
    assert [
        ("Choice", '\'ö\' [b, {"c" | #"d"}]+\r\n | (b)?'),
        ("Sequence", '\'ö\' [b, {"c" | #"d"}]+'),
        ("Literal", "'ö'"),
        ("Repetition", '[b, {"c" | #"d"}]+'),
        ("Repetition", '[b, {"c" | #"d"}]'),
        ("Sequence", 'b, {"c" | #"d"}'),
        ("Reference", "b"),
        ("Repetition", '{"c" | #"d"}'),
        ("Choice", '"c" | #"d"'),
        ("Literal", '"c"'),
        ("Pattern", '#"d"'),
        ("Repetition", "b)?"),
        ("Reference", "b"),
    ] == [(type(node).__name__, under(node)) for node in walk(first.body)]
    assert [("Sequence", '"" "\\u{e9}"'), ("Literal", '""'), ("Literal", '"\\u{e9}"')] == [
        (type(node).__name__, under(node)) for node in walk(second.body)
    ]


def test_differences_bind_tighter_than_sequences() -> None:
    """``-`` takes one item on each side, quantifiers included, and groups from the left."""
    text = "s ::= a b+ - c? - ('x' | d) e | #x41 - [a-z]"
    (rule,) = read_grammar(text, "w3c").rules

    assert [
        "b+ - c? - ('x' | d",
        "b+ - c?",
        "#x41 - [a-z]",
    ] == [
        text[node.span.start : node.span.end]
        for node in walk(rule.body)
        if isinstance(node, Difference)
    ]


def test_empty_alternatives_have_a_place() -> None:
    """In GBNF, where ε may be written as nothing; its span is where it would stand."""
    text = 'root ::= ()( |a) b\na ::= | "c"\nb ::='
    rules = read_grammar(text, "gbnf").rules

    found = [
        (node.data, node.span.start, node.span.end)
        for rule in rules
        for node in walk(rule.body)
        if isinstance(node, Literal)
    ]
    assert [(b"", 10, 10), (b"", 13, 13), (b"", 25, 25), (b"c", 27, 30), (b"", 36, 36)] == found


def slice_of(rule: Rule) -> slice:
    """Where a rule stands."""
    return slice(rule.span.start, rule.span.end)


def test_repetitions_say_how_often() -> None:
    """Each operator's bounds, innermost first."""
    body = read_grammar('s ::= [{"a"+}*]?;', "kbnf").rules[0].body

    counts = [(n.min_times, n.max_times) for n in walk(body) if isinstance(n, Repetition)]
    assert [(0, 1), (0, 1), (0, None), (0, None), (1, None)] == counts


def test_a_pattern_keeps_its_text() -> None:
    """A regex in a grammar keeps what it is once the string's escapes are undone."""
    body = read_grammar('s ::= #"a\\\\d\\"";', "kbnf").rules[0].body

    assert isinstance(body, Pattern)
    assert 'a\\d"' == body.text


# --- start rules, dialects, limits of the text


@pytest.mark.parametrize(
    ("text", "given", "start"),
    [
        ('a ::= "x"; b ::= "y";', None, "a"),
        ('a ::= "x"; start ::= "y";', None, "start"),
        ('a ::= "x"; b ::= "y";', "b", "b"),
        ('a ::= "x"; start ::= "y";', "a", "a"),
    ],
)
def test_which_rule_starts(text: str, given: str | None, start: str) -> None:
    """The one asked for, else ``start``, else the first."""
    assert start == read_grammar(text, "kbnf", start=given).start


def test_gbnf_starts_from_root() -> None:
    """Or from the rule asked for; the first rule is no start."""
    text = 'a ::= "x"\nroot ::= "y"\n'

    assert "root" == read_grammar(text, "gbnf").start
    assert "a" == read_grammar('a ::= "x"', "gbnf", start="a").start
    with pytest.raises(CheckError, match=r"no rule 'root'.*\n.*the rules are: a; .*--start"):
        read_grammar('a ::= "x"', "gbnf")


@pytest.mark.parametrize(
    ("dialect", "text", "hint"),
    [
        ("kbnf", 'root ::= "a"{2}', "gbnf"),
        ("kbnf", "a ::= [#x41-#x42]", "w3c"),
        ("gbnf", 'root = "a";', None),  # kbnf and iso14977 can read it.
        ("gbnf", 'root = "a" "b";', "kbnf"),
        ("kbnf", 'a b = "x";', "iso14977"),
        ("kbnf", 'start: "x"', "lark"),
        ("lark", 'root ::= "a"{2}', "gbnf"),
        ("lark", 'root ::= "a" ;', "kbnf"),
        ("w3c", 'root ::= "a";', "kbnf"),
        ("regex", '("a" ::= ', None),
        ("kbnf", 'root ::= "a"', None),  # Two others can read it.
        ("kbnf", "a ::= ", None),
        ("gbnf", 'root ::= "\\q"', None),  # It is GBNF but for the escape.
    ],
)
def test_the_one_other_dialect_is_named(dialect: str, text: str, hint: str | None) -> None:
    """What one dialect cannot read and just one other can is said to be of that other."""
    with pytest.raises(DialectError) as found:
        read_grammar(text, dialect)

    if hint is None:
        assert "--dialect" not in str(found.value)
    else:
        assert f"the text can be read with --dialect {hint}" in str(found.value)


def test_a_start_rule_that_is_not_there_is_named() -> None:
    """With the rules there are."""
    with pytest.raises(CheckError, match=r"no rule 'c' to start from\n.*the rules are: a, b"):
        read_grammar('b ::= "x"; a ::= "y";', "kbnf", start="c")


def test_rules_that_no_other_uses_are_named_first() -> None:
    """Of many rules only some are named; terminals and what is ignored come later."""
    used = "".join(f"a{i:02}: {i}\n" for i in range(30)).replace(": ", ': "').replace("\n", '"\n')
    uses = " ".join(f"a{i:02}" for i in range(30))
    with pytest.raises(
        CheckError, match=r"the rules are: top, LONE, WS, a00, .*, a16 and 13 more;"
    ):
        read_grammar(f"{used}top: {uses}\nLONE: /x/\nWS: / /\n", "lark")
    with pytest.raises(CheckError, match=r"the rules are: LONE, WS;"):
        read_grammar("WS: / /\nLONE: /x/\n%ignore WS\n", "lark")


def test_a_first_rule_that_leads_to_few_others_is_noted() -> None:
    """Where nothing names the start, and no rule is called so."""
    text = 'a = "x"\nb = c\nc = "y" / d\nd = "z"\n'
    (noted,) = read_grammar(text, "abnf").notes
    assert "starts at 'a', the first rule; 3 of 4 rules are not used" in noted.message
    assert noted.help == "no rule uses 'b': --start b"
    assert read_grammar(text, "abnf", start="a").notes == ()
    kbnf = text.replace("=", "::=").replace("\n", ";\n").replace("/", "|")
    assert len(read_grammar(kbnf, "kbnf").notes) == 1
    assert read_grammar(kbnf.replace("a ::=", "start ::="), "kbnf").notes == ()
    cycle = 'a = "x"\nb = "y" c\nc = [d]\nd = b\n'
    (noted,) = read_grammar(cycle, "abnf").notes
    assert noted.help == "--start names another"


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("g.ebnf", "kbnf"),
        ("dir.regex/g.kbnf", "kbnf"),
        ("G.EBNF", "kbnf"),
        ("g.gbnf", "gbnf"),
        ("g.W3C", "w3c"),
        ("g.lark", "lark"),
        ("g.regex", "regex"),
        ("-", "kbnf"),
        ("g.txt", None),
        ("ebnf", None),
        ("g.ebnf.txt", None),
        ("", None),
    ],
)
def test_the_suffix_tells_the_dialect(path: str, dialect: str | None) -> None:
    """Nothing but the suffix does; standard input is kbnf."""
    assert dialect == dialect_of(path)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DialectError, "start ::="),
        (CheckError, "start ::= a;"),
        (CheckError, "start ::= start;"),
        (NotRegularError, 'start ::= "a" start "b" | "";'),
    ],
)
def test_each_stage_has_its_error(error: type[GrammarError], text: str) -> None:
    """One class a stage, all of them grammar errors that end the program with 2."""
    with pytest.raises(error) as found:
        build_automaton(text, dialect="kbnf", name="name.ebnf")

    assert error is type(found.value)
    assert 2 == found.value.exit_code
    assert "name.ebnf" == found.value.source.name
    assert found.value.diagnostics


# --- texts at the edge


def test_a_final_line_break_of_windows_is_not_meant() -> None:
    """A regex file saved with CRLF means the same as with LF."""
    dfa = build_automaton("ab\r\n", dialect="regex").dfa

    assert [b"ab"] == [bytes(word) for word in words_of(dfa, 4)]


def test_a_class_of_surrogates_is_empty() -> None:
    """What UTF-8 cannot encode is no text: such a class is an empty language like any other."""
    with pytest.raises(CheckError, match="empty language"):
        build_automaton(r"[^\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}]", dialect="regex")


def test_a_count_of_thousands_of_digits_is_a_limit() -> None:
    """A count is a number however long it is written."""
    with pytest.raises(ConstrainError):
        build_automaton("a{" + "9" * 5000 + "}", dialect="regex")


@pytest.mark.parametrize("text", ['s ::= "\ud800";', 's ::= #"\ud800";', "s ::= 'a' \ud800;"])
def test_a_lone_surrogate_is_refused(text: str) -> None:
    """Text that UTF-8 cannot encode is a grammar error and no other."""
    with pytest.raises(GrammarError, match="<grammar>:1:"):
        build_automaton(text, dialect="kbnf")


@pytest.mark.parametrize("digits", [" 41", "4_1", "+41", "٤١"])
def test_code_points_are_hexadecimal_digits(digits: str) -> None:
    """Spaces, signs, underscores and other scripts' digits are none."""
    with pytest.raises(DialectError):
        build_automaton(rf"\x{{{digits}}}", dialect="regex")


@pytest.mark.parametrize(
    "text",
    [
        r"[a-\u{1-2}]",
        r"[\u{-}-a]",
        r"[\x{7f-f}-z]",
        r"[\u{41-}-\u{80}]",
    ],
)
def test_a_hyphen_inside_braces_is_no_code_point(text: str) -> None:
    """A code point in braces that ends a range is refused like any other that is none."""
    with pytest.raises(DialectError, match="is no code point"):
        build_automaton(text, dialect="regex")


@pytest.mark.parametrize(
    ("text", "members"),
    [("[]-a]", "]^_`a"), ("[]-_b]", "]^_b"), (r"[^]-\x{10ffff}\x{0}-\x{5a}]", "[\\")],
)
def test_a_bracket_at_the_head_of_a_class_may_begin_a_range(text: str, members: str) -> None:
    """``]`` is then a character like any other, as in POSIX, Perl and Python."""
    dfa = build_automaton(text, dialect="regex").dfa

    assert list(members) == sorted(bytes(word).decode() for word in words_of(dfa, 1))


def test_gbnf_has_what_xgrammar_has_beside_it() -> None:
    """More escapes, an open count, alternatives that begin lines, counts of characters, and
    look-ahead, which is noted once for each rule and changes nothing."""
    text = 'root ::= "\\?\\\'\\a\\b\\f\\v\\0\\e"\n # c\n\n | [a\\?]{2, -1} (= [b]\n b)\nb ::= "b"\n'
    found = read_grammar(text, "gbnf")
    plain = read_grammar(
        'root ::= "?\'\\x07\\x08\\x0C\\x0B\\x00\\x1B" | [a?]{2,}\nb ::= "b"\n', "gbnf"
    )

    assert ["root", "b"] == [rule.name for rule in found.rules]
    assert without_places(tree_text(plain)) == without_places(tree_text(found))
    (note,) = found.notes
    assert "(= …)" in note.message
    few = read_grammar("root[max_chars=2147483647] ::= [^]{3,}", "gbnf")
    same = read_grammar("root ::= .{3,2147483647}", "gbnf")
    assert without_places(tree_text(same)) == without_places(tree_text(few))
