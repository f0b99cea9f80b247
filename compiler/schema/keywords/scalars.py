"""The keywords of numbers and strings: comparisons, divisors, patterns, formats and lengths."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ...automata import boolean
from ...automata.dfa import Dfa
from ...diagnostics import LimitError
from ...limits import Limits
from .. import numbers
from ..formats import NARROWED, language
from ..formulas import FALSE, Clause, Formula, In
from ..options import ASSERT, IGNORE, REFUSE_UNKNOWN
from ..patterns import PatternError, search
from ..sets import Ends, Numbers, Texts, Values, lengths, nonempty, without_exponent

if TYPE_CHECKING:
    from ..goals import Goals
    from ..places import Place

# Multiples that are kept where a divisor is too large for an automaton.
_MULTIPLES = 100


def number_clauses(place: "Place", goals: "Goals") -> Iterator[Clause]:
    """``minimum``, ``maximum``, their exclusive forms and ``multipleOf``."""
    draft, schema, limits = place.draft, place.schema, goals.limits
    if not draft.has_validation:
        return
    for keyword, strict, loose in (
        ("minimum", ">", ">="),
        ("maximum", "<", "<="),
    ):
        exclusive = "exclusiveM" + keyword[1:]
        is_strict = schema.get(exclusive) is True and draft.until(4)
        bound = place.fraction(keyword)
        if bound is not None:
            yield _comparison(strict if is_strict else loose, bound, limits)
        if exclusive in schema and not (isinstance(schema[exclusive], bool) and draft.until(4)):
            bound = place.fraction(exclusive)
            if bound is not None and draft.since(6):
                yield _comparison(strict, bound, limits)
    divisor = place.fraction("multipleOf")
    if divisor is not None:
        if divisor <= 0:
            raise place.refused("this must be above 0", "", "multipleOf")
        yield Clause(
            lambda: In(_multiples(divisor, place, goals)),
            lambda: In(_others(divisor, place, goals)),
        )


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _comparison(op: str, bound: Fraction, limits: Limits) -> Clause:
    return Clause(
        lambda: In(numbers.compared(op, bound, limits)),
        lambda: In(numbers.compared(_OPPOSITE[op], bound, limits)),
    )


def _multiples(divisor: Fraction, place: "Place", goals: "Goals") -> Numbers:
    try:
        return numbers.multiple_of(divisor, goals.limits)
    except LimitError as error:
        if error.is_measured:
            raise
        goals.notes.narrowed(
            place.at("multipleOf"), f"of the multiples those up to {_MULTIPLES} times are kept"
        )
        return Values(tuple(divisor * k for k in range(-_MULTIPLES, _MULTIPLES + 1)))


def _others(divisor: Fraction, place: "Place", goals: "Goals") -> Numbers:
    try:
        found = boolean.difference(without_exponent(), numbers.multiple_of(divisor, goals.limits))
    except LimitError as error:
        if error.is_measured:
            raise
        goals.notes.narrowed(place.at("multipleOf"), "what is no multiple is left out")
        return Ends.NONE
    return nonempty(found)


# --- the keywords of strings


def string_clauses(place: "Place", goals: "Goals") -> Iterator[Clause]:
    """``pattern``, ``format``, ``minLength`` and ``maxLength``."""
    schema = place.schema
    has_validation = place.draft.has_validation
    if "pattern" in schema and has_validation:
        found = pattern_texts(place, goals, "pattern")
        algebra = goals.texts
        yield Clause(lambda: In(found), lambda: In(algebra.complement(found)))
    name = schema.get("format")
    if isinstance(name, str) and goals.options.formats != IGNORE:
        yield from _format(name, place, goals)
    if not has_validation:
        return
    least, most = place.count("minLength"), place.count("maxLength")
    if least:
        yield Clause(
            lambda: In(_counted(least, None, place, goals)),
            lambda: In(_counted(0, least - 1, place, goals)),
        )
    if most is not None:
        yield Clause(
            lambda: In(_counted(0, most, place, goals)),
            lambda: In(_counted(most + 1, None, place, goals)),
        )


def _counted(least: int, most: int | None, place: "Place", goals: "Goals") -> Texts:
    """A range of lengths, as far as lengths are counted."""
    longest = goals.options.max_count
    if least > longest:
        message = f"texts of {least:,} characters and more are left out: {longest:,} are counted"
        goals.notes.narrowed(place.at("minLength"), message, "--max-count counts further")
        return Ends.NONE
    if most is not None and most > longest:
        message = f"texts of more than {longest:,} characters are left out"
        goals.notes.narrowed(place.at("maxLength"), message, "--max-count counts further")
        most = longest
    return lengths(least, most)


def pattern_texts(place: "Place", goals: "Goals", *steps: str) -> Dfa:
    """The texts in which a pattern is found: the value of a keyword, or a key inside it.

    Raises ``Refused``.
    """
    pattern = place.schema[steps[0]] if len(steps) == 1 else steps[-1]
    if not isinstance(pattern, str):
        raise place.refused("a pattern is a string", "", *steps)
    try:
        return search(pattern, goals.limits)
    except PatternError as error:
        raise place.refused(str(error), error.hint, *steps) from None


def _format(name: str, place: "Place", goals: "Goals") -> Iterator[Clause]:
    found = language(name)
    if found is None:
        if goals.options.formats == REFUSE_UNKNOWN:
            hint = f"--formats {ASSERT} takes it for an annotation"
            raise place.refused(f"there is no format {name!r}", hint, "format")
        goals.notes.add(place.at("format"), f"{name!r} is not known, and asserts nothing")
        return
    texts: Texts = nonempty(found)
    left_out = NARROWED.get(name)
    if left_out is None:
        yield Clause(lambda: In(texts), lambda: In(goals.texts.complement(texts)))
        return
    pointer = place.at("format")

    def allowed() -> Formula:
        goals.notes.narrowed(pointer, f"of {name} this is left out: {left_out}")
        return In(texts)

    def others() -> Formula:
        # The automaton has less than the format, so its complement has more than is forbidden.
        goals.notes.narrowed(pointer, f"texts that are no {name} are left out")
        return FALSE

    yield Clause(allowed, others)
