"""JSON Schemas of one shape and of any size."""

import json
from collections.abc import Callable, Iterator
from typing import Any

_STRING: dict[str, Any] = {"type": "string"}
_VALUES: tuple[dict[str, Any], ...] = (_STRING, {"type": "integer"}, {"type": "boolean"})


def optional_keys(count: int) -> dict[str, Any]:
    """An object of optional properties and no others."""
    return {**open_keys(count), "additionalProperties": False}


def open_keys(count: int) -> dict[str, Any]:
    """An object of optional properties and any others."""
    keys = {f"field_{i}": _VALUES[i % 3] for i in range(count)}
    return {"type": "object", "properties": keys}


def tagged(count: int) -> dict[str, Any]:
    """One of some objects, which a constant tells apart."""
    return {"oneOf": [_tagged(i) for i in range(count)]}


def _tagged(number: int) -> dict[str, Any]:
    keys = {"kind": {"const": f"kind_{number}"}, f"value_{number}": _VALUES[number % 3]}
    return {
        "type": "object",
        "properties": keys,
        "required": list(keys),
        "additionalProperties": False,
    }


def enumeration(count: int) -> dict[str, Any]:
    """One of some strings."""
    return {"enum": [f"value-{i * 7919 % 1_000_003}" for i in range(count)]}


def characters(count: int) -> dict[str, Any]:
    """A string of so many characters at most."""
    return {"type": "string", "maxLength": count}


def items(count: int) -> dict[str, Any]:
    """An array of so many items at most."""
    return {"type": "array", "items": {"type": "integer"}, "maxItems": count}


def of_size(size: int) -> dict[str, Any]:
    """Definitions that refer to one another, as many as fill ``size`` bytes of JSON."""
    found: dict[str, Any] = {}
    length, number = 0, 0
    while length < size:
        found[f"type_{number}"] = _definition(number)
        length += len(json.dumps(found[f"type_{number}"])) + 16
        number += 1
    return {"$defs": found, "$ref": f"#/$defs/type_{number - 1}"}


def _definition(number: int) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "id": {"type": "integer", "minimum": 0},
        "name": {"type": "string", "maxLength": 80},
        "created": {"type": "string", "format": "date"},
        "state": {"enum": ["open", "closed", f"state_{number}"]},
        f"flag_{number}": {"type": "boolean", "default": False},
        "labels": {"type": "array", "items": _STRING, "maxItems": 20},
    }
    for other in {number // 2, number - 1, number * 7 // 9} if number else ():
        keys[f"of_{other}"] = {"$ref": f"#/$defs/type_{other}"}
    for name, schema in keys.items():
        # Half of what large schemas say is said to people.
        schema["description"] = f"What {name} means for a thing of type {number}, in a few words"
    return {
        "type": "object",
        "properties": keys,
        "required": ["id", f"flag_{number}"],
        "additionalProperties": False,
    }


# Of each shape what its size counts, the sizes, and the schema.
SHAPES: dict[str, tuple[tuple[int, ...], Callable[[int], dict[str, Any]]]] = {
    "optional keys": ((10, 100, 1_000), optional_keys),
    "optional keys and others": ((10, 100, 1_000), open_keys),
    "oneOf tagged objects": ((10, 100, 500), tagged),
    "enum of strings": ((100, 1_000, 10_000), enumeration),
    "maxLength": ((100, 10_000, 1_000_000), characters),
    "maxItems": ((100, 10_000, 1_000_000), items),
    "bytes of definitions": ((10_000, 100_000, 1_000_000), of_size),
}


def growing() -> Iterator[tuple[str, int, str]]:
    """All of them: the shape, the size and the schema's text."""
    for name, (sizes, make) in SHAPES.items():
        for size in sizes:
            yield name, size, json.dumps(make(size))
