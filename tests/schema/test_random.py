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
from itertools import permutations, product
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.schema import Members, members
from support.schema.random_schemas import document, in_draft, instance, mutated

from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.network.members import NetworkMembers

# Of each draft its name, and the validators of both libraries.
DRAFTS: dict[int, tuple[str, Any, Any]] = {
    2020: (
        "https://json-schema.org/draft/2020-12/schema",
        jsonschema.Draft202012Validator,
        jsonschema_rs.Draft202012Validator,
    ),
    7: (
        "http://json-schema.org/draft-07/schema#",
        jsonschema.Draft7Validator,
        jsonschema_rs.Draft7Validator,
    ),
    4: (
        "http://json-schema.org/draft-04/schema#",
        jsonschema.Draft4Validator,
        jsonschema_rs.Draft4Validator,
    ),
}

# How many schemas of each draft and order of keys are looked at, in full and else.
COUNTS = [
    (2020, "fixed", 7_000, 45),
    (2020, "any", 7_000, 45),
    (7, "fixed", 3_000, 20),
    (4, "any", 3_000, 20),
]


def cases(
    count: int, seed: int, draft: int = 2020, **options: Any
) -> Iterator[tuple[random.Random, Any, Members]]:
    """Random schemas that have a grammar."""
    for number in range(count):
        rng = random.Random(seed * 1_000_003 + number)
        found = in_draft(document(rng), draft)
        if isinstance(found, dict):
            found = {"$schema": DRAFTS[draft][0], **found}
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


def validity(found: Any, draft: int = 2020) -> list[Any]:
    """The two validators of a schema, as functions of an instance."""
    first = DRAFTS[draft][1](found)
    second = DRAFTS[draft][2](found, validate_formats=False)

    def is_valid(value: Any) -> bool:
        try:
            return bool(first.is_valid(value))
        except RecursionError:
            # It follows references for one and the same value without an end.
            return bool(second.is_valid(value))

    return [is_valid, second.is_valid]


@pytest.mark.parametrize(("draft", "order", "every", "some"), COUNTS)
def test_every_text_of_a_random_schema_is_a_valid_instance(
    full: bool, draft: int, order: str, every: int, some: int
) -> None:
    """Both validators accept what is drawn from the grammar."""
    count = every if full else some
    for rng, found, made in cases(count, 1, draft, order=order, any_limit=3):
        checks = validity(found, draft)
        for text in drawn(made, rng):
            assert [True, True] == [is_valid(json.loads(text)) for is_valid in checks], (
                json.dumps(found),
                text,
            )


@pytest.mark.parametrize(("draft", "order", "every", "some"), COUNTS[:1] + COUNTS[2:])
def test_what_both_validators_reject_is_no_member(
    full: bool, draft: int, order: str, every: int, some: int
) -> None:
    """Random instances, and members with one change; what is accepted by one alone is open."""
    for rng, found, made in cases(every if full else some, 2, draft, order=order, any_limit=3):
        checks = validity(found, draft)
        drafts = [instance(rng) for _ in range(4)]
        drafts += [mutated(rng, json.loads(text)) for text in drawn(made, rng) for _ in range(3)]
        for value in drafts:
            if not any(is_valid(value) for is_valid in checks):
                assert not made.allows(value), (json.dumps(found), json.dumps(value))


def orders(value: Any) -> Iterator[Any]:
    """A value with the keys of its objects in every order."""
    if isinstance(value, list):
        yield from map(list, product(*(list(orders(inner)) for inner in value)))
    elif isinstance(value, dict):
        for keys in permutations(value):
            inside = product(*(list(orders(value[key])) for key in keys))
            yield from (dict(zip(keys, found, strict=True)) for found in inside)
    else:
        yield value


def test_valid_instances_are_members_unless_a_note_says_what_is_left_out(full: bool) -> None:
    """In some order of their keys, of which one is that of the document."""
    accepted = 0
    for draft, order, every, some in COUNTS:
        count = every if full else some // 2
        for rng, found, made in cases(count, 3, draft, order=order, any_limit=3):
            if any("narrowed" in note for note in made.notes):
                continue
            checks = validity(found, draft)
            for value in [instance(rng) for _ in range(8)]:
                if all(is_valid(value) for is_valid in checks):
                    accepted += 1
                    assert made.allows(value) or any(map(made.allows, orders(value))), (
                        json.dumps(found),
                        json.dumps(value),
                    )

    assert accepted > 40


def test_lines_are_indented_as_python_writes_them(full: bool) -> None:
    """With ``indent:2`` those texts of an instance that ``json.dumps`` writes so, and no others, of
    the instances whose texts on one line are members."""
    checked = 0
    for rng, found, made in cases(150 if full else 3, 4, whitespace="python"):
        lines = members(found, formats="ignore", whitespace="indent:2", integer="decimal")
        made = members(found, formats="ignore", whitespace="python", integer="decimal")
        values = [instance(rng) for _ in range(6)] + [json.loads(text) for text in drawn(made, rng)]
        for value in values:
            text = json.dumps(value, indent=2, ensure_ascii=False)
            assert lines.accepts(text) == made.allows(value), (json.dumps(found), text)
            checked += text.count("\n") > 1
            others = (text.replace("\n", "", 1), text.replace("\n ", "\n  ", 1), text + "\n")
            for other in others:
                assert other == text or not lines.accepts(other), (json.dumps(found), other)
        for text in drawn(lines, rng):
            written = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
            assert _lines(written) == _lines(text), json.dumps(found)
    assert checked > 5


def _lines(text: str) -> list[tuple[int, str]]:
    """How far each line is indented, and with which mark it ends."""
    ends = [line[-1:] if line[-1:] in ",{}[]" else "" for line in text.split("\n")]
    return [
        (len(x) - len(x.lstrip(" ")), end) for x, end in zip(text.split("\n"), ends, strict=True)
    ]
