"""llguidance's ``%json`` and ``%regex`` in Lark's grammars: schemas and parts of texts as rules."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.automata import build_automaton, words_of
from support.cli import Cli

from constrain.artifacts import Artifact
from constrain.compiler import CompileOptions, Compiler, SchemaOptions, Tokenizer
from constrain.compiler.automata.compare import are_equal
from constrain.compiler.diagnostics import DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.writers.convert import convert

ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string", "maxLength": 5}, "zip": {"type": "integer"}},
    "required": ["street"],
    "additionalProperties": False,
}
TREE = {"type": "array", "items": {"$ref": "#"}, "maxItems": 3}
OPEN = {"type": "object", "properties": {"a": {"enum": ["b", 1.5, None]}}}


def compiled(tokenizer: Tokenizer, text: str, dialect: str = "lark", **options: Any) -> Artifact:
    """The artifact of a grammar, for any token sequences."""
    made = Compiler(tokenizer, options=CompileOptions(tokenization="any", prewarm=0, **options))
    return made.compile(text, dialect=dialect)


def is_member(tokenizer: Tokenizer, artifact: Artifact, text: str) -> bool:
    """Whether a text is one of an artifact's."""
    matcher = artifact.matcher()
    for token in tokenizer.encode(text):
        if not matcher.mask()[token >> 5] >> (token & 31) & 1:
            return False
        matcher.advance(token)
    return bool(matcher.is_accepting)


@pytest.mark.parametrize("head", ["", "%llguidance {}\n"])
@pytest.mark.parametrize(
    ("schema", "instance"),
    [(ADDRESS, {"street": "a b", "zip": -3}), (TREE, [[], [[]]]), (OPEN, {"a": "b", "c": [{}]})],
)
def test_a_schema_in_a_rule_has_the_masks_of_the_schema(
    default_tokenizer: Tokenizer, head: str, schema: Any, instance: Any
) -> None:
    """Read exactly, and by maximal munch."""
    text = f"{head}start: %json {json.dumps(schema, indent=1)}"
    one = compiled(default_tokenizer, json.dumps(schema), "json-schema").matcher()
    other = compiled(default_tokenizer, text).matcher()
    for token in default_tokenizer.encode(json.dumps(instance)):
        assert np.array_equal(one.mask(), other.mask())
        one.advance(token)
        other.advance(token)

    assert one.is_accepting
    assert other.is_accepting


@pytest.mark.parametrize("meaning", ["exact", "maximal-munch"])
def test_what_is_ignored_elsewhere_is_not_ignored_inside_a_schema(
    default_tokenizer: Tokenizer, meaning: str
) -> None:
    """Nor are the schema's terminals cut up by it."""
    text = f'start: "to" place+ "."\nplace: %json {json.dumps(ADDRESS)}\n%ignore "x"\n%ignore " "'
    made = compiled(default_tokenizer, text, meaning=meaning)

    for member in ('to{"street":"xax"}.', ' to x {"street": "","zip":3} {"street":"abcde"} x .'):
        assert is_member(default_tokenizer, made, member), member
    for other in ('to{"street":x"a"}.', 'to{"street":"abcdef"}.', 'to{"street":"a"} "a".', "to."):
        assert not is_member(default_tokenizer, made, other), other


@pytest.mark.parametrize("meaning", ["exact", "maximal-munch"])
def test_keys_of_a_schema_in_a_rule_come_in_any_order(
    default_tokenizer: Tokenizer, meaning: str
) -> None:
    """Nothing is ignored inside, either."""
    keys = {name: {"type": "integer"} for name in "abc"}
    schema = json.dumps({"type": "object", "properties": keys, "additionalProperties": False})
    text = f'start: "x" %json {schema}\n%ignore "-"'
    made = compiled(default_tokenizer, text, meaning=meaning, schema=SchemaOptions(order="any"))

    for member in ('-x-{"c":1,"a":-2, "b":3}', 'x{"b":-1}-', "x{}"):
        assert is_member(default_tokenizer, made, member), member
    for other in ('x{"c":1,-"a":2}', 'x{-"c":1}', 'x{"a":1,"a":2}', 'x{"c":--1,"b":3}'):
        assert not is_member(default_tokenizer, made, other), other


