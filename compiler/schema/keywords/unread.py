"""Keywords that ask nothing, though they look as if they were meant to."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ...diagnostics import closest
from ..drafts import Draft
from ..options import DRAFTS, OPENAPI
from ..read import Json
from .known import DESCRIBE, KEYWORDS

_DRAFTS = {number: name for name, number in DRAFTS.items()}

# What may stand beside references that exclude other keywords: what describes, and definitions.
_BESIDE_REFERENCES = DESCRIBE | {"$defs", "$id", "$ref", "definitions", "id"}


MISSPELT, OTHER_DRAFT = "misspelt-keyword", "other-draft"


class Unread(NamedTuple):
    """A keyword that asks nothing, though it looks as if it were meant to: the name of its lint
    (``MISSPELT``, ``OTHER_DRAFT``), what is said of it, and how to mend it."""

    lint: str
    keyword: str
    message: str
    hint: str


def unread(schema: Mapping[str, Json], draft: Draft) -> Iterator[Unread]:
    """Keywords of another draft, such as are nearly one, and what stands beside ``$ref``."""
    is_reference = "$ref" in schema and draft.number <= 7 and not draft.is_lenient
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
        elif is_reference and keyword not in _BESIDE_REFERENCES:
            message = f"{keyword!r} asks nothing beside $ref in this draft"
            yield Unread(OTHER_DRAFT, keyword, message, "put both into an allOf")
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
    """The keyword that was probably meant; extensions of OpenAPI, ``x-…``, are none."""
    return None if keyword.startswith("x-") else closest(keyword, KEYWORDS, 0.75)
