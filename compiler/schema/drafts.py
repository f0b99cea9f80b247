"""The drafts of JSON Schema: which keywords each has, and how schemas say their names in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .options import DRAFTS
from .read import Json

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
        name = name_in(schema, self.number)
        return None if name is None or name.startswith("#") else name


def name_in(schema: Json, number: int) -> str | None:
    """The name of a schema in a draft; an anchor is none."""
    name = schema.get(_identifier(number)) if isinstance(schema, dict) else None
    if not isinstance(name, str) or (number <= 7 and (name.startswith("#") or "$ref" in schema)):
        return None
    return name.rstrip("#")


def anchors_of(schema: Mapping[str, Json], number: int) -> Iterator[tuple[str, bool]]:
    """The anchors of a schema in a draft, and whether they are dynamic."""
    name = schema.get(_identifier(number))
    if number <= 7 and isinstance(name, str) and name.startswith("#"):
        yield name[1:], False
    for keyword, since in (("$anchor", 2019), ("$dynamicAnchor", 2020)):
        if number >= since and isinstance(schema.get(keyword), str):
            yield schema[keyword], since > 2019


def _identifier(number: int) -> str:
    return "id" if number == 4 else "$id"
