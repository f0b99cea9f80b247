"""Alternatives about one key: as one literal, and as cases by its value.

    "a" is not there  |  "a" is no string          ->   "a" is no string, if it is there

    if kind is "a" then A, if kind is "b" then B   ->   kind is "a", A  |  kind is "b", B
                                                        |  kind is neither

The product of n such choices has n + 1 conjunctions, and going through the choices one by one asks
n² times what excludes what. Where each asks nothing of the key but which constants it is, as ``if``
and ``then`` by a tag do, each constant decides all of them at once, and so do any other value and
none.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..formulas import Conjunction, Every, Keys, Literal, Some, conjunction
from ..goals import ANYTHING, ASK_NOTHING, NOTHING, Goal, Goals
from ..places import Place

_Form: TypeAlias = list[Conjunction]

# Of a goal the texts that it asks for (True), or those that alone it excludes (False).
_Constants: TypeAlias = tuple[frozenset[str], bool]

# So many choices by one key are cases.
_LEAST_CHOICES = 3


def as_one(found: _Form, goals: Goals) -> _Form:
    """Alternatives, those as one that ask something of the same key alone, or that some member of
    the same set of keys satisfies something."""
    if len(found) < 2:
        return found
    grouped: dict[object, list[Conjunction]] = {}
    for i, each in enumerate(found):
        key: object = i
        if len(each.literals) == 1 and not each.marks:
            (literal,) = each.literals
            if isinstance(literal, Some) or (isinstance(literal, Every) and _key(literal)):
                key = literal.keys
        grouped.setdefault(key, []).append(each)
    return [_joined(same, goals) for same in grouped.values()]


def _joined(same: _Form, goals: Goals) -> Conjunction:
    if len(same) == 1:
        return same[0]
    literals = [x for each in same for x in each.literals if isinstance(x, Every | Some)]
    make = Every if any(isinstance(x, Every) for x in literals) else Some
    goal = goals.either(x.goal for x in literals)
    orders = dict.fromkeys(order for each in same for order in each.orders)
    if make is Every and goal == ANYTHING:
        return Conjunction()
    return conjunction(make(literals[0].keys, goal), orders=list(orders))


@dataclass(frozen=True, slots=True)
class Case:
    """What is left of some choices where the value of a key is ``text``, or without one another
    value, or there is none; ``literal`` says that it is."""

    text: str | None
    literal: Every | Some
    forms: list[_Form]


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of some choices by ``key``, and ``rest``, which are about other things."""

    key: str
    cases: list[Case]
    rest: list[_Form]


def cases(forms: Sequence[_Form], goals: Goals) -> Cases | None:
    """The cases of the key that most choices are by; None where few are by the same one."""
    choices = [i for i, form in enumerate(forms) if len(form) > 1]
    if len(choices) < _LEAST_CHOICES:
        return None
    by_key: dict[str, list[int]] = {}
    for i in choices:
        for key in _common_keys(forms[i]):
            by_key.setdefault(key, []).append(i)
    for key, among in sorted(by_key.items(), key=lambda each: -len(each[1])):
        chosen = [i for i in among if _is_by_constants(forms[i], key, goals)]
        if len(chosen) >= _LEAST_CHOICES:
            rest = [form for i, form in enumerate(forms) if i not in set(chosen)]
            return Cases(key, list(_cases(key, [forms[i] for i in chosen], goals)), rest)
    return None


def _key(literal: Literal) -> str | None:
    """The one key that a literal is about."""
    if isinstance(literal, Every | Some) and literal.keys.texts is None:
        return literal.keys.names[0] if len(literal.keys.names) == 1 else None
    return None


def _common_keys(form: _Form) -> list[str]:
    """The keys that each alternative is about."""
    first, *others = ({_key(x): None for x in each.literals} for each in form)
    return [key for key in first if key is not None and all(key in each for each in others)]


