"""Lists of tools, and whether their grammars have a text."""

import json
from functools import lru_cache
from typing import Any

from constrain.compiler import Limits, SchemaOptions
from constrain.compiler.dialects import read_grammar

from . import Members

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "time"}},
]


def accepts(asked: Any, text: str, schema: SchemaOptions | None = None) -> bool:
    """Whether a text is a member of the grammar of tools."""
    options = schema or SchemaOptions(whitespace="1")
    return members_of(json.dumps(asked), "tools", options).accepts(text)


@lru_cache(64)
def members_of(text: str, dialect: str, schema: SchemaOptions | None = None) -> Members:
    """The members of a text in a dialect."""
    limits = Limits(seconds=60).started()
    return Members(read_grammar(text, dialect, schema=schema, limits=limits), limits)
