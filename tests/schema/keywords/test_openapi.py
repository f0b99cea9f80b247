"""Schemas of OpenAPI 3.0: draft 4 with ``nullable``, as a validator that knows it reads them."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from jsonschema.exceptions import ValidationError
from support.schema import Members, members
from support.schema.random_schemas import document, in_draft, instance

from constrain.compiler import SchemaOptions
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lints import lint
from constrain.compiler.schema.keywords.known import schemas_in

OPENAPI: dict[str, Any] = {"draft": "openapi-3.0"}


def _type(validator: Any, kinds: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not (value is None and schema.get("nullable") is True):
        yield from jsonschema.Draft4Validator.VALIDATORS["type"](validator, kinds, value, schema)


OpenApiValidator: Any = jsonschema.validators.extend(jsonschema.Draft4Validator, {"type": _type})


def test_random_schemas_are_read_as_a_validator_does(full: bool) -> None:
    """Of draft 4, with ``nullable`` here and there; of instances in the schema's order of keys."""
    allowed = nulls = 0
    for number in range(3_000 if full else 60):
        rng = random.Random(number)
        found = in_draft(document(rng), 4)
        for _, schema in list(schemas_in(found)):
            if rng.random() < 0.5:
                schema["nullable"] = rng.random() < 0.8  # type: ignore[index]
        validator = OpenApiValidator(json.loads(json.dumps(found)))
        try:
            made = members(found, formats="ignore", order="any", any_limit=3, **OPENAPI)
            _ = made.network
        except (CheckError, LimitError):
            continue
        for value in (None, [None], {"a": None}, {"b": None}, *(instance(rng) for _ in range(12))):
            try:
                is_valid = validator.is_valid(value)
            except RecursionError:
                continue
            if made.allows(value):
                assert is_valid, (json.dumps(found), json.dumps(value))
                allowed += 1
                nulls += value is None
            elif value is None and not made.notes:
                assert not is_valid, json.dumps(found)
    assert allowed > 200
    assert nulls > 20


PET: dict[str, Any] = {
    "type": "object",
    "required": ["name", "age"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "nullable": True, "maxLength": 3, "example": "Tom"},
        "age": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "readOnly": True},
        "default": {"type": "string", "enum": ["a", None], "nullable": True},
        "kind": {"type": "string", "enum": ["a"], "nullable": True, "deprecated": True},
    },
}
SAID = [
    ({"name": None, "age": 1}, True),
    ({"name": "Tom", "age": 1}, True),
    ({"name": None, "age": 0}, False),
    ({"name": None, "age": None}, False),
    ({"name": None, "age": 1, "default": None}, True),
    ({"name": None, "age": 1, "kind": None}, False),
]


@pytest.mark.parametrize(("value", "is_member"), SAID)
@pytest.mark.parametrize("order", ["fixed", "any"])
def test_keywords_of_openapi_mean_what_it_says(value: Any, is_member: bool, order: str) -> None:
    """No keyword of it is noted as one of another draft; members of ``enum`` are named."""
    found = members(PET, order=order, **OPENAPI)

    assert is_member == found.allows(value)
    assert found.notes == []
    assert is_member == OpenApiValidator(PET).is_valid(value)


def test_a_schema_of_a_description_and_one_in_a_folder(tmp_path: Path) -> None:
    """Also where what it refers to stands outside of schemas; values in it stay as they are."""
    value = {"type": "string", "nullable": True}
    listed = {"Pet": {"$ref": "#/components/schemas/Tag"}, "Tag": {"enum": [value]}}
    text = json.dumps({"openapi": "3.0.3", "paths": {}, "components": {"schemas": listed}})
    options = SchemaOptions(**OPENAPI)
    (tmp_path / "tag.json").write_text(json.dumps(value), encoding="utf-8")
    folder = SchemaOptions(schemas=(("https://example.com/", str(tmp_path)),), **OPENAPI)

    def accepts(text: str, options: SchemaOptions, start: str | None = None) -> list[bool]:
        grammar = read_grammar(text, "json-schema", start=start, schema=options)
        found = Members(grammar, Limits(seconds=20).started())
        return [found.allows(each) for each in ("x", None, value)]

    pet = "#/components/schemas/Pet"
    assert accepts(text, options, pet) == [False, False, True]
    listed["Tag"] = value
    text = json.dumps({"components": {"schemas": listed}})
    assert accepts(text, options, pet) == [True, True, False]
    outside = '{"$ref": "https://example.com/tag.json"}'
    assert accepts(outside, folder) == [True, True, False]


def test_nullable_offers_the_option_where_it_asks_nothing() -> None:
    """And where it is given, no finding; but that it asks nothing without a type beside it."""
    text = json.dumps({"type": "string", "nullable": True})
    alone = json.dumps({"anyOf": [{"type": "string"}], "nullable": True})
    options = SchemaOptions(**OPENAPI)

    (found,) = lint(read_grammar(text, "json-schema"))
    assert "--draft openapi-3.0" in (found.help or "")
    assert lint(read_grammar(text, "json-schema", schema=options)) == []
    (found,) = lint(read_grammar(alone, "json-schema", schema=options))
    assert "without a type beside it" in found.message
