"""Find a shortest text that a repetition, or a concatenation of two, factors in two ways.

    (a | aa)*    aa = a a            a* a*    a = a, nothing

Two runs read one text. As soon as one of them ends a factor and the other does not they differ, and
where both end one again the text has two factorizations: a search through the pairs of states,
breadth-first, so that the text is a shortest one. The members of an automaton make up a
code exactly if there is none: the test of Sardinas and Patterson, "A Necessary and Sufficient
Condition for the Unique Decomposition of Coded Messages" (1953), for regular languages as in
Berstel, Perrin and Reutenauer, "Codes and Automata" (2010), section 2.3.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping

from ..automata.dfa import DEAD, Dfa
from ..limits import Limits

_STAGE = "the search for texts that can be cut in two ways"

# A place in the search: a phase, and the state of either run.
_Place = tuple[int, int, int]
_Steps = Callable[[_Place, int], Iterator[_Place]]

_TOGETHER, _APART, _DONE = range(3)


def ambiguous_factorization(item: Dfa, limits: Limits) -> bytes | None:
    """A shortest text with two factorizations into members of ``item``.

    None if there is none. ``limits.states`` bounds the pairs. Raises ``LimitError``.
    """
    if item.accepting[item.start]:
        return b""
    rows, accepting, start = item.table.tolist(), item.accepting.tolist(), item.start

    def steps(place: _Place, column: int) -> Iterator[_Place]:
        phase, left, right = place
        left, right = rows[left][column], rows[right][column]
        if left == DEAD or right == DEAD:
            return
        if phase == _TOGETHER:
            yield _TOGETHER, left, right
            if accepting[left]:
                yield _APART, start, right
            return
        yield _APART, left, right
        if accepting[left]:
            yield _APART, start, right
        if accepting[right]:
            yield _APART, left, start
        if accepting[left] and accepting[right]:
            yield _DONE, DEAD, DEAD

    begin: _Place = (_TOGETHER, start, start)
    return _search([begin], steps, lambda p: p[0] == _DONE, _octets(item), limits)


def ambiguous_concatenation(first: Dfa, second: Dfa, limits: Limits) -> bytes | None:
    """A shortest text that is a member of ``first`` before one of ``second`` in two ways.

    None if there is none. ``limits.states`` bounds the pairs. Raises ``LimitError``.
    """
    head, tail = first.table.tolist(), second.table.tolist()
    octets = _octets(first, second)
    columns = list(octets)
    ends, lasts = first.accepting.tolist(), second.accepting.tolist()
    # Phases: both runs in ``first``; the left one in ``second``; both in ``second``.
    start: _Place = (0, first.start, first.start)
    seeds = [start, *([(1, second.start, first.start)] if ends[first.start] else [])]

    def steps(place: _Place, column: int) -> Iterator[_Place]:
        phase, left, right = place
        one, other = columns[column]
        left = head[left][one] if phase == 0 else tail[left][other]
        right = tail[right][other] if phase == 2 else head[right][one]
        if left == DEAD or right == DEAD:
            return
        yield phase, left, right
        if phase == 0 and ends[right]:
            yield 1, second.start, right
        if phase == 1 and ends[right]:
            yield 2, left, second.start

    def done(place: _Place) -> bool:
        return place[0] == 2 and lasts[place[1]] and lasts[place[2]]

    return _search(seeds, steps, done, octets, limits)


def _search(
    seeds: list[_Place],
    steps: _Steps,
    done: Callable[[_Place], bool],
    octets: Mapping[tuple[int, ...], int],
    limits: Limits,
) -> bytes | None:
    """The bytes on a shortest path to a place that is ``done``; None if there is none."""
    before: dict[_Place, tuple[_Place, int] | None] = dict.fromkeys(seeds)
    pending = deque(seeds)
    while pending:
        place = pending.popleft()
        for column, octet in enumerate(octets.values()):
            for following in steps(place, column):
                if following in before:
                    continue
                before[following] = (place, octet)
                limits.check_states(len(before), _STAGE)
                if done(following):
                    return _path_to(following, before)
                pending.append(following)
    return None


def _path_to(place: _Place, before: dict[_Place, tuple[_Place, int] | None]) -> bytes:
    path: list[int] = []
    while (step := before[place]) is not None:
        place, octet = step
        path.append(octet)
    return bytes(reversed(path))


def _octets(*machines: Dfa) -> dict[tuple[int, ...], int]:
    """The byte columns that differ in some machine, as one column of each, and for each of these a
    byte, one that can be read if there is any."""
    found: dict[tuple[int, ...], int] = {}
    for octet in range(256):
        key = tuple(int(machine.classes[octet]) for machine in machines)
        # Letters and digits make texts that are easier to read than control characters.
        if key not in found or (
            chr(octet).isalnum() and octet < 128 and not chr(found[key]).isalnum()
        ):
            found[key] = octet
    return found
