"""Where no value satisfies a schema, the error names the places that contradict each other."""

import copy
import json
import random
import re
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from support.schema import refusal
from support.schema.random_schemas import document, instance

from constrain.compiler.diagnostics import CheckError, LimitError, Source
from constrain.compiler.limits import Limits
from constrain.compiler.schema import SchemaOptions
from constrain.compiler.schema.convert import schema_grammar

pytestmark = pytest.mark.quick

CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
NARROWED: dict[str, Any] = {"type": "string", "format": "email"}

# Schemas that no value satisfies, and the places that are named.
TOLD: list[tuple[Any, list[str]]] = [
    ({**CLOSED, "required": ["a", "y"]}, ["#/additionalProperties", "#/required/1"]),
    (
        {**CLOSED, "properties": {"a": NARROWED}, "required": ["a", "y"]},
        ["#/additionalProperties", "#/required/1"],
    ),
    ({**CLOSED, "minProperties": 2}, ["#/additionalProperties", "#/minProperties"]),
    (
        {"type": "object", "required": ["b", "c"], "maxProperties": 1},
        ["#/required/0", "#/required/1", "#/maxProperties"],
    ),
    (
        {
            "type": "object",
            "properties": {"b": {"not": {}}, "a": {"type": "string", "const": 1}},
            "required": ["a"],
        },
        ["#/properties/a/type", "#/properties/a/const"],
    ),
    (
        {
            "type": "object",
            "patternProperties": {"^x": {}},
            "additionalProperties": False,
            "required": ["b"],
        },
        ["#/additionalProperties", "#/required/0"],
    ),
    (
        {
            "type": "object",
            "allOf": [{"properties": {"e": {}}}, {"required": ["z"]}],
            "required": ["e"],
            "unevaluatedProperties": False,
        },
        ["#/allOf/1", "#/unevaluatedProperties"],
    ),
    ({"allOf": [{"type": "string"}, {}, {"type": "null"}]}, ["#/allOf/0", "#/allOf/2"]),
    ({"type": "string", "enum": [1]}, ["#/type", "#/enum"]),
    ({"type": "string", "pattern": "^a$", "minLength": 3}, ["#/pattern", "#/minLength"]),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, ["#/minimum", "#/maximum"]),
    ({"type": "array", "minItems": 3, "maxItems": 2}, ["#/minItems", "#/maxItems"]),
    ({"type": "array", "items": False, "minItems": 2}, ["#/items", "#/minItems"]),
    (
        {"type": "array", "contains": {"type": "null"}, "items": {"type": "string"}},
        ["#/contains", "#/items"],
    ),
    (
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}, "minItems": 3},
        ["#/uniqueItems", "#/items", "#/minItems"],
    ),
    (
        {"$ref": "#/$defs/x", "$defs": {"x": {"type": "number", "enum": ["q"]}}},
        ["#/$defs/x/type", "#/$defs/x/enum"],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"k": {"$ref": "#/definitions/x", "type": "string"}},
            "required": ["k"],
            "definitions": {"x": {"type": "integer", "minimum": 3, "maximum": 2}},
        },
        ["#/definitions/x/minimum", "#/definitions/x/maximum"],
    ),
    ({"enum": []}, ["#/enum"]),
    ({"not": {}}, ["#/not"]),
    ({"oneOf": [{"type": "string"}, {"type": "string"}]}, ["#/oneOf"]),
    (False, ["#"]),
]


def named(message: str) -> list[str]:
    """The pointers that an error names."""
    first, _, behind = message.splitlines()[0].partition(": no value satisfies this schema")
    others = behind.removeprefix(": this and ").removesuffix(" contradict each other")
    return [first[first.index("#") :], *re.findall("#.*?(?=$| and #|, #)", others)]


@pytest.mark.parametrize(("schema", "places"), TOLD)
def test_what_contradicts_itself_is_named(schema: Any, places: Sequence[str]) -> None:
    """The places, in the order of the text, and not those of what was narrowed."""
    message = refusal(schema)

    assert "no value satisfies this schema" in message
    assert list(places) == named(message)


def test_what_was_narrowed_is_blamed_where_it_may_be_the_reason() -> None:
    """Some address of two characters might be in what is left out."""
    message = refusal({**NARROWED, "maxLength": 2})

    assert "#/format: all values of the schema # are left out: of email" in message


def _contradiction(schema: Any) -> str | None:
    """The message of a schema that no value satisfies."""
    source = Source(json.dumps(schema), "s.schema.json", "json-schema")
    try:
        schema_grammar(source, SchemaOptions(formats="ignore"), Limits(seconds=20).started())
    except CheckError as error:
        message = str(error).splitlines()[0]
        return message if "no value satisfies this schema" in message else None
    except LimitError:
        return None
    return None


def _without(schema: Any, pointer: str) -> Any:
    """The schema without what stands at a pointer."""
    changed = copy.deepcopy(schema)
    *steps, last = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    inner = changed
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    if isinstance(inner, list):
        # Schemas after it keep their index.
        is_name = isinstance(inner[int(last)], str)
        inner[int(last) : int(last) + 1] = [] if is_name else [True]
    elif steps and steps[-1] in ("properties", "patternProperties"):
        inner[last] = True
    else:
        del inner[last]
    return changed


def test_each_place_that_is_named_has_a_part_in_it(full: bool) -> None:
    """Of random schemas: no instance is valid, all pointers are there, and without one of them the
    others are no contradiction any more."""
    told = 0
    for number in range(20_000 if full else 37):
        rng = random.Random(number)
        schema = document(rng, 2)
        message = _contradiction(schema)
        if message is None or not isinstance(schema, dict):
            continue
        validator = jsonschema.Draft202012Validator(schema)
        places = named(message)
        try:
            assert not any(validator.is_valid(instance(rng)) for _ in range(20)), message
        except RecursionError:
            continue
        told += len(places) > 1
        if places == ["#"]:
            continue
        for place in places:
            other = _contradiction(_without(schema, place))
            # An index after the place may be another one then.
            assert other is None or set(places) != set(named(other)) or "/0" in place, (
                json.dumps(schema),
                place,
            )

    assert told > (300 if full else 4)
