"""What hosts say of the JSON that a schema asks for, as options of schemas.

    {"any_whitespace": false, "separators": [",", ":"]}   xgrammar      whitespace="compact"
    {"disable_any_whitespace": true}                       vLLM, SGLang  the same
    {"whitespace_pattern": "[ ]?"}                         both          whitespace="/[ ]?/"
    {"x-guidance": {"whitespace_flexible": false}}         llguidance    whitespace="compact"
    {"strict_mode": true}                                  xgrammar      the schema, ``closed``

A flag is read or refused; none is ignored.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ..dialects import JSON_SCHEMA
from ..schema.keywords.known import inside_of, schemas_in
from ..schema.options import ANY_ORDER, COMPACT, FLEXIBLE, PYTHON, SchemaOptions

Json: TypeAlias = Any

# Where llguidance's users write its options: at the top of a schema.
X_GUIDANCE = "x-guidance"

# What stands after commas and colons, as ``json.dumps`` and xgrammar name it.
_SEPARATORS = {(",", ":"): COMPACT, (", ", ": "): PYTHON}
_OF_LINES = (",", ": ")

# Keywords whose schemas are of other values than the one at hand, which they say all of; those
# whose schemas are of the same value, or are read when referred to.
_OF_OTHERS = frozenset(["additionalItems", "additionalProperties", "contains", "items"])
_OF_OTHERS |= {"patternProperties", "prefixItems", "properties", "unevaluatedProperties"}
_OF_THE_SAME = frozenset(["$defs", "allOf", "anyOf", "definitions", "dependentSchemas", "else"])
_OF_THE_SAME |= {"if", "not", "oneOf", "then"}

# What says that there may be other keys, or other items; and what says which there are.
_OTHER_KEYS = ("additionalProperties", "unevaluatedProperties")
_OTHER_ITEMS = ("items", "additionalItems", "unevaluatedItems")
_KEYS, _COMPOSED = ("properties", "patternProperties"), ("$ref", "allOf", "anyOf", "oneOf", "if")


# Where schemas stand in structural tags and in tools.
_HOLDERS = ("json_schema", "schema", "parameters")


class FlagError(ValueError):
    """A flag that would not be enforced, or that cannot have its value. ``name``: of the flag."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message


def with_flags(options: SchemaOptions, flags: Mapping[str, Json]) -> SchemaOptions:
    """The options, as flags of vLLM, SGLang and xgrammar change them; None changes nothing.

    Those by which keys are left out are ``closes`` and ``closed``, and ``root_rule_name`` is of
    grammars. Raises ``FlagError``.
    """
    said = {name: value for name, value in flags.items() if value is not None}
    for name in said:
        if name not in _FLAGS:
            raise FlagError(name, f"this is not known; known are {', '.join(_FLAGS)}")
        expected = _FLAGS[name]
        if not _is(said[name], expected):
            raise FlagError(name, f"this must be {_CALLED[expected]}, not {said[name]!r:.60}")
    pattern = said.get("whitespace_pattern")
    if said.get("disable_any_whitespace"):
        said["any_whitespace"], said["separators"] = False, said.get("separators", (",", ":"))
    if said.get("any_whitespace") is False:
        if pattern is not None:
            raise FlagError("whitespace_pattern", "there is to be none but as it is written")
        options = _changed(options, "indent", whitespace=_separated(said))
    elif said.get("max_whitespace_cnt") is not None:
        most = said["max_whitespace_cnt"]
        if most < 1:
            raise FlagError("max_whitespace_cnt", "this must be at least 1")
        options = replace(options, whitespace=str(min(most, 1_000)))
    elif said.get("any_whitespace"):
        options = replace(options, whitespace=FLEXIBLE)
    if pattern is not None:
        options = _changed(options, "whitespace_pattern", whitespace=f"/{pattern}/")
    if said.get("any_order"):
        options = _changed(options, "any_order", order=ANY_ORDER)
    return options


def closes(flags: Mapping[str, Json]) -> bool:
    """Whether flags leave out what no schema names: ``closed`` does it."""
    return bool(flags.get("strict_mode") or flags.get("disable_additional_properties"))


def _separated(said: Mapping[str, Json]) -> str:
    if said.get("indent") is not None:
        if tuple(said.get("separators", _OF_LINES)) != _OF_LINES:
            raise FlagError("separators", f"where lines are indented there are but {_OF_LINES}")
        return f"indent:{said['indent']}"
    written = tuple(said.get("separators", (", ", ": ")))
    if written not in _SEPARATORS:
        raise FlagError("separators", f"there are none but {' and '.join(map(str, _SEPARATORS))}")
    return _SEPARATORS[written]


