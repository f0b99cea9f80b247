"""Lengths and counts of any size are counted while decoding, as exactly as by copies."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from support.schema import members

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.matcher import Matcher
from constrain.compiler import CompileOptions, Compiler, Tokenizer
from constrain.compiler.dialects import read_grammar

pytestmark = pytest.mark.quick

MILLION = 10**6


@pytest.fixture(scope="module")
def compiler(default_tokenizer: Tokenizer) -> Compiler:
    """For masks of any tokens, each computed when it is needed."""
    return Compiler(default_tokenizer, options=CompileOptions(tokenization="any", prewarm=0))


def _compiled(schema: Any, compiler: Compiler, **changes: Any) -> Artifact:
    return compiler.compile(json.dumps(schema), dialect="json-schema", **changes)


def _behind(text: str, artifact: Artifact, tokenizer: Tokenizer) -> Matcher:
    matcher = artifact.matcher()
    for token in tokenizer.encode(text):
        matcher.advance(token)
    return matcher


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 1000, "maxLength": MILLION},
        {"type": "array", "items": {"type": "null"}, "minItems": 1000, "maxItems": MILLION},
        {"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": MILLION},
        {"propertyNames": {"maxLength": 20}, "maxProperties": MILLION, "type": "object"},
    ],
)
def test_a_million_is_counted_and_not_narrowed(schema: Any, compiler: Compiler) -> None:
    """Without copies, and without a note of what is left out."""
    found = _compiled(schema, compiler)

    assert () == found.manifest.notes
    assert found.manifest.counts["positions"] < 1000


def test_the_last_character_that_is_allowed_is_the_last(
    compiler: Compiler, default_tokenizer: Tokenizer
) -> None:
    """Code points count; an escape is one, and so are the two of a surrogate pair."""
    found = _compiled({"type": "string", "minLength": 2999, "maxLength": 3000}, compiler)
    quote = default_tokenizer.encode('"')[0]
    text = '"' + 'aé😀\\u00e9\\ud83d\\ude00"'[:-1] * 599 + "abc"
    for more, may_end in (("", False), ("d", True), ("de", True)):
        mask = _behind(text + more, found, default_tokenizer).mask()
        assert may_end == bool(mask[quote >> 5] >> (quote & 31) & 1)
    letters = np.array([t for t in range(len(default_tokenizer.tokens)) if t != quote])
    assert not (mask[letters >> 5] >> (letters & 31) & 1).any()


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"type": "string", "minLength": 3, "maxLength": 40}, "aé😀 b\\n" * 5),
        ({"type": ["string", "null"], "not": {"maxLength": 4}, "maxLength": 25}, "x" * 25),
        ({"anyOf": [{"type": "string", "maxLength": 9}, {"enum": ["a", "b" * 12]}]}, "b" * 12),
        ({"items": {"type": "boolean"}, "type": "array", "maxItems": 20}, [True] * 20),
        ({"type": "object", "additionalProperties": {"const": 1}, "maxProperties": 12}, {"a": 1}),
    ],
)
def test_masks_are_those_of_copies(
    schema: Any, instance: Any, compiler: Compiler, default_tokenizer: Tokenizer
) -> None:
    """Along an instance, bit by bit: with counters, and as a DFA, which has none."""
    one = _compiled(schema, compiler).matcher()
    other = _compiled(schema, compiler, engine="dfa", prewarm=None).matcher()
    for token in default_tokenizer.encode(json.dumps(instance, ensure_ascii=False)):
        assert np.array_equal(other.mask(), one.mask())
        one.advance(token)
        other.advance(token)

    assert np.array_equal(other.mask(), one.mask())
    assert other.is_accepting == one.is_accepting


def test_lengths_beside_a_pattern_are_narrowed_and_noted_by_their_pointer(
    compiler: Compiler,
) -> None:
    """Where that is built they are states of an automaton; so are those of keys."""
    schema = {"type": "string", "pattern": "^a+$", "maxLength": MILLION}
    of_values = _compiled(schema, compiler, engine="network")
    of_keys = _compiled({"type": "object", "propertyNames": {"maxLength": 5000}}, compiler)

    assert (
        "#/maxLength: texts of more than 2,000 characters are left out [narrowed]"
        in (of_values.manifest.notes[0])
    )
    assert "#/propertyNames/maxLength: texts of more" in of_keys.manifest.notes[0]


@pytest.mark.parametrize("changes", [{}, {"prewarm": None}, {"engine": "network"}])
def test_lengths_of_any_bound_stand_beside_a_small_pattern(
    changes: dict[str, Any], compiler: Compiler, default_tokenizer: Tokenizer
) -> None:
    """Nothing is left out, whatever counts them."""
    schema = {"type": "string", "pattern": "^a+$", "maxLength": 5000}
    artifact = _compiled(schema, compiler, **changes)
    assert not any("left out [narrowed]" in note for note in artifact.manifest.notes)
    for length in (5000, 5001):
        ids = default_tokenizer.encode(json.dumps("a" * length))
        assert (length <= 5000) == (artifact.matcher().accept(ids) == len(ids))


def test_lengths_are_narrowed_again_beside_a_large_automaton() -> None:
    """By the copies that there are, and then by the room beside it."""
    schema = {"type": "string", "format": "uri", "maxLength": 2048}
    grammar = read_grammar(json.dumps(schema), "json-schema")
    messages = [note.message for note in grammar.notes]
    assert any("more than 2,000 characters" in message for message in messages)
    assert any("more than 553 characters" in message for message in messages)


def test_lengths_that_touch_are_one_range() -> None:
    """Without an automaton."""
    every = {"type": "string", "anyOf": [{"maxLength": MILLION}, {"minLength": 5}]}
    upper = {"type": "string", "anyOf": [{"minLength": 9}, {"minLength": 4, "maxLength": 8}]}

    assert [] == members(every, keeps_counts=True).notes
    assert members(every, keeps_counts=True).allows("a" * 50)
    assert members(upper).allows("a" * 4)
    assert not members(upper).allows("a" * 3)


def test_a_bound_that_all_texts_of_a_format_keep_asks_nothing(compiler: Compiler) -> None:
    """Without a product, and without a note."""
    plain = _compiled({"type": "string", "format": "uuid"}, compiler)
    bounded = _compiled({"type": "string", "format": "uuid", "maxLength": MILLION}, compiler)

    assert bounded.manifest.notes == plain.manifest.notes
    assert np.array_equal(plain.arrays["positions.arcs"], bounded.arrays["positions.arcs"])
    found = {n: members({"type": "string", "format": "uuid", "maxLength": n}) for n in (35, 36)}
    assert [False, True] == [found[n].allows("12345678-1234-1234-1234-123456789abc") for n in found]


def test_lengths_beside_a_large_automaton_are_narrowed_to_what_fits() -> None:
    """And not an error of the limits."""
    large = {"type": "string", "pattern": "^(a{0,150}b)*$", "maxLength": 2000}
    found = members(large)

    assert ["#/maxLength: texts of more than 655 characters are left out [narrowed]"] == found.notes


@pytest.mark.parametrize("rest", [False, {"type": "integer"}, {"type": "string"}, {"minimum": 2}])
@pytest.mark.parametrize(
    "contained", [{"type": "string"}, {"maxLength": 1, "minimum": 2}, {"enum": [1, "a"]}]
)
def test_items_that_are_contained_are_evaluated(contained: Any, rest: Any) -> None:
    """All arrays of up to two items, against a validator."""
    schema = {"type": "array", "contains": contained, "unevaluatedItems": rest}
    found, validator = members(schema), Draft202012Validator(schema)
    for count in range(3):
        for items in product([None, 1, 2, "a", "ab", []], repeat=count):
            assert validator.is_valid(list(items)) == found.allows(list(items)), items
