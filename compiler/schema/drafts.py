"""The drafts of JSON Schema: which keywords each has, and how ``referencing`` finds names in it.

The specifications here look at what stands where a schema may, in any draft, and skip what is none:
the wrong shape of a keyword is said where the keyword is read.
"""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from ..limits import check_in_force
from .keywords.known import inside_of
from .options import DRAFTS
from .read import Json

# ``referencing`` takes long to import, and most schemas have no names.
if TYPE_CHECKING:
    from referencing import Anchor, Specification
    from referencing.jsonschema import DynamicAnchor, SchemaResource

NEWEST = max(DRAFTS.values())

# Metaschemas, without the scheme, which many write wrong.
METASCHEMAS = {
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
}


@dataclass(frozen=True, slots=True)
class Draft:
    """Which keywords there are.

    ``number``: 4, 6, 7, 2019 or 2020, and 5 of OpenAPI 3.0. ``is_lenient``: nothing says the draft,
    so that keywords of all have a meaning. ``has_validation``: the vocabulary of ``type``,
    ``minimum`` and the like is in use.
    """

    number: int
    is_lenient: bool = False
    has_validation: bool = True

    def since(self, number: int) -> bool:
        """Whether a keyword that came with a draft has a meaning."""
        return self.is_lenient or self.number >= number

    @property
    def has_references_alone(self) -> bool:
        """Whether what stands beside a reference has no meaning: up to draft 7."""
        return self.number <= 7 and not self.is_lenient

    def until(self, number: int) -> bool:
        """Whether a keyword that was there up to a draft has a meaning."""
        return self.is_lenient or self.number <= number

    def name_of(self, schema: Json) -> str | None:
        """The ``$id`` of a schema, without an empty fragment; an anchor is no name."""
        name = _id_of(schema, self.number)
        return name.rstrip("#") if name is not None and not name.startswith("#") else None

    def resource(self, schema: Json) -> "SchemaResource":
        """A document for the registry."""
        return _specification(self.number).create_resource(schema)


def _subschemas(schema: Json) -> Iterator[Json]:
    """The objects that stand where schemas may."""
    check_in_force("finding the schemas in a schema")
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        yield from (each for _, each in inside_of(keyword, value) or () if _may_be_schema(each))


# Keywords that it takes for texts.
_TEXTS = ("$schema", "$id", "id", "$anchor", "$dynamicAnchor")


def _may_be_schema(value: Json) -> bool:
    """Whether ``referencing`` can look at a value."""
    return isinstance(value, dict) and all(isinstance(value.get(t, ""), str) for t in _TEXTS)


def _id_of(schema: Json, number: int) -> str | None:
    name = schema.get(_identifier(number)) if isinstance(schema, dict) else None
    has_reference = number <= 7 and isinstance(schema, dict) and "$ref" in schema
    is_anchor = number <= 7 and isinstance(name, str) and name.startswith("#")
    return name if isinstance(name, str) and not has_reference and not is_anchor else None


def _identifier(number: int) -> str:
    return "id" if number == 4 else "$id"


@cache
def _specification(number: int) -> "Specification[Json]":
    import referencing.jsonschema as known
    from referencing import Anchor, Specification

    originals = {
        4: known.DRAFT4,
        5: known.DRAFT4,
        6: known.DRAFT6,
        7: known.DRAFT7,
        2019: known.DRAFT201909,
        2020: known.DRAFT202012,
    }
    original = originals[number]
    # ``referencing`` makes constructors that mypy does not see.
    make: typing.Any = Specification
    anchor: typing.Any = Anchor
    dynamic_anchor: typing.Any = known.DynamicAnchor

    def anchors_in(
        specification: "Specification[Json]", schema: Json
    ) -> "Iterator[Anchor[Json] | DynamicAnchor]":
        if not isinstance(schema, dict):
            return
        resource = specification.create_resource(schema)
        name = schema.get(_identifier(number))
        if number <= 7 and isinstance(name, str) and name.startswith("#"):
            yield anchor(name[1:], resource)
        if number >= 2019 and isinstance(schema.get("$anchor"), str):
            yield anchor(schema["$anchor"], resource)
        if number >= 2020 and isinstance(schema.get("$dynamicAnchor"), str):
            yield dynamic_anchor(schema["$dynamicAnchor"], resource)

    found: Specification[Json] = make(
        name=original.name,
        id_of=partial(_id_of, number=number),
        subresources_of=_subschemas,
        anchors_in=anchors_in,
        maybe_in_subresource=original.maybe_in_subresource,
    )
    return found
