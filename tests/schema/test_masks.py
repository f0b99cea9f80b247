"""Masks of a schema are those of the same language that is written as a grammar, bit by bit."""

# Tests here say `expected == actual`.

import json
from typing import Any

import numpy as np
import pytest
from support import sampled

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
    "enum": ({"enum": ["a", {"b": [1, None]}, [True], -2.5]}, {"b": [1, None]}),
    "bounds": ({"type": "number", "minimum": -1.5, "exclusiveMaximum": 20}, 13.75),
    "multiples": ({"type": "integer", "multipleOf": 7, "minimum": 0}, 49),
    "date": ({"type": "string", "format": "date"}, "2024-02-29"),
    "uuid": ({"type": "string", "format": "uuid"}, "2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
    "lengths": ({"type": "string", "minLength": 2, "maxLength": 4}, "aé🎉"),
    "counts": (
        {"type": "array", "items": {"enum": [0, "x"]}, "minItems": 1, "maxItems": 3},
        [0, "x", 0],
    ),
    "distinct": ({"items": {"enum": [1, "a", None]}, "uniqueItems": True}, ["a", None]),
    "dependent": (
        {
            "type": "object",
            "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
            "dependentRequired": {"a": ["c"]},
            "additionalProperties": False,
        },
        {"a": 1, "c": 3},
    ),
    "conditional": (
        {
            "type": "object",
            "properties": {"k": {"enum": ["x", "y"]}, "v": {"type": ["integer", "boolean"]}},
            "required": ["k", "v"],
            "additionalProperties": False,
            "if": {"properties": {"k": {"const": "x"}}},
            "then": {"properties": {"v": {"type": "integer"}}},
            "else": {"properties": {"v": {"type": "boolean"}}},
        },
        {"k": "y", "v": True},
    ),
    "unevaluated": (
        {
            "type": "object",
            "allOf": [{"properties": {"a": {"type": "null"}}}],
            "properties": {"b": {"type": "boolean"}},
            "unevaluatedProperties": False,
        },
        {"b": True, "a": None},
    ),
    "list": (
        {
            "$ref": "#/$defs/list",
            "$defs": {
                "list": {
                    "type": "object",
                    "properties": {"head": {"type": "integer"}, "tail": {"$ref": "#/$defs/list"}},
                    "required": ["head"],
                    "additionalProperties": False,
                }
            },
        },
        {"head": 1, "tail": {"head": 2}},
    ),
}

# Written by hand, each the language of the schema of this name in the dialect.
BY_HAND = {
    "tree": ("w3c", 'n ::= "[" s ( n ( s "," s n )* )? s "]"\ns ::= [#x9#xA#xD#x20]*\n'),
    "union": ("gbnf", 'root ::= "true" | "false" | "null" | "\\"a\\"" | "\\"bc\\"" | "1.5"\n'),
    "counts": (
        "kbnf",
        """start ::= "[" s item (s "," s item (s "," s item)?)? s "]";
        item ::= "0" | "\\"x\\""; s ::= #"[ \\t\\n\\r]*";""",
    ),
    "list": (
        "lark",
        """start: "{" s "\\"head\\"" s ":" s INT (s "," s "\\"tail\\"" s ":" s start)? s "}"
        s: SPACE*
        SPACE: " " | "\\t" | "\\n" | "\\r"
        INT: "-"? ("0" | /[1-9][0-9]*/)
        """,
    ),
}

# What is written by ``convert``, by turns.
DIALECTS = ("gbnf", "lark", "kbnf", "w3c")

# Each with the tokenizer and the token sequences that it is compiled for.
CASES = [
    (name, tokenizer, tokenization)
    for tokenizer in ("default", "gpt2")
    for tokenization in ("any", "canonical")
    for name in SCHEMAS
]
# The slow ones are left to --full.
_SLOW = (
    "object",
    "not",
    "items",
    "pattern",
    "lengths",
    "bounds",
    "date",
    "uuid",
    "tree",
    "distinct",
)
SOME = [
    (name, "default", tokenization)
    for tokenization in ("any", "canonical")
    for name in SCHEMAS
    if name != "multiples" and (tokenization == "any" or name not in _SLOW)
]


def as_grammar(name: str, text: str, tokenization: str) -> tuple[str, str]:
    """The dialect and the text of a schema's language, as a grammar."""
    if name in BY_HAND:
        return BY_HAND[name]
    dialect = DIALECTS[list(SCHEMAS).index(name) % len(DIALECTS)]
    options = CompileOptions(dialect="json-schema", tokenization=tokenization)
    return dialect, convert(read_grammar(text, "json-schema"), dialect, options).text


@sampled(("name", "tokenizer", "tokenization"), SOME, CASES)
def test_masks_are_those_of_the_language_as_a_grammar(
    request: pytest.FixtureRequest, name: str, tokenizer: str, tokenization: str
) -> None:
    """Along an instance, at each token and at its end."""
    vocabulary: Tokenizer = request.getfixturevalue(
        "gpt2" if tokenizer == "gpt2" else "default_tokenizer"
    )
    schema, instance = SCHEMAS[name]
    text = json.dumps(schema)
    dialect, written = as_grammar(name, text, tokenization)
    compiler = Compiler(vocabulary, options=CompileOptions(tokenization=tokenization))
    one = compiler.compile(text, dialect="json-schema").matcher()
    other = compiler.compile(written, dialect=dialect).matcher()
    tokens = vocabulary.encode(json.dumps(instance, ensure_ascii=False))
    for token in tokens:
        assert np.array_equal(other.mask(), one.mask())
        one.advance(token)
        other.advance(token)

    assert np.array_equal(other.mask(), one.mask())
    assert one.is_accepting
