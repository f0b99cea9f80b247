"""Goals in normal form: a set of scalars for each type of them, and for arrays and objects a
disjunction of conjunctions of literals.

    {"anyOf": [{"required": ["a"]}, {"maxProperties": 1}]}, as an object
        ->  some "a"  |  size 0 to 1

Negations were pushed inward by the clauses, so a conjunction that is left out (``max_conj``, a
format that is known in part) leaves valid instances out and lets no other in. ``Notes`` counts what
is left out; what must not rest on that asks the count before and after.
"""

import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import cast

from ..limits import blaming
from .formulas import (
    SCALARS,
    STRUCTURES,
    All,
    Any,
    AnyOf,
    Conjunction,
    Every,
    Formula,
    Holds,
    In,
    Keys,
    KeysHold,
    Literal,
    Marks,
    OneOf,
    Size,
    Some,
    Type,
    conjunction,
)
from .goals import ANYTHING, NOTHING, Alternatives, Goal, Goals
from .keywords.annotations import all_others, some_other_fails, unevaluated
from .keywords.clauses import clauses_of
from .places import Place
from .sets import Bits, Ends, Names, Scalar, TextAlgebra, Texts

_STAGE = "the schema's normal form"

# Branches of an anyOf of which all subsets are looked at where annotations matter.
_SUBSETS = 6

# How deep emptiness is looked for; what is deeper is not empty as far as is known.
_DEEP = 5

_TRUE = [Conjunction()]


class _Undecided(Exception):  # noqa: N818
    """Whether a goal is empty depends on one whose form is being computed."""


class _ByKey:
    """What literals say of the value of each key."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self._named: dict[str, list[Goal]] = {}
        # Sets of keys without names, and what is said of them.
        self._others: list[tuple[Keys, frozenset[str], Goal]] = []
        for literal in literals:
            if isinstance(literal, Every) and literal.keys.texts is not None:
                keys = literal.keys
                self._others.append((keys, frozenset(keys.names), literal.goal))
            elif isinstance(literal, Every) or (
                isinstance(literal, Some)
                and literal.keys.texts is None
                and len(literal.keys.names) == 1
            ):
                for name in literal.keys.names:
                    self._named.setdefault(name, []).append(literal.goal)

    def goals(self, name: str, algebra: TextAlgebra) -> list[Goal]:
        """The goals of a key's value."""
        return self._named.get(name, []) + [
            goal
            for keys, without, goal in self._others
            if name not in without and algebra.holds(keys.texts or Ends.NONE, name)
        ]


