"""A schema and its negation: no text is of both grammars, and of scalars each is of one."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from functools import cache
from typing import Any

from support.schema import Members, members
from support.schema.random_schemas import document

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.boolean import common, difference, embedded, union
from constrain.compiler.automata.dfa import Dfa, nothing
from constrain.compiler.automata.members import shortest
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError
from constrain.compiler.frontend import normal_form
from constrain.compiler.limits import Limits
from constrain.compiler.lnf.automaton import to_nfa
from constrain.compiler.lnf.unroll import unroll
from constrain.compiler.schema.numbers import without_exponent
from constrain.compiler.schema.strings import as_json, lengths

# How deep values nest in what is compared.
_DEEP = 2


def language(made: Members) -> Dfa:
    """The texts of a grammar that nest at most so deep."""
    limits = Limits(seconds=30, states=60_000).started()
    if made.grammar is None:
        return nothing()
    try:
        _, lnf = normal_form(made.grammar, limits)
    except CheckError:
        return nothing()
    try:
        nfa, _ = to_nfa(lnf, limits)
    except NotRegularError:
        nfa, _ = to_nfa(unroll(lnf, _DEEP, limits).lnf, limits)
    return minimal(nfa, limits)


def _named(found: Any) -> dict[str, Any]:
    return {"$defs": found["$defs"]} if isinstance(found, dict) and "$defs" in found else {}


def both(found: Any, **options: Any) -> tuple[Members, Members] | None:
    """The members of a schema and of its negation, None where one is refused."""
    negated: Any = {"not": found}
    if isinstance(found, dict):
        negated = {"not": {k: v for k, v in found.items() if k != "$defs"}, **_named(found)}
    try:
        return members(found, seconds=30, **options), members(negated, seconds=30, **options)
    except (CheckError, LimitError):
        return None


@cache
def compared(number: int) -> tuple[Any, Dfa, Dfa, bool] | None:
    """A random schema, its language and that of its negation, and whether something is left out of
    them; None where one is refused, or more than the limits."""
    found = document(random.Random(number), depth=2)
    pair = both(found, whitespace="compact", formats="ignore")
    if pair is None:
        return None
    try:
        one, other = map(language, pair)
    except LimitError:
        return None
    return found, one, other, any("narrowed" in note for made in pair for note in made.notes)


def test_no_text_is_a_member_of_a_schema_and_of_its_negation(full: bool) -> None:
    """Random schemas, values nested two deep."""
    cases = [each for n in range(2_000 if full else 5) if (each := compared(n)) is not None]
    for found, one, other, _ in cases:
        assert common(one, other).is_empty, json.dumps(found)

    assert len(cases) > 4


@cache
def usual() -> Dfa:
    """Scalars, and arrays of them, in the spelling that every grammar has: numbers without an
    exponent, strings without escapes that say nothing."""
    numeral, text = without_exponent(), as_json(lengths(0, None))
    words = (regex.lit(word) for word in (b"null", b"true", b"false"))
    scalar = embedded(minimal(thompson(regex.alt(embedded(numeral), embedded(text), *words))))
    more = regex.repeat(regex.seq(regex.lit(b","), scalar), 0, None)
    inside = regex.alt(regex.EPSILON, regex.seq(scalar, more))
    return minimal(thompson(regex.alt(scalar, regex.seq(regex.lit(b"["), inside, regex.lit(b"]")))))


def test_each_scalar_and_array_is_a_member_of_a_schema_or_of_its_negation(full: bool) -> None:
    """All of them, as automata; where nothing is left out."""
    cases = [each for n in range(2_000 if full else 4) if (each := compared(n)) is not None]
    whole = [each for each in cases if not each[3]]
    for found, one, other, _ in whole:
        rest = difference(usual(), union(one, other))
        assert rest.is_empty, (json.dumps(found), shortest(rest))

    assert len(whole) > 3


def test_each_scalar_is_a_member_of_a_schema_or_of_its_negation(full: bool) -> None:
    """Numbers without an exponent and strings in their usual spelling."""
    scalar = {"type": ["null", "boolean", "number", "string"]}
    values: list[Any] = [None, True, False, 0, 1, -1, 2.5, 10, "", "a", "ab", "é", "abcdef", "12"]
    for number in range(2_000 if full else 9):
        found = document(random.Random(number), depth=2)
        pair = both({"allOf": [scalar, found], **_named(found)}, formats="ignore")
        if pair is None or any("narrowed" in note for made in pair for note in made.notes):
            continue
        for value in values:
            allowed = [made.allows(value) for made in pair]
            assert 1 == sum(allowed), (json.dumps(found), value, allowed)
