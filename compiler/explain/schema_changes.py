"""What two JSON Schemas say differently, key by key: a review of a change, in words.

The two are read side by side from the top, references followed, and each difference is a sentence
with the JSON pointer of its place. What differs here may mean the same, and a difference of texts
may have no sentence here; so this goes before a comparison of the texts, and in place of none.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..automata.graphs import descended
from ..diagnostics import shortened
from ..schema.read import Json, escaped, value_at

# Keywords whose values are schemas by name, one schema, one for all that is not named, a list.
_BY_NAME = ("properties", "patternProperties", "dependentSchemas")
_ONE = ("items", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else")
_CLOSING = {
    "additionalProperties": "keys",
    "unevaluatedProperties": "keys",
    "unevaluatedItems": "items",
}
_LISTS = ("prefixItems", "allOf", "anyOf", "oneOf")
_SETS = ("required", "enum", "type")

# Keywords that say nothing of instances.
_WORDS = {"$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "examples"}
_WORDS |= {"default", "deprecated", "readOnly", "writeOnly", "$anchor", "$ref"}

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Change:
    """``pointer``: the place in the schema of the left side, or of the right where it is new."""

    pointer: str
    message: str


# Two schemas at a place, which are still to be compared.
_Pair = tuple[Json, Json, str]


def changes(left: Json, right: Json) -> list[Change]:
    """The differences of two schemas, in the order of the left one's keys. Values nest less deep
    than Python's stack allows; references may lead on for as long as they like."""
    sides = _Sides(left, right)

    def inside(each: Change | _Pair) -> list[Change | _Pair]:
        return [] if isinstance(each, Change) else list(sides.at(*each))

    every: Iterator[Change | _Pair] = descended((left, right, "#"), inside)
    return [each for each in every if isinstance(each, Change)]


class _Sides:
    """The two documents, and the pairs of references that were followed."""

    def __init__(self, left: Json, right: Json) -> None:
        self._roots, self._followed = (left, right), set[tuple[str, str]]()

    def at(self, left: Json, right: Json, at: str) -> "Iterator[Change | _Pair]":
        """The differences at a place, and the pairs of schemas inside."""
        names = [value.get("$ref") if isinstance(value, dict) else None for value in (left, right)]
        if any(isinstance(name, str) for name in names):
            pair = str(names[0] or at), str(names[1] or at)
            if pair in self._followed:
                return
            self._followed.add(pair)
            sides = zip(self._roots, (left, right), strict=True)
            left, right = (_referred(root, value) for root, value in sides)
        if not (isinstance(left, dict) and isinstance(right, dict)):
            if left != right:
                yield Change(at, f"was {_allows(left)}, is {_allows(right)}")
            return
        one, other = left.get("$ref"), right.get("$ref")
        if one != other:
            yield Change(at, f"$ref was {_shown(one)}, is {_shown(other)}")
        for keyword in [*left, *(key for key in right if key not in left)]:
            if keyword not in _WORDS:
                yield from self._of_keyword(keyword, left, right, at)

    def _of_keyword(
        self, keyword: str, left: Any, right: Any, at: str
    ) -> "Iterator[Change | _Pair]":
        one, other = left.get(keyword), right.get(keyword)
        below = f"{at}/{escaped(keyword)}"
        if keyword in _BY_NAME and _are(dict, one or {}, other or {}):
            yield from self._by_name(one or {}, other or {}, below)
        elif keyword in _SETS and (keyword in left or keyword == "required"):
            yield from _of_set(keyword, one, other, at, keyword in right)
        elif keyword in _CLOSING:
            was, now = left.get(keyword, True), right.get(keyword, True)
            words = {"no value": f"false (no other {_CLOSING[keyword]})", "any value": "true"}
            before, after = (words.get(said := _allows(side), said) for side in (was, now))
            if _are(dict, was, now):
                yield was, now, below
            elif before != after:
                yield Change(below, f"was {before}, is {after}")
        elif keyword not in left or keyword not in right:
            was = "is gone" if keyword in left else "is new"
            value = left[keyword] if keyword in left else right[keyword]
            yield Change(at, f"{keyword} {_shown(value)} {was}")
        elif keyword in _ONE and _are((dict, bool), one, other):
            yield one, other, below
        elif keyword in _LISTS and _are(list, one, other):
            for number, pair in enumerate(zip(one, other, strict=False)):
                yield *pair, f"{below}/{number}"
            if len(one) != len(other):
                yield Change(below, f"had {len(one)} schemas, has {len(other)}")
        elif one != other:
            yield Change(at, f"{keyword} was {_shown(one)}, is {_shown(other)}")

    def _by_name(self, one: Any, other: Any, below: str) -> "Iterator[Change | _Pair]":
        for name in [*one, *(key for key in other if key not in one)]:
            place = f"{below}/{escaped(name)}"
            if name not in other:
                yield Change(place, "the key is gone")
            elif name not in one:
                yield Change(place, f"the key is new: {_allows(other[name])}")
            else:
                yield one[name], other[name], place
        names = [name for name in one if name in other]
        if names != [name for name in other if name in one]:
            yield Change(below, "the keys come in another order")


def _of_set(keyword: str, one: Any, other: Any, at: str, is_there: bool) -> Iterator[Change]:
    """Of a keyword that lists values, or names one."""
    if not is_there and keyword != "required":
        yield Change(at, f"{keyword} {_shown(one)} is gone")
        return
    before, after = (
        value if isinstance(value, list) else [] if value is None else [value]
        for value in (one, other)
    )
    gone = [value for value in before if value not in after]
    new = [value for value in after if value not in before]
    if keyword == "required":
        yield from (Change(at, f"{_shown(name)} is no longer required") for name in gone)
        yield from (Change(at, f"{_shown(name)} is required now") for name in new)
    elif gone or new:
        parts = [f"no longer {_shown(value)}" for value in gone]
        parts += [f"now {_shown(value)}" for value in new]
        yield Change(at, f"{keyword}: {', '.join(parts)}")


def _are(kind: type | tuple[type, ...], *values: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _referred(root: Json, value: Json) -> Json:
    """What a reference inside a document means; itself where it is none, or leads elsewhere."""
    seen = set[str]()
    while isinstance(value, dict) and isinstance(name := value.get("$ref"), str):
        if name in seen or not name.startswith("#"):
            break
        seen.add(name)
        try:
            meant = value_at(root, name)
        except (KeyError, IndexError, ValueError, TypeError):
            break
        beside = {key: inner for key, inner in value.items() if key != "$ref"}
        value = {**meant, **beside} if isinstance(meant, dict) else meant
    return value


def _allows(schema: Json) -> str:
    """A schema in some words."""
    if schema is True or schema == {}:
        return "any value"
    return "no value" if schema is False else _shown(schema)


def _shown(value: Json) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str), _LONGEST)
