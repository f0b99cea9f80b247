"""Lists of tools as servers get them, by a seed, and calls of them."""

import json
import random
from typing import Any

_WORDS = (
    *("user", "city", "date", "time", "count", "limit", "name", "title", "query", "page", "price"),
    *("weight", "owner", "status", "level", "kind", "unit", "range", "start", "end", "file"),
    *("path", "size", "color", "order", "region", "language", "format", "source", "target"),
)


def tools(count: int, fields: int, seed: int = 1) -> list[dict[str, Any]]:
    """So many functions, each with so many fields, half of them required, as OpenAI's API has
    them."""
    rng = random.Random(seed)
    return [_tool(rng, number, fields) for number in range(count)]


def _tool(rng: random.Random, number: int, fields: int) -> dict[str, Any]:
    names = []
    for word in rng.sample(_WORDS, fields):
        names.append(f"{word}_{rng.choice(_WORDS)}" if rng.random() < 0.5 else word)
    properties = {name: _schema(rng) for name in names}
    for name, schema in properties.items():
        schema["description"] = f"The {name.replace('_', ' ')} that is wanted"
    parameters = {
        "type": "object",
        "properties": properties,
        "required": rng.sample(names, fields // 2),
        "additionalProperties": False,
    }
    name = f"{rng.choice(_WORDS)}_{rng.choice(_WORDS)}_{number}"
    function = {"name": name, "description": "What it does", "parameters": parameters}
    return {"type": "function", "function": function}


def _schema(rng: random.Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "integer", "minimum": 0, "maximum": rng.choice((10, 100, 1000))},
        {"type": "boolean"},
        {"type": "number"},
        {"type": "string", "enum": rng.sample(_WORDS, rng.randrange(2, 6))},
        {"type": "array", "items": {"type": "string"}},
        {"type": "string", "format": "date"},
        {"type": "integer"},
    ]
    return rng.choice(kinds)


def call(tool: dict[str, Any], rng: random.Random) -> str:
    """A call of a function with all that it requires and some more."""
    function = tool["function"]
    parameters = function["parameters"]
    arguments = {
        name: _value(schema, rng)
        for name, schema in parameters["properties"].items()
        if name in parameters["required"] or rng.random() < 0.5
    }
    return json.dumps({"name": function["name"], "arguments": arguments})


def _value(schema: dict[str, Any], rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if schema.get("format") == "date":
        return "2024-02-29"
    found: dict[str, Any] = {
        "string": "a b, c",
        "integer": rng.randrange(11),
        "boolean": rng.random() < 0.5,
        "number": -1.5,
        "array": ["x", "y z"],
    }
    return found[schema["type"]]
