"""The keywords of objects: what they ask of members, and how that fails."""

from collections.abc import Iterator, Mapping

from ..formulas import (
    BY_DEPENDENCY,
    BY_PROPERTIES,
    BY_REQUIRED,
    All,
    Any,
    Clause,
    Conjunction,
    Evaluated,
    Every,
    Holds,
    Keys,
    KeysHold,
    Order,
    Size,
    Some,
    clause,
    conjunction,
    failing,
)
from ..goals import ANYTHING, NOTHING, Goals
from ..places import Place
from ..read import Json
from ..sets import Ends, Names, TextAlgebra, Texts
from .scalars import pattern_texts

EVERY_KEY = Keys((), Ends.ALL)


def object_clauses(place: Place, goals: Goals) -> Iterator[Clause]:
    """The clauses of a place for objects, ``unevaluatedProperties`` apart."""
    yield from _of_members(place, goals)
    if place.draft.has_validation:
        yield from _of_required(place, goals)
        yield from sizes(place.count("minProperties"), place.count("maxProperties"))
    if "propertyNames" in place.schema and place.draft.since(6):
        yield _of_names(place, goals)
    yield from _of_dependencies(place, goals)


def named(*names: str) -> Keys:
    """Finitely many keys."""
    return Keys(tuple(dict.fromkeys(names)))


def other_keys(known: list[Keys], algebra: TextAlgebra) -> Keys:
    """All keys that are in none of the sets."""
    names = tuple(
        dict.fromkeys(name for keys in known if keys.texts is None for name in keys.names)
    )
    rest: Texts = Ends.ALL
    for keys in known:
        if keys.texts is not None:
            taken = keys.texts
            if keys.names:
                taken = algebra.meet(taken, algebra.complement(Names(keys.names)))
            rest = algebra.meet(rest, algebra.complement(taken))
    return Keys(names, rest)


def is_among(key: str, keys: Keys, algebra: TextAlgebra) -> bool:
    """Whether a key is in a set of keys."""
    if keys.texts is None:
        return key in keys.names
    return key not in keys.names and algebra.holds(keys.texts, key)


def _of_members(place: Place, goals: Goals) -> Iterator[Clause]:
    """``properties``, ``patternProperties`` and ``additionalProperties``."""
    names = place.mapping("properties")
    patterns = place.mapping("patternProperties")
    members = [(named(name), goals.inside(place, "properties", name)) for name in names]
    for pattern in patterns:
        texts = pattern_texts(place, goals, "patternProperties", pattern)
        members.append((Keys((), texts), goals.inside(place, "patternProperties", pattern)))
    if "additionalProperties" in place.schema:
        others = other_keys([keys for keys, _ in members], goals.texts)
        members.append((others, goals.inside(place, "additionalProperties")))
    if members:
        orders = [Order(BY_PROPERTIES, place.number, tuple(names))] if names else []
        asked = [each for each in members if each[1] != ANYTHING]
        yield Clause(
            lambda: conjunction(
                *(Every(keys, goal) for keys, goal in asked),
                marks=[Evaluated(keys) for keys, _ in members],
                orders=orders,
            ),
            lambda: Any(
                tuple(conjunction(Some(keys, goals.negated(goal))) for keys, goal in asked)
            ),
        )


def _of_required(place: Place, goals: Goals) -> Iterator[Clause]:
    names = place.listing("required")
    if names:
        yield Clause(
            lambda: conjunction(
                *(Some(named(name), ANYTHING) for name in names),
                orders=[Order(BY_REQUIRED, place.number, tuple(names))],
            ),
            lambda: Any(tuple(_without(name) for name in names)),
        )


def _without(name: str) -> Conjunction:
    return conjunction(Every(named(name), NOTHING))


def _with(*names: str) -> Conjunction:
    return conjunction(*(Some(named(name), ANYTHING) for name in names))


def sizes(least: int | None, most: int | None) -> Iterator[Clause]:
    """At least and at most so many members or items."""
    if least:
        yield clause(conjunction(Size(least, None)), conjunction(Size(0, least - 1)))
    if most is not None:
        yield clause(conjunction(Size(0, most)), conjunction(Size(most + 1, None)))


def _of_names(place: Place, goals: Goals) -> Clause:
    goal = goals.inside(place, "propertyNames")
    return clause(KeysHold(goal), KeysHold(goal, is_negated=True))


def _of_dependencies(place: Place, goals: Goals) -> Iterator[Clause]:
    draft = place.draft
    asked: list[tuple[str, str, Json]] = []
    # Later drafts took it for two keywords, and left it to readers.
    asked += _members_of("dependencies", place)
    if draft.since(2019):
        asked += _members_of("dependentRequired", place) if draft.has_validation else []
        asked += _members_of("dependentSchemas", place)
    for keyword, name, value in asked:
        if keyword != "dependentSchemas" and isinstance(value, list | str):
            needed = [value] if isinstance(value, str) else value
            order = Order(BY_DEPENDENCY, place.number, (*needed, name))
            both = _with(name, *needed)
            yield clause(
                Any((_without(name), Conjunction(both.literals, (), (order,)))),
                Any(tuple(All((_with(name), _without(other))) for other in needed)),
            )
        else:
            goal = goals.inside(place, keyword, name)
            yield clause(
                Any((_without(name), All((_with(name), Holds(goal))))),
                All((_with(name), failing(goal, goals))),
            )


def _members_of(keyword: str, place: Place) -> list[tuple[str, str, Json]]:
    found: Mapping[str, Json] = place.mapping(keyword)
    return [(keyword, name, value) for name, value in found.items()]