class Normal:
    """The normal forms of goals, each computed once."""

    def __init__(self, goals: Goals) -> None:
        self.goals, self.notes = goals, goals.notes
        self.texts, self.numbers = goals.texts, goals.numbers
        self._algebras: dict[Type, typing.Any] = {
            Type.NULL: Bits(1),
            Type.BOOLEAN: Bits(3),
            Type.NUMBER: self.numbers,
            Type.STRING: self.texts,
        }
        # Each with whether something was left out.
        self._scalars: dict[tuple[int, Type], tuple[Scalar, bool]] = {}
        self._forms: dict[tuple[int, Type, Marks], tuple[list[Conjunction], bool]] = {}
        self._empty: dict[Goal, tuple[bool, bool]] = {}
        # With how many questions of emptiness they were begun inside of.
        self._busy: dict[tuple[int, Type], int] = {}
        self._depth = 0
        # What the literals that were asked about last say of each key.
        self._last: tuple[tuple[Literal, ...], _ByKey] = (), _ByKey(())

    # --- scalars

    def scalars(self, goal: Goal, type_: Type) -> Scalar:
        """The scalars of a type that satisfy a goal."""
        found = self._whole(type_)
        for literal in goal:
            if self._is_none(found):
                break
            found = self._meet(type_, found, self._scalars_of(literal, type_))
        return found

    def texts_of(self, goal: Goal) -> Texts:
        """The decoded texts that satisfy a goal."""
        return cast("Texts", self.scalars(goal, Type.STRING))

    def _whole(self, type_: Type) -> Scalar:
        algebra = self._algebras[type_]
        return algebra.whole if isinstance(algebra, Bits) else Ends.ALL

    @staticmethod
    def _is_none(scalar: Scalar) -> bool:
        return scalar in (0, Ends.NONE) if isinstance(scalar, int | Ends) else False

    def _meet(self, type_: Type, left: Scalar, right: Scalar) -> Scalar:
        return cast("Scalar", self._algebras[type_].meet(left, right))

    def _join(self, type_: Type, parts: Iterable[Scalar]) -> Scalar:
        found: Scalar = 0 if type_ in (Type.NULL, Type.BOOLEAN) else Ends.NONE
        for part in parts:
            found = cast("Scalar", self._algebras[type_].join(found, part))
        return found

    def _scalars_of(self, literal: int, type_: Type) -> Scalar:
        key = (literal, type_)
        if literal < 0:
            return self._join(type_, ())
        if key not in self._scalars:
            with self._once(literal, type_):
                before = self.notes.narrowings
                found = self._new_scalars(literal, type_)
                self._scalars[key] = found, self.notes.narrowings > before
        found, is_narrowed = self._scalars[key]
        self.notes.narrowings += is_narrowed
        return found

    def _new_scalars(self, literal: int, type_: Type) -> Scalar:
        member = self.goals.member(literal)
        is_positive = literal % 2 == 0
        if isinstance(member, Alternatives):
            formula: Formula = self._of_alternatives(member, is_positive)
            return self._scalar_formula(formula, type_)
        clauses = clauses_of(member, self.goals, type_)
        if is_positive:
            return self._scalar_formula(All(tuple(c.positive() for c in clauses)), type_)
        return self._join(type_, (self._scalar_formula(c.negative(), type_) for c in clauses))

    def _scalar_formula(self, formula: Formula, type_: Type) -> Scalar:
        match formula:
            case In(scalar):
                return scalar
            case Holds(goal):
                return self.scalars(goal, type_)
            case All(parts):
                found = self._whole(type_)
                for part in parts:
                    if self._is_none(found):
                        break
                    found = self._meet(type_, found, self._scalar_formula(part, type_))
                return found
            case Any(parts):
                return self._join(type_, (self._scalar_formula(part, type_) for part in parts))
            case AnyOf(branches):
                return self._join(type_, (self.scalars(goal, type_) for goal in branches))
            case OneOf(branches, is_negated):
                return self._one_of_scalars(branches, type_, is_negated)
            case _:
                raise AssertionError("a literal about members in a formula of scalars")

    def _one_of_scalars(self, branches: Sequence[Goal], type_: Type, is_negated: bool) -> Scalar:
        """As ``_of_one`` says, but only branches that have scalars are followed in pairs."""
        live = [goal for goal in branches if not self._is_none(self.scalars(goal, type_))]
        if is_negated:
            dead = [goal for goal in branches if goal not in live]
            none = All(tuple(self._refuted(goal) for goal in (*live, *dead)))
            pairs = combinations(live, 2)
            both = (self._meet(type_, *(self.scalars(g, type_) for g in pair)) for pair in pairs)
            return self._join(type_, (self._scalar_formula(none, type_), *both))
        found = []
        for i, branch in enumerate(branches):
            if branch in live:
                others = (self._refuted(goal) for j, goal in enumerate(branches) if j != i)
                found.append(self._scalar_formula(All((Holds(branch), *others)), type_))
        return self._join(type_, found)

    def _of_alternatives(self, member: Alternatives, is_positive: bool) -> Formula:
        if is_positive:
            return Any(tuple(Holds(goal, is_marked=False) for goal in member.goals))
        return All(tuple(self._refuted(goal) for goal in member.goals))

    def _refuted(self, goal: Goal) -> Formula:
        return Any(tuple(Holds(each, is_marked=False) for each in self.goals.refutations(goal)))

    def _of_one(self, branches: Sequence[Goal], is_negated: bool) -> Formula:
        """Just one branch holds, or if negated none or two of them."""
        if is_negated:
            none = All(tuple(self._refuted(goal) for goal in branches))
            pairs = combinations(branches, 2)
            return Any((none, *(All((Holds(a, False), Holds(b, False))) for a, b in pairs)))
        options = []
        for i, branch in enumerate(branches):
            others = (self._refuted(goal) for j, goal in enumerate(branches) if j != i)
            options.append(All((Holds(branch), *others)))
        return Any(tuple(options))

    @contextmanager
    def _once(self, literal: int, type_: Type) -> Iterator[None]:
        """Work out a literal, which must not ask for itself on the way. Raises ``Refused``."""
        member, key = self.goals.member(literal), (literal, type_)
        pointer = member.pointer if isinstance(member, Place) else "#"
        if self._busy.get(key, self._depth) < self._depth:
            raise _Undecided
        if key in self._busy:
            # subtle: alternatives stand between a place and itself, so that a place is named.
            place = member if isinstance(member, Place) else self.goals.nearest((literal,))
            assert place is not None
            hint = "a reference must lead through a property or an item to come back"
            raise place.refused("the schema refers to itself for one and the same value", hint)
        self.goals.limits.check_resources(_STAGE, [pointer])
        self._busy[key] = self._depth
        try:
            with blaming([pointer]):
                yield
        finally:
            del self._busy[key]

    # --- arrays and objects

    def conjunctions(self, goal: Goal, type_: Type, marks: Marks = Marks.NONE) -> list[Conjunction]:
        """The conjunctions of which a value that satisfies the goal satisfies one."""
        return self._product([self._form(literal, type_, marks) for literal in goal])

    def _form(self, literal: int, type_: Type, marks: Marks) -> list[Conjunction]:
        if literal < 0:
            return []
        if literal % 2:
            marks = Marks.NONE
        key = (literal, type_, marks)
        if key not in self._forms:
            with self._once(literal, type_):
                before = self.notes.narrowings
                found = self._new_form(literal, type_, marks)
                self._forms[key] = found, self.notes.narrowings > before
        found, is_narrowed = self._forms[key]
        self.notes.narrowings += is_narrowed
        return found

    def _new_form(self, literal: int, type_: Type, marks: Marks) -> list[Conjunction]:
        member = self.goals.member(literal)
        is_positive = literal % 2 == 0
        if isinstance(member, Alternatives):
            return self._of_formula(self._of_alternatives(member, is_positive), type_, Marks.NONE)
        rest = unevaluated(member, self.goals, type_)
        clauses = clauses_of(member, self.goals, type_)
        if is_positive:
            inner = Marks.LEAST if rest is not None and marks is Marks.NONE else marks
            found = self._all_of([c.positive() for c in clauses], type_, inner)
            if rest is not None:
                found = all_others(found, rest, type_, self.goals, self.texts)
                found = [each for each in found if not self._contradicts(each)]
            return found if marks is not Marks.NONE else unmarked(found)
        options = [self._of_formula(c.negative(), type_, Marks.NONE) for c in clauses]
        if rest is not None:
            found = self._all_of([c.positive() for c in clauses], type_, Marks.EXACT)
            failing = some_other_fails(found, rest, type_, self.goals, self.texts)
            options.append([each for each in failing if not self._contradicts(each)])
        return distinct(each for option in options for each in option)

    def _all_of(self, parts: Sequence[Formula], type_: Type, marks: Marks) -> list[Conjunction]:
        forms = []
        for part in parts:
            form = self._of_formula(part, type_, marks)
            if not form:
                return []
            forms.append(form)
        return self._product(forms)

    def _of_formula(self, formula: Formula, type_: Type, marks: Marks) -> list[Conjunction]:
        match formula:
            case Conjunction():
                return [] if self._contradicts(formula) else [formula]
            case Holds(goal, is_marked):
                return self.conjunctions(goal, type_, marks if is_marked else Marks.NONE)
            case All(parts):
                return self._all_of(parts, type_, marks)
            case Any(parts):
                return distinct(
                    each for part in parts for each in self._of_formula(part, type_, marks)
                )
            case AnyOf(branches):
                return self._any_of(branches, type_, marks)
            case OneOf(branches, is_negated):
                if not is_negated:
                    disjoint = self._one_of_disjoint(branches, type_, marks)
                    if disjoint is not None:
                        return disjoint
                return self._of_formula(self._of_one(branches, is_negated), type_, marks)
            case KeysHold(goal, is_negated):
                return self._keys_hold(goal, is_negated)
            case In():
                raise AssertionError("a set of scalars in a formula of structures")

    def _any_of(self, branches: Sequence[Goal], type_: Type, marks: Marks) -> list[Conjunction]:
        forms = [self.conjunctions(goal, type_, marks) for goal in branches]
        singly = distinct(each for form in forms for each in form)
        if marks is Marks.NONE or len(branches) == 1 or not any(each.marks for each in singly):
            return singly
        # What all branches that hold evaluate counts: of some of them, together.
        found = [] if marks is Marks.EXACT else singly
        sizes: Iterable[int] = range(1, len(branches) + 1)
        if len(branches) > _SUBSETS:
            place = self.goals.nearest(branches[0])
            message = f"of {len(branches)} branches those cases are kept in which one or all hold"
            self.notes.narrowed(place.pointer if place else "#", message)
            sizes = (1, len(branches))
        for size in sizes:
            for chosen in combinations(range(len(branches)), size):
                parts = [forms[i] for i in chosen]
                if marks is Marks.EXACT:
                    others = (goal for i, goal in enumerate(branches) if i not in chosen)
                    parts += [
                        self._of_formula(self._refuted(goal), type_, Marks.NONE) for goal in others
                    ]
                elif size == 1:
                    continue
                found = found + self._product(parts)
        return distinct(found)

    def _one_of_disjoint(
        self, branches: Sequence[Goal], type_: Type, marks: Marks
    ) -> list[Conjunction] | None:
        """The branches side by side, where a required key with a text of its own in each (a tag)
        keeps them apart; None where none does."""
        if type_ is not Type.OBJECT or len(branches) < 2:
            return None
        before = self.notes.narrowings
        forms = [self.conjunctions(goal, type_, marks) for goal in branches]
        if self.notes.narrowings > before:
            # A branch may hold where its form does not say so.
            return None
        return self._apart(forms)

    def _apart(self, forms: Sequence[list[Conjunction]]) -> list[Conjunction] | None:
        candidates: list[str] | None = None
        tagged: list[list[dict[str, frozenset[str]]]] = []
        for form in forms:
            tagged.append([self._tags(each) for each in form])
            for tags in tagged[-1]:
                known = list(tags) if candidates is None else candidates
                candidates = [name for name in known if name in tags]
        for name in candidates or ():
            taken: dict[str, int] = {}
            pairs = ((i, tags[name]) for i, each in enumerate(tagged) for tags in each)
            if all(taken.setdefault(text, i) == i for i, texts in pairs for text in texts):
                return distinct(each for form in forms for each in form)
        return None

    def _tags(self, found: Conjunction) -> dict[str, frozenset[str]]:
        """The keys that must be there, with finitely many texts for values."""
        tags = {}
        for literal in found.literals:
            if isinstance(literal, Some) and literal.keys.texts is None:
                names = literal.keys.names
                goal = self.goal_of(names[0], found.literals) if len(names) == 1 else ANYTHING
                if goal not in (ANYTHING, NOTHING) and len(names) == 1:
                    texts = self.texts_of(goal)
                    if isinstance(texts, Names) and self._has_texts_only(goal):
                        tags[names[0]] = frozenset(texts.texts)
        return tags

    def _has_texts_only(self, goal: Goal) -> bool:
        others = (type_ for type_ in SCALARS if type_ is not Type.STRING)
        return all(self._is_none(self.scalars(goal, type_)) for type_ in others) and not any(
            self.conjunctions(goal, type_) for type_ in STRUCTURES
        )

    def _keys_hold(self, goal: Goal, is_negated: bool) -> list[Conjunction]:
        if is_negated:
            texts = self.texts_of(self.goals.negated(goal))
            if texts is Ends.NONE:
                return []
            return [conjunction(Some(_keys_of(texts), ANYTHING))]
        texts = self.texts_of(goal)
        if texts is Ends.ALL:
            return _TRUE
        if isinstance(texts, Names):
            return [conjunction(Every(Keys(texts.texts, Ends.ALL), NOTHING))]
        others = self.texts.complement(texts)
        return [conjunction(Every(_keys_of(others), NOTHING))] if others is not Ends.NONE else _TRUE

    # --- products

    def _product(self, forms: Sequence[list[Conjunction]]) -> list[Conjunction]:
        """The conjunctions of one of each, without those that contradict themselves."""
        found = _TRUE
        for form in sorted(forms, key=len):
            if not form:
                return []
            if form == _TRUE:
                continue
            self.goals.limits.check_resources(_STAGE)
            following: dict[Conjunction, None] = {}
            is_choice = len(form) > 1 and not any(each.marks for each in form)
            for left in found:
                if is_choice and any(self._entails(left, right) for right in form):
                    following[left] = None
                    continue
                for right in form:
                    joined = left.joined(right)
                    if joined not in following and not self._contradicts(joined):
                        following[joined] = None
                if len(following) > self.goals.options.max_conj:
                    break
            found = list(following)
            if len(found) > self.goals.options.max_conj:
                found = found[: self.goals.options.max_conj]
                message = f"of the combinations of alternatives {len(found)} are kept"
                pointer = self._pointer_of_busy()
                self.notes.narrowed(pointer, message, "--max-conj keeps more")
        return found

    def _pointer_of_busy(self) -> str:
        """The place whose form is being computed."""
        numbers = [literal for literal, _ in self._busy]
        place = self.goals.nearest((max(numbers),)) if numbers else None
        return place.pointer if place else "#"

    def goal_of(self, name: str, literals: tuple[Literal, ...]) -> Goal:
        """What the value of a key must satisfy, as far as literals about all members say it, and
        those that ask for that key."""
        if self._last[0] is not literals:
            self._last = literals, _ByKey(literals)
        return self.goals.both(*self._last[1].goals(name, self.texts))

    def _contradicts(self, found: Conjunction) -> bool:
        """Whether the literals surely exclude each other."""
        least, most = 0, None
        for literal in found.literals:
            if isinstance(literal, Size):
                least = max(least, literal.least)
                if literal.most is not None:
                    most = literal.most if most is None else min(most, literal.most)
            elif isinstance(literal, Some) and literal.keys.texts is None:
                names = literal.keys.names
                if len(names) == 1 and self.is_surely_empty(self.goal_of(names[0], found.literals)):
                    return True
        return most is not None and most < least

    def _entails(self, left: Conjunction, right: Conjunction) -> bool:
        """Whether what satisfies ``left`` surely satisfies ``right``."""
        return all(self._entails_literal(left, literal) for literal in right.literals)

    def _entails_literal(self, left: Conjunction, literal: Literal) -> bool:
        if literal in left.literals:
            return True
        if not isinstance(literal, Some | Every) or literal.keys.texts is not None:
            return False
        if len(literal.keys.names) != 1:
            return False
        (name,) = literal.keys.names
        here = self.goal_of(name, left.literals)
        if isinstance(literal, Some):
            required = Keys((name,))
            if not any(isinstance(x, Some) and x.keys == required for x in left.literals):
                return False
        return literal.goal == ANYTHING or self.is_certainly_empty(
            self.goals.both(here, self.goals.negated(literal.goal))
        )

    # --- emptiness

    def is_surely_empty(self, goal: Goal) -> bool:
        """Whether the grammar of a goal has no text; not decided for all that have none."""
        return self._emptiness(goal)[0]

    def is_certainly_empty(self, goal: Goal) -> bool:
        """Whether no value satisfies a goal, nothing having been left out."""
        is_empty, is_exact = self._emptiness(goal)
        return is_empty and is_exact

    def _emptiness(self, goal: Goal) -> tuple[bool, bool]:
        if goal in (ANYTHING, NOTHING):
            return goal == NOTHING, True
        known = self._empty.get(goal)
        if known is not None:
            return known
        if self._depth > _DEEP:
            return False, True
        self._empty[goal] = False, True
        self._depth += 1
        before = self.notes.narrowings
        try:
            is_empty = all(self._is_none(self.scalars(goal, type_)) for type_ in SCALARS)
            is_empty = is_empty and not any(self.conjunctions(goal, t) for t in STRUCTURES)
        except _Undecided:
            del self._empty[goal]
            return False, True
        finally:
            self._depth -= 1
        self._empty[goal] = is_empty, self.notes.narrowings == before
        return self._empty[goal]


def distinct(found: Iterable[Conjunction]) -> list[Conjunction]:
    """Each once, in order."""
    return list(dict.fromkeys(found))


def unmarked(found: Iterable[Conjunction]) -> list[Conjunction]:
    """Without what was evaluated."""
    return distinct(Conjunction(each.literals, (), each.orders) for each in found)


def _keys_of(texts: Texts) -> Keys:
    return Keys(texts.texts) if isinstance(texts, Names) else Keys((), texts)