def _is_by_constants(form: _Form, key: str, goals: Goals) -> bool:
    for each in form:
        for literal in each.literals:
            if isinstance(literal, Every | Some) and key in literal.keys.names:
                is_own = literal.keys.texts is not None or _key(literal) == key
                if not is_own or (
                    literal.keys.texts is None and _constants(literal.goal, goals) is None
                ):
                    return False
    return True


def _constants(goal: Goal, goals: Goals) -> _Constants | None:
    if goal not in goals.constants:
        goals.constants[goal] = _new_constants(goal, goals)
    return goals.constants[goal]


def _new_constants(goal: Goal, goals: Goals) -> _Constants | None:
    if goal in (ANYTHING, NOTHING):
        return frozenset(), goal == NOTHING
    place = goals.member(goal[0]) if len(goal) == 1 else None
    if not isinstance(place, Place) or not place.draft.has_validation:
        return None
    schema = place.schema
    if not schema.keys() - ASK_NOTHING <= {"enum", "const", "type"} or "$ref" in schema:
        return None
    if ("enum" in schema) == ("const" in schema) or schema.get("type", "string") != "string":
        return None
    if "const" in schema and not place.draft.since(6):
        return None
    values = schema["enum"] if "enum" in schema else [schema["const"]]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return None
    return frozenset(values), not goal[0] % 2


def _cases(key: str, choices: Sequence[_Form], goals: Goals) -> Iterator[Case]:
    """``choices`` are by constants of the key alone."""
    keys = Keys((key,))
    # Where each text is said, first of all as the only one, and in which choices.
    said: dict[str, Goal] = {}
    about: dict[str, dict[int, None]] = {}
    for i, form in enumerate(choices):
        for each in form:
            for literal in each.literals:
                if isinstance(literal, Every | Some) and _key(literal) == key:
                    texts, is_among = _known(literal.goal, goals)
                    for text in sorted(texts):
                        about.setdefault(text, {})[i] = None
                        if is_among and len(texts) == 1:
                            said.setdefault(text, literal.goal)
    near = goals.nearest(next(iter(said.values()), ANYTHING))
    others = [_left(form, key, _is(None, goals)) for form in choices]
    asking = [i for i, form in enumerate(others) if form != [Conjunction()]]
    for text, found in about.items():
        goal = said[text] if text in said else goals.made({"const": text}, near)
        forms = [_left(choices[i], key, _is(text, goals)) for i in found]
        forms += [others[i] for i in asking if i not in found]
        yield Case(text, Some(keys, goal), forms)
    none = [_left(form, key, lambda literal: isinstance(literal, Every)) for form in choices]
    goal = goals.made({"not": {"enum": list(about)}}, near)
    if none == others:
        yield Case(None, Every(keys, goal), others)
    else:
        yield Case(None, Some(keys, goal), others)
        yield Case(None, Every(keys, NOTHING), none)


def _known(goal: Goal, goals: Goals) -> _Constants:
    found = _constants(goal, goals)
    assert found is not None
    return found


def _is(text: str | None, goals: Goals) -> Callable[[Every | Some], bool]:
    """Which literals hold where a key has a value, this text or one that nothing says."""

    def holds(literal: Every | Some) -> bool:
        texts, is_among = _known(literal.goal, goals)
        return (text in texts) == is_among

    return holds


def _left(form: _Form, key: str, holds: Callable[[Every | Some], bool]) -> _Form:
    """The alternatives that are possible, without what is decided of the key."""
    found: dict[Conjunction, None] = {}
    for each in form:
        about = [x for x in each.literals if isinstance(x, Every | Some) and _key(x) == key]
        if all(map(holds, about)):
            others = tuple(x for x in each.literals if x not in about)
            if not (others or each.marks):
                # Nothing is asked then, whatever the others ask.
                return [Conjunction()]
            found.setdefault(Conjunction(others, each.marks, each.orders))
    return list(found)
