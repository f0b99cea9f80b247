"""What is wrong with a value by a schema, in sentences about its keys and values.

    {"type": "object", "required": ["a"], …}  beside  {"b": "3"}
    ->  key `a` is missing (#);  at /b: expected an integer, not the string "3"

It says why, never whether: keywords that it does not know it passes over. Of alternatives it tells
of the one that was probably meant: by the constants of a key, then by the type.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from types import NoneType
from typing import TypeAlias

from ..diagnostics import LimitError, closest, shortened
from ..limits import Limits
from ..schema.formats import language
from ..schema.options import IGNORE, PLAIN, SchemaOptions
from ..schema.patterns import PatternError, search
from ..schema.places import Place, Places, exact
from ..schema.read import Json, escaped
from .instance_text import Complaint, Member, Part

# Names of a text that are compared with those that a schema has.
_MOST_HINTS = 32

# Characters of a value, and values of an enumeration, that a sentence shows.
_SHOWN, _LISTED = 60, 8

_NAMES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}

_Schema: TypeAlias = Place | bool


class Sentences:
    """Of the schemas of ``places``. Its methods raise ``Refused`` for what is no schema."""

    def __init__(self, places: Places, options: SchemaOptions, limits: Limits) -> None:
        self.places, self.options, self.limits = places, options, limits
        # Of the text at hand: what was found, and how many names may still be compared.
        self._known: dict[tuple[Part, int], list[Complaint]] = {}
        self._hints = 0

    def of_text(self, part: Part, schema: _Schema) -> list[Complaint]:
        """All that is wrong with a value that a text has."""
        self._known, self._hints = {}, _MOST_HINTS
        return self.about(part, schema, "")

    def about(self, part: Part, schema: _Schema, where: str) -> list[Complaint]:
        """The same of a value in it, at a pointer; each value is looked at once by each schema."""
        if isinstance(schema, bool):
            message = "no value may stand here"
            return [] if schema else [_complaint(message, part, where, None)]
        key = (part, schema.number)
        if key not in self._known:
            self._known[key] = []
            self._known[key] = self._about(part, schema, where)
        return self._known[key]

    def _about(self, part: Part, place: Place, where: str) -> list[Complaint]:
        schema, found = place.schema, list[Complaint]()
        for keyword in _REFERENCES:
            if keyword in schema:
                found += self.about(part, self.places.referred(place, keyword), where)
        is_alone = "$ref" in schema and not place.draft.since(2019)
        if is_alone or not place.draft.has_validation:
            return found
        wrong = self._kind(part, place, where) or self._constant(part, place, where)
        if wrong is not None:
            return [*found, wrong]
        found += getattr(self, f"_{part.kind}", lambda *_: ())(part, place, where)
        return found + list(self._combined(part, place, where))

    # Types and constants.

    def _kind(self, part: Part, place: Place, where: str) -> Complaint | None:
        said = place.schema.get("type")
        types = tuple(said) if isinstance(said, list) else (said,) if said else ()
        if not types or any(_is_of(part, each) for each in types):
            value = part.value
            is_whole = part.kind == "number" and not isinstance(value, int)
            if is_whole and "integer" in types and "number" not in types:
                return self._respelled(part, place, where)
            return None
        return self._of_types(types, part, place, where)

    def _of_types(self, types: Sequence[str], part: Part, place: Place, where: str) -> Complaint:
        message = f"expected {_either(types)}, not {_said(part)}"
        if part.kind == "string":
            inside = _inside(part.value)
            if isinstance(inside, dict | list) and part.value.strip()[:1] in "{[":
                message = f"expected {_either(types)}, not a string with JSON in it"
                message += "; write the JSON itself"
            elif any(_fits(inside, each) for each in types):
                message += f"; write {part.value.strip()} without quotes"
        if "array" in types and part.kind != "array" and "items" in place.schema:
            item = place.schema["items"]
            if isinstance(item, dict) and not self.about(
                part, self.places.inside(place, "items"), where
            ):
                message += "; write it in brackets"
        return _complaint(message, part, where, place, types=tuple(types))

    def _respelled(self, part: Part, place: Place, where: str) -> Complaint | None:
        text = str(part.value)
        if "E" in text:
            message = f"write {_shown(int(part.value))} for {text.lower()}"
        elif self.options.integer == PLAIN:
            message = f"write {_shown(int(part.value))} for {text} (--integer decimal takes both)"
        else:
            return None
        return _complaint(message, part, where, place, is_spelling=True)

    def _constant(self, part: Part, place: Place, where: str) -> Complaint | None:
        schema = place.schema
        if "const" in schema:
            allowed = [schema["const"]]
        elif isinstance(schema.get("enum"), list):
            allowed = schema["enum"]
        else:
            return None
        if any(_same(part.plain, each) for each in allowed) or not part.is_whole:
            return None
        return _complaint(self._none_of(part, allowed), part, where, place)

    def _none_of(self, part: Part, allowed: Sequence[Json]) -> str:
        texts = [_shown(each) for each in allowed[: _LISTED + 1]]
        value = _said(part) if part.kind != "string" else _shown(part.value)
        if len(allowed) == 1:
            return f"expected {texts[0]}, not {value}"
        more = ", …" if len(allowed) > _LISTED else ""
        message = f"{value} is none of {', '.join(texts[:_LISTED])}{more}"
        if part.kind != "string":
            return message
        near = self._meant(part.value, [each for each in allowed if isinstance(each, str)])
        return f"{message}; did you mean {_shown(near)}?" if near else message

    def _meant(self, name: str, names: Sequence[str]) -> str | None:
        """The name that was probably meant, whatever its case."""
        self._hints -= 1
        folded = {each.casefold().replace("-", "_"): each for each in reversed(names)}
        found = closest(name.casefold().replace("-", "_"), folded) if self._hints >= 0 else None
        return None if found is None else folded[found]

    # Scalars.

    def _number(self, part: Part, place: Place, where: str) -> Iterator[Complaint]:
        schema, value, shown = place.schema, exact(part.value, place), _shown(part.value)
        for keyword, strict, below in _BOUNDS:
            is_open = schema.get(strict) is True  # As in draft 4.
            bound = place.fraction(keyword)
            if bound is not None and (value < bound if below else value > bound) and not is_open:
                side = "below" if below else "above"
                message = f"{shown} is {side} the {keyword} {_shown(schema[keyword])}"
                yield _complaint(message, part, where, place)
            keyword = keyword if is_open else strict
            bound = place.fraction(keyword)
            if bound is not None and (value <= bound if below else value >= bound):
                side = "above" if below else "below"
                message = f"{shown} must be {side} {_shown(schema[keyword])}"
                yield _complaint(message, part, where, place)
        step = place.fraction("multipleOf")
        if step and value % step:
            message = f"{shown} is no multiple of {_shown(schema['multipleOf'])}"
            yield _complaint(message, part, where, place)

    def _string(self, part: Part, place: Place, where: str) -> Iterator[Complaint]:
        schema, text, shown = place.schema, part.value, _shown(part.value)
        if (message := _counted(len(text), schema, "Length", "character")) is not None:
            yield _complaint(f"{shown} has {message}", part, where, place)
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not self._is_found(pattern, text):
            message = f"{shown} does not match the pattern {pattern}"
            yield _complaint(message, part, where, place)
        name = schema.get("format")
        if isinstance(name, str) and self.options.formats != IGNORE:
            texts = language(name)
            if texts is not None and not texts.accepts(_octets(text)):
                message = f"{shown} is not of the format {name}"
                yield _complaint(message, part, where, place)

    def _is_found(self, pattern: str, text: str) -> bool:
        try:
            return search(pattern, self.limits).accepts(_octets(text))
        except (PatternError, LimitError):
            return True

    # Arrays and objects.

    def _array(self, part: Part, place: Place, where: str) -> Iterator[Complaint]:
        schema, items = place.schema, part.items
        most = schema.get("maxItems")
        if (message := _counted(len(items), schema, "Items", "item")) is not None:
            if isinstance(most, int) and len(items) > most:
                begin = items[most - 1].end if most else part.start
                said = f"the array has {message}"
                yield Complaint(said, where, begin, part.end, items[most].start, place.at())
            elif part.is_whole:
                yield _missing(f"the array has {message}", part, where, place)
        first = "items" if isinstance(schema.get("items"), list) else "prefixItems"
        rest = "additionalItems" if first == "items" else "items"
        fixed = len(place.listing(first))
        for i, item in enumerate(items):
            steps = (first, i) if i < fixed else (rest,)
            if i >= fixed and schema.get(rest) is False:
                message = f"the array has at most {_times(fixed, 'item')}"
                yield _complaint(message, item, where, place)
                break
            if i < fixed or rest in schema:
                yield from self.about(item, self.places.inside(place, *steps), f"{where}/{i}")
        if schema.get("uniqueItems") is True:
            seen: dict[str, int] = {}
            for i, item in enumerate(items):
                other = seen.setdefault(_canonical(item.plain), i)
                if other != i:
                    message = f"items {other} and {i} are equal"
                    yield _complaint(message, item, where, place)

    def _object(self, part: Part, place: Place, where: str) -> Iterator[Complaint]:
        schema, keys = place.schema, {member.key for member in part.members}
        properties = place.mapping("properties")
        required = [key for key in schema.get("required") or () if isinstance(key, str)]
        patterns = place.mapping("patternProperties")
        rest = next((k for k in ("additionalProperties",) if k in schema), None)
        if rest is None and not any(k in schema for k in _COMBINED):
            rest = "unevaluatedProperties" if "unevaluatedProperties" in schema else None
        meant: set[str] = set()
        for member in part.members:
            below = f"{where}/{escaped(member.key)}"
            schemas: list[_Schema] = []
            if member.key in properties:
                schemas.append(self.places.inside(place, "properties", member.key))
            for pattern in patterns:
                if self._is_found(pattern, member.key):
                    schemas.append(self.places.inside(place, "patternProperties", pattern))
            if not schemas and rest is not None and schema[rest] is False:
                near = self._meant(member.key, [key for key in properties if key not in keys])
                meant.update([near] if near else [])
                hint = f"; did you mean `{near}`?" if near else ""
                message = f"unknown key `{member.key}`{hint}"
                yield _about_key(message, member, where, place)
            elif not schemas and rest is not None:
                schemas.append(self.places.inside(place, rest))
            for each in schemas if member.value is not None else ():
                assert member.value is not None
                for found in self.about(member.value, each, below):
                    is_null = found.types and found.where == below and member.value.kind == "null"
                    if is_null and member.key not in required:
                        found = replace(found, message=f"{found.message}; leave the key out")
                    yield found
        for key in required:
            if part.is_whole and key not in keys and key not in meant:
                yield _missing(f"key `{key}` is missing", part, where, place)
        yield from self._dependent(part, place, where, keys)
        if (counted := _counted(len(keys), schema, "Properties", "key")) is not None:
            yield _missing(f"the object has {counted}", part, where, place)
        if self.options.order != "any":
            yield from self._ordered(part, place, where, [*properties])

    def _dependent(
        self, part: Part, place: Place, where: str, keys: set[str]
    ) -> Iterator[Complaint]:
        for key, others in place.mapping("dependentRequired").items():
            for other in others if key in keys and part.is_whole else ():
                if other not in keys:
                    message = f"key `{other}` is missing beside `{key}`"
                    yield _missing(message, part, where, place)

    def _ordered(
        self, part: Part, place: Place, where: str, known: list[str]
    ) -> Iterator[Complaint]:
        """The first key that stands after one that comes later in the schema."""
        places = {key: i for i, key in enumerate(known)}
        for before, after in zip(part.members, part.members[1:], strict=False):
            if places.get(after.key, len(known)) < places.get(before.key, len(known)):
                message = (
                    f"keys come in the order of the schema here: `{after.key}` before "
                    f"`{before.key}` (--order any takes all)"
                )
                yield Complaint(
                    message, where, before.start, after.end, before.start, place.at(),
                    is_for_order=True,
                )  # fmt: skip
                return

    # Several schemas.

    def _combined(self, part: Part, place: Place, where: str) -> Iterator[Complaint]:
        schema = place.schema
        for i in range(len(place.listing("allOf"))):
            yield from self.about(part, self.places.inside(place, "allOf", i), where)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._alternatives(part, place, keyword, where)
        excluded = schema.get("not")
        if part.is_whole and isinstance(excluded, dict) and excluded and set(excluded) <= _TOLD:
            inside = self.about(part, self.places.inside(place, "not"), where)
            if not _hinders(inside):
                yield _complaint(f"{_said(part)} is excluded by `not`", part, where, place)
        if "if" in schema:
            fits = not self.about(part, self.places.inside(place, "if"), where)
            branch = "then" if fits else "else"
            if branch in schema:
                yield from self.about(part, self.places.inside(place, branch), where)

    def _alternatives(self, part: Part, place: Place, keyword: str, where: str) -> list[Complaint]:
        branches = [
            self.places.inside(place, keyword, i) for i in range(len(place.listing(keyword)))
        ]
        found = [self.about(part, branch, where) for branch in branches]
        fitting = [i for i, each in enumerate(found) if not _hinders(each)]
        if fitting:
            if keyword == "oneOf" and len(fitting) > 1 and part.is_whole:
                message = f"this fits {' and '.join(map(str, fitting[:2]))} of the oneOf, not one"
                return [_complaint(message, part, where, place)]
            return found[fitting[0]]
        if (tag := self._tag(part, branches)) is not None:
            member, allowed, kept = tag
            if not kept and member.value is not None and member.value.is_whole:
                message, at = self._none_of(member.value, allowed), f"{where}/{escaped(member.key)}"
                return [_complaint(message, member.value, at, place)]
            found = [found[i] for i in kept]
        of_type = [each for each in found if not any(c.types and c.where == where for c in each)]
        if not of_type:
            types = [kind for each in found for c in each for kind in c.types if c.where == where]
            return [self._of_types([*dict.fromkeys(types)], part, place, where)] if types else []
        return min(of_type, key=len)

    def _tag(
        self, part: Part, branches: Sequence[_Schema]
    ) -> tuple[Member, list[Json], list[int]] | None:
        """The member whose constants tell alternatives apart, all of them, and the alternatives
        that have the member's."""
        for member in part.members:
            constants = [self._constants(branch, member.key) for branch in branches]
            if member.value is None or any(each is None for each in constants):
                continue
            value = member.value.plain
            kept = [
                i for i, each in enumerate(constants) if any(_same(value, x) for x in each or ())
            ]
            if len(kept) < len(branches):
                return member, [x for each in constants for x in each or ()], kept
        return None

    def _constants(self, branch: _Schema, key: str) -> list[Json] | None:
        for _ in range(_SHOWN):
            if isinstance(branch, bool) or "$ref" not in branch.schema:
                break
            branch = self.places.referred(branch, "$ref")
        inside = {} if isinstance(branch, bool) else branch.mapping("properties").get(key)
        if not isinstance(inside, dict):
            return None
        if "const" in inside:
            return [inside["const"]]
        found = inside.get("enum")
        return found if isinstance(found, list) else None


