"""Schemas that say the same, wherever they stand, so that they have one place.

    {"type": "string", "description": "a city"}  and  {"type": "string"}   are alike

What only describes makes no difference. Schemas with names inside have none that is alike, nor have
those of many levels, nor where bases differ those with references.
"""

from collections.abc import Mapping

from .keywords.known import DESCRIBE, inside_of
from .read import Json

# With these what a schema means depends on where it stands, or something refers to it.
PLACED = {
    *("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef"),
    *("$ref", "$schema", "$vocabulary", "id"),
}

_MOST_LEVELS = 8


class Alike:
    """The first of all schemas that are alike. ``has_one_base``: references of all of them mean
    the same."""

    def __init__(self, *, has_one_base: bool = False) -> None:
        self._placed = PLACED - {"$ref"} if has_one_base else PLACED
        self._first: dict[str, Mapping[str, Json]] = {}
        # Of each schema that was seen what it says; schemas stay as long as their document.
        self._said: dict[int, str | None] = {}

    def kept(self, schema: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """The first schema that says the same; None where that depends on its place."""
        said = self._of(schema, _MOST_LEVELS)
        return None if said is None else self._first.setdefault(said, schema)

    def _of(self, schema: Json, levels: int) -> str | None:
        if not isinstance(schema, dict):
            return repr(schema)
        if id(schema) in self._said:
            return self._said[id(schema)]
        found = None
        if levels and not self._placed & schema.keys():
            parts = []
            for keyword, value in schema.items():
                if keyword not in DESCRIBE:
                    said = self._of_keyword(keyword, value, levels)
                    if said is None:
                        break
                    parts.append(f"{keyword!r}:{said}")
            else:
                found = f"{{{','.join(parts)}}}"
        if found is not None or levels == _MOST_LEVELS:
            self._said[id(schema)] = found
        return found

    def _of_keyword(self, keyword: str, value: Json, levels: int) -> str | None:
        inside = inside_of(keyword, value)
        if inside is None:
            return repr(value)
        found = [(name, self._of(each, levels - 1)) for name, each in inside]
        if any(said is None for _, said in found):
            return None
        kind = type(value).__name__
        return f"{kind}({','.join(f'{name!r}:{said}' for name, said in found)})"
