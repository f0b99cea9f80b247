"""Lints of JSON Schemas: what a schema says and its author probably does not mean.

What a grammar's lints look for is of its rules, which here nobody has written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from constrain.artifacts.errors import ConstrainError

from ..diagnostics import Diagnostic, Source, Span, closest, give_up
from ..limits import Limits
from ..schema.keywords.known import MISSPELT, OTHER_DRAFT, schemas_in
from ..schema.notes import Refused
from ..schema.read import Json, escaped
from .finding import Finding

if TYPE_CHECKING:
    from ..schema.goals import Goal, Goals
    from ..schema.normal import Normal

# A lint, where it is in the schema, what it says and a hint.
_Said: TypeAlias = tuple[str, str, str, str]

# Schemas of which what they allow is computed, each with its branches.
_MOST = 2_000


def of_schema(source: Source, limits: Limits) -> list[Finding]:
    """All findings about a schema that has a grammar. Raises ``LimitError``."""
    from ..schema.convert import opened

    document, goals, normal = opened(source, limits)
    found: list[Finding] = []
    used = _referred(document.value)
    for count, (pointer, schema) in enumerate(schemas_in(document.value)):
        limits.check_resources("the lints", [f"#{pointer}"])
        said = [*_required(schema), *_members(schema), *_unused(pointer, schema, used)]
        if count < _MOST:
            try:
                goal = goals.at(f"#{pointer}")
                said += _lengths(schema, normal, goals, goal)
                said += _branches(pointer, schema, normal, goals, goal)
                said += _properties(pointer, schema, normal, goals)
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
    """Those notes on a schema that are findings of lints: keywords that ask nothing."""
    for note in notes:
        for lint in (MISSPELT, OTHER_DRAFT):
            if note.message.endswith(f" [{lint}]"):
                message = note.message.removesuffix(f" [{lint}]")
                yield Finding(lint, message, note.span or Span(0, 0), "", note.help or "")


# Among more described keys none is looked for that another may have meant.
_FEW_KEYS = 1_000


def _required(schema: Mapping[str, Any]) -> Iterator[_Said]:
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


_KINDS: Mapping[str, Any] = {
    "null": type(None),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": Mapping,
}


def _members(schema: Mapping[str, Any]) -> Iterator[_Said]:
    """Members of ``enum`` that ``type`` excludes."""
    values, given = schema.get("enum"), schema.get("type")
    kinds = [given] if isinstance(given, str) else given
    if not isinstance(values, list) or not isinstance(kinds, list):
        return
    for i, value in enumerate(values):
        is_number = not isinstance(value, bool | str | list | Mapping) and value is not None
        if is_number:
            fits = "number" in kinds or ("integer" in kinds and value == int(value))
        else:
            fits = any(isinstance(value, _KINDS[kind]) for kind in kinds if kind in _KINDS)
        if not fits:
            message = f"this member can never be valid: the type is {' or '.join(map(str, kinds))}"
            hint = "remove it, or add its type"
            yield "excluded-member", f"/enum/{i}", message, hint


# What schemas are named by beside where they stand.
_NAMES = frozenset({"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "id"})


def _referred(document: Json) -> Mapping[str, list[str]]:
    """Of each place that references lead to or into, by its pointer, where these stand."""
    found: dict[str, list[str]] = {}
    for pointer, schema in schemas_in(document):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                target = unquote(reference.partition("#")[2])
                while target:
                    found.setdefault(target, []).append(pointer)
                    target = target.rpartition("/")[0]
    return found


def _unused(
    pointer: str, schema: Mapping[str, Any], used: Mapping[str, Sequence[str]]
) -> Iterator[_Said]:
    """Definitions without a name of their own that no reference outside of them leads into."""
    for keyword in ("$defs", "definitions"):
        named = schema.get(keyword)
        for name, inner in named.items() if isinstance(named, Mapping) else ():
            place = f"/{keyword}/{escaped(name)}"
            at = pointer + place
            is_named = any(_NAMES & each.keys() for _, each in schemas_in(inner))
            sources = used.get(at, ())
            is_used = any(not f"{source}/".startswith(f"{at}/") for source in sources)
            if not (is_named or is_used):
                message = "no reference leads to this definition"
                yield "unused-definition", place, message, "remove it, or refer to it"


def _properties(
    pointer: str, schema: Mapping[str, Any], normal: "Normal", goals: "Goals"
) -> Iterator[_Said]:
    """Keys with a schema that no value satisfies, which then are never there."""
    from ..schema.rules.contradictions import contradiction

    named = schema.get("properties")
    for name, inner in named.items() if isinstance(named, Mapping) else ():
        if not isinstance(inner, Mapping) or inner == {"not": {}}:
            continue
        place = f"/properties/{escaped(name)}"
        goal = goals.at(f"#{pointer}{place}")
        if normal.is_certainly_empty(goal):
            message, hint = "no value satisfies this schema", "mend it"
            why = contradiction(goal, normal, f"#{pointer}{place}")
            if why is not None and why.pointer.startswith(f"#{pointer}/"):
                place, message, hint = why.pointer[len(pointer) + 1 :], why.message, why.hint
            yield "impossible-key", place, f"{message}, so {name!r} is never there", hint


def _lengths(
    schema: Mapping[str, Any], normal: "Normal", goals: "Goals", goal: "Goal"
) -> Iterator[_Said]:
    """A pattern that no text within the bounds of its length has."""
    bounds = [keyword for keyword in ("minLength", "maxLength") if keyword in schema]
    if not bounds or "pattern" not in schema:
        return
    place = goals.nearest(goal)
    asked = {keyword: schema[keyword] for keyword in ("pattern", *bounds)}
    if place is None or not normal.is_certainly_empty(
        goals.made({"type": "string", **asked}, place)
    ):
        return
    message = f"no text within {' and '.join(bounds)} has this pattern"
    hint = "mend the pattern or the bounds"
    yield "impossible-length", "/pattern", message, hint


def _branches(
    pointer: str, schema: Mapping[str, Any], normal: "Normal", goals: "Goals", goal: "Goal"
) -> Iterator[_Said]:
    """Branches that exclude what stands beside them."""
    for keyword in ("anyOf", "oneOf"):
        listed = schema.get(keyword)
        for i in range(len(listed) if isinstance(listed, list) and len(listed) > 1 else 0):
            place = f"/{keyword}/{i}"
            both = goals.both(goal, goals.at(f"#{pointer}{place}"))
            if normal.is_certainly_empty(both) and not normal.is_certainly_empty(goal):
                message = "this branch can never hold beside what else is asked here"
                hint = "remove it, or mend what excludes it"
                yield "dead-branch", place, message, hint
