"""JSON Schemas for WordPiece: those whose values are finitely many, or nest so deep as they say."""

import json
from itertools import permutations, product
from typing import Any

import pytest
from support.wordpiece import accepted, tokenizer_of

from constrain.compiler import Compiler
from constrain.compiler.diagnostics import NotRegularError
from constrain.compiler.schema import SchemaOptions

_TOKENIZER = tokenizer_of([*'abn{}[]":,0123456789', "nul", "null", "##b", "##l", "##ul", "ab"])

_INNER = {
    "type": "object",
    "properties": {"a": {"type": "null"}, "b": {"enum": [1, "ab"]}},
    "required": ["b"],
    "additionalProperties": False,
}
_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": _INNER, "maxItems": 2}, "b": {"const": None}},
    "additionalProperties": False,
}


def _values(order: str) -> list[str]:
    inner: list[Any] = [{"b": b} for b in (1, "ab")] + [{"a": None, "b": b} for b in (1, "ab")]
    if order == "any":
        inner += [dict(reversed(each.items())) for each in inner[2:]]
    arrays = [list(items) for n in range(3) for items in product(inner, repeat=n)]
    members = [("a", each) for each in arrays]
    found = [{}, {"b": None}, *({k: v} for k, v in members)]
    for member in members:
        pairs = permutations((member, ("b", None)))
        found += [dict(each) for each in pairs][: 2 if order == "any" else 1]
    return [json.dumps(each, separators=(",", ":")) for each in found]


@pytest.mark.parametrize("order", ["fixed", "any"])
def test_masks_are_those_of_all_values(order: str) -> None:
    """Of objects in arrays in an object: what the tokenizer makes of each value, and no more."""
    options = SchemaOptions(whitespace="compact", order=order)
    text = json.dumps(_SCHEMA)
    artifact = Compiler(_TOKENIZER).compile(text, dialect="json-schema", schema=options)

    assert {tuple(_TOKENIZER.encode(each)) for each in _values(order)} == accepted(artifact)


def test_what_nests_without_end_is_refused() -> None:
    """With the way out."""
    schema = {"type": "array", "items": {"$ref": "#"}}
    compiler = Compiler(_TOKENIZER)
    with pytest.raises(NotRegularError, match="nests itself"):
        compiler.compile(json.dumps(schema), dialect="json-schema")
    bounded = compiler.compile(json.dumps(schema), dialect="json-schema", max_depth=2)
    matcher = bounded.matcher()
    matcher.accept(_TOKENIZER.encode("[[], []]"))
    assert matcher.is_accepting
