"""Masks of a schema are those of the same language that is written as a grammar, bit by bit."""

# Tests here say `expected == actual`.

import json
from typing import Any

import numpy as np
import pytest

from constrain.compiler import CompileOptions, Compiler, Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.writers.convert import convert

# Schemas, and an instance of each, as Python writes it.
SCHEMAS: dict[str, tuple[Any, Any]] = {
    "object": (
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
            "required": ["name"],
            "additionalProperties": False,
        },
        {"name": "A b\n", "age": 37},
    ),
    "tree": (
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}},
        [[], [[]]],
    ),
    "union": ({"anyOf": [{"type": "boolean"}, {"enum": ["a", "bc", None, 1.5]}]}, "bc"),
    "not": ({"type": "string", "not": {"pattern": "a"}, "maxLength": 5}, "xyz"),
    "items": ({"prefixItems": [{"type": "null"}], "items": {"type": "integer"}}, [None, 12, -3]),
    "contains": ({"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}}, [1, 7]),
    "tags": (
        {
            "oneOf": [
                {
                    "properties": {"t": {"const": tag}, "v": {"type": kind}},
                    "required": ["t", "v"],
                    "additionalProperties": False,
                    "type": "object",
                }
                for tag, kind in (("a", "null"), ("b", "boolean"))
            ]
        },
        {"t": "b", "v": True},
    ),
    "pattern": (
        {
            "type": "object",
            "patternProperties": {"^x": {"type": "null"}},
            "additionalProperties": {"type": "boolean"},
        },
        {"xy": None, "z": False},
    ),
}


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_those_of_the_language_as_a_grammar(
    default_tokenizer: Tokenizer, name: str, tokenization: str
) -> None:
    """Along an instance, at each token and at its end."""
    schema, instance = SCHEMAS[name]
    text = json.dumps(schema)
    options = CompileOptions(dialect="json-schema", tokenization=tokenization)
    written = convert(read_grammar(text, "json-schema"), "gbnf", options).text
    compiler = Compiler(default_tokenizer, options=CompileOptions(tokenization=tokenization))
    one = compiler.compile(text, dialect="json-schema").matcher()
    other = compiler.compile(written, dialect="gbnf").matcher()
    tokens = default_tokenizer.encode(json.dumps(instance))
    for token in tokens:
        assert np.array_equal(other.mask(), one.mask())
        one.advance(token)
        other.advance(token)

    assert np.array_equal(other.mask(), one.mask())
    assert one.is_accepting
