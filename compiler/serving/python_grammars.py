"""The text of a grammar that something in Python stands for, and its dialect.

    Person (a Pydantic model)          ->  its JSON Schema
    re.compile("[a-z]+", re.I)         ->  (?i)[a-z]+
    [{"name": …, "input_schema": …}]   ->  tools

Pydantic models and their adapters say their own schema; other types are read by Pydantic, which is
no dependency.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, get_origin

from ..dialects import JSON_SCHEMA, PLAIN_REGEX, STRUCTURAL_TAG, TOOLS

# Keys under which tools have the schema of their arguments: Anthropic's and MCP's.
_ARGUMENTS = ("input_schema", "inputSchema")

_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


def written(grammar: Any) -> tuple[str, str | None]:
    """The text, and its dialect, None where the caller must say it. Raises ``TypeError`` for what
    is no grammar, ``ImportError`` for types without Pydantic."""
    if isinstance(grammar, str):
        return grammar, None
    if isinstance(grammar, re.Pattern):
        return _pattern(grammar), PLAIN_REGEX
    if isinstance(grammar, list | tuple) and grammar:
        return json.dumps([_tool(each) for each in grammar]), TOOLS
    if isinstance(grammar, Mapping):
        return _of_mapping(grammar)
    if callable(schema := getattr(grammar, "model_json_schema", None)):
        return json.dumps(schema()), JSON_SCHEMA
    if callable(schema := getattr(grammar, "json_schema", None)):
        return json.dumps(schema()), JSON_SCHEMA
    if isinstance(grammar, type) or get_origin(grammar) is not None:
        return json.dumps(_adapter(grammar).json_schema()), JSON_SCHEMA
    raise TypeError(
        f"{type(grammar).__name__} is no grammar: give a text with its dialect, a JSON Schema as "
        "a dict, a type, a compiled pattern of re, or a list of tools"
    )


def _of_mapping(grammar: Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(grammar.get("tools"), list):
        tools = [_tool(each) for each in grammar["tools"]]
        return json.dumps({**grammar, "tools": tools}), TOOLS
    is_tag = grammar.get("type") == "structural_tag"
    return json.dumps(dict(grammar)), STRUCTURAL_TAG if is_tag else JSON_SCHEMA


def _tool(tool: Any) -> Any:
    """A tool as OpenAI has it."""
    dump = getattr(tool, "model_dump", None)
    found = dump(by_alias=True, exclude_none=True) if callable(dump) else tool
    if not isinstance(found, Mapping):
        raise TypeError(f"a tool is a dict, not {type(tool).__name__}")
    for key in _ARGUMENTS:
        if key in found:
            kept = {name: found[name] for name in ("name", "description") if name in found}
            return {**kept, "parameters": found[key]}
    return dict(found)


def _pattern(pattern: "re.Pattern[Any]") -> str:
    if not isinstance(pattern.pattern, str):
        raise TypeError("a pattern of bytes is no grammar: compile it from a str")
    flags = "".join(letter for flag, letter in _FLAGS.items() if pattern.flags & flag)
    if pattern.flags & (re.ASCII | re.LOCALE):
        raise ValueError("re.ASCII and re.LOCALE are not read: write the characters, as [a-z]")
    # A dialect is of files, whose last line break nobody means.
    text = pattern.pattern + ("\n" if pattern.pattern.endswith("\n") else "")
    return f"(?{flags}){text}" if flags else text


def _adapter(kind: Any) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise ImportError(
            f"{getattr(kind, '__name__', kind)!s} is read by Pydantic, which is not installed: pip "
            "install pydantic, or give its JSON Schema as a dict"
        ) from None
    return TypeAdapter(kind)
