"""Which values each keyword may have: numbers, schemas, arrays of strings and so on.

Values that are something else are errors wherever they stand, also in schemas that nothing refers
to. Keywords that only describe (``title``, ``examples``, …) may have any value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit

from ...diagnostics import closest
from ...limits import check_in_force
from ..drafts import Draft
from ..notes import Notes, Refused
from ..read import Json, escaped
from .known import KEYWORDS
from .unread import unread

# Of a value that is wrong: the steps to where, what it must be, and what helps.
_Wrong: TypeAlias = Iterator[tuple[tuple[str | int, ...], str, str]]

# Schemas in one, with their pointers from it on (``known.schemas_in``).
Schemas: TypeAlias = Sequence[tuple[str, Mapping[str, Json]]]

# The draft of a schema by its ``$schema``, else the one that is given; its pointer, for messages.
DraftOf: TypeAlias = Callable[[Json, Draft, str], Draft]

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

NO_SCHEMA = "a schema is an object, true or false"
NO_OBJECT = "this must be an object"
NO_ARRAY = "this must be an array"
NO_STRINGS = "this must be an array of strings"
NO_NUMBER = "this must be a number"
NO_COUNT = "this must be an integer, and not below 0"
NO_BRANCH = "this must have a schema at least"
NO_TRUTH = "this must be true or false"
NO_STRING = "this must be a string"
NO_REFERENCE = "a reference is a string"
NO_PATTERN = "a pattern is a string"
NOT_ABOVE_ZERO = "this must be above 0"
CALLED_PREFIX = "draft 2020-12 calls this prefixItems"

_URIS = frozenset({"$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema", "id"})

# Errors of one text that are reported.
_MOST_ERRORS = 20


def unknown_type(name: str) -> tuple[str, str]:
    """What is said of a type that there is not, and what helps."""
    close = closest(name, TYPES)
    hint = f"did you mean {close!r}?" if close else f"types are {', '.join(TYPES)}"
    return f"there is no type {name!r}", hint


def misshapen(schemas: Schemas, of_root: Draft, draft_of: DraftOf, at: str = "") -> list[Refused]:
    """The keywords of schemas whose values cannot be theirs, the first ones of many; the arguments
    are those of ``with_drafts``. Raises ``Refused`` for a draft that is not known."""
    found: list[Refused] = []
    for pointer, schema, draft in with_drafts(schemas, of_root, draft_of, at):
        for keyword, value in schema.items():
            for steps, message, hint in wrong_in(keyword, value, draft):
                inside = "".join(f"/{escaped(step)}" for step in (keyword, *steps))
                found.append(Refused(f"#{pointer}{inside}", message, hint))
            if len(found) >= _MOST_ERRORS:
                return found
    return found


def wrong_in(keyword: str, value: Json, draft: Draft) -> _Wrong:
    """What is wrong with the value of a keyword."""
    check = _CHECKS.get(keyword)
    is_here = draft.is_lenient or draft.number in KEYWORDS.get(keyword, ())
    # Later drafts took dependencies for two keywords, and left them to readers.
    is_here |= keyword == "dependencies"
    if check is None or not is_here or (keyword in _VALIDATION and not draft.has_validation):
        return iter(())
    return check(value, draft)


def note_unread(
    schemas: Schemas, of_root: Draft, draft_of: DraftOf, notes: Notes, at: str = ""
) -> None:
    """Note the keywords of schemas that ask nothing, though they look as if they were meant to;
    the arguments are those of ``with_drafts``."""
    for pointer, schema, draft in with_drafts(schemas, of_root, draft_of, at):
        for each in unread(schema, draft):
            message = f"{each.message} [{each.lint}]"
            notes.add(f"#{pointer}/{escaped(each.keyword)}", message, each.hint, is_of_key=True)


def with_drafts(
    schemas: Schemas, of_root: Draft, draft_of: DraftOf, at: str = ""
) -> Iterator[tuple[str, Mapping[str, Json], Draft]]:
    """All ``schemas`` in one (``schemas_in``) with their pointers and drafts.

    ``of_root``: its draft. ``draft_of``: of a schema by its ``$schema``, else what is given.
    ``at``: the pointer of ``root`` in its document.
    """
    # Schemas inside others that say a draft of their own: the pointers of all in them begin so.
    own: list[tuple[str, Draft]] = []
    for inside, schema in schemas:
        check_in_force("the schema's keywords")
        pointer = f"{at}{inside}"
        draft = next((d for of, d in reversed(own) if f"{pointer}/".startswith(of)), of_root)
        if inside and "$schema" in schema:
            draft = draft_of(schema, draft, f"#{pointer}")
            own.append((f"{pointer}/", draft))
        yield pointer, schema, draft


def unreadable_uris(schemas: Schemas, at: str = "") -> list[Refused]:
    """The names and references in schemas that are no URIs, whatever their draft; without these
    it is known which resources there are. ``at``: the pointer of all in their document."""
    found = []
    for pointer, schema in schemas:
        for keyword in () if _URIS.isdisjoint(schema) else _URIS & schema.keys():
            value = schema[keyword]
            if keyword == "$id" and not isinstance(value, str):
                found.append(Refused(f"#{at}{pointer}/{keyword}", NO_STRING))
            try:
                urlsplit(value if isinstance(value, str) else "")
            except ValueError as error:
                message = f"{value!r} is no URI reference: {error}"
                found.append(Refused(f"#{at}{pointer}/{keyword}", message))
    return found[:_MOST_ERRORS]


def _schema(value: Json, _: Draft) -> _Wrong:
    if not isinstance(value, Mapping | bool):
        yield (), NO_SCHEMA, ""


def _listed(value: list[Json], draft: Draft) -> _Wrong:
    for i, inner in enumerate(value):
        for _, message, hint in _schema(inner, draft):
            yield (i,), message, hint


def _branches(value: Json, draft: Draft) -> _Wrong:
    if not isinstance(value, list):
        yield (), NO_ARRAY, ""
    elif not value:
        yield (), NO_BRANCH, ""
    else:
        yield from _listed(value, draft)


def _prefix(value: Json, draft: Draft) -> _Wrong:
    if value != []:
        yield from _branches(value, draft)


def _items(value: Json, draft: Draft) -> _Wrong:
    if not isinstance(value, list):
        yield from _schema(value, draft)
    elif draft.until(2019):
        yield from _listed(value, draft)
    else:
        yield (), NO_SCHEMA, CALLED_PREFIX


def _each(value: Json, draft: Draft, check: Callable[[Json, Draft], _Wrong]) -> _Wrong:
    """An object each of whose values is as ``check`` says."""
    if not isinstance(value, Mapping):
        yield (), NO_OBJECT, ""
        return
    for name, inner in value.items():
        for _, message, hint in check(inner, draft):
            yield (name,), message, hint


def _dependency(value: Json, draft: Draft) -> _Wrong:
    # Before draft 4 one name could stand for itself.
    if isinstance(value, str):
        return iter(())
    return _strings(value, draft) if isinstance(value, list) else _schema(value, draft)


def _strings(value: Json, _: Draft) -> _Wrong:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        yield (), NO_STRINGS, ""


def _type(value: Json, draft: Draft) -> _Wrong:
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list) or not named:
        yield (), "this must be the name of a type, or an array of them", ""
        return
    for i, name in enumerate(named):
        steps = (i,) if named is value else ()
        if not isinstance(name, str):
            yield steps, f"the name of a type is a string: one of {', '.join(TYPES)}", ""
        elif name not in TYPES:
            yield (steps, *unknown_type(name))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _number(value: Json, _: Draft) -> _Wrong:
    if not _is_number(value):
        yield (), NO_NUMBER, ""


def _exclusive(value: Json, draft: Draft) -> _Wrong:
    if isinstance(value, bool):
        if not draft.until(5):
            yield (), NO_NUMBER, "true is of draft 4: give the bound itself"
    elif draft.since(6):
        yield from _number(value, draft)
    else:
        yield (), NO_TRUTH, "draft 4 has the bound beside it; numbers are of draft 6"


def _positive(value: Json, draft: Draft) -> _Wrong:
    yield from _number(value, draft)
    if _is_number(value) and value <= 0:
        yield (), NOT_ABOVE_ZERO, ""


def _count(value: Json, draft: Draft) -> _Wrong:
    if not _is_number(value):
        yield (), NO_NUMBER, ""
    elif value < 0 or (isinstance(value, Decimal) and not _is_whole(value)):
        yield (), NO_COUNT, ""


def _is_whole(value: Decimal) -> bool:
    """Whether a number is an integer; one of too many digits is looked at where it is read."""
    return value.adjusted() > 1_000 or value == value.to_integral_value()


def _of(kind: type, message: str) -> Callable[[Json, Draft], _Wrong]:
    def check(value: Json, _: Draft) -> _Wrong:
        if not isinstance(value, kind):
            yield (), message, ""

    return check


_named, _dependencies = partial(_each, check=_schema), partial(_each, check=_dependency)
_TEXT, _TRUTH = _of(str, NO_STRING), _of(bool, NO_TRUTH)

# Keywords of the vocabulary of validation.
_OF_VALUES: Mapping[str, Callable[[Json, Draft], _Wrong]] = {
    **dict.fromkeys(("maxContains", "maxItems", "maxLength", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "minItems", "minLength", "minProperties"), _count),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum"), _exclusive),
    **dict.fromkeys(("maximum", "minimum"), _number),
    "dependentRequired": partial(_each, check=_strings),
    "enum": _of(list, NO_ARRAY),
    "multipleOf": _positive,
    "pattern": _of(str, NO_PATTERN),
    "required": _strings,
    "type": _type,
    "uniqueItems": _TRUTH,
}
_VALIDATION = frozenset(_OF_VALUES)
_CHECKS: Mapping[str, Callable[[Json, Draft], _Wrong]] = {
    **_OF_VALUES,
    **dict.fromkeys(("additionalItems", "additionalProperties", "contains", "not"), _schema),
    **dict.fromkeys(("else", "if", "propertyNames", "then"), _schema),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _schema),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _branches),
    **dict.fromkeys(("$defs", "definitions", "dependentSchemas"), _named),
    **dict.fromkeys(("patternProperties", "properties"), _named),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef", "$ref"), _of(str, NO_REFERENCE)),
    **dict.fromkeys(("$anchor", "$dynamicAnchor", "$id", "$schema", "format"), _TEXT),
    "$recursiveAnchor": _TRUTH,
    "$vocabulary": _of(Mapping, NO_OBJECT),
    "dependencies": _dependencies,
    "items": _items,
    "prefixItems": _prefix,
}

# Keywords whose values are looked at.
CHECKED = frozenset(_CHECKS)
