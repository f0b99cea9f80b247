"""Goals: what a value must satisfy, as a set of places and whether they hold or fail.

    ()            any value                    (2k,)      place k holds
    NOTHING       no value                     (2k + 1,)  place k fails

A goal is a sorted tuple of such literals, so equal goals are equal tuples, and there are finitely
many of them: each is one rule of the grammar, and recursion needs nothing else. Where a goal of
several literals is negated, a pseudo-place stands for the alternatives.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constrain.artifacts.tokens.memo import Numbered, memoised

from ..limits import Limits
from .alike import Alike
from .notes import Notes
from .options import SchemaOptions
from .places import Place, Places, Root
from .sets import NumberAlgebra, TextAlgebra

Goal: TypeAlias = tuple[int, ...]

REFERS_TO_ITSELF = "the schema refers to itself for one and the same value"
COMES_BACK = "a reference must lead through a property or an item to come back"
TOO_DEEP = "schemas inside schemas for one and the same value nest too deep"
NAME_THEM = "name inner schemas in $defs"

# What is at work while goals and formulas are made, for limits.
STAGE = "the schema's keywords"

# A reference, and keywords that ask nothing of a value.
ASK_NOTHING = frozenset(
    {
        *("$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$ref", "$schema", "default"),
        *("definitions", "deprecated", "description", "examples", "id", "readOnly", "title"),
        "writeOnly",
    }
)

ANYTHING: Goal = ()
NOTHING: Goal = (-1,)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A pseudo-place: one of ``goals`` at least."""

    goals: tuple[Goal, ...]


class Goals:
    """The numbers of places, and goals made of them."""

    def __init__(
        self, places: Places, options: SchemaOptions, notes: Notes, limits: Limits
    ) -> None:
        self.places, self.options, self.notes, self.limits = places, options, notes, limits
        # One of each, which keep what they have computed.
        self.texts, self.numbers = TextAlgebra(limits), NumberAlgebra(limits)
        self.members = Numbered[Place | Alternatives]()
        self._alike = Alike(has_one_base=True)
        # Whether it is known that each schema has a value (``keywords.plain``).
        self.are_plain = places.are_plain
        # The schemas of which it is known where it is not of all, by their ``id``.
        self.plain: frozenset[int] = frozenset()
        # Of a goal the texts that are all it asks for, or excludes (``keywords.cases``).
        self.constants: dict[Goal, tuple[frozenset[str], bool] | None] = {}
        # The pointers of the keywords that bound lengths, by the bound.
        self.bounds: dict[int, str] = {}

    def go_on_within(self, limits: Limits) -> None:
        """Keep to these limits from here on, the same ones by another clock."""
        if limits.meter is self.limits.meter:
            return
        self.limits = limits
        self.texts.go_on_within(limits)
        self.numbers.go_on_within(limits)

    def at(self, pointer: str) -> Goal:
        """That the schema at a pointer holds; ``#`` is the whole."""
        return self._goal(self.places.at(pointer))

    def of_root(self, root: Root) -> Goal:
        """That one of the schemas of a document holds."""
        return self._goal(self.places.of_root(root))

    def inside(self, near: Place, *steps: str | int) -> Goal:
        """That a schema inside another one holds."""
        return self._goal(self.places.inside(near, *steps))

    def referred(self, near: Place, keyword: str) -> Goal:
        """That what a reference leads to holds."""
        return self._goal(self.places.referred(near, keyword))

    def made(self, schema: dict[str, object], near: Place | None) -> Goal:
        """That a schema which stands for a keyword holds."""
        return self._goal(self.places.made(schema, near))

    def like(self, schema: dict[str, object], near: Place) -> Goal:
        """That a schema holds which is a part of another one."""
        return self._goal(self.places.like(schema, near))

    def _goal(self, place: Place | bool) -> Goal:
        self.limits.check_resources(STAGE)
        # What is a reference and nothing else is what it leads to.
        seen: set[Place] = set()
        while isinstance(place, Place) and "$ref" in place.schema:
            if place.schema.keys() - ASK_NOTHING and not place.draft.has_references_alone:
                break
            if place in seen:
                raise place.refused(REFERS_TO_ITSELF, COMES_BACK)
            seen.add(place)
            place = self.places.referred(place, "$ref")
        if isinstance(place, bool) or not place.schema:
            return NOTHING if place is False else ANYTHING
        return (2 * self.members.number(place),)

    def both(self, *goals: Goal) -> Goal:
        """That all of them hold; ``NOTHING`` where that is plain to see."""
        if len(goals) == 1:
            return goals[0]
        joined = {literal for goal in goals for literal in goal}
        if -1 in joined or any(literal ^ 1 in joined for literal in joined):
            return NOTHING
        failing = [literal for literal in joined if literal % 2]
        if failing and len(failing) < len(joined):
            # Of schemas that say the same one holds where the other does.
            said = {self._said(literal >> 1) for literal in failing}
            if any(not literal % 2 and self._said(literal >> 1) in said for literal in joined):
                return NOTHING
        return tuple(sorted(joined))

    @memoised
    def _said(self, number: int) -> object:
        """What a member is about: the first schema that says the same, and how it is read."""
        place = self.members[number]
        kept = self._alike.kept(place.schema) if isinstance(place, Place) else None
        if isinstance(place, Place) and kept is not None:
            return id(kept), place.base, place.scope, place.draft
        return number

    def either(self, goals: Iterable[Goal]) -> Goal:
        """That one of them holds."""
        distinct = tuple(dict.fromkeys(goal for goal in goals if goal != NOTHING))
        if ANYTHING in distinct:
            return ANYTHING
        if len(distinct) < 2:
            return distinct[0] if distinct else NOTHING
        return (2 * self.members.number(Alternatives(distinct)),)

    def refutations(self, goal: Goal) -> Sequence[Goal]:
        """The ways in which a goal can fail: one of them holds where the goal does not."""
        return [ANYTHING] if goal == NOTHING else [(literal ^ 1,) for literal in goal]

    def negated(self, goal: Goal) -> Goal:
        """That a goal does not hold."""
        return self.either(self.refutations(goal))

    def is_plain(self, goal: Goal) -> bool:
        """Whether a goal is that a place holds which is plain."""
        if len(goal) != 1 or goal[0] % 2:
            return False
        place = self.members[goal[0] >> 1]
        return isinstance(place, Place) and (self.are_plain or id(place.schema) in self.plain)

    def member(self, literal: int) -> Place | Alternatives:
        """The place that a literal is about."""
        return self.members[literal >> 1]

    def pointer_of(self, goal: Goal, *steps: str, otherwise: str = "#") -> str:
        """The pointer of the place to name, and of what is inside."""
        place = self.nearest(goal)
        return place.at(*steps) if place else otherwise

    def nearest(self, goal: Goal) -> Place | None:
        """A place to name where a goal is at fault: its first one."""
        for literal in goal:
            member = self.members[literal >> 1] if literal >= 0 else None
            if isinstance(member, Place):
                return member
            if isinstance(member, Alternatives):
                for inner in member.goals:
                    found = self.nearest(inner)
                    if found is not None:
                        return found
        return None
