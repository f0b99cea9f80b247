"""What stands on both sides of a place, as far as assertions ask.

Characters fall into classes; class 0 is the edge of the text, where there is none. An assertion
is then a set of pairs (class before, class behind). ``without_guards`` takes an automaton
whose edges are guarded by such sets, and gives a plain one: it runs the automaton side by
side with one that remembers the class of the last character and guesses that of the next,
and then reads only characters of the class it guessed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..limits import Limits
from . import utf8
from .code_points import ANY, CodePoints, complement, intersection
from .nfa import Arc, Nfa
from .nodes import LookKind
from .unicode import code_points

EDGE = 0

Pairs = frozenset[tuple[int, int]]

_STAGE = "the assertions"
_CR, _LF = "carriage return", "line feed"
_ASCII_SETS: Mapping[str, CodePoints] = {
    _CR: ((13, 13),),
    _LF: ((10, 10),),
    "ascii word": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
_CLOCK_STRIDE = 4096


@dataclass(slots=True, eq=False)
class GuardedNfa:
    """``guards[s]``: edges that leave s, with the pairs at which they may be taken."""

    nfa: Nfa
    guards: dict[int, list[tuple[Pairs, int]]] = field(default_factory=dict)


class Contexts:
    """The classes that a set of assertions tells apart.

    ``edges[c]``: the byte automaton of class c as ``utf8.automaton`` gives it. If all classes
    differ in ASCII only, a byte is a class's by itself, and a text need not be UTF-8.
    """

    def __init__(self, kinds: Iterable[LookKind]) -> None:
        asked = {name for kind in kinds for name in _asked(kind)}
        self._sets: list[frozenset[str]] = [frozenset()]
        self.edges: list[list[tuple[int, int, int, int]]] = [[]]
        pieces: list[tuple[frozenset[str], CodePoints]] = [(frozenset(), ANY)]
        for name in sorted(asked):
            members = _members(name)
            others = intersection(complement(members), ANY)
            pieces = [
                (names | extra, both)
                for names, ranges in pieces
                for extra, side in ((frozenset([name]), members), (frozenset(), others))
                if (both := intersection(ranges, side))
            ]
        for names, ranges in pieces:
            self._sets.append(names)
            if "word" in asked:
                self.edges.append(utf8.automaton(ranges))
            else:
                low_ranges = [(low, high) for low, high in ranges if low < 0x80]
                self.edges.append([(0, a, b if b < 0x80 else 0xFF, 1) for a, b in low_ranges])

    @property
    def classes(self) -> range:
        """All classes, the edge too."""
        return range(len(self._sets))

    def pairs(self, kind: LookKind) -> Pairs:
        """Where an assertion holds."""
        return frozenset(
            (before, behind)
            for before in self.classes
            for behind in self.classes
            if self._holds(kind, before, behind)
        )

    def before(self, cls: int) -> Pairs:
        """Places behind a character of a class."""
        return frozenset((cls, behind) for behind in self.classes)

    def behind(self, cls: int) -> Pairs:
        """Places in front of a character of a class."""
        return frozenset((before, cls) for before in self.classes)

    def _holds(self, kind: LookKind, before: int, behind: int) -> bool:
        last, first = self._sets[before], self._sets[behind]
        left, right = (any(name in side for name in _asked(kind)) for side in (last, first))
        match kind.name.removeprefix("ASCII_"):
            case "START_TEXT":
                return before == EDGE
            case "END_TEXT":
                return behind == EDGE
            case "START_LINE":
                return before == EDGE or left
            case "END_LINE":
                return behind == EDGE or right
            case "START_CRLF_LINE":
                return before == EDGE or (left and not (_CR in last and _LF in first))
            case "END_CRLF_LINE":
                return behind == EDGE or (right and not (_CR in last and _LF in first))
            case "WORD":
                return left != right
            case "NOT_WORD":
                return left == right
            case "WORD_START":
                return right and not left
            case "WORD_END":
                return left and not right
            case "WORD_START_HALF":
                return not left
            case _:
                return not right


def without_guards(
    guarded: GuardedNfa, contexts: Contexts, before: int, behind: int, limits: Limits
) -> Nfa:
    """What the automaton reads between a character of class ``before`` and one of ``behind``.

    A state of the result is (state, class before, class behind, node): node is 0 between two
    characters, else where in the byte automaton of the guessed class; the class before is
    not needed there. Raises ``LimitError``.
    """
    source = guarded.nfa
    by_node = [_by_source(edges) for edges in contexts.edges]
    result = Nfa(rules=source.rules, arcs=[[]], epsilon=[[]])
    numbers: dict[tuple[int, int, int, int], int] = {}
    pending: list[tuple[int, int, int, int]] = []

    def number(state: int, left: int, right: int, node: int) -> int:
        key = (state, left, right, node)
        if key not in numbers:
            numbers[key] = len(result.arcs)
            if state in source.parts:
                result.parts[numbers[key]] = source.parts[state]
            result.arcs.append([])
            result.epsilon.append([])
            pending.append(key)
        return numbers[key]

    result.epsilon[0] = [number(source.start, before, c, 0) for c in contexts.classes]
    while pending:
        state, left, right, node = key = pending.pop()
        here = numbers[key]
        limits.check_states(len(result.arcs), _STAGE, (), result.parts.get(here, ""))
        if here % _CLOCK_STRIDE == 0:
            limits.check_time(_STAGE)
        result.epsilon[here] += [number(t, left, right, node) for t in source.epsilon[state]]
        if node == 0:
            for pairs, target in guarded.guards.get(state, ()):
                if (left, right) in pairs:
                    result.epsilon[here].append(number(target, left, right, node))
        for arc in source.arcs[state]:
            for low, high, inner in by_node[right].get(node, ()):
                low, high = max(low, arc.low), min(high, arc.high)
                if low > high:
                    continue
                following = (
                    [number(arc.target, right, c, 0) for c in contexts.classes]
                    if inner == 1
                    else [number(arc.target, EDGE, right, inner)]
                )
                result.arcs[here] += [Arc(low, high, t, arc.origins) for t in following]
    result.finals = frozenset(
        place
        for (state, _, right, node), place in numbers.items()
        if state in source.finals and node == 0 and right == behind
    )
    return result


def _by_source(
    edges: Sequence[tuple[int, int, int, int]],
) -> Mapping[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    for source, low, high, target in edges:
        found.setdefault(source, []).append((low, high, target))
    return found


def _asked(kind: LookKind) -> tuple[str, ...]:
    """What an assertion asks of a character, besides whether there is one."""
    if kind.name.startswith("ASCII"):
        return ("ascii word",)
    if "WORD" in kind.name:
        return ("word",)
    if kind.name.endswith("CRLF_LINE"):
        return (_CR, _LF)
    return (_LF,) if kind.name.endswith("LINE") else ()


def _members(name: str) -> CodePoints:
    return code_points("word") if name == "word" else _ASCII_SETS[name]
