"""Goals as sets of scalars: for each type of them, the scalars that satisfy a goal.

    {"type": "integer", "not": {"minimum": 5}}, as a number  ->  integers below 5

Formulas are evaluated in the Boolean algebra of a type (``sets``). Negations were pushed inward by
the clauses, so what is left out on the way lets nothing else in.
"""

import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import TypeVar, cast

from constrain.artifacts.tokens.memo import memoised

from ..automata.dfa import Dfa
from ..automata.graphs import reached
from ..diagnostics import LimitError
from .formulas import All, Any, AnyOf, Formula, Holds, In, OneOf, Type, failing
from .goals import COMES_BACK, NAME_THEM, REFERS_TO_ITSELF, TOO_DEEP, Alternatives, Goal, Goals
from .keywords.clauses import applied, clauses_of, types_of
from .keywords.scalars import counted
from .places import Place
from .sets import Bits, Ends, Lengths, Names, Scalar, Texts, Values, Within, are_within, within

_STAGE = "the schema's normal form"

R = TypeVar("R")
K = TypeVar("K")
T = TypeVar("T")

# Beside an automaton, lengths are narrowed to what takes so many states.
_MOST_STATES = 100_000

# Beside an automaton lengths of any bound are kept where the product has so many states.
_MOST_WHOLE = 25_000

# Where states are made while decoding, the most characters that are asked for at least, and states
# of the automaton beside them.
_MOST_LEAST, _MOST_BESIDE = 10_000, 2_000


class UndecidedError(Exception):
    """Whether a goal is empty depends on one whose form is being computed."""


