"""The keywords of numbers and strings: comparisons, divisors, patterns, formats and lengths."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ...automata import boolean
from ...diagnostics import LimitError
from ...limits import Limits
from .. import contents, numbers
from ..formats import NARROWED, language, nearly
from ..formulas import FALSE, Clause, Formula, In
from ..options import ASSERT, IGNORE, REFUSE_UNKNOWN
from ..patterns import PatternError, search
from ..sets import Ends, Lengths, Numbers, Texts, Values, lengths, nonempty

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
        is_strict = schema.get(exclusive) is True and draft.until(5)
        bound = place.fraction(keyword)
        if bound is not None:
            yield _comparison(strict if is_strict else loose, bound, limits)
        bound = place.fraction(exclusive)
        if bound is not None:
            yield _comparison(strict, bound, limits)
    divisor = place.fraction("multipleOf")
    if divisor is not None:
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
        found = boolean.difference(
            numbers.without_exponent(), numbers.multiple_of(divisor, goals.limits)
        )
    except LimitError as error:
        if error.is_measured:
            raise
        goals.notes.narrowed(place.at("multipleOf"), "what is no multiple is left out")
        return Ends.NONE
    return nonempty(found)


# --- the keywords of strings


def string_clauses(place: "Place", goals: "Goals") -> Iterator[Clause]:
    """``pattern``, ``format``, ``minLength``, ``maxLength``, and in draft 7 ``content…``."""
    schema = place.schema
    has_validation = place.draft.has_validation
    if "pattern" in schema and has_validation:
        found = pattern_texts(place, goals, "pattern")
        algebra = goals.texts
        yield Clause(lambda: In(found), lambda: In(algebra.complement(found)))
    name = schema.get("format")
    if isinstance(name, str) and goals.options.formats != IGNORE:
        yield from _format(name, place, goals)
    if place.draft.number == 7 and goals.options.formats != IGNORE:
        yield from _contents(place, goals)
    if not has_validation:
        return
    least, most = place.count("minLength"), place.count("maxLength")
    if least:
        yield from _of_lengths(
            "minLength", lengths(least, None), lengths(0, least - 1), place, goals
        )
    if most is not None:
        yield from _of_lengths("maxLength", lengths(0, most), lengths(most + 1, None), place, goals)


def _of_lengths(
    keyword: str, positive: Texts, negative: Texts, place: "Place", goals: "Goals"
) -> Iterator[Clause]:
    for texts in (positive, negative):
        assert isinstance(texts, Lengths | Ends)
        if isinstance(texts, Lengths):
            bound = texts.least if texts.most is None else texts.most
            goals.bounds.setdefault(bound, place.at(keyword))
    longest = goals.options.longest
    yield Clause(
        lambda: In(counted(positive, longest, goals)),
        lambda: In(counted(negative, longest, goals)),
    )


def counted(
    texts: Texts, longest: int | None, goals: "Goals", hint: str = "--max-count counts further"
) -> Texts:
    """Texts, as far as lengths are counted; what is left out is noted."""
    if longest is None or not isinstance(texts, Lengths):
        return texts
    least, most = texts.least, texts.most
    if least > longest:
        message = f"texts of {least:,} characters and more are left out: {longest:,} are counted"
        goals.notes.narrowed(goals.bounds[least], message, hint)
        return Ends.NONE
    if most is None or most <= longest:
        return texts
    message = f"texts of more than {longest:,} characters are left out"
    goals.notes.narrowed(goals.bounds[most], message, hint)
    # Beside a large automaton it may be narrowed again.
    goals.bounds.setdefault(longest, goals.bounds[most])
    return lengths(least, longest)


def pattern_texts(place: "Place", goals: "Goals", *steps: str) -> Texts:
    """The texts in which a pattern is found: the value of a keyword, or a key inside it.

    Raises ``Refused``.
    """
    pattern: str = place.said(steps[0]) if len(steps) == 1 else steps[-1]
    try:
        return nonempty(search(pattern, goals.limits))
    except PatternError as error:
        raise place.refused(str(error), error.hint, *steps) from None


def _format(name: str, place: "Place", goals: "Goals") -> Iterator[Clause]:
    found = language(name)
    if found is None:
        meant = f"did you mean {close!r}?" if (close := nearly(name)) else ""
        if goals.options.formats == REFUSE_UNKNOWN:
            hint = meant or f"--formats {ASSERT} takes it for an annotation"
            raise place.refused(f"there is no format {name!r}", hint, "format")
        goals.notes.add(place.at("format"), f"{name!r} is not known, and asserts nothing", meant)
        return
    texts: Texts = nonempty(found)
    left_out = NARROWED.get(name)
    if left_out is None:
        yield Clause(lambda: In(texts), lambda: In(goals.texts.complement(texts)))
        return
    yield _part(name, texts, left_out, place.at("format"), goals)


def _part(name: str, texts: Texts, left_out: str, pointer: str, goals: "Goals") -> Clause:
    """The clause of texts that are a part of those that are asked for."""

    def allowed() -> Formula:
        goals.notes.narrowed(pointer, f"of {name} this is left out: {left_out}")
        return In(texts)

    def others() -> Formula:
        # The automaton has less than is asked for, so its complement has more than is forbidden.
        goals.notes.narrowed(pointer, f"texts that are no {name} are left out")
        return FALSE

    return Clause(allowed, others)


def _contents(place: "Place", goals: "Goals") -> Iterator[Clause]:
    """``contentEncoding`` and ``contentMediaType``: draft 7 alone lets them be asserted."""
    encoding = _content_name("contentEncoding", ("base64",), place, goals)
    media = _content_name("contentMediaType", ("application/json",), place, goals)
    if "contentEncoding" not in place.schema and media:
        levels = contents.LEVELS
        texts, left_out = contents.json_texts(levels), f"more than {levels} levels of values"
        yield _part("JSON", texts, left_out, place.at("contentMediaType"), goals)
    elif encoding and media:
        levels = contents.LEVELS_IN_BASE64
        texts = contents.base64(contents.json_texts(levels))
        left_out = f"more than {levels} levels of values, line breaks in base64"
        yield _part("JSON in base64", texts, left_out, place.at("contentMediaType"), goals)
    elif encoding:
        pointer = place.at("contentEncoding")
        yield _part("base64", contents.base64(), "line breaks", pointer, goals)


def _content_name(keyword: str, known: tuple[str, ...], place: "Place", goals: "Goals") -> bool:
    """Whether a keyword names one of the contents that are known. Raises ``Refused`` for another
    one where the options ask that."""
    name = place.schema.get(keyword)
    if not isinstance(name, str):
        return False
    if name.partition(";")[0].strip().lower() in known:
        return True
    if goals.options.formats == REFUSE_UNKNOWN:
        hint = f"--formats {ASSERT} takes it for an annotation"
        raise place.refused(f"contents {name!r} are not known", hint, keyword)
    goals.notes.add(place.at(keyword), f"{name!r} is not known, and asserts nothing")
    return False
