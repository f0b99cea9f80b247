"""The clauses of a place: what each of its keywords asks of a value of one type.

Here are the keywords for values of all types: ``type``, ``enum``, ``const``, references, ``allOf``,
``anyOf``, ``oneOf``, ``not`` and ``if``. Those of one type stand in ``scalars``, ``objects`` and
``arrays``.
"""

from collections.abc import Iterator
from decimal import Decimal

from .. import numbers
from ..formulas import (
    FALSE,
    TRUE,
    All,
    Any,
    AnyOf,
    Clause,
    Formula,
    Holds,
    In,
    OneOf,
    Type,
    clause,
    failing,
)
from ..goals import ANYTHING, Goal, Goals
from ..places import Place, exact
from ..read import Json
from ..sets import Names, Values
from .arrays import array_clauses
from .objects import object_clauses
from .scalars import number_clauses, string_clauses

_OF_TYPE = {
    Type.NUMBER: number_clauses,
    Type.STRING: string_clauses,
    Type.OBJECT: object_clauses,
    Type.ARRAY: array_clauses,
}


def clauses_of(place: Place, goals: Goals, type_: Type) -> list[Clause]:
    """The clauses for values of a type, those of ``unevaluated…`` apart. Raises ``Refused``."""
    found: list[Clause] = []
    draft = place.draft
    if "$ref" in place.schema and draft.has_references_alone:
        return [_holding(goals.referred(place, "$ref"), goals)]
    if draft.has_validation:
        found += _of_types(place, goals, type_)
        found += _of_values(place, goals, type_)
    found += _applied(place, goals)
    own = _OF_TYPE.get(type_)
    if own is not None:
        found += own(place, goals)
    return found


def types_of(place: Place, goals: Goals) -> frozenset[Type]:
    """The types of values that may satisfy a place, by the keywords ``type``, ``enum`` and
    ``const``: of the others nothing else must be asked. Of a plain place, by what gives its values,
    too."""
    schema, found = place.schema, _EVERY_TYPE
    if place.draft.has_validation and not ("$ref" in schema and place.draft.until(7)):
        wanted = place.said("type")
        if wanted is not None:
            names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
            of_numbers = {Type.NUMBER} if "integer" in names else set[Type]()
            found = frozenset(of_numbers.union(each for each in Type if each.value in names))
        if "enum" in schema:
            found &= {type_of(value) for value in place.listing("enum")}
        if "const" in schema and place.draft.since(6):
            found &= {type_of(schema["const"])}
    if goals.are_plain:
        inside = tuple(applied(place, goals))
        if inside:
            among = (goals.nearest(goal) for goal in inside)
            kinds = (types_of(p, goals) if isinstance(p, Place) else _EVERY_TYPE for p in among)
            found = found.intersection(frozenset().union(*kinds))
    return found


_EVERY_TYPE = frozenset(Type)


def type_of(value: Json) -> Type:
    """The type of a JSON value."""
    match value:
        case None:
            return Type.NULL
        case bool():
            return Type.BOOLEAN
        case int() | Decimal():
            return Type.NUMBER
        case str():
            return Type.STRING
        case list():
            return Type.ARRAY
        case _:
            return Type.OBJECT


# --- type, enum and const


def _of_types(place: Place, goals: Goals, type_: Type) -> Iterator[Clause]:
    if "type" not in place.schema:
        return
    given = place.said("type")
    wanted = [given] if isinstance(given, str) else given
    if type_.value in wanted:
        yield clause(TRUE, FALSE)
    elif type_ is Type.NUMBER and "integer" in wanted:
        # Whether 1.0 is an integer was left open before draft 6: there it is neither that nor none.
        yield Clause(
            lambda: In(numbers.integers(place.draft.number > 5)),
            lambda: In(goals.numbers.complement(numbers.integers(True))),
        )
    else:
        yield clause(FALSE, TRUE)


def _of_values(place: Place, goals: Goals, type_: Type) -> Iterator[Clause]:
    if "enum" in place.schema:
        values = place.listing("enum")
        yield _among([(value, ("enum", i)) for i, value in enumerate(values)], place, goals, type_)
    if "const" in place.schema and place.draft.since(6):
        yield _among([(place.schema["const"], ("const",))], place, goals, type_)


