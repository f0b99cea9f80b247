"""Random JSON Schemas, with keywords about as often as real ones have them, and instances."""

import json
import random
from typing import Any

KEYS = ("a", "b", "c d", "é", "")
PATTERNS = ("^a", "b$", "^[a-c]+$", "é", "^.{2}$", "[0-9]", "^(?!a)")
FORMATS = ("date", "uuid", "ipv4", "unknown-format")
NAMES = ("one", "two")
CONSTANTS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -2, 2.5, 10, "a", "b", "ab", "", "2020-01-01"),
    *([], [1], [1, "a"], {}, {"a": 1}, {"b": "a", "a": None}),
)
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def schema(rng: random.Random, depth: int = 3, *, negates: bool = True) -> Any:
    """A schema of draft 2020-12, at most so deep."""
    chance = rng.random()
    if chance < 0.06:
        return rng.random() < 0.8
    if chance < 0.1:
        return {"$ref": f"#/$defs/{rng.choice(NAMES)}"}
    found: dict[str, Any] = {}
    if rng.random() < 0.75:
        kinds = rng.sample(TYPES, rng.choice((1, 1, 1, 2)))
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    else:
        kinds = list(TYPES)
    kind = rng.choice(kinds)
    if kind == "object" or rng.random() < 0.08:
        found |= _of_objects(rng, depth, negates)
    if kind == "array" or rng.random() < 0.06:
        found |= _of_arrays(rng, depth, negates)
    if kind == "string" or rng.random() < 0.06:
        found |= _of_strings(rng)
    if kind in ("number", "integer") or rng.random() < 0.06:
        found |= _of_numbers(rng)
    if rng.random() < 0.12:
        found["enum"] = rng.sample(CONSTANTS, rng.randint(1, 4))
    if rng.random() < 0.04:
        found["const"] = rng.choice(CONSTANTS)
    if depth > 0:
        found |= _combined(rng, depth - 1, negates)
    return found


def document(rng: random.Random, depth: int = 3) -> Any:
    """A schema with others that it refers to by name."""
    found = schema(rng, depth)
    if '"$ref"' not in json.dumps(found):
        return found
    return {**found, "$defs": {name: schema(rng, 2) for name in NAMES}}


# Keywords that a draft does not have.
_LATER = {
    7: ("minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties"),
    4: ("contains", "const", "propertyNames", "if", "then", "else"),
}


def in_draft(found: Any, draft: int) -> Any:
    """A schema of draft 2020-12 in the words of draft 7 or 4, as far as there are any."""
    if draft == 2020:
        return found
    if isinstance(found, bool):
        return found if draft == 7 else {} if found else {"not": {}}
    gone = _LATER[7] + (_LATER[4] if draft == 4 else ())
    found = {keyword: value for keyword, value in found.items() if keyword not in gone}
    for keyword in ("items", "contains", "propertyNames", "not", "if", "then", "else"):
        if keyword in found:
            found[keyword] = in_draft(found[keyword], draft)
    # Draft 4 has booleans there, but nowhere else.
    rest = found.get("additionalProperties", True)
    if not isinstance(rest, bool):
        found["additionalProperties"] = in_draft(rest, draft)
    for keyword in ("allOf", "anyOf", "oneOf", "prefixItems"):
        if keyword in found:
            found[keyword] = [in_draft(each, draft) for each in found[keyword]]
    for keyword in ("properties", "patternProperties", "dependentSchemas", "$defs"):
        if keyword in found:
            found[keyword] = {name: in_draft(x, draft) for name, x in found[keyword].items()}
    if "prefixItems" in found:
        more = {"additionalItems": found["items"]} if "items" in found else {}
        found |= {"items": found.pop("prefixItems"), **more}
    asked = {**found.pop("dependentRequired", {}), **found.pop("dependentSchemas", {})}
    found |= {"dependencies": asked} if asked else {}
    if "$defs" in found:
        found["definitions"] = found.pop("$defs")
    if "$ref" in found:
        found["$ref"] = found["$ref"].replace("$defs", "definitions")
    for bound in ("Minimum", "Maximum") if draft == 4 else ():
        limit = found.pop(f"exclusive{bound}", None)
        if limit is not None:
            found |= {bound.lower(): limit, f"exclusive{bound}": True}
    return found


def _some(rng: random.Random, **chances: tuple[float, Any]) -> dict[str, Any]:
    """Each keyword with its chance; values are made when they are wanted."""
    return {name: make() for name, (chance, make) in chances.items() if rng.random() < chance}


def _of_objects(rng: random.Random, depth: int, negates: bool) -> dict[str, Any]:
    def inner() -> Any:
        return schema(rng, depth - 1, negates=negates) if depth > 0 else {"type": rng.choice(TYPES)}

    def keys() -> list[str]:
        return rng.sample(KEYS, rng.randint(1, 3))

    return _some(
        rng,
        properties=(0.85, lambda: {key: inner() for key in keys()}),
        required=(0.5, keys),
        additionalProperties=(0.45, lambda: rng.choice((False, False, True, inner()))),
        patternProperties=(0.12, lambda: {rng.choice(PATTERNS): inner()}),
        minProperties=(0.15, lambda: rng.randint(0, 3)),
        maxProperties=(0.15, lambda: rng.randint(0, 4)),
        propertyNames=(0.05, lambda: {"maxLength": rng.randint(1, 2)}),
        dependentRequired=(0.05, lambda: {rng.choice(KEYS): keys()}),
        dependentSchemas=(0.05, lambda: {rng.choice(KEYS): inner()}),
        unevaluatedProperties=(0.06, lambda: rng.choice((False, inner()))),
    )


