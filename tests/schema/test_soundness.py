"""Every text is a valid instance, also where a keyword is negated, narrowed or written twice."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from typing import Any

import pytest
from support.schema import members, refusal

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    "values", [[0, [1, "a"]], [1, 2.5], [-3, 7.0]], ids=["zero", "a fraction", "decimals"]
)
def test_members_of_an_enum_are_integers_of_draft_4_in_digits_alone(values: list[Any]) -> None:
    """Whether 1.0 is an integer draft 4 leaves open, so it is none, also as a member of an enum."""
    found = members(
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "enum": values}
    )
    whole = str(int(values[0]))

    assert found.accepts(whole)
    assert not found.accepts(f"{whole}.0")
    assert not found.accepts("2.5")
    assert members({"type": "integer", "enum": values}).accepts(f"{whole}.0")


@pytest.mark.parametrize("integer", ["plain", "decimal"])
@pytest.mark.parametrize("text", ["1.0", "1e2", "1", "10E-1"])
def test_what_is_no_integer_is_none_however_it_is_written(integer: str, text: str) -> None:
    """Below a negation 1.0 and 1e2 are integers, whatever integers are written as."""
    assert not members({"not": {"type": "integer"}}, integer=integer).accepts(text)


def test_a_bound_below_a_negation_lets_no_exponent_through() -> None:
    """1e9 is not below 5."""
    found = members({"type": "number", "not": {"minimum": 5}})

    assert found.accepts("4.5")
    assert not found.accepts("1e9")


def test_plain_integers_are_digits_alone() -> None:
    """``--integer plain``; a number that need not be an integer may have zeros after the point."""
    assert not members({"type": "integer", "minimum": 1}, integer="plain").accepts("2.0")
    assert members({"type": "integer", "minimum": 1}, integer="decimal").accepts("2.0")
    assert members({"type": "number", "minimum": 1}, integer="plain").accepts("2.0")


def test_no_object_repeats_a_named_key() -> None:
    """Neither as it is written nor by escapes, in any order of keys."""
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    for order in ("fixed", "any"):
        found = members(schema, order=order)

        assert found.accepts('{"a": 1, "b": "x"}')
        assert not found.accepts('{"a": 1, "a": 2}')
        assert not found.accepts('{"a": 1, "\\u0061": "x"}')


def test_a_repeated_key_does_not_count_twice() -> None:
    """Readers keep one of two equal keys, so an object of them has one member."""
    found = members({"minProperties": 2, "properties": {"a": True}})

    assert found.accepts('{"a": 1, "b": 2}')
    assert not found.accepts('{"b": 1, "b": 2}')
    found = members({"minProperties": 3, "additionalProperties": {"type": "integer"}})
    assert found.accepts('{"name": 1, "size": 2, "имя": 3}')
    assert not found.accepts('{"name": 1, "size": 2}')
    assert not found.accepts('{"name": 1, "size": 2, "name": 3, "size": 4}')


def test_a_repeated_key_does_not_hide_what_must_be_there() -> None:
    """Some member is no integer: it is the last of those that may have its key."""
    found = members({"type": "object", "not": {"additionalProperties": {"type": "integer"}}})

    assert found.accepts('{"a": 1, "b": "x"}')
    assert not found.accepts('{"b": "x", "b": 1}')


def test_a_format_below_a_negation_lets_no_text_of_the_format_through() -> None:
    """Where the automaton has but a part of a format, its complement would have too much."""
    found = members({"type": "string", "not": {"format": "email"}}, formats="assert")

    assert not found.allows("someone@example.com")
    assert not found.allows('"quoted local part"@example.com')


def test_lengths_beyond_the_count_are_narrowed_and_noted_by_their_pointer() -> None:
    """``--max-count``; below a negation the other way round."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 50}}}
    found = members(schema, max_count=5)

    assert found.allows({"a": "12345"})
    assert not found.allows({"a": "123456"})
    assert [
        "#/properties/a/maxLength: texts of more than 5 characters are left out [narrowed]"
    ] == (found.notes)
    assert not members({"type": "string", "not": {"maxLength": 50}}, max_count=5).allows("1" * 20)


def test_what_rests_on_emptiness_does_not_rest_on_what_was_left_out() -> None:
    """That no text of a branch is counted does not make the branch empty."""
    schema = {
        "required": ["a"],
        "properties": {"a": {"type": "string"}},
        "anyOf": [{"properties": {"a": {"maxLength": 9}}}, {"required": ["b"]}],
    }
    found = members(schema, max_count=5)

    assert found.allows({"a": "12345"})
    assert not found.allows({"a": "1234567890"})


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (
            {"not": {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": False}},
            {"b": 1},
            {"a": "x"},
        ),
        (
            {
                "type": "array",
                "not": {"anyOf": [{"prefixItems": [True]}], "unevaluatedItems": {"type": "null"}},
            },
            [1, 2],
            [1, None],
        ),
        (
            {
                "not": {
                    "anyOf": [
                        {"properties": {"a": {"const": 1}}, "required": ["a"]},
                        {"properties": {"b": True}, "required": ["b"]},
                    ],
                    "unevaluatedProperties": False,
                }
            },
            {"a": 2, "b": 1},
            {"a": 1, "b": 1},
        ),
    ],
)
def test_unevaluated_members_and_items_have_a_negative_reading(
    schema: Any, valid: Any, invalid: Any
) -> None:
    """Something that no keyword evaluated fails, and no branch that holds is overlooked."""
    found = members(schema)

    assert found.allows(valid)
    assert not found.allows(invalid)


def test_unique_items_are_values_that_no_automaton_can_distinguish() -> None:
    """Finitely many values are; else the keyword is refused, or ignored with a note."""
    schema = {"type": "array", "uniqueItems": True}
    few = {**schema, "items": {"enum": ["a", "b", 1]}}
    places = {**schema, "prefixItems": [{"enum": [1, 2]}, {"enum": [*range(12)]}], "maxItems": 2}

    assert "#/uniqueItems: uniqueItems of items without finitely many values" in refusal(schema)
    assert "#/uniqueItems: uniqueItems of more than 10 values by places" in refusal(places)
    assert members(few).allows(["b", 1, "a"])
    assert not members(few).allows(["b", "b"])
    assert ["#/uniqueItems: equal items are not kept out"] == members(schema, unique="ignore").notes


def test_just_one_of_many_constants_is_each_of_them_that_no_other_branch_has() -> None:
    """Of strings, and of numbers by their value; by the values alone, not branch by branch."""
    texts = [{"enum": ["a", f"b{i}", f"c{i // 2}"]} for i in range(400)]
    numbers = [{"enum": [0, i, -1 - i // 2]} for i in range(1, 401)]
    found = members({"oneOf": [*texts, *numbers, {"const": "b7"}, {"const": 7.0}]}, seconds=10)

    assert found.allows("b5")
    assert found.allows(5)
    for twice in ("a", "c3", "b7", 0, 7, -2):
        assert not found.allows(twice)


def test_a_oneof_of_many_tagged_objects_keeps_all_of_them() -> None:
    """``--max-conj`` is about combinations."""
    branches = [
        {"properties": {"kind": {"const": f"k{i}"}, "n": {"const": i}}, "required": ["kind", "n"]}
        for i in range(30)
    ]
    found = members({"type": "object", "oneOf": branches}, max_conj=5)

    assert [] == found.notes
    assert found.allows({"kind": "k29", "n": 29})
    assert not found.allows({"kind": "k29", "n": 28})