def _among(
    values: list[tuple[Json, tuple[str | int, ...]]], place: Place, goals: Goals, type_: Type
) -> Clause:
    """One of the values, each with where it stands."""
    found = [(value, at) for value, at in values if type_of(value) is type_]
    if not found:
        return clause(FALSE, TRUE)
    match type_:
        case Type.NULL:
            return clause(TRUE, FALSE)
        case Type.BOOLEAN:
            bits = 0
            for value, _ in found:
                bits |= 2 if value else 1
            return clause(In(bits), In(3 - bits))
        case Type.NUMBER:
            distinct = dict.fromkeys(exact(value, place, *at) for value, at in found)
            values_ = Values(tuple(distinct))
            return Clause(lambda: In(values_), lambda: In(goals.numbers.complement(values_)))
        case Type.STRING:
            names = Names(tuple(dict.fromkeys(value for value, _ in found)))
            return Clause(lambda: In(names), lambda: In(goals.texts.complement(names)))
        case _:
            same = [goals.made(_as_schema(value), place) for value, _ in found]
            return Clause(
                lambda: Any(tuple(Holds(goal, is_marked=False) for goal in same)),
                lambda: All(tuple(Holds(goals.negated(goal)) for goal in same)),
            )


def _as_schema(value: Json) -> dict[str, Json]:
    """The schema of one array or object."""
    if isinstance(value, list):
        return {
            "type": "array",
            "prefixItems": [{"const": item} for item in value],
            "minItems": len(value),
            "items": False,
        }
    return {
        "type": "object",
        "properties": {key: {"const": inner} for key, inner in value.items()},
        "required": list(value),
        "additionalProperties": False,
    }


# --- schemas for the same value


def _applied(place: Place, goals: Goals) -> Iterator[Clause]:
    schema, draft = place.schema, place.draft
    if "$ref" in schema:
        yield _holding(goals.referred(place, "$ref"), goals)
    if "$dynamicRef" in schema and draft.since(2020):
        yield _holding(goals.referred(place, "$dynamicRef"), goals)
    if "$recursiveRef" in schema and (draft.number == 2019 or draft.is_lenient):
        yield _holding(goals.referred(place, "$recursiveRef"), goals)
    for goal in _branches("allOf", place, goals):
        yield _holding(goal, goals)
    if "anyOf" in schema:
        branches = _branches("anyOf", place, goals)
        yield clause(AnyOf(branches), All(tuple(failing(goal, goals) for goal in branches)))
    if "oneOf" in schema:
        branches = _branches("oneOf", place, goals)
        yield clause(OneOf(branches), OneOf(branches, is_negated=True))
    if "not" in schema:
        goal = goals.inside(place, "not")
        yield clause(failing(goal, goals), Holds(goal, is_marked=False))
    if "if" in schema and draft.since(7):
        yield _conditional(place, goals)


def _branches(keyword: str, place: Place, goals: Goals) -> tuple[Goal, ...]:
    return tuple(goals.inside(place, keyword, i) for i in range(len(place.listing(keyword))))


def _holding(goal: Goal, goals: Goals) -> Clause:
    return clause(Holds(goal), failing(goal, goals))


def _conditional(place: Place, goals: Goals) -> Clause:
    condition = goals.inside(place, "if")
    then, otherwise = (
        goals.inside(place, keyword) if keyword in place.schema else ANYTHING
        for keyword in ("then", "else")
    )
    fails = failing(condition, goals)
    # What ``if`` evaluates counts, also where neither of the others is there.
    holds: Formula = Holds(condition) if then == ANYTHING else All((Holds(condition), Holds(then)))
    return clause(
        Any((holds, fails if otherwise == ANYTHING else All((fails, Holds(otherwise))))),
        Any(
            (
                All((Holds(condition, is_marked=False), failing(then, goals))),
                All((fails, failing(otherwise, goals))),
            )
        ),
    )


def applied(place: Place, goals: Goals) -> Iterator[Goal]:
    """The goals that a place has for the same value, in the order in which they are read."""
    draft, schema = place.draft, place.schema
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            yield goals.referred(place, keyword)
            if draft.has_references_alone:
                return
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from (goals.inside(place, keyword, i) for i in range(len(schema.get(keyword, ()))))
    for keyword in ("not", "if", "then", "else"):
        if keyword in schema and (keyword == "not" or draft.since(7)):
            yield goals.inside(place, keyword)
    for keyword in ("dependencies", "dependentSchemas"):
        for name, value in place.mapping(keyword).items():
            if isinstance(value, dict | bool):
                yield goals.inside(place, keyword, name)
