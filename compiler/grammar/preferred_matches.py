"""What a backtracking search takes of a text: the matches that ``re.match`` prefers.

    /\\*.*?\\*/   ->   texts with one ``*/``, at their end          a|ab   ->   a

A backtracking search tries options in an order: the first alternative first, and once more before
no more, or, where a quantifier is lazy, no more before once more. It takes the first match in
that order, not the longest. A Pike VM (Thompson's NFA, its states in that order; R. Cox, "Regular
Expression Matching: the Virtual Machine Approach", 2009) finds the same one without going back:
as soon as a thread matches, those after it are cut off, and a later match of a thread before it
takes the earlier one's place. Made deterministic, with ordered lists of states in the place of
sets, that is an automaton whose *longest* accepted prefix of a text is the match. So a lexer that
takes the longest lexeme reads its language as Python reads the regex. Look-around is part of the
states. Where a look-ahead is open at the end of a match, the byte after decides whether it is one,
and so whether it cuts off what is after it.
"""

from collections.abc import Generator, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..automata.determinize import byte_intervals
from ..automata.dfa import Dfa
from ..automata.look_around import MARKS, Followed, GuardedThompson, marked, without_look_around
from ..automata.minimize import explored
from ..automata.nfa import Nfa
from ..automata.regex_ir import Node, Optional, Repeat
from ..automata.thompson import Fragment
from ..limits import Limits

_STAGE = "the automaton of a lazy terminal"

# NFA states in the order of a search, without those that only lead on by ε.
_Threads = tuple[int, ...]


def preferred_matches(node: Node, limits: Limits | None = None) -> Dfa | Followed:
    """The minimal DFA whose longest accepted prefix of a text is what ``re.match`` finds; where a
    look-ahead is open at an end, one that is not longer than what the byte after decides.

    ``node`` has no intersections and complements. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    builder = _OrderedThompson(limits)
    whole = builder.compile(node)
    nfa = builder.finish(whole)
    if builder.guards:
        nfa, is_open = without_look_around(builder, whole, limits)
        if is_open:
            return _followed(node, limits)
    classes, octets = _byte_classes(nfa)

    def row(threads: _Threads) -> list[_Threads]:
        return [_threads(nfa, _read(nfa, threads, octet)) for octet in octets]

    def accepts(threads: _Threads) -> bool:
        return not nfa.finals.isdisjoint(threads)

    start = _threads(nfa, [nfa.start])
    return explored(start, (), row, accepts, classes, limits, _STAGE)


def _followed(node: Node, limits: Limits) -> Followed:
    """The same where the byte after a match matters."""
    builder = _OrderedThompson(limits)
    nfa, _ = without_look_around(builder, builder.compile(marked(node)), limits)
    mark = MARKS[1][0]
    classes, octets = _byte_classes(nfa)
    start = _threads(nfa, [nfa.start])
    # After a mark there are the bytes that may follow, and nothing.
    end: _Threads = (-1,)
    nothing: _Threads = ()

    def row(threads: _Threads) -> list[_Threads]:
        targets = []
        behind = [] if threads is end else [_threads(nfa, _read(nfa, [s], mark)) for s in threads]
        for octet in octets:
            if threads is end:
                target = nothing
            elif octet == mark:
                target = tuple(dict.fromkeys(s for after in behind for s in after))
            else:
                target = _threads(nfa, _read(nfa, threads[: _cut(nfa, behind, octet)], octet))
                if target and not nfa.finals.isdisjoint(target):
                    target = end
            targets.append(target)
        return targets

    def accepts(threads: _Threads) -> bool:
        return threads is end or not nfa.finals.isdisjoint(threads)

    return Followed(explored(start, nothing, row, accepts, classes, limits, _STAGE))


def _cut(nfa: Nfa, behind: Sequence[_Threads], octet: int) -> int | None:
    """How many threads a search follows before a byte: those in front of the first match that it
    may follow."""
    for place, after in enumerate(behind):
        if any(True for _ in _read(nfa, after, octet)):
            return place
    return None


class _OrderedThompson(GuardedThompson):
    """Thompson's construction with the ε edges of a state in the order in which a search tries
    them; an iteration that reads nothing ends a repetition, as in Python."""

    def _compile_optional(self, node: Optional) -> Generator[Node, Fragment, Fragment]:
        return (yield from self._compile_repeat(Repeat(node.node, 0, 1)))

    def _compile_repeat(self, node: Repeat) -> Generator[Node, Fragment, Fragment]:
        start = cursor = self.new_state()
        for _ in range(node.min_times):
            fragment = yield node.node
            self.add_epsilon(cursor, fragment.start)
            cursor = fragment.end
        end = self.new_state()
        if node.max_times is None:
            fragment = yield node.node
            # Not back to where the loop began: x* is (x+)?, so that ε as a first iteration ends it.
            self._choose(cursor, fragment.start, end, node.lazy)
            self._choose(fragment.end, fragment.start, end, node.lazy)
            return Fragment(start, end)
        for _ in range(node.max_times - node.min_times):
            fragment = yield node.node
            self._choose(cursor, fragment.start, end, node.lazy)
            cursor = fragment.end
        self.add_epsilon(cursor, end)
        return Fragment(start, end)

    def _choose(self, source: int, more: int, end: int, lazy: bool) -> None:
        for target in (end, more) if lazy else (more, end):
            self.add_epsilon(source, target)


def _threads(nfa: Nfa, states: Iterable[int]) -> _Threads:
    """The states that ``states`` lead to by ε, in the order of a search, up to a final one."""
    seen: set[int] = set()
    found: list[int] = []
    for first in states:
        pending = [first]
        while pending:
            state = pending.pop()
            if state in seen:
                continue
            seen.add(state)
            if state in nfa.finals:
                return (*found, state)
            if nfa.arcs[state]:
                found.append(state)
            pending.extend(reversed(nfa.epsilon[state]))
    return tuple(found)


def _read(nfa: Nfa, threads: Sequence[int], octet: int) -> Iterable[int]:
    for state in threads:
        for arc in nfa.arcs[state]:
            if arc.low <= octet <= arc.high:
                yield arc.target


def _byte_classes(nfa: Nfa) -> tuple[NDArray[np.uint8], list[int]]:
    """Bytes that no edge tells apart share a column: the columns, and a byte of each."""
    classes = np.array(byte_intervals(nfa), dtype=np.uint8)
    return classes, np.unique(classes, return_index=True)[1].tolist()
