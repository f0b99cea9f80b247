"""Requests: each kind becomes a grammar of what may be answered, or is refused by its field."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from support.schema.tools import TOOLS, members_of

from constrain.artifacts.errors import ConstrainError
from constrain.compiler import CompileOptions, Compiler, SchemaOptions, Tokenizer
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.pipeline import build_engine
from constrain.compiler.serving.engines import request_for
from constrain.compiler.serving.flags import FlagError
from constrain.compiler.serving.requests import Request, RequestError, request_of
from constrain.compiler.structural_tags import STYLES

pytestmark = pytest.mark.quick

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
# What nothing is said of may have other keys, and items.
OPEN = {
    "allOf": [{"properties": {"a": {"$ref": "#/$defs/b"}}}, {"properties": {"c": {}, "d": {}}}],
    "properties": {"c": {"prefixItems": [{}]}},
    "$defs": {"b": {"properties": {"b": {}}}},
}
IS_PERSON = ['{"name": "x"}', '{"name": "x", "age": 3}', '{ "name":"x"}']
IS_NONE = ["{}", '{"name": 1}', '{"age": 3}', '"x"', "", "Hello"]
IS_OBJECT = ["{}", '{"a": [1, {"b": null}]}']
IS_NO_OBJECT = ["[]", "1", '{"a"}', "", "{"]
LARK = 'start: "a" digit+\ndigit: /[0-9]/\n'


def _schema(value: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "p", "schema": value, "strict": True}}


# Of each request: its kind, its dialect, members, and texts that are none.
ACCEPTED: dict[str, tuple[dict[str, Any], str, str, list[str], list[str]]] = {
    "response_format json_schema": (
        {"response_format": _schema(PERSON)},
        "json",
        "json-schema",
        IS_PERSON,
        IS_NONE,
    ),
    "text.format json_schema": (
        {"text": {"format": {"type": "json_schema", "name": "p", "schema": PERSON}}},
        "json",
        "json-schema",
        IS_PERSON,
        IS_NONE,
    ),
    "response_format json_schema, keys in any order": (
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"schema": PERSON, "order": "any"},
            }
        },
        "json",
        "json-schema",
        [*IS_PERSON, '{"age": 3, "name": "x"}'],
        IS_NONE,
    ),
    "structured_outputs json, keys in any order": (
        {"structured_outputs": {"json": PERSON, "order": "any"}},
        "json",
        "json-schema",
        [*IS_PERSON, '{"age": 3, "name": "x"}'],
        IS_NONE,
    ),
    "response_format json_object": (
        {"response_format": {"type": "json_object"}, "temperature": 0.5},
        "json_object",
        "json-schema",
        IS_OBJECT,
        IS_NO_OBJECT,
    ),
    "structured_outputs json": (
        {"structured_outputs": {"json": PERSON, "regex": None, "json_object": False}},
        "json",
        "json-schema",
        IS_PERSON,
        IS_NONE,
    ),
    "structured_outputs json, as a text": (
        {"structured_outputs": {"json": json.dumps(PERSON), "disable_any_whitespace": True}},
        "json",
        "json-schema",
        ['{"name":"x"}'],
        IS_PERSON,
    ),
    "structured_outputs json, with a pattern of white space": (
        {"structured_outputs": {"json": PERSON, "whitespace_pattern": "[ ]?"}},
        "json",
        "json-schema",
        [*IS_PERSON, '{ "name" : "x" }'],
        ['{  "name": "x"}', '{\n"name": "x"}'],
    ),
    "structured_outputs json, no other keys": (
        {"structured_outputs": {"json": OPEN, "disable_additional_properties": True}},
        "json",
        "json-schema",
        ['{"a": {"b": 1}}', '{"c": [1], "d": {"x": 1}}'],
        ['{"z": 1}', '{"a": {"b": 1, "z": 1}}', '{"c": [1, 2]}'],
    ),
    "llguidance's list, Lark": (
        {"grammar": json.dumps({"grammars": [{"name": "g", "lark_grammar": LARK}]})},
        "grammar",
        "lark",
        ["a1", "a12"],
        ["a", ""],
    ),
    "llguidance's list, a schema": (
        {"structured_outputs": {"grammar": '{"grammars": [{"json_schema": {"const": 1}}]}'}},
        "json",
        "json-schema",
        ["1"],
        ["2"],
    ),
    "tools and a format": (
        {"response_format": _schema(PERSON), "tools": TOOLS, "tool_choice": "auto"},
        "tools",
        "tools",
        ['[{"name": "time", "arguments": {}}]', '{"name": "x"}'],
        ["Hello", "[]", "", '{"name": 1}'],
    ),
    "tools that must be called and a format": (
        {"response_format": _schema(PERSON), "tools": TOOLS, "tool_choice": "required"},
        "tools",
        "tools",
        ['[{"name": "time", "arguments": {}}]'],
        ['{"name": "x"}', ""],
    ),
    "tools that are not called and a format": (
        {"response_format": _schema(PERSON), "tools": TOOLS, "tool_choice": "none"},
        "json",
        "json-schema",
        IS_PERSON,
        ['[{"name": "time", "arguments": {}}]', "Hello"],
    ),
    "x-guidance": (
        {"json_schema": {**PERSON, "x-guidance": {"whitespace_flexible": False}}},
        "json",
        "json-schema",
        ['{"name":"x"}'],
        ['{"name": "x"}'],
    ),
    "x-guidance's coerce_one_of, at any depth": (
        {
            "json_schema": {
                "properties": {"a": {"oneOf": [{"type": "integer"}, {"type": "number"}]}},
                "oneOf": [{"required": ["a"]}, {"type": "object"}],
                "x-guidance": {"coerce_one_of": True},
            }
        },
        "json",
        "json-schema",
        ['{"a": 1}', '{"a": 1.5}', "{}"],
        ['{"a": "x"}'],
    ),
    "structured_outputs json_object": (
        {"structured_outputs": {"json_object": True}},
        "json_object",
        "json-schema",
        IS_OBJECT,
        IS_NO_OBJECT,
    ),
    "structured_outputs regex": (
        {"structured_outputs": {"regex": "[a-c]{2}|\\d+"}},
        "regex",
        "regex-plain",
        ["ab", "17"],
        ["a", "abc", "", "x"],
    ),
    "structured_outputs choice": (
        {"structured_outputs": {"choice": ["yes", 'n"o\\', "a\nb\t\x01", "ä", "yes", "[x]"]}},
        "choice",
        "gbnf",
        ["yes", 'n"o\\', "a\nb\t\x01", "ä", "[x]"],
        ["", "no", "ye", "x"],
    ),
    "structured_outputs grammar": (
        {"structured_outputs": {"grammar": LARK}},
        "grammar",
        "lark",
        ["a1", "a12"],
        ["a", "1", ""],
    ),
    "format json": ({"format": "json"}, "json_object", "json-schema", IS_OBJECT, IS_NO_OBJECT),
    "format, a schema": ({"format": PERSON}, "json", "json-schema", IS_PERSON, IS_NONE),
    "json_schema": (
        {"json_schema": json.dumps(PERSON), "text": "the prompt"},
        "json",
        "json-schema",
        IS_PERSON,
        IS_NONE,
    ),
    "regex": ({"regex": "a+"}, "regex", "regex-plain", ["a", "aa"], ["", "b"]),
    "regex with brackets in a class, and a line break": (
        {"regex": "[\\w[\\].&&+--]+\\cJ\n"},
        "regex",
        "regex-plain",
        ["[&].-\n\n"],
        ["[]\n", "\n\n"],
    ),
    "ebnf": ({"ebnf": 'root ::= "a" [b]{2}'}, "grammar", "gbnf", ["abb"], ["ab", ""]),
    "a grammar of a custom tool": (
        {"text": {"format": {"type": "grammar", "syntax": "lark", "definition": LARK}}},
        "grammar",
        "lark",
        ["a1"],
        ["a"],
    ),
    "a custom tool": (
        {
            "tools": [
                *TOOLS,
                {
                    "type": "custom",
                    "name": "c",
                    "format": {"type": "grammar", "syntax": "regex", "definition": "x+"},
                },
            ],
            "tool_choice": {"type": "custom", "name": "c"},
        },
        "regex",
        "regex",
        ["x", "xx"],
        ["", "y"],
    ),
    "a custom tool of chat completions": (
        {
            "tools": [
                {
                    "type": "custom",
                    "custom": {
                        "name": "c",
                        "format": {
                            "type": "grammar",
                            "grammar": {"syntax": "lark", "definition": LARK},
                        },
                    },
                },
            ],
            "tool_choice": {"type": "custom", "custom": {"name": "c"}},
        },
        "grammar",
        "lark",
        ["a1"],
        ["a"],
    ),
    "tools": (
        {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False},
        "tools",
        "tools",
        ['{"name": "time", "arguments": {}}'],
        ["", "Hello", '[{"name": "time", "arguments": {}}]', '{"name": "x", "arguments": {}}'],
    ),
    "a structural tag": (
        {
            "response_format": {
                "type": "structural_tag",
                "format": {
                    "type": "tag",
                    "begin": "<a>",
                    "content": {"type": "json_schema", "json_schema": PERSON},
                    "end": "</a>",
                },
            }
        },
        "structural_tag",
        "structural-tag",
        [f"<a>{each}</a>" for each in IS_PERSON],
        [f"<a>{each}</a>" for each in IS_NONE],
    ),
    "no tool, but a format": (
        {"tools": TOOLS, "tool_choice": "none", "response_format": _schema(PERSON)},
        "json",
        "json-schema",
        IS_PERSON,
        IS_NONE,
    ),
}


def _read(fields: dict[str, Any], **changes: Any) -> Request:
    found = request_of(fields, **changes)
    assert found is not None
    return found


@pytest.mark.parametrize("case", ACCEPTED)
def test_each_kind_of_request_is_a_grammar_of_its_answers(case: str) -> None:
    """In some dialect, by recognising bytes."""
    fields, kind, dialect, accepted, refused = ACCEPTED[case]
    # As a server gets it.
    found = _read(json.loads(json.dumps(fields)))
    members = members_of(found.text, found.dialect, found.options.schema)

    assert (kind, dialect) == (found.kind, found.dialect)
    assert (accepted, []) == (
        [text for text in accepted if members.accepts(text)],
        [text for text in refused if members.accepts(text)],
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"model": "m", "messages": []},
        {"response_format": None, "tools": None},
        {"response_format": {"type": "text"}},
        {"text": {"verbosity": "low"}},
        {"text": "a prompt", "format": ""},
        {"tools": [], "tool_choice": "auto"},
    ],
)
def test_requests_without_a_format_ask_for_no_grammar(fields: dict[str, Any]) -> None:
    """Nor do those whose format is text."""
    assert request_of(fields) is None


@pytest.mark.parametrize(("said", "order"), [(None, "fixed"), ("any", "any")])
def test_engines_read_schemas_by_the_order_of_their_environment(
    monkeypatch: pytest.MonkeyPatch, said: str | None, order: str
) -> None:
    """Where a request does not say it."""
    if said is not None:
        monkeypatch.setenv("CONSTRAIN_ORDER", said)

    def schema_of(**fields: Any) -> SchemaOptions | None:
        return request_for({"structured_outputs": {"json": PERSON, **fields}}).options.schema

    assert (found := schema_of()) is not None
    assert found.order == order
    assert (found := schema_of(order="fixed")) is not None
    assert found.order == "fixed"


def test_a_dialect_is_told_where_exactly_one_reads_the_grammar() -> None:
    """Else the candidates are named, or why there is none; a server says which it takes."""
    texts = {
        "start ::= #'[a-z]+';": "kbnf",
        'root ::= "a"{2}': "gbnf",
        "start ::= #x41 | 'b' - 'c'": "w3c",
        LARK: "lark",
        "a = 'x', {b}; b = 2 * 'y';": "iso14977",
    }
    assert list(texts.values()) == [_read({"ebnf": text}).dialect for text in texts]
    both = 'root ::= "a" | "b"'
    for text, message in (
        (both, "read as gbnf or w3c"),
        ('root ::= "a', "kbnf: line 1, column 10: unexpected string without an end"),
        ("start ::= 'a' b;", "kbnf: line 1, column 15: rule 'b' is not defined"),
    ):
        with pytest.raises(RequestError, match=message) as caught:
            request_of({"ebnf": text})
        assert "/ebnf" == caught.value.pointer
    assert "gbnf" == _read({"ebnf": both}, dialects=("gbnf", "lark")).dialect


def test_options_of_a_server_are_those_of_all_requests() -> None:
    """By default any tokens, any white space, and nothing precomputed."""
    fields = {"response_format": {"type": "json_object"}}
    asked = CompileOptions(schema=SchemaOptions(draft="7"), vocab_size=300)
    found = _read(fields, options=asked)
    schema = SchemaOptions(draft="7")
    expected = replace(asked, dialect="json-schema", tokenization="any", prewarm=0, schema=schema)
    changed = _read(fields, tokenization="canonical", whitespace="1").options

    assert expected == found.options
    assert ("canonical", "1", None) == (
        changed.tokenization,
        changed.schema and changed.schema.whitespace,
        changed.prewarm,
    )
    with pytest.raises(ValueError, match="style must be one of json, hermes"):
        request_of(fields, style="xml")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"indent": 2}, "indent:2"),
        ({"indent": 0, "separators": [",", ": "]}, "indent:0"),
        ({"indent": 2, "separators": [", ", ": "]}, "separators: where lines are indented"),
        ({"indent": 99}, "indent: whitespace must be"),
        (
            {"indent": 2, "any_order": True},
            "any_order: lines are indented where keys have an order",
        ),
        ({"indent": None}, "python"),
        ({"separators": [",", ":"]}, "compact"),
        ({"root_rule_name": 1}, "root_rule_name: this must be a string"),
    ],
)
def test_flags_of_white_space_are_read_or_refused(flags: dict[str, Any], expected: str) -> None:
    """As ``json.dumps`` has them, where white space is not any; a root rule is of grammars."""
    said = {"any_whitespace": False, **flags}
    if ": " in expected:
        with pytest.raises(FlagError, match=f"^{expected}"):
            request_of({"json_schema": {}}, flags=said)
        return
    schema = _read({"json_schema": {}}, flags=said).options.schema
    assert expected == (schema and schema.whitespace)
    said["root_rule_name"] = "a"
    text = 'a ::= "a"\nroot ::= a'
    grammar = _read({"ebnf": text}, flags=said, dialects=("gbnf",))
    assert "a" == grammar.options.start
    assert _read({"json_schema": {}}, flags=said).options.start is None


def test_a_request_compiles_as_it_says(default_tokenizer: Tokenizer) -> None:
    """And what is wrong inside is said by the name of its field."""
    compiler = Compiler(default_tokenizer)
    found = _read({"response_format": _schema(PERSON)})
    artifact = compiler.compile(found.text, name=found.name, **found.changes)

    assert ("json-schema", "any") == (artifact.manifest.dialect, artifact.manifest.tokenization)
    wrong = _read({"response_format": _schema({"type": "objct"})})
    with pytest.raises(CheckError, match=r"response_format.json_schema.schema:1:9: error: #/type"):
        compiler.compile(wrong.text, name=wrong.name, **wrong.changes)


JUNK: list[Any] = [None, True, -1, 1.5, "", "a", [], [None], {}, {"type": []}, "\ud800", {"a": {}}]


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    named = enumerate(value) if isinstance(value, list) else ()
    for key, each in value.items() if isinstance(value, dict) else named:
        yield from _places(each, (*place, key))


def _put(value: Any, place: tuple[Any, ...], junk: Any) -> Any:
    if not place:
        return junk
    changed = list(value) if isinstance(value, list) else dict(value)
    changed[place[0]] = _put(changed[place[0]], place[1:], junk)
    return changed


def test_junk_anywhere_is_read_or_refused(full: bool) -> None:
    """Whatever stands where, a request and its grammar raise what a server sends back."""
    rng, refused = random.Random(5), 0
    bodies = [fields for fields, *_ in ACCEPTED.values()]
    for _ in range(20_000 if full else 150):
        body = rng.choice(bodies)
        body = _put(body, rng.choice(list(_places(body))), rng.choice(JUNK))
        try:
            found = request_of(body, style=rng.choice(list(STYLES)))
            if found is not None:
                build_engine(found.text, found.options, name=found.name)
        except ConstrainError:
            refused += 1
    assert refused > 100
