"""What a case says of its text besides the verdict: lines ``key: value`` after ``---``.

Each key has how its value is read, what there is instead, and whether that is the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..automata.dump import class_text
from ..explain.report import Status, Verdict, expectation, expected_texts
from .notation import NotationError, tokens_of, written
from .subject import Outcome

# Of the verdict, and of the masks.
OF_VERDICT = ("at", "expected", "rule", "rules", "path", "instance", "message")
OF_TOKENS = ("tokens", "allowed", "refused", "forced", "count")
EXPECTATIONS = (*OF_VERDICT, *OF_TOKENS)

# What says how a mask should be, and is not rewritten to how it is.
CLAIMS = ("allowed", "refused")

# Tokens that a failure names.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """What there is in the place of what was expected; ``why`` in words where that says more."""

    actual: str
    why: str = ""


def check_value(key: str, value: str) -> None:
    """Raise ``NotationError`` for a value that the key cannot have."""
    if key == "at" and not re.fullmatch(r"[1-9][0-9]*:[1-9][0-9]*", value):
        raise NotationError("'at' takes a line and a column", 0, "both from 1, such as 1:7")
    if key == "count" and not re.fullmatch(r"[0-9]{1,9}", value):
        raise NotationError("'count' takes a number of tokens", 0)
    if key in (*CLAIMS, "tokens", "forced"):
        found = tokens_of(value)
        if key == "forced" and len(found) != 1:
            raise NotationError(
                "'forced' takes one text", 0, 'in quotes where it has spaces; "" is none'
            )


def difference(key: str, wanted: str, outcome: Outcome) -> Difference | None:
    """None if an expectation holds. Raises what making a tokenizer or an artifact raises."""
    return _CHECKS[key](wanted, outcome)


def said(verdict: Verdict, text: bytes) -> str:
    """A verdict in words, without a file's name."""
    if verdict.status is Status.ACCEPTED:
        return "accepted"
    found = f"{verdict.status.value} at {verdict.line}:{verdict.column}"
    if verdict.status is Status.REJECTED:
        octet = text[verdict.offset]
        found += f", at {class_text([(octet, octet)])}"
    return found + expectation(verdict)


# --- of the verdict


def _at(wanted: str, outcome: Outcome) -> Difference | None:
    actual = f"{outcome.verdict.line}:{outcome.verdict.column}"
    return None if wanted == actual else Difference(actual)


def _expected(wanted: str, outcome: Outcome) -> Difference | None:
    """By terminals, by the bytes that those go on with which have begun, or by all bytes."""
    verdict, asked = outcome.verdict, set(wanted.split(" or "))
    end = ["the end of the text"] * verdict.may_end
    inside = [class_text(verdict.expected)] if verdict.expected else []
    octets = [class_text(verdict.following)] if verdict.following else []
    texts = expected_texts(verdict)
    forms = (texts, [*inside, *verdict.terminals, *end], [*octets, *end])
    actual = " or ".join(texts)
    is_same = any(asked == set(" or ".join(form).split(" or ")) for form in forms)
    return None if is_same else Difference(actual)


def _names(verdict: Verdict) -> tuple[tuple[str, ...], str]:
    """Rules or schemas that are named, and what stands between them."""
    if verdict.instance is not None:
        return verdict.schemas, " or "
    return (verdict.rules, ", ") if verdict.rules else (verdict.path, " > ")


def _rule(wanted: str, outcome: Outcome) -> Difference | None:
    """The innermost, or one of those that are named side by side."""
    names, between = _names(outcome.verdict)
    innermost = names[-1:] if between == " > " else names
    actual = between.join(innermost)
    return None if wanted in (*innermost, actual) else Difference(actual)


def _rules(wanted: str, outcome: Outcome) -> Difference | None:
    names, between = _names(outcome.verdict)
    actual = between.join(names)
    is_same = wanted == actual or tuple(re.split(r"\s*[,>]\s*", wanted)) == names
    return None if is_same else Difference(actual)


def _instance(wanted: str, outcome: Outcome) -> Difference | None:
    actual = outcome.verdict.instance
    shown = "none: no schema is followed" if actual is None else actual or "the root"
    return None if wanted in (actual, shown) else Difference(shown)


def _message(wanted: str, outcome: Outcome) -> Difference | None:
    actual = said(outcome.verdict, outcome.text)
    return None if wanted and wanted in actual else Difference(actual)


# --- of the masks


def _tokens(wanted: str, outcome: Outcome) -> Difference | None:
    subject = outcome.subject
    ids = outcome.ids if outcome.ids is not None else subject.encoded(outcome.text)
    tokens = tokens_of(wanted)
    actual = subject.listed(ids)
    is_same = len(tokens) == len(ids) and all(
        i in subject.ids_of(token) for i, token in zip(ids, tokens, strict=True)
    )
    if not is_same:
        return Difference(actual)
    if outcome.verdict.status is not Status.ACCEPTED:
        return None
    taken = subject.taken(ids)
    if taken == len(ids):
        return None
    return Difference(actual, f"the masks refuse token {taken} of them")


def _claim(wanted: str, outcome: Outcome, *, is_allowed: bool) -> Difference | None:
    """That tokens are all in the mask, or none."""
    subject, mask = outcome.subject, outcome.subject.mask(outcome)
    unknown = [token.shown for token in tokens_of(wanted) if not subject.ids_of(token)]
    if unknown:
        return Difference("", f"the tokenizer has no token {', '.join(unknown[:_SHOWN])}")
    wrong = [
        token.shown
        for token in tokens_of(wanted)
        if bool(subject.ids_of(token) & mask) != is_allowed
    ]
    if not wrong:
        return None
    more = f" and {len(wrong) - _SHOWN:,} more" * (len(wrong) > _SHOWN)
    verb = ("is" if len(wrong) == 1 else "are") + " not" * is_allowed
    return Difference("", f"{', '.join(wrong[:_SHOWN])}{more} {verb} allowed there")


def _forced(wanted: str, outcome: Outcome) -> Difference | None:
    actual = outcome.subject.forced(outcome)
    tokens = tokens_of(wanted)
    is_same = len(tokens) == 1 and tokens[0].octets == actual
    return None if is_same else Difference(written(actual))


def _count(wanted: str, outcome: Outcome) -> Difference | None:
    actual = str(len(outcome.subject.mask(outcome)))
    return None if wanted == actual else Difference(actual)


_CHECKS: dict[str, Callable[[str, Outcome], Difference | None]] = {
    "at": _at,
    "expected": _expected,
    "rule": _rule,
    "rules": _rules,
    "path": _rules,
    "instance": _instance,
    "message": _message,
    "tokens": _tokens,
    "allowed": partial(_claim, is_allowed=True),
    "refused": partial(_claim, is_allowed=False),
    "forced": _forced,
    "count": _count,
}
