"""Where an instance goes wrong: the pointer in it, what could stand there, and by which schemas."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.cli import Cli

from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.explain.explainer import explainer_of_artifact, explainer_of_grammar
from constrain.compiler.explain.json_schema import pointer_at
from constrain.compiler.explain.report import Status, expected_texts
from constrain.compiler.options import CompileOptions
from constrain.compiler.schema.options import SchemaOptions

pytestmark = pytest.mark.quick

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "next": {"$ref": "#"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": 1}', "1:10: rejected at /name: expected a string, not the number 1 (sch"),
        ('{"name": "x", "age": "x"}', "rejected at /age: expected an integer, not the string"),
        ('{"name": "x"} ', 'rejected at " "'),
        ('{"age": 1}', "1:10: rejected: key `name` is missing (schema #)"),
        ('{"name": "x", "tags": ["a", 1]}', 'at /tags/1: the number 1 is none of "a", "b" (schema'),
        ('{"name": "x", "next": {"name": 1}}', "at /next/name: expected a string"),
        ('{"name": "x", "tags": [', "incomplete at /tags: the text is cut off inside an array"),
    ],
)  # fmt: skip
def test_an_instance_is_explained_by_pointers(
    cli: Cli, tmp_path: Path, text: str, said: str
) -> None:
    """Of the instance and of the schema."""
    (tmp_path / "s.schema.json").write_text(json.dumps(SCHEMA))
    found = cli("explain", "s.schema.json", "-", stdin=text.encode())

    assert 1 == found.code
    assert said in found.out.decode()


@pytest.mark.parametrize(
    ("text", "is_for_order"),
    [
        ('{"age": 1, "name": "x"}', True),
        ('{"name": "x", "tags": [], "age": 1}', True),
        # In any order it is refused further on.
        ('{"age": 1, "nam": "x"}', True),
        ('{"name": "x", "age": "1"}', False),
        ('{"nam": "x", "age": 1}', False),
        ('{"name": "x", "next": {"age": 1, "name": "y"}}', True),
    ],
)
def test_what_is_refused_for_the_order_of_its_keys_says_so(
    cli: Cli, tmp_path: Path, text: str, is_for_order: bool
) -> None:
    """By the schema and by its artifact, and by no text where any order is read."""
    (tmp_path / "s.schema.json").write_text(json.dumps(SCHEMA))
    assert 0 == cli("compile", "s.schema.json", "-o", "s.cst").code
    for subject in ("s.schema.json", "s.cst"):
        found = cli("explain", subject, "-", stdin=text.encode())
        parsed = json.loads(cli("explain", subject, "-", "-f", "json", stdin=text.encode()).out)

        assert ("(--order any takes all)" in found.out.decode()) == is_for_order
        assert parsed["is_for_order"] == is_for_order
    found = cli("explain", "--order", "any", "s.schema.json", "-", stdin=text.encode())
    assert "(--order any)" not in found.out.decode()


def test_an_artifact_explains_instances_like_its_schema(cli: Cli, tmp_path: Path) -> None:
    """With its pointers, in JSON too."""
    (tmp_path / "s.schema.json").write_text(json.dumps(SCHEMA))
    assert 0 == cli("compile", "s.schema.json", "-o", "s.cst", "--tokenization", "any").code
    found = json.loads(cli("explain", "s.cst", "-", "-f", "json", stdin=b'{"name": 1').out)

    assert "/name" == found["instance"]
    assert ["#/properties/name"] == found["schemas"]
    assert ["a string"] == found["terminals"]


@pytest.mark.parametrize(
    ("before", "pointer"),
    [
        (b"", ""),
        (b'{"a"', ""),
        (b'{"a": 1', "/a"),
        (b'{"a": 1,', ""),
        (b'{"a": [1, {"b/~": "x,]', "/a/1/b~1~0"),
        (b'[[1, 2], 3, "a\\"', "/2"),
        (b"[1] ", ""),
    ],
)
def test_the_place_of_a_beginning_is_a_pointer(before: bytes, pointer: str) -> None:
    """Strings may hold brackets; a key without its value is none yet."""
    assert pointer == pointer_at(before)


KEYWORDS: list[tuple[dict[str, object], str, str, str]] = [
    ({"type": "integer"}, '{"a": "x"}', "/a", "#/properties/a"),
    ({"enum": ["x", "y"]}, '{"a": "z"}', "/a", "#/properties/a"),
    ({"const": 5}, '{"a": 6}', "/a", "#/properties/a"),
    ({"type": "string", "minLength": 3}, '{"a": "xy"}', "/a", "#/properties/a"),
    ({"type": "string", "maxLength": 2}, '{"a": "xyz"}', "/a", "#/properties/a"),
    ({"type": "string", "pattern": "^[a-z]+$"}, '{"a": "aB"}', "/a", "#/properties/a"),
    ({"type": "string", "format": "date"}, '{"a": "2024-13-01"}', "/a", "#/properties/a"),
    ({"type": "integer", "minimum": 10}, '{"a": 5}', "/a", "#/properties/a"),
    ({"type": "integer", "multipleOf": 5}, '{"a": 7}', "/a", "#/properties/a"),
    ({"type": "array", "minItems": 2}, '{"a": [1]}', "/a/0", "#/properties/a"),
    ({"type": "array", "maxItems": 1}, '{"a": [1, 2]}', "/a/0", "#/properties/a"),
    ({"type": "array", "items": {"type": "string"}}, '{"a": [1]}', "/a", "#/properties/a"),
    ({"prefixItems": [{"const": 1}], "type": "array"}, '{"a": [2]}', "/a", "#/properties/a"),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, '{"a": 1}', "/a", "#/properties/a"),
    ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, '{"a": "xx"}', "/a", "#/properties/a"),
    ({"type": "integer", "not": {"const": 5}}, '{"a": 5}', "/a", "#/properties/a"),
    ({"$ref": "#/$defs/s"}, '{"a": 1}', "/a", "#/$defs/s"),
]  # fmt: skip


@pytest.mark.parametrize(("keywords", "text", "instance", "schema"), KEYWORDS)
def test_each_keyword_that_refuses_is_found_by_both_pointers(
    keywords: dict[str, object], text: str, instance: str, schema: str
) -> None:
    """The place in the instance, and the schema or a part of it."""
    whole = {
        "type": "object",
        "$defs": {"s": {"type": "string"}},
        "properties": {"a": keywords},
        "required": ["a"],
    }
    assert not Draft202012Validator(
        whole, format_checker=Draft202012Validator.FORMAT_CHECKER
    ).is_valid(json.loads(text))
    found = explainer_of_grammar(json.dumps(whole), CompileOptions(dialect="json-schema")).verdict(
        text.encode()
    )

    assert Status.REJECTED is found.status
    assert found.instance is not None
    assert found.instance.startswith(instance)
    assert [name for name in found.schemas if name.startswith(schema)]


@pytest.mark.parametrize("strip", [False, True])
def test_the_verdict_of_an_artifact_is_by_the_options_that_it_was_compiled_with(
    strip: bool,
) -> None:
    """Also without the grammar's text, when only bytes are known."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    wanted = SchemaOptions(order="any", whitespace="compact", max_conj=200, any_limit=5, ascii=True)
    assert wanted == SchemaOptions.from_said(wanted.said)
    options = CompileOptions(
        dialect="json-schema", schema=wanted, tokenization="any", prewarm=0, strip=strip
    )
    artifact = compile_grammar(json.dumps(schema), tokenizer=load_tokenizer(None), options=options)
    explain = explainer_of_artifact(artifact).verdict

    assert Status.ACCEPTED is explain(b'{"b":"x","a":1}').status
    end = explain(b'{"b":"x"}')
    assert ['","'] == expected_texts(end)
    value = explain(b'{"b": "x"}')
    assert (['"\\""'] if strip else ['"\\"x\\""', '"\\"y\\""']) == expected_texts(value)
