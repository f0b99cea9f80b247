"""Random schemas against two validators: members are valid, and what both reject is no member.

Both validators read the schema on their own, ``jsonschema`` and ``jsonschema-rs``; formats are
asserted by neither, so they are left out where it matters.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.schema import Members, members
from support.schema.random_schemas import document, instance, mutated

from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.network.members import NetworkMembers

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def cases(count: int, seed: int, **options: Any) -> Iterator[tuple[random.Random, Any, Members]]:
    """Random schemas that have a grammar."""
    for number in range(count):
        rng = random.Random(seed * 1_000_003 + number)
        found = document(rng)
        if isinstance(found, dict):
            found = {"$schema": DRAFT, **found}
        try:
            made = members(found, formats="ignore", seconds=20, **options)
            _ = made.network
        except (CheckError, LimitError):
            continue
        yield rng, found, made


def drawn(made: Members, rng: random.Random, count: int = 4) -> Iterator[str]:
    """Members of a grammar, short ones."""
    if made.network is None:
        return
    found = NetworkMembers(made.network.tables, Limits(seconds=20).started())
    least = found.least(60)
    if least is None:
        return
    for number in range(count):
        length = least + rng.choice((0, 3, 8, 20))
        text = next(found.draws(length, number)).decode("utf-8")
        # Validators take numbers for doubles, whose digits are fewer.
        if not re.search(r"[0-9.]{16}|[eE]", text):
            yield text


def validity(found: Any) -> list[Any]:
    """The two validators of a schema, as functions of an instance."""
    first = jsonschema.Draft202012Validator(found)
    second = jsonschema_rs.Draft202012Validator(found, validate_formats=False)

    def is_valid(value: Any) -> bool:
        try:
            return bool(first.is_valid(value))
        except RecursionError:
            # It follows references for one and the same value without an end.
            return bool(second.is_valid(value))

    return [is_valid, second.is_valid]


@pytest.mark.parametrize("order", ["fixed", "any"])
def test_every_text_of_a_random_schema_is_a_valid_instance(full: bool, order: str) -> None:
    """Both validators accept what is drawn from the grammar."""
    for rng, found, made in cases(10_000 if full else 60, 1, order=order, any_limit=3):
        checks = validity(found)
        for text in drawn(made, rng):
            assert [True, True] == [is_valid(json.loads(text)) for is_valid in checks], (
                json.dumps(found),
                text,
            )


def test_what_both_validators_reject_is_no_member(full: bool) -> None:
    """Random instances, and members with one change; what is accepted by one alone is open."""
    for rng, found, made in cases(10_000 if full else 60, 2):
        checks = validity(found)
        drafts = [instance(rng) for _ in range(4)]
        drafts += [mutated(rng, json.loads(text)) for text in drawn(made, rng) for _ in range(3)]
        for value in drafts:
            if not any(is_valid(value) for is_valid in checks):
                assert not made.allows(value), (json.dumps(found), json.dumps(value))


def in_order(value: Any) -> bool:
    """Whether the keys of all objects come in the order of the random schemas' keys, or are few:
    then no order of a document can be another."""
    if isinstance(value, dict):
        return len(value) < 2 and all(in_order(inner) for inner in value.values())
    return all(in_order(inner) for inner in value) if isinstance(value, list) else True


def test_valid_instances_are_members_unless_a_note_says_what_is_left_out(full: bool) -> None:
    """Instances whose keys have but one order, where nothing was narrowed."""
    accepted = 0
    for rng, found, made in cases(10_000 if full else 80, 3):
        if any("narrowed" in note for note in made.notes):
            continue
        checks = validity(found)
        for value in [instance(rng) for _ in range(8)]:
            if in_order(value) and all(is_valid(value) for is_valid in checks):
                accepted += 1
                assert made.allows(value), (json.dumps(found), json.dumps(value))

    assert accepted > 50
