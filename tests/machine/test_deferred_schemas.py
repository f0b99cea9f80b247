"""Schemas and tools whose rules are made when a text meets them have the masks of all of them."""

import json
import random
from functools import partial
from typing import Any

import pytest
from support import sampled
from support.matcher import check_random_texts, whole_of
from support.schema import plain_schemas, unions

from constrain.artifacts.growing import GrowingArtifact
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.diagnostics import CheckError, ConstrainError, Source
from constrain.compiler.dialects.table import read_growing
from constrain.compiler.limits import Limits
from constrain.compiler.machine.deferred_rules import CalledRules, DeferredRules
from constrain.compiler.network.tree_rules import Rules
from constrain.compiler.schema.convert import _written_in_part
from constrain.compiler.schema.keywords.plain import plain_parts
from constrain.compiler.schema.options import SchemaOptions
from constrain.compiler.schema.read import read_json
from constrain.compiler.schema.rules.deferred import Deferred

ANY = {"tokenization": "any", "prewarm": 0}
LIMITS = Limits()

LIST = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "minimum": 0, "maximum": 120},
                "kind": {"enum": ["leaf", "branch", 3, None]},
                "below": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 5},
            },
            "required": ["name"],
        }
    },
    "$ref": "#/$defs/node",
}


def deferred(text: str, dialect: str = "json-schema") -> Deferred:
    found = read_growing(text, dialect, name="x", limits=LIMITS, schema=SchemaOptions())
    assert isinstance(found, Deferred)
    return found


def partly_plain(rng: random.Random) -> object:
    """A schema with plain ones inside."""
    made = plain_schemas.document(rng, rng.choice((0, 0.1)))
    if made.get("type") == "object":
        made["patternProperties"] = {"^x": {"type": "integer"}}
        made.setdefault("properties", {})["union"] = unions.union(rng)
    return made


def looped(rng: random.Random) -> object:
    """Objects that lead to each other, some of them without end, with what references of draft 7
    take no notice of."""
    names = ("a", "b", "c")

    def reference() -> dict[str, Any]:
        beside = {"type": ["object", "null"], "title": "t"} if rng.random() < 0.4 else {}
        return {"$ref": f"#/definitions/{rng.choice(names)}", **beside}

    def one() -> dict[str, Any]:
        keys = rng.sample(names, rng.randint(1, 3))
        return {
            "type": rng.choice(("object", "object", ["object", "integer"])),
            "properties": {key: reference() for key in keys},
            "required": [key for key in keys if rng.random() < 0.4],
            **({"additionalProperties": reference()} if rng.random() < 0.3 else {}),
        }

    made: dict[str, Any] = {"definitions": {name: one() for name in names}}
    made[rng.choice(("oneOf", "anyOf"))] = [reference(), reference(), {"not": {"type": "object"}}]
    if rng.random() < 0.5:
        made["$schema"] = "http://json-schema.org/draft-07/schema#"
    return made


def of_any_kind(rng: random.Random) -> object:
    """A schema that is plain, or in part, or unions and conditions, or loops, of which rules of
    objects are made later."""
    plain = partial(plain_schemas.document, odd=0)
    return rng.choice((plain, unions.document, partly_plain, looped))(rng)


@sampled("seed", range(6), range(400))
def test_random_schemas_have_the_masks_of_all_their_rules(
    seed: int, default_tokenizer: Tokenizer
) -> None:
    """Whatever of a schema texts come to first."""
    compiler, grown = Compiler(default_tokenizer), 0
    for number in range(4):
        made = of_any_kind(random.Random(4 * seed + number))
        options = SchemaOptions(order=("fixed", "any")[number % 2])
        try:
            found = compiler.compile(json.dumps(made), dialect="json-schema", schema=options, **ANY)
        except ConstrainError:
            continue
        if isinstance(found, GrowingArtifact):
            grown += 1
            every = [
                found,
                found.completed,
                whole_of(compiler.tokenizer, json.dumps(made), "json-schema", schema=options),
            ]
            check_random_texts(every, 2, 30, seed=seed, short=0.6)
    assert grown > 0


@pytest.mark.quick
def test_plain_schemas_inside_of_others_are_read_when_they_are_looked_at() -> None:
    """Beside keys by patterns, of which all is written at once; in the end it is all of them."""
    schema: dict[str, Any] = {
        **LIST,
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/node"}},
        "patternProperties": {"^b": {"$ref": "#/$defs/node"}},
    }
    del schema["$ref"]
    found = deferred(json.dumps(schema))

    assert not found.rule("#/$defs/node").terminal
    names = {rule.name for rule in deferred(json.dumps(schema)).complete().rules}
    assert "#/$defs/node/properties/size" in names
    written = plain_parts(schema, SchemaOptions(), LIMITS)
    assert id(schema["$defs"]["node"]) in written and id(schema) not in written


