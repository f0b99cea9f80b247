"""Unions of objects, and many conditions on one key: what they allow, and that they stay small.

Verdicts are those of ``jsonschema`` on random instances, keys in any order.
"""

# Tests here say `expected == actual`.

import json
import random
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from support import sampled
from support.schema import members, unions

from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.grammar.productive import productive_rules
from constrain.compiler.grammar.tree import Literal
from constrain.compiler.limits import Limits
from constrain.compiler.schema.convert import deferred_grammar, schema_grammar
from constrain.compiler.schema.options import SchemaOptions
from constrain.compiler.schema.rules.deferred import Deferred

TYPES = ["string", "number", "integer", "boolean"]

# A value of "a" has one of "a" inside it, and so on.
_LOOP = {"type": "object", "properties": {"a": {"$ref": "#/$defs/loop"}}, "required": ["a"]}
WITHOUT_END: dict[str, Any] = {
    "$defs": {"loop": _LOOP},
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/loop"}, "b": {"not": {"type": "string"}}},
}


def rules(schema: dict[str, Any]) -> int:
    """How many rules the grammar of a schema has."""
    source = Source(json.dumps(schema), "s", "json-schema")
    options = SchemaOptions(keeps_counts=True)
    return len(schema_grammar(source, options, Limits(seconds=60)).rules)


def by_tag(count: int, *, has_required: bool = True) -> dict[str, Any]:
    """Conditions on one key: of each of its values which other key must be there."""
    required = {"required": ["kind"]} if has_required else {}
    return {
        "type": "object",
        "properties": {"kind": {"enum": [f"k{i}" for i in range(count)]}},
        "required": ["kind"],
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": f"k{i}"}}, **required},
                "then": {"properties": {f"p{i}": {"type": "integer"}}, "required": [f"p{i}"]},
            }
            for i in range(count)
        ],
    }


def typed_others(types: list[list[str]]) -> dict[str, Any]:
    """Objects of one required key each, whose other members have one of some types."""
    branches = [
        {
            "type": "object",
            "properties": {f"p{i}": {"type": "string"}},
            "required": [f"p{i}"],
            "additionalProperties": {"type": each},
        }
        for i, each in enumerate(types)
    ]
    return {"oneOf": branches}


def nested(count: int, *, has_tag: bool, is_closed: bool) -> dict[str, Any]:
    """A tree whose nodes are of several kinds."""
    branches = []
    for i in range(count):
        own = {f"v{i}": {"type": "string"}}
        kids = {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}
        tag = {"kind": {"const": f"k{i}"}} if has_tag else {}
        closed = {"additionalProperties": False} if is_closed else {}
        branches.append(
            {
                "type": "object",
                "properties": {**tag, **own, **kids},
                "required": [*tag, *own],
                **closed,
            }
        )
    return {"$ref": "#/$defs/node", "$defs": {"node": {"oneOf": branches}}}


@pytest.mark.quick
@pytest.mark.parametrize("has_required", [True, False])
def test_conditions_on_one_key_take_rules_in_proportion(has_required: bool) -> None:
    """Twice as many, twice the rules."""
    few, many = (rules(by_tag(count, has_required=has_required)) for count in (40, 80))

    assert many < 2 * few
    assert many < 6 * 80


def test_untagged_branches_are_few_rules() -> None:
    """Each branch excludes the others by their required keys, absent or of another type."""
    assert rules(typed_others([TYPES[: i + 1] for i in range(4)])) < 500
    assert rules(nested(19, has_tag=False, is_closed=True)) < 200
    assert rules(nested(19, has_tag=True, is_closed=False)) < 200
    # Schemas that say the same exclude each other's opposite wherever they stand.
    assert rules(nested(19, has_tag=False, is_closed=False)) < 600


def test_branches_that_begin_with_one_key_share_it() -> None:
    """So a first mask reads the tag once, however many branches there are."""
    source = Source(json.dumps(by_tag(40)), "s", "json-schema")
    found = schema_grammar(source, SchemaOptions(), Limits(seconds=60))
    root = next(rule for rule in found.rules if rule.name == found.start)

    tags = [each for each in root.expressions if isinstance(each, Literal) and b"kind" in each.data]
    assert len(tags) == 1


@pytest.mark.parametrize(
    ("schema", "are_all"),
    [
        (typed_others([TYPES[: i + 1] for i in range(4)]), True),
        ({**nested(3, has_tag=False, is_closed=False), "minProperties": 1}, True),
        (WITHOUT_END, False),
        ({"properties": {"a": {"type": "string", "pattern": "(?!)"}, "b": {"not": {}}}}, True),
    ],
)
def test_rules_that_are_made_later_have_a_text(schema: dict[str, Any], are_all: bool) -> None:
    """Those of branches in which no key is left for a condition are never made, and what nests
    without end is left out."""
    source = Source(json.dumps(schema), "s", "json-schema")
    found = deferred_grammar(source, SchemaOptions(), Limits(seconds=60))

    assert isinstance(found, Deferred)
    every = {found.start: found.rule(found.start)}
    pending = list(every.values())
    for rule in pending:
        names = {use.name for use in rule.uses} - every.keys()
        every |= {name: found.rule(name) for name in names}
        pending += map(found.rule, names)
    assert productive_rules(list(every.values())) == every.keys()
    complete = found.complete().rules
    assert (productive_rules(complete) == {rule.name for rule in complete}) == are_all


def instance(rng: random.Random) -> dict[str, Any]:
    """An object of some of the keys and one other."""
    keys = rng.sample(("kind", "mode", "x", "y", "z"), rng.randint(0, 4))
    return {key: rng.choice(unions.VALUES) for key in keys}


@pytest.mark.quick
def test_conditions_on_some_other_key_are_met_by_one_and_that_is_said() -> None:
    """Of two such keys the later could be the earlier one again, with another value."""
    listed = [{"additionalProperties": {"type": each}} for each in ("string", "integer")]
    found = members({"type": "object", "not": {"anyOf": listed}}, order="any")

    assert found.allows({"x": None})
    assert not found.allows({"x": 1, "y": "a"})
    assert [note.removesuffix(" [narrowed]") for note in found.notes] == [
        "#: what several conditions ask of some additional key is asked of the same one"
    ]


@sampled("seed", range(30), range(1500))
def test_verdicts_are_those_of_a_validator(seed: int) -> None:
    """Whatever is not narrowed is allowed just where it is valid, else only where it is."""
    rng = random.Random(seed)
    for make in (unions.conditional, unions.union):
        schema = make(rng)
        valid = jsonschema.Draft202012Validator(schema)
        try:
            found = members(schema, order="any", integer="decimal")
            _ = found.network
        except CheckError:
            continue
        is_exact = not any("narrowed" in note for note in found.notes)
        for _ in range(40):
            each = instance(rng)
            is_valid = valid.is_valid(each)

            assert is_valid or not found.allows(each), (schema, each)
            # What some key must satisfy is seen at the last one, as keys may be repeated.
            in_some_order = (found.allows(dict(keys)) for keys in permutations(each.items()))
            assert not (is_valid and is_exact) or any(in_some_order), (schema, each)
