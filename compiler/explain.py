"""Why a text is or is not a member: where it stops, and what could have stood there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from constrain.artifacts.byte_dfa import DEAD, ByteDfa


class Status(Enum):
    """What became of a text."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``offset``: bytes that were read; ``line`` and ``column`` (in characters) from 1.

    ``rules``: whose text was expected at that place; ``expected``: the bytes that could have
    come, as ranges; ``tokens``: the token terminals that could have come, which no text
    matches; ``may_end``: the text could have ended there. ``but_for_line_break``: it
    would be accepted without the line break at its end.
    """

    status: Status
    offset: int
    line: int
    column: int
    rules: tuple[str, ...]
    expected: tuple[tuple[int, int], ...]
    tokens: tuple[str, ...]
    may_end: bool
    but_for_line_break: bool


def explain(
    dfa: ByteDfa,
    rules_of: Callable[[int], Sequence[str]],
    text: bytes,
    names: Sequence[str] = (),
) -> Verdict:
    """The verdict on ``text``.

    ``rules_of`` names the rules that a state's bytes come from, ``names`` the token terminals.
    """
    offset = dfa.viable_bytes(text)
    state = dfa.run(dfa.start, text[:offset])
    may_end = bool(dfa.accepting[state])
    if offset < len(text):
        status = Status.REJECTED
    else:
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    before = text[:offset]
    last_line = before[before.rfind(b"\n") + 1 :]
    return Verdict(
        status=status,
        offset=offset,
        line=before.count(b"\n") + 1,
        column=len(last_line.decode("utf-8", "replace")) + 1,
        rules=tuple(dict.fromkeys(rules_of(state))),
        expected=_ranges(dfa, state),
        tokens=tuple(
            name
            for name, target in zip(names, dfa.token_targets(state).tolist(), strict=True)
            if target != DEAD
        ),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED and _ends_early(dfa, text),
    )


def _ranges(dfa: ByteDfa, state: int) -> tuple[tuple[int, int], ...]:
    """The bytes that lead somewhere from ``state``."""
    allowed = np.flatnonzero(dfa.table[state, dfa.classes] != DEAD).tolist()
    ranges: list[tuple[int, int]] = []
    for octet in allowed:
        if ranges and ranges[-1][1] == octet - 1:
            ranges[-1] = (ranges[-1][0], octet)
        else:
            ranges.append((octet, octet))
    return tuple(ranges)


def _ends_early(dfa: ByteDfa, text: bytes) -> bool:
    shorter = text.removesuffix(b"\n").removesuffix(b"\r") if text.endswith(b"\n") else text
    return shorter != text and bool(dfa.accepting[dfa.run(dfa.start, shorter)])