class ScalarForms:
    """The scalars of goals, each set computed once.

    A goal that asks for itself on the way is refused; but where emptiness is asked for meanwhile,
    that is not decided (``UndecidedError``). ``depth``: how many such questions are open.
    """

    def __init__(self, goals: Goals) -> None:
        self.goals, self.notes = goals, goals.notes
        self.texts, self.numbers = goals.texts, goals.numbers
        self.depth = 0
        self._algebras: dict[Type, typing.Any] = {
            Type.NULL: Bits(1),
            Type.BOOLEAN: Bits(3),
            Type.NUMBER: self.numbers,
            Type.STRING: self.texts,
        }
        # Each with whether something was left out.
        self._scalars: dict[tuple[int, Type], tuple[Scalar, bool]] = {}
        # With the depth that they were begun in.
        self._busy: dict[tuple[int, Type], int] = {}

    def scalars(self, goal: Goal, type_: Type) -> Scalar:
        """The scalars of a type that satisfy a goal."""
        found = self._whole(type_)
        for literal in goal:
            if self.is_none(found):
                break
            found = self._meet(type_, found, self._scalars_of(literal, type_))
        return found

    def texts_of(self, goal: Goal) -> Texts:
        """The decoded texts that satisfy a goal."""
        return cast("Texts", self.scalars(goal, Type.STRING))

    def lacks(self, goal: Goal, type_: Type) -> bool:
        """Whether a goal plainly has no values of a type."""
        return any(self._lacks(literal, type_) for literal in goal)

    def _lacks(self, literal: int, type_: Type) -> bool:
        return not literal % 2 and type_ not in self._types(literal)

    @memoised
    def _types(self, literal: int) -> frozenset[Type]:
        member = self.goals.member(literal)
        return types_of(member, self.goals) if isinstance(member, Place) else frozenset(Type)

    def _whole(self, type_: Type) -> Scalar:
        algebra = self._algebras[type_]
        return algebra.whole if isinstance(algebra, Bits) else Ends.ALL

    @staticmethod
    def is_none(scalar: Scalar) -> bool:
        return scalar in (0, Ends.NONE) if isinstance(scalar, int | Ends) else False

    def _meet(self, type_: Type, left: Scalar, right: Scalar) -> Scalar:
        if isinstance(left, Lengths) and isinstance(right, Dfa):
            left, right = right, left
        if isinstance(left, Dfa) and isinstance(right, Lengths):
            if are_within(left, right):
                return left
            if self._is_lazy(left, right):
                return within(left, right)
            return self._beside(left, right)
        return cast("Scalar", self._algebras[type_].meet(left, right))

    def _is_lazy(self, dfa: Dfa, texts: Lengths) -> bool:
        """Whether the states of a product are left to be made while decoding."""
        options = self.goals.options
        if options.lazy_from is None or options.ascii:
            return False
        if texts.least > _MOST_LEAST or dfa.states > _MOST_BESIDE:
            return False
        bound = _bound(texts)
        return bound > options.longest_copied or dfa.states * bound > options.lazy_from

    def _beside(self, dfa: Dfa, texts: Lengths) -> Texts:
        """The texts of an automaton of these lengths, as far as there is room."""
        options, room = self.goals.options, _MOST_STATES // dfa.states - 2
        longest = options.longest_copied
        if options.max_count is None and dfa.states * _bound(texts) <= _MOST_WHOLE:
            return self.texts.meet(dfa, texts)
        if room < longest and texts.least <= room:
            kept = counted(texts, room, self.goals, "the automaton beside it is large")
        else:
            kept = counted(texts, longest, self.goals)
        return self.texts.meet(dfa, kept)

    def _join(self, type_: Type, parts: Iterable[Scalar]) -> Scalar:
        found: Scalar = 0 if type_ in (Type.NULL, Type.BOOLEAN) else Ends.NONE
        for part in parts:
            if self.is_none(found) or self.is_none(part):
                found = part if self.is_none(found) else found
                continue
            if any(isinstance(each, Names | Within | Dfa) for each in (found, part)):
                found, part = self.copied(found), self.copied(part)
            found = cast("Scalar", self._algebras[type_].join(found, part))
        return found

    def copied(self, scalar: Scalar) -> Scalar:
        """Lengths as far as they may be counted by the states of an automaton."""
        if isinstance(scalar, Within):
            return self._beside(scalar.dfa, Lengths(scalar.least, scalar.most))
        if isinstance(scalar, Lengths):
            return counted(scalar, self.goals.options.longest_copied, self.goals)
        return scalar

    def _scalars_of(self, literal: int, type_: Type) -> Scalar:
        if literal < 0 or self._lacks(literal, type_):
            return self._join(type_, ())
        make = partial(self._new_scalars, literal, type_)
        return self.once(self._scalars, (literal, type_), literal, type_, make)

    def _new_scalars(self, literal: int, type_: Type) -> Scalar:
        member = self.goals.member(literal)
        is_positive = literal % 2 == 0
        if isinstance(member, Alternatives):
            formula: Formula = self.of_alternatives(member, is_positive)
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
                    if self.is_none(found):
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
        """As ``of_one`` says, but only branches that have scalars are followed in pairs."""
        before = self.notes.narrowings
        sets = {goal: self.scalars(goal, type_) for goal in branches}
        live = [goal for goal in branches if not self.is_none(sets[goal])]
        if is_negated:
            dead = [goal for goal in branches if self.is_none(sets[goal])]
            none = All(tuple(failing(goal, self.goals) for goal in (*live, *dead)))
            both = (self._meet(type_, sets[a], sets[b]) for a, b in combinations(live, 2))
            return self._join(type_, (self._scalar_formula(none, type_), *both))
        if not live:
            return self._join(type_, ())
        if self.notes.narrowings == before:
            # Nothing was left out, so what is not in a set of values fails the branch.
            found = [sets[goal] for goal in live]
            if all(isinstance(each, Names) for each in found):
                texts = _once(cast("Names", each).texts for each in found)
                return Names(texts) if texts else Ends.NONE
            if all(isinstance(each, Values) for each in found):
                values = _once(cast("Values", each).values for each in found)
                return Values(values) if values else Ends.NONE
        return self._scalar_formula(self.of_one(branches, False, set(live)), type_)

    def of_alternatives(self, member: Alternatives, is_positive: bool) -> Formula:
        if is_positive:
            return Any(tuple(Holds(goal, is_marked=False) for goal in member.goals))
        return All(tuple(failing(goal, self.goals) for goal in member.goals))

    def of_one(
        self, branches: Sequence[Goal], is_negated: bool, live: Collection[Goal] | None = None
    ) -> Formula:
        """Just one branch holds, and of those in ``live``; or if negated none or two of them."""
        if is_negated:
            none = All(tuple(failing(goal, self.goals) for goal in branches))
            pairs = combinations(branches, 2)
            return Any((none, *(All((Holds(a, False), Holds(b, False))) for a, b in pairs)))
        fails = [failing(goal, self.goals) for goal in branches]
        return Any(
            tuple(
                All((Holds(branch), *fails[:i], *fails[i + 1 :]))
                for i, branch in enumerate(branches)
                if live is None or branch in live
            )
        )

    def once(
        self,
        known: dict[K, tuple[R, bool]],
        key: K,
        literal: int,
        type_: Type,
        make: Callable[[], R],
    ) -> R:
        """What is ``known`` by a key; ``make`` says it of a literal and a type, and must not ask
        for the same on the way. Raises ``Refused``."""
        if key not in known:
            before = self.notes.narrowings
            found = self._made(literal, type_, make)
            known[key] = found, self.notes.narrowings > before
        found, is_narrowed = known[key]
        self.notes.narrowings += is_narrowed
        return found

    def _made(self, literal: int, type_: Type, make: Callable[[], R]) -> R:
        member, key = self.goals.member(literal), (literal, type_)
        pointer = member.pointer if isinstance(member, Place) else "#"
        if self._busy.get(key, self.depth) < self.depth:
            raise UndecidedError
        if key in self._busy:
            # subtle: alternatives stand between a place and itself, so that a place is named.
            place = self.goals.nearest((literal,))
            assert place is not None
            raise place.refused(REFERS_TO_ITSELF, COMES_BACK)
        self.goals.limits.check_resources(_STAGE, [pointer])
        self._busy[key] = self.depth
        try:
            return make()
        except LimitError as error:
            if error.rules:
                raise
            raise error.blaming([pointer]) from error
        except RecursionError:
            raise self._too_deep(literal) from None
        finally:
            del self._busy[key]

    def _too_deep(self, literal: int) -> Exception:
        """The error of a place after which too many others are about the same value."""
        place = self.goals.nearest((literal,))
        assert place is not None

        def inside(of: Place) -> list[Place]:
            literals = (each for goal in applied(of, self.goals) for each in goal if each >= 0)
            return [m for m in map(self.goals.member, literals) if isinstance(m, Place)]

        if any(place in inside(each) for each in reached([place], inside)):
            return place.refused(REFERS_TO_ITSELF, COMES_BACK)
        return place.refused(TOO_DEEP, NAME_THEM)


def _bound(texts: Lengths) -> int:
    """Up to where characters are counted."""
    return texts.least if texts.most is None else texts.most


def _once(sets: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    """What is in one of the sets alone, in order."""
    counts = Counter(each for found in sets for each in dict.fromkeys(found))
    return tuple(each for each, count in counts.items() if count == 1)
