"""Schemas that are none, or too much: a place, a pointer, exit code 2 or 3, and never a crash."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.limits import measured
from support.schema import members, refusal
from support.schema.random_schemas import document, with_junk

from constrain.artifacts.errors import ConstrainError

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "1:2: error: #: unexpected end of the text"),
        ('{"type": "a", "type": "b"}', "1:15: error: #: the key 'type' occurs twice"),
        ('{"pattern": "\\ud800"}', "1:13: error: #/pattern: a lone surrogate"),
        ("5", "1:1: error: #: a schema is an object, true or false"),
        ('{"items": 5}', "1:11: error: #/items: a schema is an object, true or false"),
        ('{"type": "strnig"}', "#/type: there is no type 'strnig'"),
        ('{"properties": []}', "#/properties: this must be an object"),
        ('{"minLength": -1}', "#/minLength: this must be an integer, and not below 0"),
        ('{"minimum": "5"}', "#/minimum: this must be a number"),
        ('{"required": [1]}', "#/required: this must be an array of strings"),
        ('{"enum": 1}', "#/enum: this must be an array"),
        ('{"anyOf": []}', "#/anyOf: this must have a schema at least"),
        ('{"multipleOf": 0}', "#/multipleOf: this must be above 0"),
        ('{"uniqueItems": 1}', "#/uniqueItems: this must be true or false"),
        ('{"pattern": "a(b"}', "#/pattern: character 2 of the pattern: this group is not closed"),
        ('{"$id": "//["}', "1:9: error: #/$id: '//[' is no URI reference: Invalid IPv6 URL"),
        ('{"items": {"$ref": "//["}}', "#/items/$ref: '//[' is no URI reference"),
        (
            '{"$defs": {"a": {"$id": "urn:a", "$schema": '
            '"https://json-schema.org/draft/2019-09/schema", "items": {"$id": {}}}}}',
            "#/$defs/a/items/$id: this must be a string",
        ),
        (
            '{"$defs": {"a": {"id": "urn:a", "$schema": '
            '"http://json-schema.org/draft-04/schema", "items": {"id": {}}}}}',
            "#: the name of a schema inside is no string",
        ),
        ('{"$ref": "#/nowhere"}', "1:10: error: #/$ref: nothing is found at '#/nowhere'"),
        ('{"$ref": "http://example.com/s"}', "#/$ref: nothing is found at 'http://example.com/s'"),
        ('{"$ref": "#"}', "#: the schema refers to itself for one and the same value"),
        (
            '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, '
            '"$ref": "#/$defs/a"}',
            "the schema refers to itself for one and the same value",
        ),
        ('{"minimum": 1e9999}', "#/minimum: a number of more than 4,000 digits"),
        (
            '{"required": ["a"], "type": "object", '
            '"properties": {"a": {"type": "null", "enum": [1]}}}',
            "1:68: error: #/properties/a/type: no value satisfies this schema: this and #/pro",
        ),
        ("false", "1:1: error: #: no value satisfies this schema"),
        ('{"$schema": "http://json-schema.org/draft-03/schema#"}', "there is no grammar for"),
    ],
)
def test_what_is_no_schema_is_an_error_with_a_place_and_a_pointer(
    cli: Cli, text: str, said: str
) -> None:
    """Exit code 2."""
    found = cli("check", "--dialect", "json-schema", "-", stdin=text.encode())

    assert found.code == 2
    assert said in found.out.decode() + found.err


@pytest.mark.parametrize("keyword", ["not", "allOf", "items", "properties"])
def test_schemas_thousands_deep_end_with_a_code_or_are_read(keyword: str, deep: int) -> None:
    """Neither a crash nor a traceback."""
    inside: Any = {"allOf": [0, 0], "properties": {"a": 0}}.get(keyword, 0)
    text = json.dumps({keyword: inside if keyword != "allOf" else [0]})
    before, behind = text.split("0")
    try:
        members(before * deep + "true" + behind * deep)
    except ConstrainError as error:
        assert error.exit_code in (2, 3)


def test_a_reference_outside_is_found_in_a_folder_alone(tmp_path: Any) -> None:
    """By ``$id``, or else below the base URI of the folder; nothing is fetched."""
    (tmp_path / "named.json").write_text('{"$id": "https://example.com/x", "type": "null"}')
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "plain.json").write_text('{"type": "integer"}')
    folder = (("https://example.org/base", str(tmp_path)),)

    assert members({"$ref": "https://example.com/x"}, schemas=folder).accepts("null")
    assert members({"$ref": "https://example.org/base/inner/plain.json"}, schemas=folder).accepts(
        "1"
    )
    assert members({"$ref": "inner/plain.json"}, schemas=(("", str(tmp_path)),)).accepts("1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"type": 5}', "/type: this must be the name of a type, or an array of them"),
        ('{"items": 5}', "/items: a schema is an object, true or false"),
        ('{"oneOf": []}', "/oneOf: this must have a schema at least"),
        ('{"uniqueItems": 1}', "/uniqueItems: this must be true or false"),
        ('{"multipleOf": 0}', "/multipleOf: this must be above 0"),
        ('{"$ref": 5}', "/$ref: a reference is a string"),
    ],
)
def test_keywords_of_schemas_in_folders_have_their_values(
    text: str, said: str, tmp_path: Path
) -> None:
    """As those of the schema that refers to them."""
    (tmp_path / "x.json").write_text(text)
    folder = (("https://example.org/", str(tmp_path)),)
    found = refusal({"$ref": "https://example.org/x.json"}, schemas=folder)
    assert said in found


def test_references_to_references_lead_to_their_end_however_many_they_are() -> None:
    """Nothing recurses over them; one to itself by way of many is an error."""
    count = 5_000
    chain = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(count)}
    end = {**chain, f"d{count}": {"type": "null"}}

    assert members({"$defs": end, "$ref": "#/$defs/d0"}).accepts("null")
    circle = {**chain, f"d{count}": {"$ref": "#/$defs/d0"}}
    with pytest.raises(ConstrainError, match="refers to itself for one and the same value"):
        members({"$defs": circle, "$ref": "#/$defs/d0"})


def test_schemas_of_one_value_inside_each_other_end_with_a_pointer() -> None:
    """Where they nest too deep to be followed; a circle of them is called one."""
    with pytest.raises(ConstrainError, match=r"error: #/not/.*not: schemas inside schemas"):
        members('{"not": ' * 900 + "{}" + "}" * 900)
    circle = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{(i + 1) % 500}"}]} for i in range(500)}
    with pytest.raises(ConstrainError, match=r"error: #/\$defs/d\d+: the schema refers to itself"):
        members({"$defs": circle, "$ref": "#/$defs/d0"})


# Values that no keyword of their name can have, and where in them what is wrong stands.
_NUMBERS = "maximum minimum exclusiveMaximum exclusiveMinimum multipleOf"
_COUNTS = "maxItems maxLength maxProperties minItems minLength minProperties"
_SCHEMAS = "additionalProperties contains else if not propertyNames then unevaluatedItems"
_SHAPES = [
    *((name, value, "") for name in _NUMBERS.split() for value in ("1", [], None)),
    *((name, value, "") for name in _COUNTS.split() for value in ("1", -1, 1.5, True, None)),
    *((name, value, "") for name in ("maxContains", "minContains") for value in ("1", -1)),
    *((name, value, "") for name in _SCHEMAS.split() for value in ("1", [], None)),
    *((name, value, "") for name in ("allOf", "anyOf", "oneOf") for value in ({}, 5, [])),
    *((name, [True, 5], "/1") for name in ("allOf", "anyOf", "oneOf", "prefixItems", "items")),
    *((f"{name}", {"a/b": 5}, "/a~1b") for name in ("$defs", "definitions", "dependentSchemas")),
    *((f"{name}", {"a": 5}, "/a") for name in ("dependencies", "patternProperties", "properties")),
    *((name, value, "") for name in ("$defs", "properties", "dependencies") for value in (5, [])),
    *((name, 5, "") for name in ("$id", "$ref", "$anchor", "$dynamicRef", "$schema", "format")),
    ("dependentRequired", {"a": [1]}, "/a"),
    ("dependentRequired", {"a": {}}, "/a"),
    ("dependencies", {"a": ["b", 1]}, "/a"),
    ("required", [1], ""),
    ("required", True, ""),
    ("type", [{}], "/0"),
    ("type", ["null", "strnig"], "/1"),
    ("type", [], ""),
    ("type", {}, ""),
    ("enum", {}, ""),
    ("multipleOf", 0, ""),
    ("pattern", 5, ""),
    ("items", "a", ""),
    ("uniqueItems", "true", ""),
    ("$recursiveAnchor", "true", ""),
]


@pytest.mark.parametrize("around", ["", "/properties/a", "/$defs/unused", "/items/anyOf/1/not"])
def test_values_that_a_keyword_cannot_have_are_errors_wherever_they_stand(around: str) -> None:
    """Also in a schema that nothing refers to, or that asks for values of another type."""
    for keyword, value, inside in _SHAPES:
        schema: Any = {"type": "null", keyword: value} if keyword != "type" else {keyword: value}
        for step in reversed(around.split("/")[1:]):
            schema = [True, schema] if step == "1" else {step: schema}

        message = refusal(schema).splitlines()[0]
        assert f": error: #{around}/{keyword}{inside}: " in message, (schema, message)


def test_keywords_of_another_draft_and_those_that_describe_may_have_any_value() -> None:
    """What asks nothing is not looked at; several errors are said together."""
    any_value = {"title": 5, "examples": {}, "readOnly": "no", "deprecated": 1, "default": [5]}
    later = {"const": 1, "propertyNames": 5, "if": 5, "dependentRequired": 5, "$anchor": 5}
    later["prefixItems"] = 5

    assert members({**any_value, "type": "null"}).accepts("null")
    assert members({**later, "$schema": "http://json-schema.org/draft-04/schema#"}).accepts("5")
    assert refusal({"minLength": "a", "maxLength": "b", "not": 5}).count("error: #/") == 3


def test_schemas_with_junk_in_them_are_read_or_refused_with_a_place(full: bool) -> None:
    """Random schemas with one thing wrong: an error of ours, or members."""
    refused = 0
    for number in range(10_000 if full else 82):
        rng = random.Random(number)
        found = with_junk(rng, document(rng, depth=2))
        try:
            _ = members(found, seconds=20, any_limit=3).network
        except ConstrainError as error:
            refused += 1
            assert error.exit_code in (2, 3)
            assert "s.schema.json:1:" in str(error) or error.exit_code == 3, json.dumps(found)

    assert refused > 30


def test_a_text_of_megabytes_takes_memory_of_its_own_size(tmp_path: Any) -> None:
    """Nothing is kept for each character of a string; one of 20 MB is more than a grammar has."""
    path = tmp_path / "s.schema.json"
    path.write_text(json.dumps({"description": "x" * 4_000_000}))

    found = measured("check", path, "--max-memory", 100_000_000)
    found.check(memory=100_000_000)
    assert found.code == 0
    path.write_text("[" * 20_000_000)
    assert measured("check", path).code == 3