# A bound, the one that excludes itself, whether values below it are refused.
_BOUNDS = (("minimum", "exclusiveMinimum", True), ("maximum", "exclusiveMaximum", False))

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# What may say of members that they are evaluated.
_COMBINED = (*_REFERENCES, "allOf", "anyOf", "oneOf", "if", "dependentSchemas")

# Keywords that are enough for what a `not` excludes: none of them is passed over.
_TOLD = frozenset(["type", "enum", "const", "required"])


def _complaint(
    message: str,
    part: Part,
    where: str,
    place: Place | None,
    *,
    types: tuple[str, ...] = (),
    is_spelling: bool = False,
) -> Complaint:
    pointer = None if place is None else place.at()
    return Complaint(message, where, part.start, part.end, part.start, pointer, types, is_spelling)


def _missing(message: str, part: Part, where: str, place: Place) -> Complaint:
    at = max(part.start, part.end - 1)
    return Complaint(message, where, part.start, part.end, at, place.at())


def _about_key(message: str, member: Member, where: str, place: Place) -> Complaint:
    end = member.end if member.value is None else member.value.end
    return Complaint(message, where, member.start, end, member.start, place.at())


def _hinders(found: Sequence[Complaint]) -> bool:
    """Whether a value does not fit, whatever its keys' order and its spelling."""
    return any(not (each.is_for_order or each.is_spelling) for each in found)


