"""Arguments in tags beside a writer of each style and a validator of JSON Schema."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import jsonschema_rs
import pytest
from support.structural_tags import accepts, of

from constrain.compiler.structural_tags.fields import STYLES as NAMES
from constrain.compiler.structural_tags.fields import UNSUPPORTED
from constrain.compiler.structural_tags.xml_styles import STYLES

VALUES: list[Any] = ["x", "yy", 3, -0.5, True, None, [1], [], {}, {"a": "x"}, {"y": "x", "x1": 3}]
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
INSIDE = {"type": "object", "properties": {"a": {"minLength": 1}}, "maxProperties": 1}
SCHEMAS: list[Any] = [
    True,
    {},
    {"type": "object"},
    {"properties": {"a": STRING, "b": INTEGER}, "required": ["b"]},
    {"properties": {"a": INSIDE, "b": {"items": INTEGER}}, "additionalProperties": False},
    {"patternProperties": {"^x": INTEGER, "y$": STRING}, "additionalProperties": False},
    {"propertyNames": {"pattern": "^[a-y]+$"}, "properties": {"a": {"type": ["string", "null"]}}},
    {"properties": {"a": True, "b": {"enum": ["x", 3]}}, "maxProperties": 2},
    {
        "minProperties": 1,
        "additionalProperties": INTEGER,
        "properties": {"a": {"$ref": "#/$defs/i"}},
    },
    {"anyOf": [{"required": ["a"]}, {"required": ["x1"]}], "properties": {"a": INSIDE}},
    {"allOf": [{"properties": {"a": STRING}}, {"properties": {"b": {"type": "array"}}}]},
    {"$ref": "#/$defs/o"},
    {"required": ["x1"], "unevaluatedProperties": STRING, "properties": {"a": {"not": STRING}}},
]
DEFINED = {"i": INTEGER, "o": {"properties": {"a": {"$ref": "#/$defs/o"}, "y": STRING}}}


def argument(style: str, key: str | None, value: Any) -> str:
    """A key and its value as the template of a model writes them."""
    is_text = isinstance(value, str)
    written = value if is_text else json.dumps(value)
    said = str(is_text).lower()
    match style:
        case "qwen_xml" | "mimo_xml":
            return f"<parameter={key}>{written}</parameter>"
        case "minimax_xml":
            return f'<parameter name="{key}">{written}</parameter>'
        case "glm_xml":
            return f"<arg_key>{key}</arg_key>\n<arg_value>{written}</arg_value>"
        case "deepseek_xml":
            return f'<｜DSML｜parameter name="{key}" string="{said}">{written}</｜DSML｜parameter>'
        case "deepseek_v4_1_xml":
            return (
                f'<｜DSML｜ parameter name="{key}" string="{said}">{written}</｜DSML｜ parameter>'
            )
        case "kimi_k3_xml":
            kinds = {str: "string", bool: "boolean", type(None): "null", list: "array"}
            kind = {**kinds, int: "number", float: "number", dict: "object"}[type(value)]
            open_, end = (
                f'<|open|>argument key="{key}" type="{kind}"<|sep|>',
                "<|close|>argument<|sep|>",
            )
            return f"{open_}{written}{end}"
    name = "" if key is None else f' name="{key}"'
    match value:
        case str():
            return f'<cofl:value{name} type="raw">{value}</cofl:value>'
        case dict():
            return f'<cofl:value{name} type="dict">{arguments(style, value)}</cofl:value>'
        case list():
            inside = "".join(argument(style, None, each) for each in value)
            return f'<cofl:value{name} type="list">{inside}</cofl:value>'
        case _:
            return f'<cofl:value{name} type="json">{written}</cofl:value>'


def arguments(style: str, instance: dict[str, Any]) -> str:
    """All members of an object, in its order."""
    return "".join(argument(style, key, value) for key, value in instance.items())


def readings(style: str, instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the text of an instance may stand for: where nothing tells values from strings, each may
    be one."""
    if STYLES[style].kinds is not None:
        yield instance
        return
    ways = ([v] if isinstance(v, str) else [v, json.dumps(v)] for v in instance.values())
    for values in product(*ways):
        yield dict(zip(instance, values, strict=True))


@pytest.mark.parametrize("style", STYLES)
def test_arguments_are_the_objects_of_a_schema(style: str, full: bool) -> None:
    """Random members in some order, by patterns, names, counts, references and alternatives."""
    rng = random.Random(11)
    found: list[Any] = []
    for schema in SCHEMAS:
        whole = schema if schema is True else {**schema, "$defs": DEFINED}
        is_member: Callable[[Any], bool] = jsonschema_rs.Draft202012Validator(whole).is_valid
        network = of({"type": "json_schema", "json_schema": whole, "style": style})
        for _ in range(400 if full else 11):
            keys = [key for key in ("a", "b", "x1", "y") if rng.random() < 0.45]
            instance = {key: rng.choice(VALUES) for key in keys}
            expected = any(map(is_member, readings(style, instance)))
            orders = map(dict, permutations(instance.items()))
            if expected != any(accepts(network, arguments(style, each)) for each in orders):
                found.append((schema, instance, expected))

    assert [] == found[:3]


def test_every_style_is_written_or_refused() -> None:
    """By the names of the formats' fields."""
    assert {*STYLES, *UNSUPPORTED, "json"} == set(NAMES)


def test_keys_of_a_schema_are_escaped_where_a_style_says_how() -> None:
    """Else one that would end its tag is refused."""
    schema = {"properties": {'a"&b': STRING}, "required": ['a"&b'], "additionalProperties": False}
    network = of({"type": "json_schema", "json_schema": schema, "style": "kimi_k3_xml"})
    end = '" type="string"<|sep|>v<|close|>argument<|sep|>'

    assert accepts(network, f'<|open|>argument key="a&quot;&amp;b{end}')
    assert not accepts(network, f'<|open|>argument key="a"&b{end}')
