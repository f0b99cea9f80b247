"""JSON with a span for each value: what is read, and where what cannot be read stands."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support.schema.random_schemas import instance

from constrain.compiler.diagnostics import DialectError, Source
from constrain.compiler.limits import Limits
from constrain.compiler.schema.notes import Notes
from constrain.compiler.schema.read import Document, read_json, value_of

pytestmark = pytest.mark.quick


def read(text: str) -> Document:
    """The document of a text."""
    return read_json(Source(text, "s.json", "json-schema"))


def test_each_value_has_the_span_of_its_text_by_its_pointer() -> None:
    """Pointers have the escapes of RFC 6901; keys have spans of their own."""
    text = ' {"a/b": [1, {"~": null}], "": -2.50} '
    found = read(text)

    assert {"a/b": [1, {"~": None}], "": Decimal("-2.50")} == found.value
    assert {
        "/a~1b/0": "1",
        "/a~1b/1/~0": "null",
        "/a~1b/1": '{"~": null}',
        "/a~1b": '[1, {"~": null}]',
        "/": "-2.50",
        "": text.strip(),
    } == {pointer: text[span.start : span.end] for pointer, span in found.spans.items()}
    assert '"a/b"' == text[found.keys["/a~1b"].start : found.keys["/a~1b"].end]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "1:1: error: #: unexpected end of the text (read as json-schema); expected a value"),
        ("[1,]", "1:4: error: #/1: unexpected ']' (read as json-schema); expected a value"),
        ('{"a":1,}', "1:8: error: #: unexpected '}' (read as json-schema); expected a key"),
        ('{"a" 1}', "1:6: error: #: unexpected '1' (read as json-schema); expected ':'"),
        ("[1 2]", "1:4: error: #: unexpected '2' (read as json-schema); expected ',' or ']'"),
        (
            "{} x",
            "1:4: error: #: unexpected 'x' (read as json-schema); expected the end of the text",
        ),
        ('{"a":1,\n"a":2}', "2:1: error: #: the key 'a' occurs twice"),
        ('{"b":[0, "\\udc00"]}', "1:10: error: #/b/1: a lone surrogate is no character"),
        ('{"b":{"c":tru}}', "1:11: error: #/b/c: unexpected 'tru'"),
        ('{"b":{"c": 1 "d"}}', "1:14: error: #/b: unexpected string"),
        ('{"\\u001b": [}', "1:13: error: #/␛/0: unexpected '}'"),
        ('{"b":{"a":1,"a":2}}', "1:13: error: #/b: the key 'a' occurs twice"),
        ('"\\ud800"', "1:1: error: #: a lone surrogate is no character"),
        ("[01]", "1:2: error: #/0: unexpected '01'"),
        ("[NaN]", "1:2: error: #/0: unexpected 'NaN'"),
        ('["a\nb"]', "1:2: error: #/0: unexpected string with a wrong escape"),
    ],
)
def test_what_is_no_json_is_an_error_with_its_place(text: str, place: str) -> None:
    """Line, column, what stands there and what was expected."""
    with pytest.raises(DialectError) as error:
        read(text)

    assert place in str(error.value).splitlines()[0]


def test_values_nest_a_thousand_deep_and_no_deeper(deep: int) -> None:
    """Pointers are as long as values are deep."""
    assert "/0" * 999 in read("[" * 1000 + "]" * 1000).spans
    with pytest.raises(DialectError, match=r"1:1001: error: #/0.*/0: values nest more than 1,000"):
        read("[" * deep + "]" * deep)


def test_values_alone_are_those_that_are_read_with_their_places(full: bool) -> None:
    """Of random texts and such with a change; none where one is refused."""
    ways: list[dict[str, Any]] = [{}, {"ensure_ascii": False}, {"indent": 1}]
    odd = [*'"{]0-x', ".5", "e9", "\\ud800", "\\udc00", "NaN", "\ufeff", "\n"]
    for number in range(20_000 if full else 1_000):
        rng = random.Random(number)
        text = json.dumps(instance(rng, 3), **rng.choice(ways))
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            begin = rng.randrange(len(text) + 1)
            text = text[:begin] + rng.choice(odd) + text[begin + rng.randrange(2) :]
        found = value_of(text, Limits())
        try:
            value = read(text).value
        except DialectError:
            value = None
        assert repr(value) == repr(found), text


@pytest.mark.parametrize("depth", [999, 1000, 1001, 1100])
def test_values_alone_are_none_where_they_are_too_deep_or_too_long(depth: int) -> None:
    """Whatever Python's own reader takes; beside many that are not deep, too."""
    nested = '{"a":' * (depth // 2) + "[" * (depth - depth // 2) + "]" * (depth - depth // 2)
    text = f"[{'[],' * 1_000}{nested + '}' * (depth // 2)}]"
    for each in (text, text[1 + 3_000 : -1], "1" * 4 * depth, "1." + "0" * 4 * depth):
        try:
            value = read(each).value
        except DialectError:
            value = None
        assert value_of(each, Limits()) in (value, None)


def test_the_json_suite_is_read_as_its_names_say(data: Callable[[str], Path]) -> None:
    """Texts of JSONTestSuite that are JSON are read, the others are not; but for duplicates, which
    are errors here."""
    wrong = []
    for path in sorted(data("suites/JSONTestSuite/test_parsing").glob("[yn]_*.json")):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        try:
            found = read(text)
        except DialectError:
            expected = "n"
        else:
            expected = "y"
            assert json.loads(text, parse_float=Decimal) == found.value
            assert value_of(text, Limits()) == found.value
        if expected != path.name[0]:
            wrong.append(path.name)

    assert ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"] == wrong


def test_findings_are_in_the_order_of_their_places_and_those_without_one_last() -> None:
    """What stands in another document has no place in this one."""
    found = read('{"a": 1, "b": {"c": 2}}')
    notes = Notes()
    for pointer in ("other.json#/b", "#/b/c", "#/a", "#", "#/b/missing"):
        notes.add(pointer, f"said of {pointer}")

    said = [note.message.partition(": ")[0] for note in notes.placed(found.spans, found.keys)]
    assert ["#", "#/a", "#/b/missing", "#/b/c", "other.json#/b"] == said


def test_a_kind_of_finding_is_said_once_with_the_number_of_its_places() -> None:
    """At the first of them in the text; the name of a lint stays at the end."""
    found = read('{"a": 1, "b": {"c": 2}, "d": 3}')
    notes = Notes()
    for pointer in ("#/d", "#/b/c", "#/a"):
        notes.add(pointer, "said [lint]")
        notes.narrowed(pointer, "left out")
    notes.add("#/d", "else")
    notes.add("#/b", "else", "a hint")

    assert [
        "#/a: said, and at 2 other places [lint]",
        "#/a: left out, and at 2 other places [narrowed]",
        "#/b: else",
        "#/d: else",
    ] == [note.message for note in notes.placed(found.spans, found.keys)]
    assert 6 == notes.narrowings + len(list(notes.left_out()))
