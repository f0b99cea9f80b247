"""Lints of JSON Schemas: what a schema says and its author probably does not mean.

What a grammar's lints look for is of its rules, which here nobody has written.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from constrain.artifacts.errors import ConstrainError

from ..automata.graphs import reached
from ..diagnostics import Diagnostic, Source, Span, closest, give_up
from ..limits import Limits
from ..schema.keywords.known import schemas_in
from ..schema.keywords.unread import MISSPELT, OTHER_DRAFT
from ..schema.notes import Refused
from ..schema.read import Json, escaped
from .finding import Finding

if TYPE_CHECKING:
    from ..schema.goals import Goal
    from ..schema.normal import Normal

# A lint, where it is in the schema, what it says and a hint.
_Said: TypeAlias = tuple[str, str, str, str]
_Schema: TypeAlias = Mapping[str, Any]

# Schemas of which what they allow is computed, each with its branches.
_MOST = 2_000


def of_schema(source: Source, limits: Limits) -> list[Finding]:
    """All findings about a schema that has a grammar. Raises ``LimitError``."""
    from ..schema.convert import opened

    document, normal = opened(source, limits)
    found: list[Finding] = []
    used = _used(document.value)
    for count, (pointer, schema) in enumerate(schemas_in(document.value)):
        limits.check_resources("the lints", [f"#{pointer}"])
        said = [*_required(schema), *_members(schema), *_idle(schema), *_alone(schema)]
        said += _unused(pointer, schema, used)
        if count < _MOST:
            try:
                goal = normal.goals.at(f"#{pointer}")
                said += _lengths(schema, normal, goal)
                said += _branches(pointer, schema, normal, goal)
                said += _parts(pointer, schema, normal)
                said += _samples(schema, normal, goal)
            except ConstrainError as error:
                give_up(error)
            except (Refused, RecursionError):
                # The grammar does without this part, or there would be none.
                pass
        for lint, place, message, hint in said:
            at = pointer + place
            found.append(Finding(lint, f"#{at}: {message}", document.spans[at], "", hint))
    return found


def of_notes(notes: Iterable[Diagnostic]) -> Iterator[Finding]:
    """Those notes on a text that are findings of lints: keywords of a schema that ask nothing, and
    a first rule that leads to few others."""
    for note in notes:
        for lint in (MISSPELT, OTHER_DRAFT, "unreachable"):
            if note.message.endswith(f" [{lint}]"):
                message = note.message.removesuffix(f" [{lint}]")
                yield Finding(lint, message, note.span or Span(0, 0), "", note.help or "")


# Among more described keys none is looked for that another may have meant.
_FEW_KEYS = 1_000


def _required(schema: _Schema) -> Iterator[_Said]:
    """Keys that must be there, and that no schema beside describes."""
    names, described = schema.get("required"), schema.get("properties")
    around = ("patternProperties", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf", "if")
    if not isinstance(names, list) or not isinstance(described, Mapping):
        return
    if any(keyword in schema for keyword in (*around, "dependentSchemas", "$dynamicRef")):
        return
    for i, name in enumerate(names):
        if isinstance(name, str) and name not in described:
            close = closest(name, described) if len(described) <= _FEW_KEYS else None
            hint = f"did you mean {close!r}?" if close else "add it to properties"
            message = f"{name!r} must be there, and no schema describes it"
            yield "undescribed-key", f"/required/{i}", message, hint


def _types(schema: _Schema) -> list[Any]:
    """The types that a schema names."""
    given = schema.get("type")
    return given if isinstance(given, list) else [given] if isinstance(given, str) else []


def _members(schema: _Schema) -> Iterator[_Said]:
    """Members of ``enum`` that ``type`` excludes."""
    from ..schema.keywords.clauses import type_of

    values, kinds = schema.get("enum"), _types(schema)
    for i, value in enumerate(values if kinds and isinstance(values, list) else ()):
        kind = type_of(value).value
        is_whole = kind == "number" and value == int(value)
        if kind not in kinds and not (is_whole and "integer" in kinds):
            message = f"this member can never be valid: the type is {' or '.join(map(str, kinds))}"
            yield "excluded-member", f"/enum/{i}", message, "remove it, or add its type"


# What schemas are named by beside where they stand.
_NAMES = frozenset({"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "id"})

_DEFINITIONS = ("$defs", "definitions")


def _used(document: Json) -> frozenset[str]:
    """The pointers of definitions that have a name of their own, or that references lead into from
    outside of definitions, or from inside of such."""
    schemas = list(schemas_in(document))
    places = {
        f"{pointer}/{keyword}/{escaped(name)}"
        for pointer, schema in schemas
        for keyword in _DEFINITIONS
        for name in (schema[keyword] if isinstance(schema.get(keyword), Mapping) else ())
    }

    def around(pointer: str) -> list[str]:
        """The definitions that a place is in, the innermost first."""
        steps = pointer.split("/")
        above = ("/".join(steps[:n]) for n in range(len(steps), 0, -1))
        return [each for each in above if each in places]

    leads: dict[str, list[str]] = {}
    pending: list[str] = []
    for pointer, schema in schemas:
        inside = around(pointer)
        if _NAMES & schema.keys():
            pending += inside
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                targets = around(unquote(reference.partition("#")[2]))
                if inside:
                    leads.setdefault(inside[0], []).extend(targets)
                else:
                    pending += targets
    return frozenset(reached(pending, lambda place: leads.get(place, ())))


def _unused(pointer: str, schema: _Schema, used: Set[str]) -> Iterator[_Said]:
    """Definitions that are not among those that are used."""
    for keyword in _DEFINITIONS:
        named = schema.get(keyword)
        for name in named if isinstance(named, Mapping) else ():
            place = f"/{keyword}/{escaped(name)}"
            if pointer + place not in used:
                message = "nothing that is used refers to this definition"
                yield "unused-definition", place, message, "remove it, or refer to it"


_OF_NUMBERS = "exclusiveMaximum exclusiveMinimum maximum minimum multipleOf"
_OF_ARRAYS = (
    "additionalItems contains items maxContains maxItems minContains minItems prefixItems "
    "unevaluatedItems uniqueItems"
)
_OF_OBJECTS = (
    "additionalProperties dependencies dependentRequired dependentSchemas maxProperties "
    "minProperties patternProperties properties propertyNames required unevaluatedProperties"
)
# The types that keywords ask something of.
_ASKED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_NUMBERS.split(), ("number", "integer")),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), ("string",)),
    **dict.fromkeys(_OF_ARRAYS.split(), ("array",)),
    **dict.fromkeys(_OF_OBJECTS.split(), ("object",)),
}
# How bounds of each type are called.
_BOUNDS = {
    "number": "imum",
    "integer": "imum",
    "string": "Length",
    "array": "Items",
    "object": "Properties",
}


def _idle(schema: _Schema) -> Iterator[_Said]:
    """Keywords that ask nothing of the types that are named."""
    kinds = _types(schema)
    for keyword in schema:
        asked = _ASKED.get(keyword, kinds)
        if kinds and not any(kind in asked for kind in kinds):
            message = f"{keyword!r} asks nothing of {' or '.join(map(str, kinds))}"
            bound = keyword[:3] + _BOUNDS.get(str(kinds[0]), "")
            is_bound = bound in _ASKED and keyword[3:] in _BOUNDS.values()
            hint = f"did you mean {bound!r}?" if is_bound else "remove it, or mend the type"
            yield "idle-keyword", f"/{keyword}", message, hint


# Keywords that ask nothing without one of others.
_TOGETHER: Mapping[str, tuple[str, ...]] = {
    "if": ("then", "else"),
    **dict.fromkeys(("then", "else"), ("if",)),
    **dict.fromkeys(("minContains", "maxContains"), ("contains",)),
}


def _alone(schema: _Schema) -> Iterator[_Said]:
    """Keywords that ask nothing without another one."""
    for keyword, others in _TOGETHER.items():
        if keyword in schema and schema.keys().isdisjoint(others):
            message = f"{keyword!r} asks nothing without {' or '.join(map(repr, others))}"
            yield "idle-keyword", f"/{keyword}", message, "add it, or remove this"


def _samples(schema: _Schema, normal: "Normal", goal: "Goal") -> Iterator[_Said]:
    """Defaults and examples that are no values of the schema."""
    given = [("/default", schema["default"])] if "default" in schema else []
    listed = schema.get("examples")
    if isinstance(listed, list):
        given += [(f"/examples/{i}", each) for i, each in enumerate(listed)]
    place = normal.goals.nearest(goal)
    for step, value in given if place else ():
        both = normal.goals.both(goal, normal.goals.made({"enum": [value]}, place))
        if normal.is_certainly_empty(both) and not normal.is_certainly_empty(goal):
            yield "invalid-sample", step, "this is no value of the schema", "mend it, or the schema"


def _inside(schema: _Schema) -> Iterator[tuple[str, Json, str, str]]:
    """The schemas of members and items, with their steps, the lint, and what is so where no value
    satisfies them."""
    for keyword in ("properties", "patternProperties"):
        named = schema.get(keyword)
        for name, inner in named.items() if isinstance(named, Mapping) else ():
            steps = f"/{keyword}/{escaped(name)}"
            said = f"{name!r} is never there" if keyword == "properties" else "no key has it"
            yield steps, inner, "impossible-key", said
    others = schema.get("additionalProperties")
    yield "/additionalProperties", others, "impossible-key", "no key has it"
    for keyword in ("items", "prefixItems"):
        listed = schema.get(keyword)
        if not isinstance(listed, list):
            yield f"/{keyword}", listed, "impossible-item", "there is no such item"
            continue
        for i, inner in enumerate(listed):
            said = "there is neither this item nor one after it"
            yield f"/{keyword}/{i}", inner, "impossible-item", said


def _parts(pointer: str, schema: _Schema, normal: "Normal") -> Iterator[_Said]:
    """Members and items with a schema that no value satisfies, which then are never there."""
    from ..schema.rules.contradictions import contradiction

    for place, inner, lint, said in _inside(schema):
        if not isinstance(inner, Mapping) or inner == {"not": {}}:
            continue
        goal = normal.goals.at(f"#{pointer}{place}")
        if normal.is_certainly_empty(goal):
            at, message, hint = place, "no value satisfies this schema", "mend it"
            why = contradiction(goal, normal, f"#{pointer}{place}")
            if why is not None and why.pointer.startswith(f"#{pointer}/"):
                at, message, hint = why.pointer[len(pointer) + 1 :], why.message, why.hint
            yield lint, at, f"{message}, so {said}", hint


def _lengths(schema: _Schema, normal: "Normal", goal: "Goal") -> Iterator[_Said]:
    """A pattern that no text within the bounds of its length has."""
    bounds = [keyword for keyword in ("minLength", "maxLength") if keyword in schema]
    if not bounds or "pattern" not in schema:
        return
    place = normal.goals.nearest(goal)
    asked = {keyword: schema[keyword] for keyword in ("pattern", *bounds)}
    if place is None or not normal.is_certainly_empty(
        normal.goals.made({"type": "string", **asked}, place)
    ):
        return
    message = f"no text within {' and '.join(bounds)} has this pattern"
    hint = "mend the pattern or the bounds"
    yield "impossible-length", "/pattern", message, hint


def _branches(pointer: str, schema: _Schema, normal: "Normal", goal: "Goal") -> Iterator[_Said]:
    """Branches that exclude what stands beside them."""
    for keyword in ("anyOf", "oneOf"):
        listed = schema.get(keyword)
        for i in range(len(listed) if isinstance(listed, list) and len(listed) > 1 else 0):
            place = f"/{keyword}/{i}"
            both = normal.goals.both(goal, normal.goals.at(f"#{pointer}{place}"))
            if normal.is_certainly_empty(both) and not normal.is_certainly_empty(goal):
                message = "this branch can never hold beside what else is asked here"
                hint = "remove it, or mend what excludes it"
                yield "dead-branch", place, message, hint
