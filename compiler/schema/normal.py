"""Goals in normal form: for arrays and objects a disjunction of conjunctions of literals, and for
scalars the sets of ``scalar_forms``.

    {"anyOf": [{"required": ["a"]}, {"maxProperties": 1}]}, as an object
        ->  some "a"  |  size 0 to 1

Negations were pushed inward by the clauses, so a conjunction that is left out (``max_conj``, a
format that is known in part) leaves valid instances out and lets no other in. ``Notes`` counts what
is left out; what must not rest on that asks the count before and after.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import cast

from .formulas import (
    FALSE,
    SCALARS,
    STRUCTURES,
    TRUE,
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
    Some,
    Type,
    bounds,
    conjunction,
    failing,
)
from .goals import ANYTHING, NOTHING, Alternatives, Goal, Goals
from .keywords.annotations import all_others, some_other_fails, unevaluated
from .keywords.cases import Cases, as_one, cases
from .keywords.clauses import clauses_of
from .keywords.objects import is_among
from .scalar_forms import ScalarForms, UndecidedError
from .sets import Ends, Names, TextAlgebra, Texts

_STAGE = "the schema's normal form"

# Branches of an anyOf of which all subsets are looked at where annotations matter.
_SUBSETS = 6

# How deep emptiness is looked for; what is deeper is not empty as far as is known.
_DEEP = 5

_TRUE = [Conjunction()]


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


class Normal(ScalarForms):
    """The normal forms of goals, each computed once."""

    def __init__(self, goals: Goals) -> None:
        super().__init__(goals)
        # Each with whether something was left out.
        self._forms: dict[tuple[int, Type, Marks], tuple[list[Conjunction], bool]] = {}
        self._empty: dict[Goal, tuple[bool, bool]] = {}
        # What the literals that were asked about last say of each key.
        self._last: tuple[tuple[Literal, ...], _ByKey] = (), _ByKey(())

    def conjunctions(self, goal: Goal, type_: Type, marks: Marks = Marks.NONE) -> list[Conjunction]:
        """The conjunctions of which a value that satisfies the goal satisfies one."""
        if self.goals.is_plain(goal):
            # None of them contradicts itself.
            return self._form(goal[0], type_, marks)
        return self._product([self._form(literal, type_, marks) for literal in goal])

    def _form(self, literal: int, type_: Type, marks: Marks) -> list[Conjunction]:
        if literal < 0 or self._lacks(literal, type_):
            return []
        if literal % 2:
            marks = Marks.NONE
        key = (literal, type_, marks)
        return self.once(self._forms, key, literal, type_, partial(self._new_form, *key))

    def _new_form(self, literal: int, type_: Type, marks: Marks) -> list[Conjunction]:
        member = self.goals.member(literal)
        is_positive = literal % 2 == 0
        if isinstance(member, Alternatives):
            return self._of_formula(self.of_alternatives(member, is_positive), type_, Marks.NONE)
        rest = unevaluated(member, self.goals, type_)
        clauses = clauses_of(member, self.goals, type_)
        if is_positive:
            inner = Marks.LEAST if rest is not None and marks is Marks.NONE else marks
            formulas = [c.positive() for c in clauses]
            found = self._plainly(formulas) or self._all_of(formulas, type_, inner)
            if rest is not None:
                found = all_others(found, rest, type_, self.goals, self.texts)
                found = [each for each in found if not self._contradicts(each)]
            return found if marks is not Marks.NONE else unmarked(found)
        options = [self._of_formula(c.negative(), type_, Marks.NONE) for c in clauses]
        if rest is not None:
            found = self._all_of([c.positive() for c in clauses], type_, Marks.EXACT)
            failing = some_other_fails(found, rest, type_, self.goals, self.texts)
            options.append([each for each in failing if not self._contradicts(each)])
        return as_one(distinct(each for option in options for each in option), self.goals)

    def _plainly(self, parts: Sequence[Formula]) -> list[Conjunction]:
        """The one conjunction that a plain place asks for; none where it may be another one."""
        found = Conjunction()
        for part in parts if self.goals.are_plain else (FALSE,):
            if isinstance(part, Conjunction):
                found = found.joined(part)
            elif part != TRUE:
                return []
        return [found]

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
                found = distinct(
                    each for part in parts for each in self._of_formula(part, type_, marks)
                )
                return as_one(found, self.goals)
            case AnyOf(branches):
                return self._any_of(branches, type_, marks)
            case OneOf(branches, is_negated):
                if not is_negated:
                    disjoint = self._one_of_disjoint(branches, type_, marks)
                    if disjoint is not None:
                        return disjoint
                    live = {goal for goal in branches if self.conjunctions(goal, type_, marks)}
                    return self._of_formula(self.of_one(branches, False, live), type_, marks)
                return self._of_formula(self.of_one(branches, True), type_, marks)
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
            message = f"of {len(branches)} branches those cases are kept in which one or all hold"
            self.notes.narrowed(self.goals.pointer_of(branches[0]), message)
            sizes = (1, len(branches))
        for size in sizes:
            for chosen in combinations(range(len(branches)), size):
                parts = [forms[i] for i in chosen]
                if marks is Marks.EXACT:
                    others = (goal for i, goal in enumerate(branches) if i not in chosen)
                    parts += [
                        self._of_formula(failing(goal, self.goals), type_, Marks.NONE)
                        for goal in others
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
        return all(self.is_none(self.scalars(goal, type_)) for type_ in others) and not any(
            self.conjunctions(goal, type_) for type_ in STRUCTURES
        )

    def _keys_hold(self, goal: Goal, is_negated: bool) -> list[Conjunction]:
        if is_negated:
            texts = cast("Texts", self.copied(self.texts_of(self.goals.negated(goal))))
            if texts is Ends.NONE:
                return []
            return [conjunction(Some(_keys_of(texts), ANYTHING))]
        texts = cast("Texts", self.copied(self.texts_of(goal)))
        if texts is Ends.ALL:
            return _TRUE
        if isinstance(texts, Names):
            return [conjunction(Every(Keys(texts.texts, Ends.ALL), NOTHING))]
        others = self.texts.complement(texts)
        return [conjunction(Every(_keys_of(others), NOTHING))] if others is not Ends.NONE else _TRUE

    # --- products

    def _product(self, forms: Sequence[list[Conjunction]]) -> list[Conjunction]:
        """The conjunctions of one of each, without those that contradict themselves."""
        forms = [form for form in forms if form != _TRUE]
        if not all(forms):
            return []
        if all(len(form) == 1 for form in forms):
            return self._joined([form[0] for form in forms])
        by_key = cases(forms, self.goals)
        if by_key is not None:
            return self._of_cases(by_key)
        found = _TRUE
        for form in sorted(forms, key=len):
            self.goals.limits.check_resources(_STAGE)
            following: dict[Conjunction, None] = {}
            # Alternatives that are combined with nothing are as many as the schema has.
            most = max(self.goals.options.max_conj, len(form) if len(found) == 1 else 0)
            is_choice = len(form) > 1 and not any(each.marks for each in form)
            for left in found:
                if is_choice and any(self._entails(left, right) for right in form):
                    following[left] = None
                    continue
                for right in form:
                    joined = left.joined(right)
                    if joined not in following and not self._exclude(left, right, joined):
                        following[joined] = None
                if len(following) > most:
                    break
            found = self._first(following, most)
        return found

    def _joined(self, parts: Sequence[Conjunction]) -> list[Conjunction]:
        """The conjunction of some, if they do not contradict each other."""
        found = Conjunction()
        for part in parts:
            joined = found.joined(part)
            if self._exclude(found, part, joined):
                return []
            found = joined
        return [found]

    def _first(self, found: Iterable[Conjunction], most: int) -> list[Conjunction]:
        """At most so many of them."""
        kept = list(found)
        if len(kept) > most:
            kept = kept[:most]
            message = f"of the combinations of alternatives {len(kept)} are kept"
            # The place whose form is being computed.
            busy = tuple(sorted(literal for literal, _ in self._busy))[-1:]
            self.notes.narrowed(self.goals.pointer_of(busy), message, "--max-conj keeps more")
        return kept

    def _of_cases(self, by_key: Cases) -> list[Conjunction]:
        """The same of choices by the value of one key, beside others."""
        found: dict[Conjunction, None] = {}
        forms: dict[int, list[Conjunction]] = {}
        most = max(self.goals.options.max_conj, len(by_key.cases))
        for left in self._product(by_key.rest):
            texts = self.texts_of(self.goal_of(by_key.key, left.literals))
            for i, case in enumerate(by_key.cases):
                self.goals.limits.check_resources(_STAGE)
                if case.text is not None and not self.texts.holds(texts, case.text):
                    continue
                base = left.joined(conjunction(case.literal))
                if self._contradicts(base):
                    continue
                if i not in forms:
                    forms[i] = self._product(case.forms)
                for right in forms[i]:
                    joined = base.joined(right)
                    if not self._exclude(base, right, joined):
                        found[joined] = None
        return self._first(found, most)

    def goal_of(self, name: str, literals: tuple[Literal, ...]) -> Goal:
        """What the value of a key must satisfy, as far as literals about all members say it, and
        those that ask for that key."""
        if self._last[0] is not literals:
            self._last = literals, _ByKey(literals)
        return self.goals.both(*self._last[1].goals(name, self.texts))

    def _contradicts(self, found: Conjunction) -> bool:
        """Whether the literals surely exclude each other."""
        for literal in found.literals:
            if isinstance(literal, Some) and not self._may_be_met(literal, found.literals):
                return True
        least, most = bounds(found.literals)
        return most is not None and most < least

    def _exclude(self, left: Conjunction, right: Conjunction, joined: Conjunction) -> bool:
        """The same of two that do not contradict themselves: what one asks of keys that the other
        says nothing about is as it was."""
        if joined is left or joined is right:
            return False
        ours, theirs = left.named, right.named
        if ours is None or theirs is None:
            return self._contradicts(joined)
        both = ours & theirs
        wanted = [each for each in joined.literals if isinstance(each, Some)] if both else []
        for some in wanted:
            shares = not both.isdisjoint(some.keys.names)
            if shares and not self._may_be_met(some, joined.literals):
                return True
        least, most = bounds(joined.literals)
        return most is not None and most < least

    def _may_be_met(self, some: Some, literals: tuple[Literal, ...]) -> bool:
        """Whether there may be a member as asked for, whatever else is."""
        names, texts = some.keys.names, some.keys.texts
        if texts is None and len(names) == 1:
            return not self.is_surely_empty(self.goal_of(names[0], literals))
        inside = dict.fromkeys(names) if texts is None else {}
        others: list[Goal] = []
        for literal in literals if texts is not None else ():
            if isinstance(literal, Some | Every):
                named = (key for key in literal.keys.names if is_among(key, some.keys, self.texts))
                inside |= dict.fromkeys(named)
                if isinstance(literal, Every) and literal.keys.texts in (Ends.ALL, texts):
                    others.append(literal.goal)
        goals = [self.goal_of(key, literals) for key in inside]
        goals += [] if texts is None else [self.goals.both(*others)]
        return not all(self.is_surely_empty(self.goals.both(goal, some.goal)) for goal in goals)

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
        if isinstance(literal, Some):
            if left.named is not None and name not in left.named:
                return False
            required = Keys((name,))
            if not any(isinstance(x, Some) and x.keys == required for x in left.literals):
                return False
        here = self.goal_of(name, left.literals)
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
        if self.goals.is_plain(goal):
            return False, True
        known = self._empty.get(goal)
        if known is not None:
            return known
        if self.depth > _DEEP:
            return False, True
        self._empty[goal] = False, True
        self.depth += 1
        before = self.notes.narrowings
        try:
            is_empty = all(self.is_none(self.scalars(goal, type_)) for type_ in SCALARS)
            is_empty = is_empty and not any(self.conjunctions(goal, t) for t in STRUCTURES)
        except UndecidedError:
            del self._empty[goal]
            return False, True
        finally:
            self.depth -= 1
        self._empty[goal] = is_empty, self.notes.narrowings == before
        return self._empty[goal]


def distinct(found: Iterable[Conjunction]) -> list[Conjunction]:
    """Each once, in order."""
    listed = list(found)
    return listed if len(listed) < 2 else list(dict.fromkeys(listed))


def unmarked(found: Iterable[Conjunction]) -> list[Conjunction]:
    """Without what was evaluated."""
    return distinct(Conjunction(each.literals, (), each.orders) for each in found)


def _keys_of(texts: Texts) -> Keys:
    return Keys(texts.texts) if isinstance(texts, Names) else Keys((), texts)
