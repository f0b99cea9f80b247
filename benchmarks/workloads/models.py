"""JSON Schemas as libraries of models write them, of 5 to 60 keys, the same ones for a seed."""

import json
import random
from collections.abc import Iterator
from typing import Any

from .generated import NAMES
from .request import Request


def requests(count: int = 60, seed: int = 1) -> Iterator[Request]:
    """``count`` schemas with the first ones having few keys and the last ones many."""
    rng = random.Random(seed)
    for number in range(count):
        keys = 5 + 55 * number // max(count - 1, 1)
        schema = _Model(rng).document(keys)
        yield Request(f"{keys} keys, {number}", "json-schema", "", (), json.dumps(schema))


class _Model:
    """The definitions of one schema."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.left, self.definitions = rng, 0, dict[str, Any]()
        # Strict models allow no other keys, those of an API any.
        self.is_strict = rng.random() < 0.5

    def document(self, keys: int) -> dict[str, Any]:
        """A schema that has so many keys in all of its objects together."""
        self.left = keys
        root = self.object(0)
        while self.left > 0:
            name = self.name()
            root["properties"][name] = self.value(name, 0)
        if self.definitions:
            root["$defs"] = self.definitions
        return root

    def name(self) -> str:
        self.left -= 1
        return "_".join(self.rng.sample(NAMES, self.rng.choice((1, 2, 2))))

    def object(self, depth: int) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for _ in range(self.rng.randint(2, 12 - 4 * depth)):
            if self.left <= 0 and properties:
                break
            name = self.name()
            properties[name] = self.value(name, depth)
        found = {"type": "object", "properties": properties, "title": "A model"}
        found["required"] = [name for name in properties if self.rng.random() < 0.6]
        if self.is_strict:
            found["additionalProperties"] = False
        return found

    def value(self, name: str, depth: int) -> dict[str, Any]:
        rng, shape = self.rng, self.rng.random()
        found: dict[str, Any]
        if shape < 0.12 and depth < 2 and self.left > 2:
            found = self.reference(depth)
        elif shape < 0.2 and depth < 2 and self.left > 2:
            found = {"type": "array", "items": self.reference(depth)}
        else:
            found = self.scalar()
            if shape > 0.9:
                found = {"type": "array", "items": found}
        if rng.random() < 0.3:
            return {"anyOf": [found, {"type": "null"}], "default": None, "title": name.title()}
        return found if "$ref" in found else {**found, "description": f"The {name} of it."}

    def reference(self, depth: int) -> dict[str, Any]:
        name = f"Model{len(self.definitions)}"
        self.definitions[name] = {}
        self.definitions[name].update(self.object(depth + 1))
        return {"$ref": f"#/$defs/{name}"}

    def scalar(self) -> dict[str, Any]:
        rng = self.rng
        shapes: list[dict[str, Any]] = [
            {"type": "string"},
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "string", "maxLength": rng.choice((20, 80, 255))},
            {"type": "integer", "minimum": 0},
            {"type": "integer", "minimum": 1, "maximum": rng.choice((5, 10, 100, 1000))},
            {"type": "number", "exclusiveMinimum": 0},
            {"enum": rng.sample(NAMES, rng.randint(2, 8)), "type": "string"},
            {"type": "string", "format": rng.choice(("date-time", "date", "email", "uri", "uuid"))},
            {
                "type": "string",
                "pattern": rng.choice((r"^[A-Z]{3}$", r"^\d{5}$", "^[a-z][a-z0-9_]*$")),
            },
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}, "maxItems": rng.choice((5, 20))},
        ]
        return rng.choice(shapes)
