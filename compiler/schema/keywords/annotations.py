"""``unevaluatedProperties`` and ``unevaluatedItems``: what is asked of what no keyword evaluated.

Each conjunction of a normal form carries marks of what its keywords evaluated. Where all others
must satisfy a schema, too few marks ask for more than is needed, which is sound. Where one of the
others must fail it, the marks have to be exact (``Marks.EXACT``).
"""

from collections.abc import Sequence

from ..formulas import (
    Conjunction,
    Contains,
    Evaluated,
    EvaluatedContains,
    EvaluatedItems,
    Every,
    Items,
    Keys,
    Literal,
    Mark,
    Some,
    Type,
)
from ..goals import Goal, Goals
from ..places import Place
from ..sets import TextAlgebra
from .objects import EVERY_KEY, other_keys

_KEYWORDS = {Type.OBJECT: "unevaluatedProperties", Type.ARRAY: "unevaluatedItems"}


def unevaluated(place: Place, goals: Goals, type_: Type) -> Goal | None:
    """The goal of what is left unevaluated, None where nothing is asked of it."""
    keyword = _KEYWORDS.get(type_)
    if keyword is None or keyword not in place.schema or not place.draft.since(2019):
        return None
    return goals.inside(place, keyword)


def all_others(
    found: Sequence[Conjunction], goal: Goal, type_: Type, goals: Goals, algebra: TextAlgebra
) -> list[Conjunction]:
    """The conjunctions, and that all else satisfies ``goal``; then all is evaluated."""
    result = []
    for each in found:
        if type_ is Type.OBJECT:
            literal: Literal = Every(_unmarked_keys(each.marks, algebra), goal)
            mark: Mark = Evaluated(EVERY_KEY)
        else:
            first, contained = _unmarked_items(each.marks)
            mark = EvaluatedItems(None)
            if first is None:
                result.append(each.joined(Conjunction(marks=(mark,))))
                continue
            literal = Items(first, goals.either([goal, *contained]))
        result.append(each.joined(Conjunction((literal,), (mark,))))
    return result


def some_other_fails(
    found: Sequence[Conjunction], goal: Goal, type_: Type, goals: Goals, algebra: TextAlgebra
) -> list[Conjunction]:
    """The conjunctions, whose marks are exact, and that something else fails ``goal``."""
    failing = goals.negated(goal)
    result = []
    for each in found:
        if type_ is Type.OBJECT:
            literal: Literal = Some(_unmarked_keys(each.marks, algebra), failing)
        else:
            first, contained = _unmarked_items(each.marks)
            if first is None:
                continue
            none = [goals.negated(inner) for inner in contained]
            literal = Contains(goals.both(failing, *none), 1, None, first)
        result.append(Conjunction(each.literals, (), each.orders).joined(Conjunction((literal,))))
    return result


def _unmarked_keys(marks: Sequence[Mark], algebra: TextAlgebra) -> Keys:
    return other_keys([mark.keys for mark in marks if isinstance(mark, Evaluated)], algebra)


def _unmarked_items(marks: Sequence[Mark]) -> tuple[int | None, list[Goal]]:
    """From which item on nothing is evaluated (None: all are), but for what satisfies a goal."""
    counts = [mark.count for mark in marks if isinstance(mark, EvaluatedItems)]
    first = None if None in counts else max([count or 0 for count in counts], default=0)
    return first, [mark.goal for mark in marks if isinstance(mark, EvaluatedContains)]
