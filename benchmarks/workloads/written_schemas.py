"""What large JSON Schemas are written with."""

import random
from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}

# A name of a job, or of a step.
NAME = "^[_a-zA-Z][a-zA-Z0-9_-]*$"

_SAID = ("what", "this", "job", "runs", "with", "its", "own", "files", "of", "the")


def said(rng: random.Random, words: int) -> Schema:
    """What is said to people."""
    return {"description": " ".join(rng.choice(_SAID) for _ in range(words))}


def ref(name: str) -> Schema:
    """A definition."""
    return {"$ref": f"#/definitions/{name}"}


def one_of(values: Sequence[Any]) -> Schema:
    """One of some texts."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema, least: int = 0) -> Schema:
    """Items that are alike."""
    found: Schema = {"type": "array", "items": items}
    return {**found, "minItems": least} if least else found


def mapping(values: Schema, **asked: Any) -> Schema:
    """Any keys."""
    return {"type": "object", "additionalProperties": values, **asked}


def closed(properties: Schema, *required: str, **asked: Any) -> Schema:
    """These keys and no others."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        found["required"] = list(required)
    return {**found, **asked}
