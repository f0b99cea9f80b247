"""Schemas as people's tools write them, with valid instances: models of Pydantic, objects of zod,
components of OpenAPI, and files of workflows."""

import random
from typing import Any, TypeAlias

Made: TypeAlias = tuple[dict[str, Any], Any]

_KEYS = ("id", "name", "status", "tags", "owner", "created_at", "on", "with-keys", "naïve", "$v")
_WORDS = ("draft", "open", "done", "push", 'say "hi"', "é", "a/b")


def made(rng: random.Random, style: str, depth: int = 2) -> Made:
    """A schema of a style, and a value of it. ``style``: one of ``STYLES``."""
    if depth == 0 or rng.random() < 0.45:
        return _scalar(rng, style)
    kind = rng.choice(("object", "object", "list", "optional", "union", "map"))
    if kind == "object":
        return _object(rng, style, depth)
    if kind == "list":
        schema, value = made(rng, style, depth - 1)
        return {"type": "array", "items": schema, "maxItems": 4}, [value] * rng.randint(0, 4)
    if kind == "optional":
        schema, value = made(rng, style, depth - 1)
        null = {"type": "null"}
        return {"anyOf": [schema, null]}, rng.choice((value, None))
    if kind == "map":
        schema, value = made(rng, style, depth - 1)
        found: dict[str, Any] = {"type": "object", "additionalProperties": schema}
        if style == "workflow":
            found["patternProperties"] = {"^[a-z_][a-z0-9_-]*$": schema}
            found["additionalProperties"] = False
            return found, dict.fromkeys(rng.sample(("build", "test_1", "x-y"), 2), value)
        return found, dict.fromkeys(rng.sample(_KEYS, rng.randint(0, 3)), value)
    return _tagged(rng, style, depth)


def _scalar(rng: random.Random, style: str) -> Made:
    low = rng.randint(-5, 5)
    kinds: list[Made] = [
        ({"type": "string"}, rng.choice(_WORDS)),
        ({"type": "string", "minLength": 1, "maxLength": 8}, rng.choice(_WORDS)),
        ({"type": "string", "pattern": "^[a-z]+(-[0-9]+)?$"}, rng.choice(("ab", "x-12"))),
        ({"type": "integer", "minimum": low, "maximum": low + 20}, low + rng.randint(0, 20)),
        ({"type": "number"}, rng.choice((1, -2.5, 1e3, 0.001))),
        ({"type": "boolean"}, rng.random() < 0.5),
        ({"enum": [*_WORDS[:4], 7, None]}, rng.choice((*_WORDS[:4], 7, None))),
        ({"const": "v1"}, "v1"),
    ]
    if style == "zod":
        kinds.append(({"type": "number", "exclusiveMinimum": 0}, rng.choice((1, 0.5))))
    if style == "workflow":
        either = {"oneOf": [{"type": "boolean"}, {"type": "string", "pattern": "^\\$\\{\\{"}]}
        kinds.append((either, rng.choice((True, "${{ a }}"))))
    return rng.choice(kinds)


def _object(rng: random.Random, style: str, depth: int) -> Made:
    keys = rng.sample(_KEYS, rng.randint(1, 5))
    inside = {key: made(rng, style, depth - 1) for key in keys}
    required = [key for key in keys if rng.random() < 0.5]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: found for key, (found, _) in inside.items()},
        "required": required,
    }
    if style == "pydantic":
        schema["title"] = "Model"
    if style in ("zod", "workflow"):
        schema["additionalProperties"] = False
    if style == "openapi" and rng.random() < 0.3:
        schema = {"allOf": [schema, {"type": "object", "minProperties": min(1, len(required))}]}
    there = [key for key in keys if key in required or rng.random() < 0.6]
    return schema, {key: inside[key][1] for key in there}


def _tagged(rng: random.Random, style: str, depth: int) -> Made:
    """Branches with a tag, of which one is meant."""
    branches, values = [], []
    for name in rng.sample(("cat", "dog", "fish"), rng.randint(2, 3)):
        schema, value = made(rng, style, depth - 1)
        properties = {"kind": {"const": name}, "data": schema}
        branches.append({"type": "object", "properties": properties, "required": ["kind"]})
        values.append({"kind": name, "data": value})
    return {"oneOf": branches}, rng.choice(values)


STYLES = ("pydantic", "zod", "openapi", "workflow")


def spelled(rng: random.Random, value: Any) -> str:
    """A value as JSON: members in any order, any white space, any escapes."""

    def space() -> str:
        return "".join(rng.choices(" \n\t\r", k=rng.choice((0, 0, 1, 2))))

    if isinstance(value, str):
        return f'"{"".join(_character(rng, each) for each in value)}"'
    if isinstance(value, list):
        inside = ",".join(f"{space()}{spelled(rng, each)}{space()}" for each in value)
        return f"[{inside or space()}]"
    if isinstance(value, dict):
        members = [
            f"{space()}{spelled(rng, key)}{space()}:{space()}{spelled(rng, inner)}{space()}"
            for key, inner in rng.sample(list(value.items()), len(value))
        ]
        return f"{{{','.join(members) or space()}}}"
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
    )


def _character(rng: random.Random, character: str) -> str:
    escaped = f"\\u{ord(character):04x}"
    if character in '"\\':
        return rng.choice((f"\\{character}", escaped))
    return rng.choice((character, character, escaped)) if character >= " " else escaped
