"""JSON files with a schema and instances: MaskBench's form, and that of JSON Schema's test suite.

    {"schema": {…}, "tests": [{"description": "…", "valid": true, "data": …}, …]}

or a list of such objects. The schema is read from the text where it stands, with its keys in their
order. An instance that is not valid may be incomplete: ``-`` of a number.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Source, Span
from .cases import Case, CaseFile, CaseFileError, Kind

_DECODER = json.JSONDecoder()
# What stands between values, in a text that was read before.
_BETWEEN = " \t\n\r,:\ufeff"

# Keys that make an object cases.
_KEYS = ("schema", "tests")


class _Value(NamedTuple):
    """A value, and where its text begins and ends."""

    value: Any
    start: int
    end: int


def is_schema_file(text: str) -> bool:
    """Whether a text of JSON is of this form."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    groups = found if isinstance(found, list) and found else [found]
    return all(isinstance(group, dict) and all(key in group for key in _KEYS) for group in groups)


def schema_files(text: str, name: str) -> list[CaseFile]:
    """The cases of such a file, for each schema. Raises ``CaseFileError``."""
    source = Source(text, name, "")
    start = _skipped(text, 0)
    if text[start] == "{":
        return [_group(source, start)]
    return [_group(source, each.start) for each in _inside(text, start)]


def _group(source: Source, start: int) -> CaseFile:
    text = source.text
    inside = _inside(text, start)
    members = {key.value: value for key, value in zip(inside, inside, strict=True)}
    schema, tests = members["schema"], members["tests"]
    about = members.get("description")
    before = f"{about.value}: " if about is not None and isinstance(about.value, str) else ""
    if not isinstance(tests.value, list):
        raise _wrong(source, tests, "'tests' is a list of instances")
    cases = [_case(source, each, before) for each in _inside(text, tests.start)]
    # White space before it keeps its lines and columns.
    line, column = source.position(schema.start)
    placed = "\n" * (line - 1) + " " * (column - 1) + text[schema.start : schema.end]
    return CaseFile(source, tuple(cases), schema=placed)


def _case(source: Source, found: _Value, before: str) -> Case:
    test = found.value
    if not isinstance(test, dict) or "data" not in test or not isinstance(test.get("valid"), bool):
        raise _wrong(source, found, "a test has 'data', and 'valid' is true or false")
    name = test.get("description")
    return Case(
        before + (name if isinstance(name, str) else "no description"),
        _written(test["data"]),
        Kind.ACCEPT if test["valid"] else Kind.INVALID,
        source=source,
        place=Span(found.start, found.start + 1),
    )


def _written(value: Any) -> bytes:
    """An instance; with escapes alone where it has halves of characters, which UTF-8 has not."""
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


def _wrong(source: Source, found: _Value, message: str) -> CaseFileError:
    return CaseFileError(source, [Diagnostic(message, Span(found.start, found.start + 1))])


def _skipped(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BETWEEN:
        place += 1
    return place


def _inside(text: str, start: int) -> Iterator[_Value]:
    """The items of the list that begins at ``start``; of an object keys and values in turn."""
    place = _skipped(text, start + 1)
    while text[place] not in "]}":
        value, end = _DECODER.raw_decode(text, place)
        yield _Value(value, place, end)
        place = _skipped(text, end)
