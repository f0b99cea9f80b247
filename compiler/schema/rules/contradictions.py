"""Which places of a schema contradict each other, where no value satisfies it.

    {"type": "object", "required": ["y"], "additionalProperties": false}
        ->  #/required/0  #/additionalProperties

Parts of the schema are left out as long as no value satisfies the rest (deletion filtering:
Chinneck and Dravnieks 1991). Where a schema inside one of the parts that stay has no value either,
it is looked at instead.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from constrain.artifacts.errors import ConstrainError

from ...diagnostics import LimitError
from ...grammar.productive import productive_rules
from ..drafts import Draft
from ..goals import ANYTHING, NOTHING, Goal
from ..normal import Normal
from ..notes import Refused
from ..places import Place
from ..read import Json
from .emit import Emitter

# A keyword, and where its members ask for something each, one of these.
_Part: TypeAlias = tuple[str | int, ...]

# Keywords of which each member is a part: texts, schemas by index, schemas by name, others by name.
_TEXTS = ("required",)
_LISTED = ("allOf", "items", "prefixItems")
_NAMED = ("dependentSchemas", "patternProperties", "properties")
_BY_NAME = ("dependencies", "dependentRequired")

# Keywords whose meaning is that of another one beside them.
_BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# Keywords about schemas that are no reason why what they stand in has no value.
_ELSEWHERE = frozenset({"$defs", "anyOf", "definitions", "if", "not", "oneOf"})


def contradiction(goal: Goal, normal: Normal, at: str) -> Refused | None:
    """The error of a goal that no value satisfies, by the places that contradict each other; None
    where something was left out of what is wanted, which may be the reason. ``at``: the pointer of
    the schema, for one that is no object. Raises ``LimitError``."""
    places, is_certain = _Search(normal, at).of(goal)
    if not is_certain:
        return None
    first, *others = sorted(places, key=normal.goals.places.order_of)
    message = "no value satisfies this schema"
    if not others:
        of_one = "exactly one may hold, and never does alone: say anyOf if several may"
        hint = of_one if first.endswith("/oneOf") else "mend what contradicts itself here"
        return Refused(first, message, hint)
    others = [", ".join(others[:-1]), others[-1]] if others[1:] else others
    message = f"{message}: this and {' and '.join(others)} contradict each other"
    return Refused(first, message, "mend one of them")


class _Search:
    def __init__(self, normal: Normal, at: str) -> None:
        self.normal, self.goals, self.at = normal, normal.goals, at
        self._seen: set[Place] = set()

    def of(self, goal: Goal) -> tuple[list[str], bool]:
        """The pointers of a goal that has no value, and whether nothing that was left out is the
        reason."""
        place = self.goals.nearest(goal)
        if place is None:
            return [self.at], True
        self._seen.add(place)
        parts = self._needed(list(_parts(place.schema, place.draft)), place)
        for part in parts:
            inner = self._inside(part, place)
            if inner is not None and self._is_empty(inner):
                return self.of(inner)
        # What the type is says little where two other places contradict each other.
        told = [part for part in parts if part != ("type",)]
        shown = told if len(told) > 1 else parts
        _, is_certain = self._emptiness(self._left(parts, place))
        return [place.at(*part) for part in shown] or [place.pointer], is_certain

    def _needed(self, parts: list[_Part], place: Place) -> list[_Part]:
        """Those parts that are left where none more can be left out; by halves, then smaller."""
        size = len(parts)
        while size:
            start = 0
            while start < len(parts):
                rest = parts[:start] + parts[start + size :]
                if self._is_empty(self._left(rest, place)):
                    parts = rest
                else:
                    start += size
            size //= 2
        return parts

    def _left(self, parts: Collection[_Part], place: Place) -> Goal:
        """The goal of a place of whose parts some are left."""
        return self.goals.like(_with(place.schema, set(parts)), place)

    def _inside(self, part: _Part, place: Place) -> Goal | None:
        """The goal of a schema inside a part, where there is one that was not looked at."""
        keyword = part[0]
        value: Json = place.schema
        for step in part:
            value = value[step]
        try:
            if keyword in _REFERENCES:
                found = self.goals.referred(place, str(keyword))
            elif isinstance(value, Mapping) and keyword not in _ELSEWHERE:
                found = self.goals.inside(place, *part)
            else:
                return None
        except Refused:
            return None
        is_new = found not in (ANYTHING, NOTHING) and self.goals.nearest(found) not in self._seen
        return found if is_new else None

    def _is_empty(self, goal: Goal) -> bool:
        return self._emptiness(goal)[0]

    def _emptiness(self, goal: Goal) -> tuple[bool, bool]:
        """Whether the grammar of a goal has no text, by its rules if need be; and whether nothing
        was left out on the way."""
        if self.normal.is_surely_empty(goal):
            return True, self.normal.is_certainly_empty(goal)
        before = self.goals.notes.narrowings
        try:
            emitter = Emitter(self.goals, self.normal)
            start = emitter.value(goal).name
            emitter.write_goals()
            is_empty = emitter.may_be_empty and start not in productive_rules(emitter.rules)
            return is_empty, self.goals.notes.narrowings == before
        except ConstrainError as error:
            if isinstance(error, LimitError) and error.is_measured:
                raise
            return False, False
        except (Refused, RecursionError):
            return False, False


def _parts(schema: Mapping[str, Json], draft: Draft) -> Iterator[_Part]:
    """The parts of a schema, in the order in which they are left out."""
    if "$ref" in schema and draft.has_references_alone:
        # What stands beside has no meaning.
        yield ("$ref",)
        return
    # Required keys before what says which keys there may be, and this before the schemas of keys.
    ranked = sorted(schema, key=lambda keyword: (keyword not in _TEXTS, keyword not in _NAMED))
    for keyword in ranked:
        value = schema[keyword]
        if keyword in _BESIDE and _BESIDE[keyword] in schema:
            continue
        if keyword in _TEXTS + _LISTED and isinstance(value, list):
            yield from ((keyword, i) for i in range(len(value)))
        elif keyword in _NAMED + _BY_NAME and isinstance(value, Mapping):
            yield from ((keyword, name) for name in value)
        else:
            yield (keyword,)


def _with(schema: Mapping[str, Json], parts: Collection[_Part]) -> dict[str, Json]:
    """The schema with some of its parts; which keys and items are known stays as it is."""
    found: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword in _TEXTS and isinstance(value, list):
            kept = [each for i, each in enumerate(value) if (keyword, i) in parts]
            found |= {keyword: kept} if kept else {}
        elif keyword in _LISTED and isinstance(value, list):
            found[keyword] = [
                each if (keyword, i) in parts else _asking_nothing(each)
                for i, each in enumerate(value)
            ]
        elif keyword in _NAMED and isinstance(value, Mapping):
            found[keyword] = {name: (keyword, name) not in parts or value[name] for name in value}
        elif keyword in _BY_NAME and isinstance(value, Mapping):
            found[keyword] = {name: value[name] for name in value if (keyword, name) in parts}
        elif (_BESIDE.get(keyword, keyword),) in parts or (keyword,) in parts:
            found[keyword] = value
    return found


def _asking_nothing(schema: Json) -> Json:
    """A schema that all values satisfy, by which the same properties and items are evaluated."""
    return _with(schema, ()) if isinstance(schema, Mapping) else True
