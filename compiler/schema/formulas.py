"""Formulas: what a keyword asks of a value, before any normal form.

A place is the conjunction of its keywords' clauses. Each clause says what it asks twice: the
positive reading, for values that satisfy it, and the negative one, for those that do not. Both are
formulas over goals of the same value, languages of scalars, and literals about members or items;
neither is made of the other, so each may leave texts out and stays sound.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..limits import check_in_force
from .goals import STAGE, Goal, Goals

if TYPE_CHECKING:
    from .sets import Scalar, Texts


class Type(StrEnum):
    """The six types; an integer is a number."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"


SCALARS = (Type.NULL, Type.BOOLEAN, Type.NUMBER, Type.STRING)
STRUCTURES = (Type.ARRAY, Type.OBJECT)


class Marks(StrEnum):
    """What a normal form says of the members and items that keywords evaluated.

    ``NONE``: nothing. ``LEAST``: these at least, which is enough where all others must satisfy
    something. ``EXACT``: these and no others, which is needed where one of the others must fail.
    """

    NONE = "none"
    LEAST = "least"
    EXACT = "exact"


# --- literals about the members of an object


@dataclass(frozen=True, slots=True)
class Keys:
    """A set of keys: ``names``, or where there are ``texts`` all of those but ``names``."""

    names: tuple[str, ...]
    texts: "Texts | None" = None


@dataclass(frozen=True, slots=True)
class Every:
    """All members whose key is in ``keys`` have values that satisfy ``goal``."""

    keys: Keys
    goal: Goal


@dataclass(frozen=True, slots=True)
class Some:
    """There is a member whose key is in ``keys`` and whose value satisfies ``goal``."""

    keys: Keys
    goal: Goal


@dataclass(frozen=True, slots=True)
class Size:
    """Members or items there are ``least`` to ``most`` of (None: any number)."""

    least: int
    most: int | None


def bounds(literals: Iterable["Literal"]) -> tuple[int, int | None]:
    """The least and the most members or items that literals ask for together."""
    sizes = [each for each in literals if isinstance(each, Size)]
    most = (each.most for each in sizes if each.most is not None)
    return max((each.least for each in sizes), default=0), min(most, default=None)


# --- literals about the items of an array


@dataclass(frozen=True, slots=True)
class Item:
    """Item ``index``, if there is one, satisfies ``goal``."""

    index: int
    goal: Goal


@dataclass(frozen=True, slots=True)
class Items:
    """All items from ``first`` on satisfy ``goal``."""

    first: int
    goal: Goal


@dataclass(frozen=True, slots=True)
class Contains:
    """From ``first`` on ``least`` to ``most`` items satisfy ``goal``."""

    goal: Goal
    least: int
    most: int | None
    first: int = 0


@dataclass(frozen=True, slots=True)
class Unique:
    """No two items are equal, or if ``is_negated`` two are; ``pointer`` of the keyword."""

    pointer: str
    is_negated: bool = False


Literal: TypeAlias = Every | Some | Size | Item | Items | Contains | Unique


# --- what was evaluated


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Members with these keys were evaluated."""

    keys: Keys


@dataclass(frozen=True, slots=True)
class EvaluatedItems:
    """The first ``count`` items were evaluated, or all of them (None)."""

    count: int | None


@dataclass(frozen=True, slots=True)
class EvaluatedContains:
    """The items that satisfy ``goal`` were evaluated."""

    goal: Goal


Mark: TypeAlias = Evaluated | EvaluatedItems | EvaluatedContains


@dataclass(frozen=True, slots=True)
class Order:
    """In which order keys are written: of two lists the one of lower ``rank``, then of the lower
    ``place`` counts first."""

    rank: int
    place: int
    names: tuple[str, ...]


# Ranks: what ``properties`` order, what dependencies do, what is only required.
BY_PROPERTIES, BY_DEPENDENCY, BY_REQUIRED = range(3)


@dataclass(frozen=True)
class Conjunction:
    """Literals that all hold, what was evaluated, and the order of keys; no duplicates."""

    literals: tuple[Literal, ...] = ()
    marks: tuple[Mark, ...] = ()
    orders: tuple[Order, ...] = ()

    @cached_property
    def named(self) -> frozenset[str] | None:
        """The keys that literals are about; None where one is about sets of others."""
        of_keys = [each.keys for each in self.literals if isinstance(each, Every | Some)]
        if any(keys.texts is not None for keys in of_keys):
            return None
        return frozenset(name for keys in of_keys for name in keys.names)

    @cached_property
    def _hash(self) -> int:
        return hash((self.literals, self.marks, self.orders))

    def __hash__(self) -> int:
        return self._hash

    def joined(self, other: "Conjunction") -> "Conjunction":
        """Both hold."""
        if not (other.literals or other.marks or other.orders):
            return self
        if not (self.literals or self.marks or self.orders):
            return other
        return Conjunction(
            tuple(dict.fromkeys(self.literals + other.literals)),
            tuple(dict.fromkeys(self.marks + other.marks)),
            tuple(dict.fromkeys(self.orders + other.orders)),
        )


# --- formulas


@dataclass(frozen=True, slots=True)
class Holds:
    """The value satisfies ``goal``; what that evaluates counts if ``is_marked``."""

    goal: Goal
    is_marked: bool = True


@dataclass(frozen=True, slots=True)
class All:
    """All ``parts`` hold."""

    parts: tuple["Formula", ...] = ()


@dataclass(frozen=True, slots=True)
class Any:
    """One of ``parts`` holds at least."""

    parts: tuple["Formula", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of ``goals`` holds at least, and what all that hold evaluate counts."""

    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """Just one of ``goals`` holds; ``is_negated``: none or several."""

    goals: tuple[Goal, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class In:
    """The value is a scalar of a set."""

    scalar: "Scalar"


@dataclass(frozen=True, slots=True)
class KeysHold:
    """All keys of an object satisfy ``goal`` as strings; ``is_negated``: one does not."""

    goal: Goal
    is_negated: bool = False


Formula: TypeAlias = Holds | All | Any | AnyOf | OneOf | In | KeysHold | Conjunction

TRUE, FALSE = All(), Any()


@dataclass(frozen=True, slots=True)
class Clause:
    """What a keyword asks: of the values that satisfy it, and of those that do not.

    The readings are made when they are wanted.
    """

    positive: Callable[[], Formula]
    negative: Callable[[], Formula]


def clause(positive: Formula, negative: Formula) -> Clause:
    """A clause of two formulas that are there already."""
    return Clause(lambda: positive, lambda: negative)


def failing(goal: Goal, goals: Goals) -> Formula:
    """That a goal of the same value does not hold, which evaluates nothing."""
    return Any(tuple(Holds(each, is_marked=False) for each in goals.refutations(goal)))


def conjunction(
    *literals: Literal, marks: Sequence[Mark] = (), orders: Sequence[Order] = ()
) -> Conjunction:
    """The conjunction of some literals. Raises ``LimitError`` where those in force are reached: an
    object of many members has as many of these."""
    check_in_force(STAGE)
    return Conjunction(tuple(dict.fromkeys(literals)), tuple(marks), tuple(orders))
