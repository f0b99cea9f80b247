"""Any number of different JSON Schemas, as of tools and forms: the same ones for the same seed."""

import json
import random
from collections.abc import Iterator
from typing import Any

_NAMES = (
    *("id", "name", "title", "text", "kind", "state", "city", "street", "country", "price"),
    *("amount", "count", "total", "unit", "date", "start", "end", "author", "owner", "email"),
    *("phone", "url", "tags", "items", "notes", "color", "size", "weight", "width", "height"),
)
_WORDS = (
    *("new", "open", "closed", "red", "green", "blue", "small", "large", "north", "south"),
    *("paid", "sent", "draft", "final", "active", "deleted"),
)
_PATTERNS = ("^[A-Z]{2}[0-9]{4}$", "^[a-z-]{1,20}$", "^#[0-9a-f]{6}$")


def schemas(count: int, seed: int = 1) -> Iterator[str]:
    """``count`` texts, all different."""
    rng, seen = random.Random(seed), set[str]()
    while len(seen) < count:
        text = json.dumps(_object(rng, 0))
        if text not in seen:
            seen.add(text)
            yield text


def _object(rng: random.Random, depth: int) -> dict[str, Any]:
    names = rng.sample(_NAMES, rng.randint(1, 6 - depth))
    required = [name for name in names if rng.random() < 0.7]
    found = {"type": "object", "properties": {name: _value(rng, depth + 1) for name in names}}
    return {**found, "required": required, "additionalProperties": False}


def _value(rng: random.Random, depth: int) -> dict[str, Any]:
    shape = rng.random()
    if shape < 0.25:
        return {"type": "string"}
    if shape < 0.32:
        return {"type": "string", "minLength": 1, "maxLength": rng.choice((10, 40, 100))}
    if shape < 0.38:
        return {"type": "string", "pattern": rng.choice(_PATTERNS)}
    if shape < 0.45:
        return {"type": "string", "format": rng.choice(("date", "date-time", "uuid", "email"))}
    if shape < 0.55:
        return {"type": "integer"}
    if shape < 0.6:
        return {"type": "integer", "minimum": 0, "maximum": rng.choice((9, 100, 2_000))}
    if shape < 0.67:
        return {"type": "number"}
    if shape < 0.74:
        return {"type": "boolean"}
    if shape < 0.84 or depth > 2:
        return {"enum": rng.sample(_WORDS, rng.randint(2, 6))}
    if shape < 0.92:
        return _object(rng, depth)
    return {"type": "array", "items": _value(rng, depth + 1), "maxItems": rng.choice((5, 20, 50))}
