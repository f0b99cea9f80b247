"""Keys in any order, and values of which no two are equal: as sets in frames, in linear states."""

import json
import random
from typing import Any

import numpy as np
import pytest
from support.schema import members

from constrain.artifacts.artifact import Artifact
from constrain.compiler import CompileOptions, Compiler, SchemaOptions, Tokenizer, thresholds

pytestmark = pytest.mark.quick

ANY = SchemaOptions(order="any", whitespace="python")


@pytest.fixture(scope="module")
def compiler(default_tokenizer: Tokenizer) -> Compiler:
    """For masks of any tokens, each computed when it is needed."""
    options = CompileOptions(tokenization="any", prewarm=0, schema=ANY)
    return Compiler(default_tokenizer, options=options)


def _compiled(schema: Any, compiler: Compiler, **changes: Any) -> Artifact:
    return compiler.compile(json.dumps(schema), dialect="json-schema", **changes)


def _accepts(artifact: Artifact, text: str, tokenizer: Tokenizer) -> bool:
    matcher = artifact.matcher()
    for token in tokenizer.encode(text):
        if not matcher.mask()[token >> 5] >> (token & 31) & 1:
            return False
        matcher.advance(token)
    return matcher.is_accepting


def _many(count: int) -> Any:
    kinds = [{"type": "integer"}, {"type": "string"}, {"type": "array", "items": {"type": "null"}}]
    return {
        "type": "object",
        "properties": {f"key{i}": kinds[i % 3] for i in range(count)},
        "required": [f"key{i}" for i in range(0, count, 4)],
    }


def test_forty_keys_come_in_any_order(compiler: Compiler, default_tokenizer: Tokenizer) -> None:
    """None is narrowed, no named key comes twice, other keys stand anywhere between, and what is
    required must be there."""
    found = _compiled(_many(40), compiler)
    instance = {f"key{i}": [i, "text", [None]][i % 3] for i in range(40)}
    rng = random.Random(3)
    order = rng.sample(sorted(instance), 40)

    assert not any("order" in note for note in found.manifest.notes)
    assert found.manifest.counts["positions"] < 1500
    mixed: dict[str, Any] = {}
    for name in order:
        mixed |= {name: instance[name], f"other {name}": {"a": 1}}
    assert _accepts(found, json.dumps(mixed), default_tokenizer)
    assert _accepts(found, json.dumps({n: instance[n] for n in order}), default_tokenizer)
    assert not _accepts(found, json.dumps(instance)[:-1] + ', "key3": 3}', default_tokenizer)
    missing = {name: instance[name] for name in order if name != "key8"}
    assert not _accepts(found, json.dumps(missing), default_tokenizer)


@pytest.mark.parametrize(
    "changes",
    [
        {"additionalProperties": {"type": "null"}},
        {"additionalProperties": False},
        {"additionalProperties": False, "minProperties": 2},
        {"additionalProperties": False, "maxProperties": 2},
        {"additionalProperties": False, "minProperties": 1, "maxProperties": 3, "required": []},
    ],
)
def test_masks_of_sets_are_those_of_all_orders(
    changes: Any, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit by bit along random texts, against a DFA, which knows no sets."""
    from constrain.artifacts.tokens import tokenset

    monkeypatch.setattr(thresholds, "SOON_COPIED_STATES", 0)
    schema = _many(4 if changes.get("additionalProperties") else 5) | changes
    held, orders = _compiled(schema, compiler), _compiled(schema, compiler, engine="dfa")
    rng = random.Random(1)

    assert ("set.parts" in held.arrays) and "set.parts" not in orders.arrays
    for _ in range(6):
        one, other = held.matcher(), orders.matcher()
        for _ in range(40):
            mask = one.mask()
            assert np.array_equal(other.mask(), mask)
            ids = tokenset.to_ids(mask).tolist()
            token = rng.choice(ids)
            one.advance(token)
            other.advance(token)
            if one.is_finished:
                break


def test_distinct_values_come_in_any_order(
    compiler: Compiler, default_tokenizer: Tokenizer
) -> None:
    """Thirty of them, at least two and at most twenty, none twice."""
    values = [f"name{i}" for i in range(28)] + [1, 12]
    schema = {"items": {"enum": values}, "uniqueItems": True, "minItems": 2, "maxItems": 20}
    found = _compiled({"type": "array", **schema}, compiler)
    rng = random.Random(5)

    assert not any("order" in note for note in found.manifest.notes)
    for count, fits in ((1, False), (2, True), (20, True), (21, False)):
        chosen = rng.sample(values, count)
        assert fits == _accepts(found, json.dumps(chosen), default_tokenizer)
    assert not _accepts(found, json.dumps(["name3", 12, "name3"]), default_tokenizer)


def test_where_orders_are_copies_many_keys_come_in_one() -> None:
    """Where no frame holds a set more than six keys are in the schema's order, and noted."""
    found, few = members(_many(8), order="any"), members(_many(3), order="any")

    assert [n.partition(": ")[2] for n in found.notes] == [
        "8 keys come in the order of the schema [narrowed]"
    ]
    assert few.notes == []
    assert few.allows({"key1": "a", "key0": 3})
    assert not found.allows({"key1": "a", "key0": 3, "key4": "d"})
    assert found.allows({"key0": 3, "key1": "a", "key4": "d"})
