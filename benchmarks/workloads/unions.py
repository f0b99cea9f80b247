"""Schemas of many branches or conditions."""

import json
from collections.abc import Iterator

from .request import Request
from .written_schemas import STRING, Schema, ref

_TYPES = ("string", "number", "integer", "boolean")


def requests() -> Iterator[Request]:
    """Unions without and with tags, and conditions on one key."""
    made = {
        "union of typed others": _typed_others(),
        "19 branches, untagged": _nested(19, has_tag=False),
        "19 branches, tagged": _nested(19, has_tag=True),
        "500 conditions": _conditions(500),
    }
    for name, schema in made.items():
        yield Request(name, "json-schema", "", (), json.dumps(schema))


def _typed_others() -> Schema:
    """Just one of four objects of a required key each, whose other members have some types."""
    branches = [
        {
            "type": "object",
            "properties": {f"p{i}": STRING},
            "required": [f"p{i}"],
            "additionalProperties": {"type": list(_TYPES[: i + 1])},
        }
        for i in range(len(_TYPES))
    ]
    return {"oneOf": branches}


def _nested(count: int, *, has_tag: bool) -> Schema:
    """Just one of some objects, in which they are again."""
    branches: list[Schema] = [STRING]
    for i in range(count - 1):
        tag = {"kind": {"const": f"k{i}"}} if has_tag else {}
        properties = {**tag, f"p{i}": ref("node"), "text": STRING}
        branches.append({"type": "object", "properties": properties, "required": [*tag, f"p{i}"]})
    return {**ref("node"), "definitions": {"node": {"oneOf": branches}}}


def _conditions(count: int) -> Schema:
    """What must be there for each value of a tag."""
    return {
        "type": "object",
        "properties": {"kind": {"enum": [f"k{i}" for i in range(count)]}},
        "required": ["kind"],
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": f"k{i}"}}, "required": ["kind"]},
                "then": {"properties": {f"v{i}": STRING}, "required": [f"v{i}"]},
            }
            for i in range(count)
        ],
    }
