"""From goals to the rules of a grammar: one rule a goal, and helpers for members and items.

    #/properties/age ::= integer
    #                ::= "{" ws member … "}"

A goal's rule is the choice of its scalars and of its arrays and objects, a conjunction each. Rules
are named by the pointer of the schema that they are made of.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import cast

from ...automata import boolean
from ...automata.dfa import Dfa
from ...diagnostics import Span
from ...grammar import tree
from ...limits import Limits
from .. import numbers
from ..formulas import Conjunction, Contains, Some, Type
from ..goals import Goal
from ..notes import EXPONENTS, NUMBERS
from ..options import PLAIN
from ..sets import Ends, Numbers, Values, remembered
from .items import array
from .lines import Lines
from .members import objects
from .writer import Writer, embedded_dfa

_STAGE = "the schema's grammar"

# Brackets around a value, where lines are indented by them.
_DEEPEST = 32


class Emitter(Writer):
    """Writes the rules of goals, each once: all that are named (``all_rules``), or those that are
    asked for (``write``)."""

    def write_goals(self, *, but_plain: bool = False) -> None:
        """Write the rules of all goals that rules name, ``but_plain``: those of plain places, which
        are made when they are asked for. Raises ``Refused`` and ``LimitError``."""
        waiting: dict[str, tuple[Goal, int]] = {}
        while self._pending:
            name, (goal, depth) = self._pending.popitem()
            if but_plain and self.goals.is_plain(goal):
                waiting[name] = goal, depth
                continue
            self._goal(name, goal, depth)
            self.limits.check_resources(_STAGE, [self._name])
            self.limits.check_states(len(self.by_name), _STAGE, [self._name])
        self._pending = waiting

    @property
    def waiting(self) -> Iterable[str]:
        """The names of the goals whose rules are made when they are asked for."""
        return self._pending

    def write_objects(self) -> None:
        """Write the rules of objects that were left for later."""
        while self.objects_left:
            self.write(next(iter(self.objects_left)), self.limits)

    def all_rules(self) -> tuple[tree.Rule, ...]:
        """The rules so far, those of all goals that they name, and all that is made later. Raises
        as ``write_goals``."""
        self.write_goals()
        self.write_objects()
        while self._later:
            self.write(next(iter(self._later)), self.limits)
        return self.rules

    def written(self, name: str) -> tree.Rule | None:
        """The rule of a name, None if it was not written so far."""
        is_later = name in self._later or name in self.objects_left
        return None if is_later else self.by_name.get(name)

    def write(self, name: str, limits: Limits) -> tree.Rule:
        """Write the rule of a name that another one says, with those that it alone needs. Raises
        ``LimitError``, ``Refused``, and ``KeyError`` for any other name."""
        self.go_on_within(limits)
        if name in self._pending:
            self._goal(name, *self._pending[name])
            del self._pending[name]
        elif name in self._later:
            self._later[name]()
            del self._later[name]
        elif name in self.objects_left:
            at, span, write = self.objects_left[name]
            self.begin(at, span)
            write()
            del self.objects_left[name]
        return self.by_name[name]

    def go_on_within(self, limits: Limits) -> None:
        """Keep to these limits from here on, the same ones by another clock."""
        self.limits = limits
        self.goals.go_on_within(limits)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self)

    def bracketed(self, first: str, inside: tree.Expr, last: str) -> tree.Expr:
        """What stands between brackets, on lines of its own where they are indented."""
        if not self.depth:
            return super().bracketed(first, inside, last)
        is_empty, some = self._lines.split(inside)
        options: list[tree.Expr] = [self.literal(first + last)] if is_empty else []
        if some is not None:
            begin, end = first + self.line(self.depth), self.line(self.depth - 1) + last
            options.append(self.sequence(self.literal(begin), some, self.literal(end)))
        return self.choice(options)

    def _goal(self, name: str, goal: Goal, depth: int) -> None:
        place = self.goals.nearest(goal)
        self._span = (place.span if place else None) or Span(0, 0)
        self._name, self.depth = name, depth + (self.indent is not None)
        options: list[tree.Expr] = []
        for type_, written in self.by_type(goal):
            options += written
            if type_ is Type.NUMBER and not self.normal.lacks(goal, Type.STRING):
                texts = self.normal.texts_of(goal)
                options += [] if texts is Ends.NONE else [self.texts(texts)]
        self.rule(self._name, options)
        self.depth = 0

    def by_type(self, goal: Goal) -> Iterator[tuple[Type, list[tree.Expr]]]:
        """How the values of each type but strings are written that satisfy a goal."""
        for type_, write in (
            (Type.NULL, self._nulls),
            (Type.BOOLEAN, self._truths),
            (Type.NUMBER, self._numbers_of),
            (Type.ARRAY, self._arrays),
            (Type.OBJECT, self._objects),
        ):
            yield type_, [] if self.normal.lacks(goal, type_) else write(goal)

    def _nulls(self, goal: Goal) -> list[tree.Expr]:
        return [self.literal("null")] if self.normal.scalars(goal, Type.NULL) else []

    def _truths(self, goal: Goal) -> list[tree.Expr]:
        truths = self.normal.scalars(goal, Type.BOOLEAN)
        assert isinstance(truths, int)
        words = ("false", "true")
        return [self.literal(word) for i, word in enumerate(words) if truths >> i & 1]

    def _numbers_of(self, goal: Goal) -> list[tree.Expr]:
        return self._numbers(cast("Numbers", self.normal.scalars(goal, Type.NUMBER)))

    def _arrays(self, goal: Goal) -> list[tree.Expr]:
        if self._is_too_deep(goal):
            return []
        found = self.normal.conjunctions(goal, Type.ARRAY)
        self._watch(found)
        return [one for each in found for one in array(each, self.normal, self)]

    def _objects(self, goal: Goal) -> list[tree.Expr]:
        if self._is_too_deep(goal):
            return []
        found = self.normal.conjunctions(goal, Type.OBJECT)
        self._watch(found)
        return objects(found, goal, self.normal, self)

    def _is_too_deep(self, goal: Goal) -> bool:
        """Whether lines are not indented so far, for what a value nests in has rules of its own."""
        if self.depth <= _DEEPEST:
            return False
        message = f"values in more than {_DEEPEST} brackets are left out"
        self.notes.narrowed(self.goals.pointer_of(goal), message)
        return True

    def _watch(self, found: Iterable[Conjunction]) -> None:
        """Where some item or key of a set must be there, rules may have no way to their end."""
        self.may_be_empty |= any(
            isinstance(literal, Contains)
            or (isinstance(literal, Some) and (literal.keys.texts or literal.keys.names[1:]))
            for each in found
            for literal in each.literals
        )

    def _numbers(self, found: Numbers) -> list[tree.Expr]:
        is_plain = self.options.integer == PLAIN
        match found:
            case Ends.NONE:
                return []
            case Ends.ALL:
                numeral = self._terminal(
                    "numbers", "number", lambda: embedded_dfa(numbers.numbers())
                )
                return [numeral]
            case Values(values):
                return [self.number(value) for value in values]
            case Dfa():
                is_integer = found in (numbers.integers(True), numbers.integers(False))
                self._keep.append(found)
                key = "integers" if is_integer and is_plain else ("numbers", id(found))
                name = "integer" if is_integer else f"{self._name} number"
                return [self._terminal(key, name, lambda: embedded_dfa(self._written(found)))]
        return []

    def _written(self, found: Dfa) -> Dfa:
        """Numbers as the option wants integers written; what has others, too, stays as it is."""
        integers = numbers.integers(True)
        others = remembered(boolean.difference, found, integers, self.limits)
        if self.options.integer != PLAIN or not others.is_empty:
            self.notes.respelled(EXPONENTS)
            return found
        self.notes.respelled(NUMBERS)
        if found is integers:
            return numbers.integers(False)
        return remembered(boolean.common, found, numbers.integers(False), self.limits)
