"""What texts contain, JSON and base64: as draft 7 lets it be asserted."""

# Tests here say `expected == actual`.

import json
import random
from base64 import b64decode, b64encode
from binascii import Error
from itertools import islice
from typing import Any

import jsonschema_rs
import pytest
from support.schema import Members, members, refusal
from support.schema.random_schemas import instance

from constrain.compiler.automata.members import Members as Drawn
from constrain.compiler.schema import contents

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def of_draft_7(**keywords: Any) -> Members:
    """The members of a schema of draft 7."""
    return members({"$schema": DRAFT_7, **keywords})


@pytest.mark.quick
def test_base64_is_that_of_bytes_and_of_no_others() -> None:
    """All texts of four digits out of a few, and what Python writes of random bytes."""
    rng = random.Random(1)
    found = contents.base64()
    for _ in range(300):
        data = rng.randbytes(rng.randint(0, 7))
        assert found.accepts(b64encode(data))
        mutated = bytearray(b64encode(data) or b"=")
        mutated[rng.randrange(len(mutated))] = rng.choice(b"AQw+/=-_\n ")
        try:
            is_canonical = b64encode(b64decode(mutated, validate=True)) == mutated
        except Error:
            is_canonical = False
        assert is_canonical == found.accepts(bytes(mutated)), mutated


def test_json_in_a_text_is_what_python_reads() -> None:
    """Values that nest so deep, in each spelling, and by base64 the same ones."""
    rng = random.Random(2)
    found, encoded = contents.json_texts(2), contents.base64(contents.json_texts(2))
    for _ in range(300):
        text = json.dumps(instance(rng, 1), indent=rng.choice((None, 1)), ensure_ascii=False)
        data = bytearray(text.encode())
        assert found.accepts(bytes(data))
        data[rng.randrange(len(data))] = rng.choice(b'[]{},:"\\0 a')
        try:
            json.loads(data.decode("utf-8"), parse_constant=lambda _: 1 / 0)
            is_json = True
        except (ValueError, ZeroDivisionError):
            is_json = False
        assert is_json == found.accepts(bytes(data)), data
        assert is_json == encoded.accepts(b64encode(data)), data
    for drawn in islice(Drawn(encoded).draws(at_most=40, seed=3), 50):
        json.loads(b64decode(drawn, validate=True))


@pytest.mark.parametrize(
    ("keywords", "valid", "invalid"),
    [
        ({"contentMediaType": "application/json"}, ['{"a": [1]}', "5", 5], ["{:}", "", "[1,]"]),
        (
            {"contentMediaType": "application/json", "maxLength": 4},
            ["[[]]", "null"],
            ["false", "tru"],
        ),
        ({"contentEncoding": "base64"}, ["eyJmb28iOiAiYmFyIn0K", "", 1], ["eyJ%", "A", "AB=="]),
        (
            {"contentEncoding": "base64", "contentMediaType": "application/json"},
            ["eyJmb28iOiAiYmFyIn0K", "NQ==", 1],
            ["ezp9Cg==", "{}", ""],
        ),
    ],
)
def test_draft_7_asserts_contents(keywords: Any, valid: list[Any], invalid: list[Any]) -> None:
    """As another validator does; what is left out is noted."""
    found = of_draft_7(**keywords)
    check = jsonschema_rs.Draft7Validator(keywords)

    for value in (*valid, *invalid):
        assert (value in valid) == found.allows(value) == check.is_valid(value), value
    assert any("is left out" in note for note in found.notes)


@pytest.mark.quick
def test_contents_are_annotations_elsewhere() -> None:
    """In other drafts, with formats that are ignored, and where they are not known."""
    keywords = {"contentMediaType": "application/json"}
    named = {"contentMediaType": "Application/JSON; charset=utf-8"}
    image = {"contentMediaType": "image/png", "contentEncoding": "base64"}
    packed = {"contentMediaType": "application/json", "contentEncoding": "gzip"}

    assert members(keywords).allows("{:}")
    assert members({"$schema": DRAFT_7, **keywords}, formats="ignore").allows("{:}")
    assert not of_draft_7(**named).allows("{:}")
    assert of_draft_7(**packed).allows("{:}")
    assert not of_draft_7(**image).allows("{:}")
    assert (
        "#/contentMediaType: 'image/png' is not known, and asserts nothing"
        in of_draft_7(**image).notes
    )
    assert "#/contentEncoding: contents 'gzip' are not known" in refusal(
        {"$schema": DRAFT_7, **packed}, formats="refuse-unknown"
    )


@pytest.mark.quick
def test_what_contains_something_else_is_left_out_below_a_negation() -> None:
    """Only a part of the texts with these contents is known; where nothing else is allowed, that is
    the error."""
    negated = {"not": {"contentEncoding": "base64"}}
    found = of_draft_7(anyOf=[negated, {"const": 5}])
    said = "#/anyOf/0/not/contentEncoding: texts that are no base64 are left out [narrowed]"

    assert found.allows(5)
    assert not found.allows("%")
    assert said in found.notes
    assert "#/not/contentEncoding: all values of the schema # are left out: texts that" in refusal(
        {"$schema": DRAFT_7, **negated}
    )