def _is_of(part: Part, kind: str) -> bool:
    if kind == "integer":
        return part.kind == "number" and part.value == int(part.value)
    return part.kind == kind


def _fits(value: Json, kind: str) -> bool:
    kinds = {bool: "boolean", NoneType: "null", int: "integer number", float: "number"}
    return kind in kinds.get(type(value), "").split()


def _inside(text: str) -> Json:
    """The JSON in a text; the text where there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _said(part: Part) -> str:
    if part.kind in ("object", "array", "null"):
        return _NAMES[part.kind]
    kind = "" if part.kind == "boolean" else f"the {part.kind} "
    return f"{kind}{_shown(part.value)}"


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, str | int | list | dict | None):
        text = str(value)
    return shortened(text, _SHOWN)


def _counted(count: int, schema: "Json", what: str, unit: str) -> str | None:
    """What is said of a count beyond its bounds: ``minItems``, ``maxLength`` and the like."""
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if isinstance(least, int) and count < least:
        bound, side, verb = least, "least", "needed"
    elif isinstance(most, int) and count > most:
        bound, side, verb = most, "most", "allowed"
    else:
        return None
    return f"{_times(count, unit)}, at {side} {bound} {'is' if bound == 1 else 'are'} {verb}"


def _times(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' * (count != 1)}"


def _either(types: Sequence[str]) -> str:
    names = [_NAMES.get(each, each) for each in types]
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _same(left: Json, right: Json) -> bool:
    return _canonical(left) == _canonical(right)


def _canonical(value: Json) -> str:
    """A text that two values share if they are equal as JSON."""
    if isinstance(value, dict):
        inside = (f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value))
        return f"{{{','.join(inside)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    if value is None or isinstance(value, bool | str):
        return json.dumps(value)
    return str(Fraction(value))


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
