"""A finding of a lint: where, in which rule, and what to do about it."""

from dataclasses import dataclass

from ..diagnostics import Span


@dataclass(frozen=True, slots=True)
class Finding:
    """A lint's finding: where, in which rule (empty: outside the rules), and how to mend it."""

    lint: str
    message: str
    span: Span
    rule: str
    help: str