def _of_arrays(rng: random.Random, depth: int, negates: bool) -> dict[str, Any]:
    def inner() -> Any:
        return schema(rng, depth - 1, negates=negates) if depth > 0 else {"type": rng.choice(TYPES)}

    return _some(
        rng,
        items=(0.7, inner),
        prefixItems=(0.2, lambda: [inner() for _ in range(rng.randint(1, 2))]),
        minItems=(0.2, lambda: rng.randint(0, 2)),
        maxItems=(0.2, lambda: rng.randint(0, 3)),
        contains=(0.1, inner),
        minContains=(0.05, lambda: rng.randint(0, 2)),
        maxContains=(0.05, lambda: rng.randint(0, 2)),
        uniqueItems=(0.06, lambda: True),
        unevaluatedItems=(0.06, lambda: rng.choice((False, inner()))),
    )


def _of_strings(rng: random.Random) -> dict[str, Any]:
    return _some(
        rng,
        minLength=(0.2, lambda: rng.randint(0, 2)),
        maxLength=(0.3, lambda: rng.randint(0, 4)),
        pattern=(0.25, lambda: rng.choice(PATTERNS)),
        format=(0.15, lambda: rng.choice(FORMATS)),
    )


def _of_numbers(rng: random.Random) -> dict[str, Any]:
    def bound() -> Any:
        return rng.choice((-2, 0, 1, 1.5, 10, 0.25))

    return _some(
        rng,
        minimum=(0.3, bound),
        maximum=(0.25, bound),
        exclusiveMinimum=(0.1, bound),
        exclusiveMaximum=(0.1, bound),
        multipleOf=(0.15, lambda: rng.choice((1, 2, 3, 0.5, 0.25))),
    )


def _combined(rng: random.Random, depth: int, negates: bool) -> dict[str, Any]:
    def inner() -> Any:
        return schema(rng, depth, negates=negates)

    def branches() -> list[Any]:
        return [inner() for _ in range(rng.randint(1, 3))]

    often = 0.1 if negates else 0
    found = _some(
        rng,
        allOf=(0.09, branches),
        anyOf=(0.12, branches),
        oneOf=(often * 1.3, branches),
        **{"not": (often * 0.8, inner), "if": (often * 0.6, inner)},
    )
    if "if" in found:
        found |= _some(rng, **{"then": (0.7, inner), "else": (0.7, inner)})
    return found


# What no keyword, or only some, can have.
_JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, "", "a", "#", "#/$defs/a", "//[", "%zz", "\x00"),
    *("(", "^\\ud800$", "x:y#z", [], [[]], {}, {"": {}}, {"$ref": "#"}, {"type": []}),
    *([{}], ["a", "a"], {"a": 5}, [1, "a", None]),
)
_NAMES_OF_JUNK = (
    *("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef"),
    *("$ref", "$schema", "$vocabulary", "additionalItems", "contentEncoding", "dependencies"),
    *("enum", "format", "id", "if", "items", "multipleOf", "oneOf", "pattern", "type"),
)


def with_junk(rng: random.Random, found: Any) -> Any:
    """The schema with something else in some place, or with a keyword more."""
    inside: list[Any] = list(found) if isinstance(found, dict) else []
    inside = list(range(len(found))) if isinstance(found, list) else inside
    if not inside or rng.random() < 0.2:
        if isinstance(found, dict) and rng.random() < 0.6:
            return {**found, rng.choice(_NAMES_OF_JUNK): rng.choice(_JUNK)}
        return rng.choice(_JUNK)
    place = rng.choice(inside)
    changed = found.copy()
    changed[place] = with_junk(rng, found[place])
    return changed


def instance(rng: random.Random, depth: int = 2) -> Any:
    """A value that such schemas may be about."""
    kind = rng.randrange(8 if depth else 5)
    if kind < 3:
        return rng.choice(CONSTANTS)
    if kind == 3:
        return rng.choice((rng.randint(-12, 12), rng.randint(-40, 40) / 4))
    if kind == 4:
        return "".join(rng.choice("abcé1\n") for _ in range(rng.randint(0, 4)))
    if kind < 6:
        return [instance(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice((*KEYS, "z")): instance(rng, depth - 1) for _ in range(rng.randint(0, 3))}


def mutated(rng: random.Random, value: Any) -> Any:
    """The value with one change somewhere."""
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        changed = [*value]
        changed[place : place + 1] = rng.choice(([], [mutated(rng, value[place])]))
        return changed
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.3:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: mutated(rng, value[key])}
    if isinstance(value, str) and rng.random() < 0.5:
        return value + rng.choice("ab1")
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return value + rng.choice((1, -1, 0.5))
    return instance(rng)
