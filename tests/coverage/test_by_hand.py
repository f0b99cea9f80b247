"""Coverage that was counted by hand, and what counts as a use."""

import pytest

from constrain.compiler.choose import engine_of
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.coverage.report import report_of
from constrain.compiler.frontend import read_checked
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions

DATE = r"""date  ::= year "-" month "-" day;
year  ::= #"[0-9]{4}";
month ::= "0" #"[1-9]" | "1" #"[0-2]";
day   ::= "0" #"[1-9]" | #"[12][0-9]" | "3" #"[01]";
"""

LIST = """start: item ("," item)* [";"]
item: "a" | "b" "!"~2 | "(" start ")"
"""


def coverage_of(text: str, dialect: str, *texts: bytes) -> Coverage:
    """What the texts cover; each must be a member."""
    options = CompileOptions(dialect=dialect)
    grammar = read_checked(text, options, "g")
    over_lexemes = engine_of(grammar, options).semantics == "maximal-munch"
    coverage = Coverage(grammar, Limits().started(), over_lexemes=over_lexemes)
    for each in texts:
        assert coverage.add(each)
    return coverage


def counts(coverage: Coverage) -> dict[str, tuple[int, int]]:
    """Covered and all, by kind."""
    return report_of(coverage).counts()


def covered(coverage: Coverage) -> set[str]:
    """The items, in words."""
    return {item.said for item, hits in zip(coverage.items, coverage.hits, strict=True) if hits}


@pytest.mark.quick
def test_a_date_is_counted_as_by_hand() -> None:
    """Two dates cover of four rules all; of the five alternatives the first month, the first day
    and the second day. Edges: the year has four of one digit each; of the two alternatives of
    month each has one, and so have the first and the last of day, whose second has two, [12] and
    [0-9]: 4 + 2 + 4 = 10. Covered are the year's four, that of the first month, that of the first
    day and both of the second: 8."""
    coverage = coverage_of(DATE, "kbnf", b"2024-02-09", b"1999-09-28")

    assert counts(coverage) == {"rule": (4, 4), "alternative": (3, 5), "edge": (8, 10)}
    assert report_of(coverage).percent == 78.9  # 15 of 19
    assert [line.item.said for line in report_of(coverage).uncovered] == [
        'alternative "1" #"[0-2]" in month',
        "edge [0-2], at the beginning in month",
        'alternative "3" #"[01]" in day',
        "edge [01], at the beginning in day",
    ]


def test_a_list_that_nests_is_counted_as_by_hand() -> None:
    """Items: two rules; three alternatives of item; of the list none, one and more, of the `;`
    none and one; "!"~2 has one case only, which is none to choose: 5. There are no patterns.

    `a,(b!!)` uses both rules, all three alternatives, one more item outside and none inside, and
    no `;` at either level: 2/2, 3/3, 3/5. `a,a,a;` adds many and the `;`."""
    coverage = coverage_of(LIST, "lark", b"a,(b!!)")

    assert counts(coverage) == {"rule": (2, 2), "alternative": (3, 3), "repetition": (3, 5)}
    assert coverage.add(b"a,a,a;")
    assert counts(coverage)["repetition"] == (5, 5)
    assert coverage.texts == 2


def test_what_is_only_predicted_or_read_in_vain_is_not_covered() -> None:
    """Both alternatives begin alike, and both rules are read up to the last byte."""
    coverage = coverage_of("s ::= a | b; a ::= 'xx' 'y'; b ::= 'xx' 'z';", "kbnf", b"xxy")

    assert covered(coverage) == {"rule s", "alternative a in s", "rule a"}


def test_all_derivations_of_an_ambiguous_text_count() -> None:
    """A text that is read in two ways covers both alternatives."""
    coverage = coverage_of("s ::= a | b; a ::= 'x'; b ::= #'[xy]';", "kbnf", b"x")

    assert {"alternative a in s", "alternative b in s"} <= covered(coverage)


def test_a_text_that_is_no_member_covers_nothing() -> None:
    """Neither one that stops nor one that is not complete."""
    coverage = coverage_of(DATE, "kbnf")

    assert not coverage.add(b"2024-13-01")
    assert not coverage.add(b"2024-12")
    assert not any(coverage.hits)


def test_counts_that_are_large_cost_what_is_read_of_them() -> None:
    """A repetition of up to a million is as many states as iterations were read."""
    coverage = coverage_of('root ::= ("a" | "b"){0,1000000}', "gbnf", b"ab")

    assert 'repetition ("a" | "b"){0,1000000}, many times in root' in covered(coverage)


def test_a_pattern_too_large_for_a_dfa_counts_by_its_parts() -> None:
    """Its alternatives and repetitions, as its edges are too many."""
    coverage = coverage_of("(a|b)*a(a|b){20}", "regex", b"b" * 3 + b"a" + b"a" * 20)

    assert counts(coverage)["repetition"] == (1, 3)
    assert "edge" not in counts(coverage) or counts(coverage)["edge"][0] >= 1