def _changed(options: SchemaOptions, flag: str, **changes: str) -> SchemaOptions:
    try:
        return replace(options, **changes)  # type: ignore[arg-type]
    except ValueError as error:
        raise FlagError(flag, str(error)) from None


def _is(value: Json, expected: type) -> bool:
    if expected is tuple:
        is_texts = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
        return is_texts and len(value) == 2
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))


_FLAGS: Mapping[str, type] = {
    "any_whitespace": bool,
    "disable_any_whitespace": bool,
    "whitespace_pattern": str,
    "max_whitespace_cnt": int,
    "indent": int,
    "separators": tuple,
    "any_order": bool,
    "root_rule_name": str,
    "strict_mode": bool,
    "disable_additional_properties": bool,
}
_CALLED = {bool: "true or false", str: "a string", int: "an integer", tuple: "two strings"}

# llguidance's option by which a ``oneOf`` is read as ``anyOf``.
_COERCE = "coerce_one_of"


def with_guidance(options: SchemaOptions, said: Json) -> SchemaOptions:
    """The options, as the value of ``x-guidance`` changes them. Raises ``FlagError``."""
    if not isinstance(said, Mapping):
        raise FlagError(X_GUIDANCE, "this must be an object")
    known = {"whitespace_flexible": bool, "whitespace_pattern": str, "item_separator": str}
    known |= {"key_separator": str, _COERCE: bool, "lenient": bool}
    for name, value in said.items():
        if name not in known:
            raise FlagError(name, f"this is not known; known are {', '.join(known)}")
        if value is not None and not _is(value, known[name]):
            raise FlagError(name, f"this must be {_CALLED[known[name]]}")
    if said.get("lenient"):
        raise FlagError("lenient", "what cannot be enforced is refused")
    separators = said.get("item_separator", ","), said.get("key_separator", ":")
    flags: dict[str, Json] = {"whitespace_pattern": said.get("whitespace_pattern")}
    if said.get("whitespace_flexible") is False and flags["whitespace_pattern"] is None:
        flags |= {"any_whitespace": False, "separators": separators}
    elif separators != (",", ":"):
        raise FlagError("item_separator", "white space is one thing or the other, and stands there")
    elif said.get("whitespace_flexible"):
        flags["any_whitespace"] = True
    return with_flags(options, flags)


def without_guidance(schema: dict[str, Json]) -> Json:
    """The schema without its ``x-guidance``, each ``oneOf`` an ``anyOf`` where that says so; it is
    changed in place."""
    if schema.pop(X_GUIDANCE).get(_COERCE):
        for _, inside in list(schemas_in(schema)):
            if isinstance(inside, dict) and "oneOf" in inside:
                inside["allOf"] = [*inside.get("allOf", ()), {"anyOf": inside.pop("oneOf")}]
    return schema


def closed(schema: Json) -> Json:
    """The schema without keys and items that it does not name, as ``unevaluatedProperties`` and
    ``unevaluatedItems`` are false wherever nothing says what they are; it is changed in place.

    {"properties": {"a": {}}}   ->   {"properties": {"a": {}}, "additionalProperties": false}

    Objects and arrays of which nothing is said may have any. Not recursive: schemas may be deep.
    """
    pending = [(schema, True)]
    while pending:
        found, is_whole = pending.pop()
        if not isinstance(found, dict):
            continue
        for name in _OF_OTHERS.union(_OF_THE_SAME).intersection(found):
            inside = inside_of(name, found[name]) or ()
            pending += [(each, name in _OF_OTHERS) for _, each in inside]
        if is_whole:
            found.update(_rest(found))
    return schema


def closed_inside(document: Json, dialect: str) -> Json:
    """The document with all of its schemas ``closed``, in place: a schema, a structural tag or
    tools."""
    if dialect == JSON_SCHEMA:
        return closed(document)
    pending = [document]
    while pending:
        found = pending.pop()
        if isinstance(found, list):
            pending += found
        elif isinstance(found, dict):
            for name, inner in found.items():
                if name in _HOLDERS:
                    closed(inner)
                else:
                    pending.append(inner)
    return document


def _rest(schema: Mapping[str, Json]) -> dict[str, Json]:
    """What a schema of a whole value says besides, where it says nothing of the rest."""
    is_composed = any(name in schema for name in _COMPOSED)
    found = {}
    if not any(name in schema for name in _OTHER_KEYS):
        if is_composed:
            found["unevaluatedProperties"] = False
        elif any(name in schema for name in _KEYS):
            found["additionalProperties"] = False
    if not any(name in schema for name in _OTHER_ITEMS):
        if is_composed:
            found["unevaluatedItems"] = False
        elif "prefixItems" in schema:
            found["items"] = False
    return found
