"""Lints of JSON Schemas: each finds what it is named for, at its pointer."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
from typing import Any

import pytest
from support import ROOT
from support.cli import Cli

from constrain.compiler.dialects import read_grammar
from constrain.compiler.lints import LINTS, lint

pytestmark = pytest.mark.quick

SEVENTH = "http://json-schema.org/draft-07/schema#"


def found(schema: Any) -> list[tuple[str, str]]:
    """The lint and the pointer of each finding."""
    grammar = read_grammar(json.dumps(schema), "json-schema")
    return [(each.lint, each.message.partition(": ")[0]) for each in lint(grammar)]


@pytest.mark.parametrize(
    ("schema", "findings"),
    [
        ({"properties": {"a": True}, "required": ["b"]}, [("undescribed-key", "#/required/0")]),
        ({"properties": {"a": True}, "required": ["a"]}, []),
        ({"properties": {}, "required": ["b"], "additionalProperties": {}}, []),
        ({"pattern": "^abc$", "maxLength": 2}, [("impossible-length", "#/pattern")]),
        ({"pattern": "^abc$", "maxLength": 3}, []),
        ({"type": "string", "enum": ["a", 1]}, [("excluded-member", "#/enum/1")]),
        ({"type": ["integer", "null"], "enum": [None, 1.0, 2.5]}, [
            ("excluded-member", "#/enum/2")
        ]),
        ({"type": "integer", "anyOf": [{"type": "string"}, {"minimum": 2}]}, [
            ("dead-branch", "#/anyOf/0")
        ]),
        ({"properties": {"a": {"items": {"properties": {"b": {"minimum": 3, "maximum": 2}}}}}}, []),
        ({"properties": {"b": {"type": "integer", "minimum": 3, "maximum": 2}}}, [
            ("impossible-key", "#/properties/b/minimum")
        ]),
        ({"properties": {"b": False, "c": {"not": {}}}}, []),
        ({"type": "array", "items": {"type": "integer", "minimum": 5, "maximum": 3}}, [
            ("impossible-item", "#/items/minimum")
        ]),
        ({"prefixItems": [{}, {"type": "integer", "minimum": 5, "maximum": 3}]}, [
            ("impossible-item", "#/prefixItems/1/minimum")
        ]),
        ({"additionalProperties": {"enum": []}, "patternProperties": {"a": {"enum": []}}}, [
            ("impossible-key", "#/patternProperties/a/enum"),
            ("impossible-key", "#/additionalProperties/enum"),
        ]),
        ({"items": False, "prefixItems": [{"enum": [1]}], "additionalProperties": False}, []),
        ({"type": "integer", "maxLength": 3, "pattern": "a"}, [
            ("idle-keyword", "#/maxLength"), ("idle-keyword", "#/pattern")
        ]),
        ({"type": ["string", "null"], "maximum": 3}, [("idle-keyword", "#/maximum")]),
        ({"type": ["string", "integer"], "maximum": 3, "maxLength": 3, "format": "int32"}, []),
        ({"maxLength": 3, "maximum": 3, "items": {}, "required": []}, []),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/b/items"}}, "b": {
            "items": {"type": "string"}}, "c": {"items": {"$ref": "#/$defs/c"}}}}, [
            ("unused-definition", "#/$defs/c")
        ]),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"items": {"$ref": "#/$defs/a"}}, "c": {
            "$ref": "#/$defs/d"}, "d": {}}, "$ref": "#/$defs/c"}, [
            ("unused-definition", "#/$defs/a"), ("unused-definition", "#/$defs/b")
        ]),
        ({"definitions": {"a b": {}, "c": {"$anchor": "x"}}, "items": {
            "$ref": "#/definitions/a%20b"}}, []),
        ({"items": {"propertees": {}}}, [("misspelt-keyword", "#/items/propertees")]),
        ({"x-note": 1, "example": 2}, []),
        ({"$schema": SEVENTH, "prefixItems": [True]}, [("other-draft", "#/prefixItems")]),
        ({"prefixItems": [True], "dependencies": {}}, []),
        ({"$schema": SEVENTH, "items": {"$ref": "#/definitions/a", "minLength": 1, "title": "x"},
          "definitions": {"a": {}}}, [("other-draft", "#/items/minLength")]),
        ({"items": {"$ref": "#/$defs/a", "minLength": 1}, "$defs": {"a": {}}}, []),
        ({"if": {"minimum": 1}, "minContains": 2, "anyOf": [{"then": {}}]}, [
            ("idle-keyword", "#/if"), ("idle-keyword", "#/minContains"),
            ("idle-keyword", "#/anyOf/0/then")
        ]),
        ({"if": {"minimum": 1}, "else": {}, "contains": {}, "minContains": 2}, []),
        ({"type": "integer", "default": "1", "examples": [1, 1.0, 1.5]}, [
            ("invalid-sample", "#/default"), ("invalid-sample", "#/examples/2")
        ]),
        ({"type": "string", "format": "date", "default": "2020-02-30"}, [
            ("invalid-sample", "#/default")
        ]),
        ({"properties": {"a": {}, "b": {}}, "default": {"b": 1, "a": None}, "examples": 1}, []),
        ({"x-type": "a", "property": {}}, [("misspelt-keyword", "#/property")]),
    ],
)  # fmt: skip
def test_lints_of_schemas(schema: Any, findings: list[tuple[str, str]]) -> None:
    """Each lint finds what it is named for, and nothing in schemas without it."""
    assert findings == found(schema)


def test_a_bound_of_another_type_has_the_one_that_was_meant(cli: Cli) -> None:
    """By the type that is named."""
    for kind, given, meant in (
        ("integer", "maxLength", "maximum"),
        ("string", "minItems", "minLength"),
        ("array", "maxProperties", "maxItems"),
        ("object", "minimum", "minProperties"),
    ):
        schema = f'{{"type": "{kind}", "{given}": 3}}'
        told = cli("check", "-d", "json-schema", "-", stdin=schema.encode())
        assert f"did you mean {meant!r}?" in told.out.decode()


def test_check_says_what_is_found_and_what_is_left_out(cli: Cli) -> None:
    """Findings with their place; what is narrowed is a note, which is no reason for a code."""
    schema = '{"type": "string",\n "maxLength": 9999}'
    told = cli("check", "-d", "json-schema", "-", stdin=schema.encode())

    assert 0 == told.code
    assert "2:15: note: #/maxLength: texts of more than 2,000 characters" in told.out.decode()
    told = cli("check", "-d", "json-schema", "-", stdin=b'{"requird": ["a"]}')
    assert 1 == told.code
    assert "did you mean 'required'?" in told.out.decode()


def test_all_lints_that_the_readme_names_may_be_silenced() -> None:
    """Each has a line here and there."""
    text = (ROOT / "compiler" / "lints" / "README.md").read_text(encoding="utf-8")

    assert LINTS.keys() == {*re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)}