@pytest.mark.quick
def test_schemas_that_lead_to_others_are_plain_with_these() -> None:
    """One without a value, or that is inside itself for one and the same value, is none."""
    schema: dict[str, Any] = {
        "$defs": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/none"}},
            "b": {"type": "array", "items": {"$ref": "#/$defs/d"}},
            "c": {"anyOf": [{"$ref": "#/$defs/c"}]},
            "d": {"type": "string"},
            "none": {"type": "integer", "minimum": 2, "maximum": 1},
        },
        "not": {"$ref": "#/$defs/d"},
    }
    found = plain_parts(schema, SchemaOptions(), LIMITS)

    assert {name for name, each in schema["$defs"].items() if id(each) in found} == {"b", "d"}
    schema["$defs"]["d"]["$id"] = "https://example.org/other"
    assert not plain_parts(schema, SchemaOptions(), LIMITS)


@sampled("seed", range(2), range(100))
def test_random_tools_have_the_masks_of_all_their_rules(
    seed: int, default_tokenizer: Tokenizer
) -> None:
    rng = random.Random(seed)
    tools = [
        {"type": "function", "function": {"name": f"tool_{i}", "parameters": made}}
        for i in range(rng.randint(1, 5))
        if (made := plain_schemas.document(rng, 0)).get("type") == "object"
    ]
    if not tools:
        return
    compiler = Compiler(default_tokenizer)
    try:
        found = compiler.compile(json.dumps(tools), dialect="tools", **ANY)
    except ConstrainError:
        return
    if isinstance(found, GrowingArtifact):
        every = [found, found.completed, whole_of(compiler.tokenizer, json.dumps(tools), "tools")]
        check_random_texts(every, 4, 40, seed=seed, short=0.6)


@pytest.mark.quick
def test_rules_are_read_when_they_are_looked_at() -> None:
    """None but the first in the beginning, and then those that it hangs on."""
    found = deferred(json.dumps(LIST))
    rules = DeferredRules(found, LIMITS)
    assert [found.start] == rules.names
    assert not rules.is_nullable(rules.start)
    assert len(rules.names) < 6
    called = CalledRules(rules)
    for rule, name in enumerate(rules.names):
        assert (rule in called) <= (not found.is_part(name))
        assert found.is_part(name) or rules.is_nullable(rule) == (name == "white space")
    whole = Rules(found.complete(), LIMITS)
    assert len(rules.names) <= len(whole.names)


@pytest.mark.quick
def test_chains_of_rules_may_be_long() -> None:
    """As those of a thousand keys are, each of which stands after the others."""
    keys = [f"key {i}" for i in range(700)]
    integers = {key: {"type": "integer"} for key in keys}
    text = json.dumps({"type": "object", "properties": integers, "required": keys})
    rules = DeferredRules(deferred(text), LIMITS)
    assert rules.start in CalledRules(rules)
    assert not any(rules.is_nullable(rule) for rule in (rules.start, len(rules.names) - 1))


@pytest.mark.quick
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "text"},
        {"$ref": "#/x"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    ],
)
def test_errors_of_schemas_come_when_they_are_compiled(
    schema: object, default_tokenizer: Tokenizer
) -> None:
    """With their places, which are not known while they are looked for."""
    with pytest.raises(CheckError) as caught:
        Compiler(default_tokenizer).compile(json.dumps(schema), dialect="json-schema", **ANY)
    assert all(each.span is not None for each in caught.value.diagnostics)


@pytest.mark.quick
def test_a_schema_of_which_no_value_is_finite_is_refused(default_tokenizer: Tokenizer) -> None:
    """Also where it stands beside what is not plain."""
    loop = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"not": {}}}}
    with pytest.raises(CheckError, match="no finite text"):
        Compiler(default_tokenizer).compile(
            json.dumps({**loop, "required": ["a"]}), dialect="json-schema", **ANY
        )


@pytest.mark.quick
def test_rules_of_objects_are_written_when_they_are_looked_at() -> None:
    """In the beginning none of a hundred keys, of a schema that is not plain."""
    keys = {f"k{i}": {"type": "string"} for i in range(100)}
    inner = {"type": "object", "properties": keys, "required": ["k99"], "not": {"required": ["x"]}}
    text = json.dumps({"type": "object", "properties": {"a": inner}, "patternProperties": {}})
    emitter, _ = _written_in_part(
        read_json(Source(text, "x", "json-schema")), SchemaOptions(), LIMITS, "#"
    )
    assert len(emitter.rules) < 20
    emitter.write_objects()
    assert len(emitter.rules) > 100


@pytest.mark.quick
def test_a_reference_of_draft_7_is_what_it_leads_to() -> None:
    """Whatever stands beside it, so that an object which a hundred keys refer to is one."""
    keys = {f"k{i}": {"$ref": "#", "type": "object", "default": {}} for i in range(100)}
    schema = {"type": "object", "properties": keys, "not": {"required": ["x"]}}
    draft = "http://json-schema.org/draft-07/schema#"

    whole = deferred(json.dumps({"$schema": draft, **schema})).complete()
    assert len(whole.rules) < 2 * len(keys)
    # Later drafts ask for both.
    assert len(deferred(json.dumps(schema)).complete().rules) > len(keys) ** 2
