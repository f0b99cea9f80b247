"""The keywords of each draft, and what each has inside: schemas, or values."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ..read import Json, escaped

# The drafts, by numbers, that a keyword has a meaning in.
_ALL = (4, 5, 6, 7, 2019, 2020)
_Drafts: TypeAlias = tuple[int, ...]

# Keywords whose values are schemas, arrays of them, objects of them.
_ONE = {
    "additionalItems": (4, 5, 6, 7, 2019),
    "additionalProperties": _ALL,
    "contains": (6, 7, 2019, 2020),
    "contentSchema": (2019, 2020),
    "else": (7, 2019, 2020),
    "if": (7, 2019, 2020),
    "items": _ALL,
    "not": _ALL,
    "propertyNames": (6, 7, 2019, 2020),
    "then": (7, 2019, 2020),
    "unevaluatedItems": (2019, 2020),
    "unevaluatedProperties": (2019, 2020),
}
_SEVERAL = {
    "allOf": _ALL,
    "anyOf": _ALL,
    "items": (4, 5, 6, 7, 2019),
    "oneOf": _ALL,
    "prefixItems": (2020,),
}
_NAMED = {
    "$defs": (2019, 2020),
    "definitions": _ALL,
    "dependencies": (4, 5, 6, 7),
    "dependentSchemas": (2019, 2020),
    "patternProperties": _ALL,
    "properties": _ALL,
}
# Keywords whose values are none; those of OpenAPI are known, too.
_VALUES: tuple[tuple[str, _Drafts], ...] = (
    ("$ref $schema default description enum exclusiveMaximum exclusiveMinimum format", _ALL),
    ("maxItems maxLength maxProperties maximum minItems minLength minProperties minimum", _ALL),
    ("multipleOf pattern required title type uniqueItems", _ALL),
    ("discriminator example externalDocs nullable xml", _ALL),
    ("$id const examples", (6, 7, 2019, 2020)),
    ("readOnly writeOnly", (5, 7, 2019, 2020)),
    ("$comment contentEncoding contentMediaType", (7, 2019, 2020)),
    ("deprecated", (5, 2019, 2020)),
    ("$anchor $vocabulary dependentRequired maxContains minContains", (2019, 2020)),
    ("$dynamicAnchor $dynamicRef", (2020,)),
    ("$recursiveAnchor $recursiveRef", (2019,)),
    ("id", (4,)),
)

KEYWORDS: Mapping[str, _Drafts] = {
    **{name: drafts for names, drafts in _VALUES for name in names.split()},
    **_SEVERAL,
    **_NAMED,
    **_ONE,
}


# Keywords that ask nothing of a value, and that nothing refers to.
DESCRIBE = {
    *("$comment", "default", "deprecated", "description", "example", "examples", "externalDocs"),
    *("readOnly", "title", "writeOnly", "xml"),
}


def inside_of(keyword: str, value: Json) -> list[tuple[str | None, Json]] | None:
    """The schemas that a keyword has inside, each with its step, of one alone None; None where it
    has none."""
    if isinstance(value, list) and keyword in _SEVERAL:
        return [(str(i), each) for i, each in enumerate(value)]
    if isinstance(value, dict) and keyword in _NAMED:
        return list(value.items())
    return [(None, value)] if keyword in _ONE else None


def schemas_in(schema: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """All schemas that are objects, with their pointers from ``schema`` on, itself first.

    Nothing recurses; what has the wrong shape is left out.
    """
    pending = [("", schema)]
    while pending:
        pointer, current = pending.pop()
        if not isinstance(current, dict):
            continue
        yield pointer, current
        inside: list[tuple[str, Json]] = []
        for keyword, value in current.items():
            for step, each in inside_of(keyword, value) or ():
                at = f"{pointer}/{escaped(keyword)}"
                inside.append((at if step is None else f"{at}/{escaped(step)}", each))
        pending += reversed(inside)
