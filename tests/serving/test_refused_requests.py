"""What a request asks for and would not be held to is refused, by the field that asks for it."""

# Tests here say `expected == actual`.

from typing import Any

import pytest
from support.schema.tools import TOOLS

from constrain.compiler.serving.requests import RequestError, request_of

REFUSED: dict[str, tuple[Any, str, str]] = {
    "a foreign field": ({"guided_json": {}}, "/guided_json", "say structured_outputs"),
    "an order": (
        {"structured_outputs": {"json": {}, "order": "sorted"}},
        "/structured_outputs/order",
        "must be fixed or any, not 'sorted'",
    ),
    "no object": ({"response_format": "json"}, "/response_format", "must be an object"),
    "no type": ({"response_format": {}}, "/response_format", "there is no 'type'"),
    "a type": ({"response_format": {"type": "yaml"}}, "/response_format/type", "'yaml'"),
    "no schema": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
        "/response_format/json_schema",
        "no 'schema'",
    ),
    "a key": (
        {"response_format": {"type": "json_object", "schema": {}}},
        "/response_format/schema",
        "nor enforced",
    ),
    "an option": (
        {"structured_outputs": {"json": {}, "whitespace_pattern": "[ab]"}},
        "/structured_outputs/whitespace_pattern",
        "has to match white space",
    ),
    "two of a kind": (
        {"structured_outputs": {"json": {}, "regex": "a"}},
        "/structured_outputs/regex",
        "'json' is there, too",
    ),
    "none of a kind": ({"structured_outputs": {}}, "/structured_outputs", "there is none of json"),
    "two formats": (
        {"regex": "a", "response_format": {"type": "json_object"}},
        "/response_format",
        "/regex asks for a format, too",
    ),
    "tools and a format": (
        {"regex": "a", "tools": TOOLS},
        "/regex",
        "say tool_choice none",
    ),
    "a grammar of a list without a name": (
        {"grammar": '{"grammars": [{"lark_grammar": "start: \\"a\\""}, {"json_schema": {}}]}'},
        "/grammar/grammars/1/name",
        "this must be a string",
    ),
    "a choice without tools": ({"tool_choice": "required"}, "/tool_choice", "there are no tools"),
    "no choices": (
        {"structured_outputs": {"choice": []}},
        "/structured_outputs/choice",
        "not empty",
    ),
    "a number": (
        {"structured_outputs": {"choice": ["a", 1]}},
        "/structured_outputs/choice/1",
        "must be a string, not 1",
    ),
    "a number for a schema": ({"format": 1}, "/format", "must be a JSON Schema"),
    "half a character": ({"regex": "\ud800"}, "/regex", "a lone surrogate"),
    "no JSON": ({"format": {"const": float("nan")}}, "/format", "this is no JSON"),
    "a syntax": (
        {"response_format": {"type": "grammar", "syntax": "abnf", "definition": "a"}},
        "/response_format/syntax",
        "must be lark or regex",
    ),
    "a custom tool": (
        {"tools": TOOLS, "tool_choice": {"type": "custom", "name": "x"}},
        "/tool_choice",
        "no custom tool 'x'",
    ),
    "a list": ([], "", "must be an object"),
    "a name with a slash": (
        {"response_format": {"type": "json_object", "a/b~": 1}},
        "/response_format/a~1b~0",
        "nor enforced",
    ),
    "a number of 5,000 digits for a name": (
        {"response_format": {"type": "json_object", 10**5_000: 1}},
        "/response_format/that int",
        "nor enforced",
    ),
    "tools that are no list": ({"tools": 0}, "/tools", "must be an array"),
    "a custom tool's format": (
        {
            "tools": [{"type": "custom", "name": "x", "format": 0}],
            "tool_choice": {"type": "custom", "name": "x"},
        },
        "/tools/0/format",
        "must be an object",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_not_be_enforced_is_refused_by_its_field(case: str) -> None:
    """In a message that can be sent back."""
    fields, pointer, message = REFUSED[case]
    with pytest.raises(RequestError) as caught:
        request_of(fields)

    assert pointer == caught.value.pointer
    assert message in str(caught.value)
    assert str(caught.value).startswith(pointer or "the request")
