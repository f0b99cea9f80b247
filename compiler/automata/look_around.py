r"""Look-ahead and look-behind, anywhere in an expression: an NFA for the same texts without them.

    (?:(?!-)[a-z-]{1,63}(?<!-)\.)+   ->   a guard at the beginning and one at the end of each label

Each becomes a *guard*, an ε-edge that may be passed where the text around allows it. What is before
is followed from the beginning of the text, as the set of states in which the look-behind's own
automaton can be. What a look-ahead asks is owed from its place on: a state of the result has the
states in which the look-ahead's automaton can be, until it is met or has failed, and is final where
nothing is owed that the end of the text leaves open. (An automaton with look-ahead is alternating;
so it becomes nondeterministic: Chandra, Kozen and Stockmeyer 1981.) Looks inside of looks are
guards of their automata. Anchors and word boundaries beside them are looks at one character.

Where a look-ahead is open at the end of a match, an automaton may read on past that (``Followed``):

    0(?![1-9])   ->   0, and no match before a byte of [1-9]
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.memo import memoised

from ..limits import Limits
from .dfa import DEAD, Dfa, without_bytes
from .graphs import reached
from .minimize import minimize
from .nfa import Arc, Nfa, Origins
from .regex_ir import (
    EPSILON,
    EVERYTHING,
    And,
    Around,
    ByteClass,
    CharClass,
    Embedded,
    Lit,
    Look,
    LookKind,
    Node,
    Not,
    Repeat,
    byte_class,
    char_class,
    lit,
    repeat,
    seq,
    walk,
)
from .thompson import Fragment, Thompson
from .unicode_properties import class_ranges
from .utf8 import CodePoints

# What may be put into an expression at places that are looked for.
MARKS = (b"\xfe", b"\xff")

# A look that always holds: beside it assertions, too, see no marks.
SEEN = Around(True, False, EPSILON)

# All other bytes.
TEXT_BYTE = byte_class([(0, MARKS[0][0] - 1)])

ASCII_WORD: CodePoints = ((48, 57), (65, 90), (95, 95), (97, 122))

_MARK = MARKS[1][0]

_ANY_BYTES = Repeat(ByteClass(((0, 255),)), 0, None)

# Of a look's automaton that reads the text: a state, and what is owed there.
_Config: TypeAlias = tuple[int, "_Owed"]

# A look-ahead that is not decided: its number, whether it must fail, and where its automaton is.
_Debt: TypeAlias = tuple[int, bool, frozenset[_Config]]

_Owed: TypeAlias = frozenset[_Debt]

# Of each look-behind, where its automaton is.
_Past: TypeAlias = tuple[frozenset[_Config], ...]

_NOTHING: _Owed = frozenset()


class GuardedThompson(Thompson):
    """Thompson's construction with guards.

    ``guards[s]``: edges that leave s, each with looks that must hold there, (number, whether it
    must fail). ``looks``: of each look whether it is ahead, and its automaton. Looks inside of a
    look have smaller numbers. ``is_ascii``: what stands beside assertions is ASCII, so that words
    are, too, whose automata are then small.
    """

    def __init__(self, limits: Limits, *, is_ascii: bool = False) -> None:
        super().__init__(limits)
        self._is_ascii = is_ascii
        self.stage = "the assertions"
        self.guards: dict[int, list[tuple[tuple[tuple[int, bool], ...], int]]] = {}
        self.looks: list[tuple[bool, Fragment]] = []
        self._numbers: dict[tuple[bool, int], int] = {}

    def _compile_other(self, node: Look | And | Not | Around, origins: Origins) -> Fragment:
        start, end = self.new_state(), self.new_state()
        if isinstance(node, And | Not):
            raise TypeError("an operation around a look: resolve it first")
        if isinstance(node, Around):
            self.stage = "the look-around"
        for way in self._ways(node) if isinstance(node, Look) else ([node],):
            conditions = tuple((self._number(each), each.is_negative) for each in way)
            self.guards.setdefault(start, []).append((conditions, end))
        return Fragment(start, end)

    def _ways(self, look: Look) -> tuple[Sequence[Around], ...]:
        name = look.kind.name.removeprefix("ASCII_")
        is_word = self._is_ascii and "WORD" in name
        return as_around(LookKind[f"ASCII_{name}"] if is_word else look.kind)

    def _number(self, look: Around) -> int:
        key = look.is_ahead, id(look.node)
        if key not in self._numbers:
            if look.is_ahead:
                # After what is found anything may follow, and it stays found.
                fragment = self.compile(look.node)
                end = self.new_state()
                self.add_epsilon(fragment.end, end)
                self.add_arc(end, 0, 255, end, frozenset())
                fragment = Fragment(fragment.start, end)
            else:
                # Bytes have smaller automata where it is not seen that the text is of characters.
                before = _ANY_BYTES if is_ascii(look.node) else EVERYTHING
                fragment = self.compile(seq(before, look.node))
            self._numbers[key] = len(self.looks)
            self.looks.append((look.is_ahead, fragment))
        return self._numbers[key]


def without_look_around(
    builder: GuardedThompson,
    whole: Fragment,
    limits: Limits,
    around: tuple[str, str] = ("", ""),
) -> tuple[Nfa, bool]:
    """The texts of ``whole``, all of which its looks see, as what is ``around`` them, and whether
    one of them looks beyond the end of a text; ε-edges keep their order. Looks do not see the bytes
    ``MARKS``, which no text of UTF-8 has.

    Raises ``LimitError``.
    """
    return _Resolver(builder, whole, limits).run(*(text.encode("utf-8") for text in around))


class _Resolver:
    """A state of the result is one of the builder's automaton, what is before, and what is owed."""

    def __init__(self, builder: GuardedThompson, whole: Fragment, limits: Limits) -> None:
        self._nfa, self._guards, self._looks = builder.nfa, builder.guards, builder.looks
        self._whole, self._limits, self._stage = whole, limits, builder.stage
        borders = {0, 256}.union(*(_borders(arc) for arcs in self._nfa.arcs for arc in arcs))
        self._most = len(borders)
        self._unseen = {mark[0] for mark in MARKS if mark[0] in borders}
        self._ends = {fragment.end for _, fragment in self._looks}
        self._closures: dict[tuple[frozenset[_Config], _Past], frozenset[_Config]] = {}
        self._stepped: dict[tuple[_Past, int], _Past] = {}
        self._left: dict[tuple[_Owed, _Past, int], _Owed | None] = {}
        self._result = Nfa(rules=self._nfa.rules, arcs=[[]], epsilon=[[]])
        self._numbers: dict[tuple[int, _Past, _Owed], int] = {}
        self._pending: list[tuple[int, _Past, _Owed]] = []

    def run(self, before: bytes, behind: bytes) -> tuple[Nfa, bool]:
        """See ``without_look_around``."""
        begun: _Past = ()
        for is_ahead, look in self._looks:
            start = () if is_ahead else ((look.start, _NOTHING),)
            begun = (*begun, self._closure(start, begun))
        for octet in before:
            begun = self._after(begun, octet)
        result = self._result
        result.epsilon[0] = [self._number(self._whole.start, begun, _NOTHING)]
        while self._pending:
            state, past, owed = key = self._pending.pop()
            here = self._numbers[key]
            self._limits.check_states(len(result.arcs), self._stage, (), result.parts.get(here, ""))
            self._limits.check_resources(self._stage)
            result.epsilon[here] += [
                self._number(target, past, owed | more)
                for target, more in self._epsilon(state, past)
            ]
            for arc in self._nfa.arcs[state]:
                result.arcs[here] += self._arcs(arc, past, owed)
        ends = [(at, n) for at, n in self._numbers.items() if at[0] == self._whole.end]
        result.finals = frozenset(n for at, n in ends if self._holds_before(behind, *at[1:]))
        return result, any(owed for (*_, owed), _ in ends)

    def _number(self, state: int, past: _Past, owed: _Owed) -> int:
        key = state, past, owed
        if key not in self._numbers:
            self._numbers[key] = len(self._result.arcs)
            if state in self._nfa.parts:
                self._result.parts[len(self._result.arcs)] = self._nfa.parts[state]
            self._result.arcs.append([])
            self._result.epsilon.append([])
            self._pending.append(key)
        return self._numbers[key]

    def _arcs(self, arc: Arc, past: _Past, owed: _Owed) -> Iterator[Arc]:
        """An arc over the bytes that what is owed allows; neighbours that lead alike are one."""
        low, high, target, origins = arc
        first = last = -1
        cuts = self._cuts(past, owed)
        for octet in (low, *cuts[bisect_right(cuts, low) : bisect_right(cuts, high)]):
            after = self._after(past, octet)
            left = self._rest(owed, after, octet)
            number = -1 if left is None else self._number(target, after, left)
            if number != last:
                if last >= 0:
                    yield Arc(first, octet - 1, last, origins)
                first, last = octet, number
        if last >= 0:
            yield Arc(first, high, last, origins)

    @memoised
    def _cuts(self, past: _Past, owed: _Owed) -> list[int]:
        """The bytes at which something else begins for one of both."""
        unseen = (octet + i for octet in self._unseen for i in range(2))
        return sorted({*self._begins(past), *self._begins(owed), *unseen})

    def _epsilon(self, state: int, past: _Past) -> Iterator[tuple[int, _Owed]]:
        """Where the ε-edges of a state lead, and what is owed there."""
        for target in self._nfa.epsilon[state]:
            yield target, _NOTHING
        for conditions, target in self._guards.get(state, ()):
            ways = [self._met(look, must_fail, past) for look, must_fail in conditions]
            for way in product(*ways):
                yield target, _NOTHING.union(*way)

    def _met(self, look: int, must_fail: bool, past: _Past) -> list[_Owed]:
        """What may be owed where a look holds; nothing if it cannot."""
        is_ahead, fragment = self._looks[look]
        if is_ahead:
            begun = self._closure(((fragment.start, _NOTHING),), past)
            debt = self._settled((look, must_fail, begun))
            return [] if debt is None else [debt]
        found = [owed for state, owed in past[look] if state == fragment.end]
        if not must_fail:
            return [_NOTHING] if _NOTHING in found else found
        # Of each way in which it would be found, something that is owed must fail.
        return [
            frozenset((number, not negative, at) for number, negative, at in choice)
            for choice in product(*found)
        ]

    def _closure(self, configs: Iterable[_Config], past: _Past) -> frozenset[_Config]:
        key = frozenset(configs), past
        if key not in self._closures:
            self._closures[key] = self._closed(key[0], past)
        return self._closures[key]

    def _closed(self, configs: frozenset[_Config], past: _Past) -> frozenset[_Config]:
        def following(config: _Config) -> Iterator[_Config]:
            return ((to, config[1] | more) for to, more in self._epsilon(config[0], past))

        seen = reached(configs, following)
        return frozenset(c for c in seen if self._nfa.arcs[c[0]] or c[0] in self._ends)

    def _read(self, configs: frozenset[_Config], past: _Past, octet: int) -> frozenset[_Config]:
        """Where an automaton is after a byte; ``past``: what is before then."""
        found: list[_Config] = []
        for state, owed in configs:
            targets = [arc.target for arc in self._nfa.arcs[state] if arc.low <= octet <= arc.high]
            if targets and (left := self._rest(owed, past, octet)) is not None:
                found += ((target, left) for target in targets)
        return self._closure(found, past)

    @memoised
    def _begins(self, read: _Past | _Owed) -> list[int]:
        """The first bytes of intervals whose bytes all states of some configurations, and of what
        these owe, read alike."""
        begins = {0}
        pending = [read] if isinstance(read, tuple) else [tuple(c for *_, c in read)]
        for past in pending:
            for state, owed in (config for configs in past for config in configs):
                begins.update(*map(_borders, self._nfa.arcs[state]))
                if owed:
                    pending.append(tuple(configs for *_, configs in owed))
        return sorted(begins)

    def _alike(self, read: _Past | _Owed, octet: int) -> int:
        begins = self._begins(read)
        return begins[bisect_right(begins, octet) - 1]

    def _after(self, past: _Past, octet: int) -> _Past:
        if octet in self._unseen:
            return past
        key = past, self._alike(past, octet)
        if key not in self._stepped:
            after: _Past = ()
            for configs in past:
                after = (*after, self._read(configs, after, octet))
            self._limits.check_states(len(self._stepped) // self._most, self._stage)
            self._stepped[key] = after
        return self._stepped[key]

    def _rest(self, owed: _Owed, past: _Past, octet: int) -> _Owed | None:
        """What is owed after a byte; None if something has failed."""
        if not owed or octet in self._unseen:
            return owed
        key = owed, past, self._alike(owed, octet)
        if key not in self._left:
            left: _Owed | None = _NOTHING
            for look, must_fail, configs in owed:
                debt = self._settled((look, must_fail, self._read(configs, past, octet)))
                left = None if left is None or debt is None else left | debt
            self._left[key] = left
        return self._left[key]

    def _settled(self, debt: _Debt) -> _Owed | None:
        """The debt, nothing where it is met already, None where it has failed."""
        look, must_fail, configs = debt
        if not configs:
            return _NOTHING if must_fail else None
        if (self._looks[look][1].end, _NOTHING) in configs:
            return None if must_fail else _NOTHING
        return frozenset([debt])

    def _holds_before(self, behind: bytes, past: _Past, owed: _Owed | None) -> bool:
        """Whether what is owed holds where only these bytes follow."""
        for octet in behind:
            past = self._after(past, octet)
            owed = owed and self._rest(owed, past, octet)
        return owed is not None and self._holds_at_end(owed)

    def _holds_at_end(self, owed: _Owed) -> bool:
        """Whether what is owed holds where the text ends."""
        return all(
            must_fail
            != any(
                state == self._looks[look][1].end and self._holds_at_end(more)
                for state, more in configs
            )
            for look, must_fail, configs in owed
        )


def _borders(arc: Arc) -> tuple[int, int]:
    """Where its bytes begin, and those after them."""
    return arc.low, arc.high + 1


def _look(ranges: CodePoints, is_ahead: bool, is_negative: bool) -> Around:
    return Around(is_ahead, is_negative, _one_of(ranges))


@cache
def _one_of(ranges: CodePoints) -> Node:
    """One of some characters; of bytes where no other character has such bytes."""
    return char_class(ranges) if ranges[-1][1] > 0xFF else ByteClass(ranges)


def _words(ranges: CodePoints, before: bool | None, behind: bool | None) -> list[Around]:
    """Whether a word's character stands on either side; None: that does not matter."""
    sides = ((False, before), (True, behind))
    return [_look(ranges, ahead, not has) for ahead, has in sides if has is not None]


_ANY: CodePoints = ((0, 255),)
_LF: CodePoints = ((10, 10),)
_CR: CodePoints = ((13, 13),)
_NOT_LF: CodePoints = ((0, 9), (11, 255))
_NOT_CR: CodePoints = ((0, 12), (14, 255))

# Bytes that no character begins with, and those that none ends with.
_NO_FIRST: CodePoints = ((0x80, 0xC1), (0xF5, 0xFF))
_NO_LAST: CodePoints = ((0xC0, 0xFF),)


@cache
def as_around(kind: LookKind) -> tuple[Sequence[Around], ...]:
    """An assertion as alternatives of looks, all of which must hold, at one character."""
    is_plain = kind.name.startswith("ASCII")
    word = ASCII_WORD if is_plain else class_ranges("word")
    # Inside a character, or beside what is none, there is neither one of a word nor another one.
    whole = [] if is_plain else [_look(_NO_FIRST, True, True), _look(_NO_LAST, False, True)]
    match kind.name.removeprefix("ASCII_"):
        case "START_TEXT":
            return ([_look(_ANY, False, True)],)
        case "END_TEXT":
            return ([_look(_ANY, True, True)],)
        case "START_LINE":
            return ([_look(_NOT_LF, False, True)],)
        case "END_LINE":
            return ([_look(_NOT_LF, True, True)],)
        case "START_CRLF_LINE":
            behind_cr = [_look(_CR, False, False), _look(_LF, True, True)]
            return [_look(_NOT_LF, False, True)], behind_cr
        case "END_CRLF_LINE":
            before_lf = [_look(_LF, True, False), _look(_CR, False, True)]
            return [_look(_NOT_CR, True, True)], before_lf
        case "WORD":
            return _words(word, True, False), _words(word, False, True)
        case "NOT_WORD":
            return _words(word, True, True), [*_words(word, False, False), *whole]
        case "WORD_START":
            return (_words(word, False, True),)
        case "WORD_END":
            return (_words(word, True, False),)
        case "WORD_START_HALF":
            return ([*_words(word, False, None), *whole],)
        case _:
            return ([*_words(word, None, False), *whole],)


def is_ascii(node: Node) -> bool:
    """Whether an expression reads ASCII, or bytes."""
    for part in walk(node):
        match part:
            case CharClass(ranges) if ranges[-1][1] > 0x7F:
                return False
            case Lit(data) if not data.isascii():
                return False
            case Embedded():
                return False
    return True


@dataclass(frozen=True, eq=False)
class Followed:
    """``whole``: the minimal DFA of m MARK where m matches at the end of the text, and of
    m MARK b where it matches before byte b and nothing else."""

    whole: Dfa

    @cached_property
    def _marked(self) -> NDArray[np.int32]:
        """Where the mark leads from each state: int32 (S,)."""
        column: NDArray[np.int32] = self.whole.table[:, self.whole.classes[_MARK]]
        return column

    @cached_property
    def dfa(self) -> Dfa:
        """The minimal DFA of all that matches before something, or at the end of the text."""
        return self._unmarked(self._ends)

    @cached_property
    def at_end(self) -> Dfa:
        """The minimal DFA of all that matches at the end of the text."""
        return self._unmarked(self.whole.accepting[self._marked])

    def _unmarked(self, accepting: NDArray[np.bool_]) -> Dfa:
        table = np.where(self._marked[:, None] == self.whole.table, DEAD, self.whole.table)
        return minimize(replace(self.whole, table=table, accepting=accepting, is_trimmed=False))

    @property
    def _ends(self) -> NDArray[np.bool_]:
        ends: NDArray[np.bool_] = self._marked != DEAD
        return ends

    @cached_property
    def refusing(self) -> Dfa:
        """The same as ``dfa`` with one more state, the last, which is no end and leads nowhere:
        there bytes lead that may not follow. Not minimal."""
        octets = self.whole.table[:, self.whole.classes]
        octets[:, MARKS[0][0] :] = DEAD
        states = list(reached([self.whole.start], lambda s: np.unique(octets[s]).tolist()))
        states = [DEAD, *(state for state in states if state != DEAD)]
        numbers = np.zeros(len(octets), dtype=np.int32)
        numbers[states] = np.arange(len(states))
        ends, behind = self._ends[states], self._marked[states]
        table = np.zeros((len(states) + 1, 256), dtype=np.int32)
        table[:-1] = numbers[octets[states]]
        follows = self.whole.table[behind][:, self.whole.classes] != DEAD
        follows[:, MARKS[0][0] :] = True
        table[:-1][ends[:, None] & ~follows & (table[:-1] == DEAD)] = len(states)
        origins = (frozenset[int](),) * len(table)
        accepting = np.append(ends, False)
        _, first, classes = np.unique(table, axis=1, return_index=True, return_inverse=True)
        return Dfa(table[:, first], classes.reshape(-1).astype(np.uint8), accepting, 1, origins)

    def without_bytes(self, missing: NDArray[np.bool_]) -> "Followed":
        """What has none of the bytes ``missing``, bool (256,), before the mark or after it."""
        left = missing.copy()
        left[_MARK] = False
        return Followed(minimize(without_bytes(self.whole, left)))


def marked(node: Node) -> Node:
    """What a regex matches, the mark, which looks do not see, and the byte after it, if any."""
    return seq(node, SEEN, lit(MARKS[1]), repeat(TEXT_BYTE, 0, 1))
