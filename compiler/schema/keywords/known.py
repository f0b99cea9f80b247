"""The keywords of each draft, and what each has inside: schemas, or values."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from ...diagnostics import closest
from ..drafts import Draft
from ..options import DRAFTS, OPENAPI
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


_DRAFTS = {number: name for name, number in DRAFTS.items()}


MISSPELT, OTHER_DRAFT = "misspelt-keyword", "other-draft"


class Unread(NamedTuple):
    """A keyword that asks nothing, though it looks as if it were meant to: the name of its lint
    (``MISSPELT``, ``OTHER_DRAFT``), what is said of it, and how to mend it."""

    lint: str
    keyword: str
    message: str
    hint: str


def unread(schema: Mapping[str, Json], draft: Draft) -> Iterator[Unread]:
    """Keywords of another draft, and such as are nearly one."""
    for keyword, value in schema.items():
        drafts = KEYWORDS.get(keyword)
        if drafts is None:
            close = _nearly(keyword)
            if close and close not in schema:
                message = f"{keyword!r} is no keyword, and asks nothing"
                yield Unread(MISSPELT, keyword, message, f"did you mean {close!r}?")
        elif not draft.is_lenient and draft.number not in drafts:
            message = f"{keyword!r} is no keyword of this draft, and may ask nothing"
            known = ", ".join(_DRAFTS[each] for each in drafts)
            hint = f"it is one of draft {known}; $schema says another"
            yield Unread(OTHER_DRAFT, keyword, message, hint)
        elif keyword == "nullable" and value is True and _wants_null(schema.get("type")):
            message = "'nullable' is a keyword of OpenAPI, and asks nothing"
            hint = f"add 'null' to the types, or read all by --draft {OPENAPI}"
            yield Unread(OTHER_DRAFT, keyword, message, hint)
        elif keyword == "nullable" and value is True and _needs_type(schema, draft):
            message = "'nullable' asks nothing without a type beside it"
            yield Unread(OTHER_DRAFT, keyword, message, "say the type beside it")


def _needs_type(schema: Mapping[str, Json], draft: Draft) -> bool:
    return draft.number == DRAFTS[OPENAPI] and "type" not in schema


def _wants_null(types: Json) -> bool:
    """Whether null is none of the types that are named."""
    return types != "null" if isinstance(types, str) else "null" not in (types or ["null"])


@lru_cache(4096)
def _nearly(keyword: str) -> str | None:
    """The keyword that was probably meant."""
    return closest(keyword, KEYWORDS, 0.8)


def inside_of(keyword: str, value: Json) -> list[tuple[str, Json]] | None:
    """The schemas that a keyword has inside, each with its step; None where it has none."""
    if isinstance(value, list) and keyword in _SEVERAL:
        return [(str(i), each) for i, each in enumerate(value)]
    if isinstance(value, dict) and keyword in _NAMED:
        return list(value.items())
    return [("", value)] if keyword in _ONE else None


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
            at = f"{pointer}/{escaped(keyword)}"
            if isinstance(value, list) and keyword in _SEVERAL:
                inside += [(f"{at}/{i}", each) for i, each in enumerate(value)]
            elif isinstance(value, dict) and keyword in _NAMED:
                inside += [(f"{at}/{escaped(name)}", each) for name, each in value.items()]
            elif keyword in _ONE:
                inside.append((at, value))
        pending += reversed(inside)