def test_schemas_stand_beside_each_other_in_one_rule(default_tokenizer: Tokenizer) -> None:
    """As llguidance's documentation has it: the keyword in strings, comments and regexes is none,
    and what a schema's text looks like is no rule."""
    made = compiled(
        default_tokenizer,
        """start: a /%json \\{/ "%json {" // %json {
a: "x" %json true
 | %json {"enum":

[1,
"b: c"
]
} b
b: "y"
""",
    )

    for member in ("x[3]%json {%json {", '"b: c"y%json {%json {', "1y%json {%json {"):
        assert is_member(default_tokenizer, made, member), member
    assert not is_member(default_tokenizer, made, "2y%json {%json {")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('start: %json {"a": 1,}', "1:22: error: #: unexpected '}'"),
        ("start: %json", "1:13: error: #: unexpected end of the text"),
        ('start: "a" %json %json 5', "1:18: error: #: unexpected '%'"),
        ("start: %json 5", "1:14: error: #: a schema is an object, true or false"),
        ('start: %json {\n "type": "objet"\n}', "2:10: error: #/type: there is no type 'objet'"),
        ('start: %json {"a": 1, "a": 1}', "1:23: error: #: the key 'a' occurs twice"),
        (
            'start: %json {"type": "null", "const": 1}',
            "1:23: error: #/type: no value satisfies this",
        ),
        ('start: %json {"$ref": "#/$defs/a"}', "1:23: error: #/$ref: nothing is found"),
        (
            'start: "a" %json {"type": "array", "uniqueItems": true}',
            "1:51: error: #/uniqueItems: uniqueItems of items without finitely many values",
        ),
        ("start: A\nA: %json {}", "2:4: error: a JSON Schema is no part of a terminal"),
        ('start: "a"\n%ignore %json {}', "2:9: error: a JSON Schema is no part of %ignore"),
        ("start: %regex 5", "1:15: error: #: a structured regex has one key"),
        ('start: %regex {"a": 1}', "1:21: error: #/a: 'a' is not supported"),
        ('start: %regex {"substring_words": 1}', "#/substring_words: this must be a string"),
        ('start: %regex {"substring_chunks": "a"}', "this must be an array of strings"),
        ('start: %regex {"substring_chars": "a", "x": 1}', "a structured regex has one key"),
    ],
)
def test_errors_have_their_place_inside_the_json(text: str, said: str) -> None:
    """And the pointer."""
    with pytest.raises(DialectError) as error:
        read_grammar(text, "lark", name="g.lark")

    assert said in str(error.value).splitlines()[0]


@pytest.mark.quick
def test_all_that_is_wrong_in_several_schemas_is_said() -> None:
    """With what is wrong around them."""
    text = 'start: %json {"type": 5} %json {"minLength": "a", "pattern": "("} b'
    with pytest.raises(DialectError) as error:
        read_grammar(text.removesuffix(" b") + '\nb: "\\q"', "lark")

    assert 3 == str(error.value).count("error: ")


@pytest.mark.parametrize(
    ("keyword", "value", "pieces"),
    [
        ("substring_words", "foo bar. baz", ["foo", " ", "bar", ".", " ", "baz"]),
        ("substring_words", "né_3  a--b", ["né_3", "  ", "a", "--", "b"]),
        ("substring_chars", "ab cé", [*"ab cé"]),
        ("substring_chunks", ["abc", "de", "", "abc", "fg"], ["abc", "de", "", "abc", "fg"]),
        ("substring_chunks", [], []),
    ],
)
def test_a_structured_regex_is_any_run_of_pieces(
    keyword: str, value: Any, pieces: list[str]
) -> None:
    """In a rule and in a terminal, the empty text included."""
    runs = {"".join(pieces[a:b]) for a, b in combinations(range(len(pieces) + 1), 2)} | {""}
    structured = f"%regex {json.dumps({keyword: value})}"
    for grammar in (f"start: {structured}", f'start: "<" A ">"\nA: {structured}'):
        dfa = build_automaton(grammar, dialect="lark").dfa
        around = "<{}>" if "<" in grammar else "{}"
        found = {bytes(word).decode() for word in words_of(dfa, 40)}
        assert {around.format(run) for run in runs} == found


@pytest.mark.parametrize("dialect", ["gbnf", "kbnf", "w3c", "lark"])
def test_conversion_keeps_the_language_and_to_lark_the_text(dialect: str) -> None:
    """Elsewhere schemas are written as rules."""
    schema = json.dumps({"enum": ["a", [1, True], {"b": None}]}, indent=1)
    inline = '%regex {"substring_chars": "pq"}'
    chunks = '%regex {"substring_chunks": ["x", "yz"]}'
    text = f'start: A ("to " %json {schema})? {inline}\nA: {chunks}\n'
    written = convert(read_grammar(text, "lark"), dialect, CompileOptions()).text

    assert (dialect == "lark") == all(part in written for part in (schema, inline, chunks))
    one, other = (
        build_automaton(each, dialect=name).dfa
        for each, name in ((text, "lark"), (written, dialect))
    )
    assert are_equal(one, other)


def test_check_finds_in_a_schema_what_is_probably_not_meant(cli: Cli) -> None:
    """At its place in the grammar; the schema's rules are none that anybody has written."""
    schema = '{"type": ["null", "string"],\n "maxlength": 3, "enum": [1, null], "format": "email"}'
    Path("g.lark").write_text(f'start: "a"+ %json {schema}', encoding="utf-8")
    found = cli("check", "g.lark")
    said = found.out.decode()

    assert 1 == found.code
    assert "g.lark:2:2: warning: #/maxlength: 'maxlength' is no keyword, and asks nothing" in said
    assert "g.lark:2:27: warning: #/enum/0: this member can never be valid" in said
    assert 2 == said.count(": warning: ") + said.count(": note: "), said


def test_schemas_are_read_with_the_options_for_schemas(
    cli: Cli, default_tokenizer: Tokenizer
) -> None:
    """In the library and on the command line; what is left out is noted with its place."""
    text = 'start: "a" %json {"properties": {"a": true, "b": {"format": "email"}}}'
    given = SchemaOptions(whitespace="compact", order="any")
    made = compiled(default_tokenizer, text, schema=given)

    assert is_member(default_tokenizer, made, 'a{"b":1,"a":2}')
    assert not is_member(default_tokenizer, made, 'a{"b": 1}')
    Path("g.lark").write_text(text, encoding="utf-8")
    found = cli("compile", "g.lark", "--whitespace", "compact", "--tokenization", "any")
    assert 0 == found.code
    assert "g.lark:1:61: warning: #/properties/b/format: of email this is left out" in found.err
