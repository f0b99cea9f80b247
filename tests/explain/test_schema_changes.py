"""What two schemas say differently, in words."""

import copy
import json
import random
from typing import Any

import pytest

from constrain.compiler.explain.schema_changes import Change, changes

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "kind": {"enum": ["cat", "dog"]},
        "home": {"$ref": "#/$defs/place"},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (["properties", "name", "maxLength"], 30, ("#/properties/name", "maxLength was 20, is 30")),
        (["properties", "name", "maxLength"], None, ("#/properties/name", "maxLength 20 is gone")),
        (["properties", "name", "minLength"], 1, ("#/properties/name", "minLength 1 is new")),
        (
            ["properties", "name", "type"],
            ["string", "null"],
            ("#/properties/name", 'type: now "null"'),
        ),
        (
            ["properties", "kind", "enum"],
            ["dog", "fox"],
            ("#/properties/kind", 'enum: no longer "cat", now "fox"'),
        ),
        (["properties", "kind"], None, ("#/properties/kind", "the key is gone")),
        (["properties", "age"], True, ("#/properties/age", "the key is new: any value")),
        (["required"], ["name", "kind"], ("#", '"kind" is required now')),
        (["required"], None, ("#", '"name" is no longer required')),
        (
            ["additionalProperties"],
            None,
            ("#/additionalProperties", "was false (no other keys), is true"),
        ),
        (
            ["$defs", "place", "properties", "city", "type"],
            "integer",
            ("#/properties/home/properties/city", 'type: no longer "string", now "integer"'),
        ),
        (["title"], "A person", None),
    ],
)
def test_a_difference_is_a_sentence(
    path: list[str], value: Any, expected: tuple[str, str] | None
) -> None:
    """One change, its place and its words; what says nothing of instances is none."""
    new = copy.deepcopy(PERSON)
    inner = new
    for step in path[:-1]:
        inner = inner[step]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    assert changes(PERSON, new) == ([] if expected is None else [Change(*expected)])
    assert changes(new, new) == []


def test_keys_in_another_order() -> None:
    """Which is another language, where texts are generated in the schema's order."""
    turned = {**PERSON, "properties": dict(reversed(PERSON["properties"].items()))}
    expected = [Change("#/properties", "the keys come in another order")]
    assert changes(PERSON, turned) == expected


def test_references_that_go_round_and_those_that_lead_nowhere() -> None:
    """Each pair of places is compared once; what is not inside the document stays a name."""
    tree = {"$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "maxItems": 1}}, "$ref": "#/$defs/t"}
    other = json.loads(json.dumps(tree).replace("1", "2"))
    assert changes(tree, other) == [Change("#", "maxItems was 1, is 2")]
    round_about = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert changes(round_about, round_about) == []
    elsewhere = {"$ref": "https://example.org/x"}, {"$ref": "https://example.org/y"}
    said = '$ref was "https://example.org/x", is "https://example.org/y"'
    assert changes(*elsewhere) == [Change("#", said)]
    nowhere = {"$ref": "#/$defs/none"}
    assert changes(nowhere, {"type": "string"}) != []


def test_any_two_schemas_are_compared() -> None:
    """Values of the wrong kind included; equal ones have no differences, others have as many
    seen from either side as from the other: none, or some."""
    rng = random.Random(3)
    values = [1, True, [], {}, "a", None, {"type": "string"}, [{"type": "null"}], ["a"]]
    keywords = ["properties", "items", "anyOf", "required", "enum", "type", "additionalProperties"]

    def schema(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(values)
        found = {key: schema(depth - 1) for key in rng.sample(keywords, rng.randint(0, 4))}
        if rng.random() < 0.5:
            found["properties"] = {"a": schema(depth - 1), "b": schema(depth - 1)}
        return found

    for _ in range(500):
        one, other = schema(3), schema(3)
        assert changes(one, one) == []
        assert bool(changes(one, other)) == bool(changes(other, one))