def test_iterations_beyond_the_least_number_read_something() -> None:
    """The empty text is derived by no iteration at all, not by some that are empty."""
    coverage = coverage_of("s ::= ('a'?)*;", "kbnf", b"")

    assert covered(coverage) == {"rule s", "repetition ('a'?)*, 0 times in s"}


def test_maximal_munch_counts_the_division_of_the_lexer() -> None:
    """`ifa` is a name, and no keyword with a name after it; what is ignored counts, too."""
    grammar = 'start: "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "\n%ignore /#.*/\n'
    name = covered(coverage_of(grammar, "lark", b"ifa"))
    keyword = covered(coverage_of(grammar, "lark", b"if a"))

    assert "alternative NAME in start" in name
    assert 'alternative "if" NAME in start' not in name
    assert 'alternative "if" NAME in start' in keyword
    assert 'alternative " ", ignored' in keyword
    assert "alternative /#.*/, ignored" not in keyword


def test_ignored_text_without_a_lexer_counts_where_it_stands() -> None:
    """The exact meaning reads ignored text before terminals and at the end."""
    grammar = 'start: "a" "b"\n%ignore " "\n%ignore "\\t"\n'
    options = CompileOptions(dialect="lark", meaning="exact")
    coverage = Coverage(read_checked(grammar, options, "g"))

    assert coverage.add(b"a b\t")
    assert all(coverage.hits)


def test_ignored_text_without_a_lexer_is_as_long_as_possible() -> None:
    """A comment goes on to the end of its line; one with a lazy quantifier may end sooner."""
    grammar = 'start: "a" "b"\n%ignore NOTE\n%ignore /\\n/\nNOTE: "#" /[^\\n]*/\n'
    options = CompileOptions(dialect="lark", meaning="exact")
    coverage = Coverage(read_checked(grammar, options, "g"))

    assert not coverage.add(b"a#b")
    assert coverage.add(b"a#b\nb#")
    assert "rule NOTE" in covered(coverage)
    lazy = Coverage(read_checked('start: "a" "b"\n%ignore /#.*?;/\n', options, "g"))
    assert lazy.add(b"a#;b#;")


def test_a_difference_is_derived_by_what_it_takes_from() -> None:
    """Parts of the left side count; the right side, which takes away, derives nothing."""
    grammar = "s ::= name - keyword\nname ::= 'a' | 'if'\nkeyword ::= 'if' | 'x'\n"
    coverage = coverage_of(grammar, "w3c", b"a")
    unused = {line.item.said for line in coverage.lines() if line.is_unreachable}

    assert covered(coverage) == {"rule s", "rule name", "alternative 'a' in name"}
    assert {"rule keyword", "alternative 'x' in keyword"} <= unused
    assert not coverage.add(b"if")


def test_edges_are_by_character_and_not_by_byte() -> None:
    """One edge for all characters of more than one byte."""
    coverage = coverage_of("[^x]y", "regex", "äy".encode())
    edges = [item.text for item in coverage.items if item.kind == "edge"]

    assert edges == ["[\\x00-wy-\\x7F]", "any other character", '"y"']
    assert coverage.hits[-3:] == [0, 1, 1]


def test_keys_of_a_schema_count_there_and_missing() -> None:
    """Items of a schema are named by pointers into it."""
    schema = """{"type": "object", "properties": {
        "id": {"type": "integer"}, "tags": {"type": "array", "items": {"enum": ["x", "y"]}}},
        "required": ["id"], "additionalProperties": false}"""
    coverage = coverage_of(schema, "json-schema", b'{"id": 1}')
    said = covered(coverage)

    assert {'key "id", there in #', 'key "tags", missing in #', "rule #/properties/id"} <= said
    assert 'key "tags", there in #' not in said
    assert coverage.add(b'{"id": 1, "tags": ["x", "y", "y"]}')
    assert {'alternative "x" in #/properties/tags/items'} <= covered(coverage)


def test_keys_in_any_order_are_parts_of_a_permutation() -> None:
    """Each optional key counts there and missing, whatever the order."""
    options = CompileOptions(dialect="json-schema", tokenization="any")
    from constrain.compiler.schema.options import SchemaOptions

    schema = '{"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}'.replace(
        "}}}", '}}, "required": ["b"], "additionalProperties": false}'
    )
    wanted = CompileOptions(
        dialect=options.dialect, tokenization="any", schema=SchemaOptions(order="any")
    )
    coverage = Coverage(read_checked(schema, wanted, "g"))

    assert coverage.add(b'{"b":null,"a":null}')
    assert 'key "a", there in #' in covered(coverage)
    assert 'key "a", missing in #' not in covered(coverage)
    assert coverage.add(b'{"b":null}')
    assert 'key "a", missing in #' in covered(coverage)


def test_a_case_may_begin_with_another_rule() -> None:
    """What it covers is counted in the same grammar."""
    coverage = coverage_of(DATE, "kbnf")

    assert coverage.add(b"31", "day")
    assert covered(coverage) == {
        "rule day",
        'alternative "3" #"[01]" in day',
        "edge [01], at the beginning in day",
    }
