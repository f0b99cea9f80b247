"""Random unions of objects, and conditions on one key."""

import random
from typing import Any

TAGS = ("a", "b", "c", "d")
VALUES = ("a", "b", "c", "d", "e", 1, True, None)


def document(rng: random.Random) -> dict[str, Any]:
    """One of them."""
    return rng.choice((conditional, union))(rng)


def condition(rng: random.Random) -> dict[str, Any]:
    """What an ``if`` may ask of the tag, by constants or not."""
    key = rng.choice(("kind", "kind", "kind", "mode"))
    constant = rng.choice(
        (
            {"const": rng.choice(TAGS)},
            {"enum": rng.sample(TAGS, 2)},
            {"type": "string", "const": rng.choice(TAGS)},
            {"not": {"const": rng.choice(TAGS)}},
            {"const": rng.choice(VALUES)},
        )
    )
    found: dict[str, Any] = {"properties": {key: constant}}
    if rng.random() < 0.6:
        found["required"] = [key]
    return found


def consequence(rng: random.Random) -> dict[str, Any]:
    """What a branch may ask."""
    key = rng.choice(("x", "y", "kind"))
    return rng.choice(
        (
            {"required": [key]},
            {"properties": {key: {"type": rng.choice(("integer", "string", "boolean"))}}},
            {"properties": {key: False}},
            {"properties": {key: {"const": rng.choice(VALUES)}}, "required": [key]},
            {"additionalProperties": {"type": ["string", "integer"]}},
            {"maxProperties": 2},
        )
    )


def conditional(rng: random.Random) -> dict[str, Any]:
    """An object with conditions."""
    listed: list[dict[str, Any]] = []
    for _ in range(rng.randint(3, 5)):
        each: dict[str, Any] = {"if": condition(rng), "then": consequence(rng)}
        if rng.random() < 0.3:
            each["else"] = consequence(rng)
        listed.append(each)
    found: dict[str, Any] = {"type": "object", "allOf": listed}
    if rng.random() < 0.5:
        found["properties"] = {"kind": {"enum": [*TAGS, 1]}}
    if rng.random() < 0.5:
        found["required"] = ["kind"]
    if rng.random() < 0.2:
        found["unevaluatedProperties"] = False
    return found


def union(rng: random.Random) -> dict[str, Any]:
    """Objects that may overlap, one of which is wanted."""
    listed = []
    for _ in range(rng.randint(2, 4)):
        key = rng.choice(("x", "y", "kind"))
        each: dict[str, Any] = {"properties": {key: {"type": rng.choice(("integer", "string"))}}}
        if rng.random() < 0.7:
            each["required"] = [key]
        if rng.random() < 0.5:
            types = rng.sample(("string", "integer", "boolean", "null"), rng.randint(1, 3))
            each["additionalProperties"] = {"type": types}
        listed.append(each)
    return {"type": "object", rng.choice(("oneOf", "oneOf", "anyOf")): listed}
