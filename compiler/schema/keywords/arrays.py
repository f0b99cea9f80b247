"""The keywords of arrays: what they ask of items, and how that fails."""

from collections.abc import Iterator

from ..formulas import (
    Any,
    Clause,
    Conjunction,
    Contains,
    EvaluatedContains,
    EvaluatedItems,
    Formula,
    Item,
    Items,
    Size,
    Unique,
    clause,
    conjunction,
)
from ..goals import ANYTHING, Goal, Goals
from ..places import Place
from .objects import sizes


def array_clauses(place: Place, goals: Goals) -> Iterator[Clause]:
    """The clauses of a place for arrays, ``unevaluatedItems`` apart."""
    yield from _of_items(place, goals)
    if "contains" in place.schema and place.draft.since(6):
        yield _of_contained(place, goals)
    if place.draft.has_validation:
        yield from sizes(place.count("minItems"), place.count("maxItems"))
        if place.said("uniqueItems"):
            pointer = place.at("uniqueItems")
            yield clause(
                conjunction(Unique(pointer)), conjunction(Unique(pointer, is_negated=True))
            )


def _of_items(place: Place, goals: Goals) -> Iterator[Clause]:
    """``prefixItems`` and ``items``, or in older drafts ``items`` and ``additionalItems``."""
    schema, draft = place.schema, place.draft
    first: list[Goal] = []
    rest: Goal | None = None
    if "prefixItems" in schema and draft.since(2020):
        listed = place.listing("prefixItems")
        first = [goals.inside(place, "prefixItems", i) for i in range(len(listed))]
    items = place.said("items")
    if isinstance(items, list):
        first = [goals.inside(place, "items", i) for i in range(len(items))]
        if "additionalItems" in schema:
            rest = goals.inside(place, "additionalItems")
    elif "items" in schema:
        rest = goals.inside(place, "items")
    if not first and rest is None:
        return
    literals: list[Item | Items] = [Item(i, goal) for i, goal in enumerate(first)]
    if rest is not None:
        literals.append(Items(len(first), rest))
    asked = [literal for literal in literals if literal.goal != ANYTHING]
    count = len(first) if rest is None else None
    yield clause(
        conjunction(*asked, marks=[EvaluatedItems(count)]),
        Any(tuple(_broken(literal, goals) for literal in asked)),
    )


def _broken(literal: Item | Items, goals: Goals) -> Conjunction:
    """That an item is there, and is none of what is asked."""
    failing = goals.negated(literal.goal)
    if isinstance(literal, Item):
        return conjunction(Size(literal.index + 1, None), Item(literal.index, failing))
    return conjunction(Contains(failing, 1, None, literal.first))


def _of_contained(place: Place, goals: Goals) -> Clause:
    goal = goals.inside(place, "contains")
    draft = place.draft
    least: int | None = 1
    most: int | None = None
    if draft.since(2019) and draft.has_validation:
        if "minContains" in place.schema:
            least = place.count("minContains")
        most = place.count("maxContains")
    least = least or 0
    # Since draft 2020-12 what is contained is evaluated.
    marks = [EvaluatedContains(goal)] if draft.since(2020) else []
    failures: list[Formula] = []
    if least:
        failures.append(conjunction(Contains(goal, 0, least - 1)))
    if most is not None:
        failures.append(conjunction(Contains(goal, most + 1, None)))
    if not least and most is None:
        return clause(conjunction(marks=marks), Any())
    return clause(conjunction(Contains(goal, least, most), marks=marks), Any(tuple(failures)))
