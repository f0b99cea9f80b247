"""From bytes back to characters: the edges of a byte DFA, read as UTF-8.

    s -- C3 -> t -- A9..AB -> u     ->     s -- U+00E9..U+00EB -> u

``automaton`` in ``utf8.py`` is the way there.
"""

from collections.abc import Iterator

from .dfa import DEAD, Dfa
from .regex import CodePoints, normalized
from .utf8 import MAX_CODE_POINT, SURROGATES

# How many continuation bytes a lead byte has, and the first character that needs them.
_LEADS = (
    (0x00, 0x7F, 0, 0),
    (0xC2, 0xDF, 1, 0x80),
    (0xE0, 0xEF, 2, 0x800),
    (0xF0, 0xF4, 3, 0x10000),
)
_CONTINUATIONS = range(0x80, 0xC0)

# Offsets (first, last) among the characters with the same lead byte, and the state behind them.
_Tails = list[tuple[int, int, int]]


class NotTextError(ValueError):
    """A member of the automaton is no UTF-8 text."""


def character_edges(dfa: Dfa) -> dict[int, dict[int, CodePoints]]:
    """For each state that whole characters lead to: the characters to each next such state.

    ``dfa``: trimmed, without token terminals. Raises ``NotTextError`` if some member is not the
    UTF-8 of a text.
    """
    rows = dfa.table[:, dfa.classes].tolist()
    tails: dict[tuple[int, int], _Tails] = {}
    edges: dict[int, dict[int, CodePoints]] = {}
    pending = [dfa.start] if dfa.start != DEAD else []
    while pending:
        state = pending.pop()
        if state in edges:
            continue
        found: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in _characters(dfa, rows, state, tails):
            found.setdefault(target, []).append((low, high))
        edges[state] = {target: normalized(ranges) for target, ranges in found.items()}
        pending.extend(edges[state])
    return edges


def _characters(
    dfa: Dfa, rows: list[list[int]], state: int, tails: dict[tuple[int, int], _Tails]
) -> Iterator[tuple[int, int, int]]:
    """All characters that may follow in a state, as (first, last, next state)."""
    row, live = rows[state], 0
    for first, last, more, least in _LEADS:
        for octet in range(first, last + 1):
            if row[octet] == DEAD:
                continue
            live += 1
            bits = (octet if more == 0 else octet & (0x3F >> more)) << (6 * more)
            for low, high, target in _tails(dfa, rows, row[octet], more, tails):
                low, high = bits + low, bits + high
                overlaps = low <= SURROGATES[1] and high >= SURROGATES[0]
                if low < least or high > MAX_CODE_POINT or overlaps:
                    raise NotTextError
                yield low, high, target
    if live < sum(target != DEAD for target in row):
        raise NotTextError


def _tails(
    dfa: Dfa, rows: list[list[int]], state: int, more: int, known: dict[tuple[int, int], _Tails]
) -> _Tails:
    """What ``more`` continuation bytes can be from a state on; neighbours are joined."""
    if more == 0:
        return [(0, 0, state)]
    if (state, more) not in known:
        row = rows[state]
        inside = row[_CONTINUATIONS.start : _CONTINUATIONS.stop]
        if dfa.accepting[state] or any(row[:0x80]) or any(row[0xC0:]):
            raise NotTextError
        joined: _Tails = []
        for value, target in enumerate(inside):
            if target == DEAD:
                continue
            for low, high, end in _tails(dfa, rows, target, more - 1, known):
                low, high = (value << (6 * (more - 1))) + low, (value << (6 * (more - 1))) + high
                if joined and joined[-1][1] + 1 == low and joined[-1][2] == end:
                    low = joined.pop()[0]
                joined.append((low, high, end))
        known[state, more] = joined
    return known[state, more]
