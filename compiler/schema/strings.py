"""Automata of strings: of the text that one stands for, and of the JSON that writes it.

    literal, one_of, lengths    decoded texts, in UTF-8
    as_json                     decoded texts -> "…", with the escapes of each character
    character, free             any character, any string, with any escape

Decoded languages are what Boolean operations are about; JSON has several spellings of a text. A
character is written as itself where JSON allows that, or by an escape as far as ``SchemaOptions``'
``escapes`` has them. ``character`` and ``free`` have all escapes, without lone surrogates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..automata import regex_ir as ir
from ..automata.dfa import DEAD, Dfa, nothing, trimmed
from ..automata.dfa import literal as dfa_literal
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..automata.utf8 import ANY, complement, intersection
from ..limits import Limits
from .options import ANY_ESCAPES, SHORTEST, USUAL

# States, or edges to them, of any shape; 0 is dead.
_States: TypeAlias = NDArray[np.int32]
_Numbers: TypeAlias = _States | NDArray[np.intp]

_STAGE = "the automaton of a string"

# Automata that are kept.
_KEPT = 512

# The bytes of UTF-8 by what they may follow: the first byte of each class, and the classes in order
# of these. The fifth is of bytes that UTF-8 does not have.
_FIRST_BYTES = (0, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5)
_UTF8_CLASSES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 9, 10, 11, 4)

# One character: where each class leads from its start and from the seven states inside it, as
# numbers of these states. 0 is the state after the character, -1 the dead one.
_CHARACTER = np.array(
    [
        [0, -1, -1, -1, -1, 1, 2, 3, 4, 5, 6, 7],
        [-1, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1],  # the last byte follows
        [-1, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1],  # after E0
        [-1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1],  # the last two bytes follow
        [-1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1],  # after ED
        [-1, -1, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1],  # after F0
        [-1, 3, 3, 3, -1, -1, -1, -1, -1, -1, -1, -1],  # the last three bytes follow
        [-1, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],  # after F4
    ]
)
_PER_CHARACTER = len(_CHARACTER)

_QUOTE, _BACKSLASH = 0x22, 0x5C

# The letters of short escapes, and what they stand for.
_LETTERS, _MEANT = b'"\\/bfnrt', b'"\\/\b\f\n\r\t'

# The bytes of each hexadecimal digit.
_HEX = tuple(frozenset(f"{digit:x}{digit:X}".encode()) for digit in range(16))


def literal(text: str) -> Dfa:
    """One decoded text, the empty one too. Raises ``UnicodeEncodeError`` for a lone surrogate."""
    data = text.encode("utf-8")
    return dfa_literal(data) if data else lengths(0, 0)


@lru_cache(_KEPT)
def one_of(texts: frozenset[str], limits: Limits | None = None) -> Dfa:
    """Some decoded texts. Raises ``LimitError``, and ``UnicodeEncodeError`` for a lone surrogate.

    They are sorted and become a trie, whose nodes are joined from its leaves on: two are equivalent
    if both or neither end a text and the same bytes lead to equivalent ones (Revuz 1992).
    """
    limits = (limits or Limits()).started()
    words = sorted(text.encode("utf-8") for text in texts)
    if len(words) < 2:
        return literal(words[0].decode("utf-8")) if words else nothing()
    trie = _Trie(words, limits)
    classes = trie.classes(limits)
    octets = np.unique(trie.octets)
    states = int(classes.max()) + 1
    limits.check_states(states, _STAGE)
    limits.check_allocation(states * (len(octets) + 1) * 8, _STAGE)
    # The first column is of bytes that no text has.
    columns = np.zeros(256, dtype=np.uint8)
    columns[octets] = np.arange(1, len(octets) + 1)
    table = np.zeros((states, len(octets) + 1), dtype=np.int32)
    table[classes[trie.parents], columns[trie.octets]] = classes[1:]
    accepting = np.zeros(states, dtype=np.bool_)
    accepting[classes[trie.ends]] = True
    if len(octets) == 256:
        table, columns = table[:, 1:], columns - 1
    whole = Dfa(table, columns, accepting, int(classes[0]), (frozenset(),) * states)
    return trimmed(whole, limits)


@lru_cache(_KEPT)
def lengths(least: int, most: int | None, limits: Limits | None = None) -> Dfa:
    """Decoded texts of ``least`` to ``most`` characters (code points; None: any number of them).

    Minimal, eight states a character. Raises ``LimitError``, and ``ValueError`` where ``most`` is
    below ``least``.
    """
    if most is not None and most < least:
        raise ValueError(f"no text has between {least} and {most} characters")
    count = max(least, 1) if most is None else most
    # Any number of characters alone have no state after the first one but the start.
    is_any = least == 0 and most is None
    size = 2 + _PER_CHARACTER * count - is_any
    limits = limits or Limits()
    limits.check_states(size, _STAGE)
    limits.check_allocation(size * _CHARACTER.shape[1] * 4, _STAGE)
    # The start is state 1. For each character there follow the state after it and those inside
    # it, in the order in which a search from the start meets them.
    inside = 2 + np.arange(count * _PER_CHARACTER).reshape(count, _PER_CHARACTER) - is_any
    starts = np.append(1, inside[:, 0])
    table = np.zeros((size, _CHARACTER.shape[1]), dtype=np.int32)
    targets = np.where(_CHARACTER < 0, DEAD, inside[:, _CHARACTER])
    table[inside[:, 1:]] = targets[:, 1:]
    table[starts[:count]] = targets[:, 0]
    if most is None:
        table[starts[-1]] = targets[-1, 0]
    classes = np.repeat(_UTF8_CLASSES, np.diff([*_FIRST_BYTES, 256])).astype(np.uint8)
    accepting = np.zeros(size, dtype=np.bool_)
    accepting[starts[least:]] = True
    if count == 0:
        table, classes = table[:, :1], np.zeros(256, dtype=np.uint8)
    return Dfa(table, classes, accepting, 1, (frozenset(),) * size, is_trimmed=True)


@lru_cache(_KEPT)
def character(ascii: bool = False) -> Dfa:  # noqa: A002
    """One character as it may stand inside a JSON string, with any escape.

    ``ascii``: characters beyond ASCII are written by ``\\uXXXX`` alone.
    """
    return minimal(thompson(_character(ascii)))


@lru_cache(_KEPT)
def free(ascii: bool = False) -> Dfa:  # noqa: A002
    """Any JSON string, quotes included; ``ascii`` as for ``character``."""
    quote = ir.lit(b'"')
    return minimal(thompson(ir.seq(quote, ir.repeat(_character(ascii), 0, None), quote)))


def _character(is_ascii: bool) -> ir.Node:
    raw = intersection(complement([(0, 0x1F), (_QUOTE, _QUOTE), (_BACKSLASH, _BACKSLASH)]), ANY)
    raw = intersection(raw, [(0, 0x7F)]) if is_ascii else raw

    def digits(low: int, high: int, times: int = 1) -> ir.Node:
        octets = [(octet, octet) for digit in _HEX[low : high + 1] for octet in digit]
        return ir.repeat(ir.byte_class(octets), times, times)

    d, any_two = digits(13, 13), digits(0, 15, 2)
    unit = ir.alt(
        ir.seq(ir.alt(digits(0, 12), digits(14, 15)), digits(0, 15), any_two),
        ir.seq(d, digits(0, 7), any_two),
        ir.seq(d, digits(8, 11), any_two, ir.lit(rb"\u"), d, digits(12, 15), any_two),
    )
    short = ir.byte_class([(octet, octet) for octet in _LETTERS])
    escape = ir.seq(ir.lit(b"\\"), ir.alt(short, ir.seq(ir.lit(b"u"), unit)))
    return ir.alt(ir.char_class(raw), escape)


@lru_cache(_KEPT)
def as_json(
    dfa: Dfa,
    ascii: bool = False,  # noqa: A002
    escapes: str = USUAL,
    limits: Limits | None = None,
    *,
    is_fixed: bool = False,
) -> Dfa:
    """The JSON strings, quotes included, of decoded texts (UTF-8): each in all spellings that the
    options of these names allow.

    ``ascii``: characters beyond ASCII are written by ``\\uXXXX`` alone, those beyond U+FFFF by two
    of them. ``is_fixed``: the schema says these texts one by one, so that a choice of spellings is
    one that nobody else has. Minimal if ``dfa`` is. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    if dfa.is_empty:
        return dfa
    written = _Written(dfa, ascii, escapes, is_fixed=is_fixed)
    limits.check_allocation(dfa.states * len(written.first_bytes) * 8, _STAGE)
    limits.check_allocation(len(written.escaped) * _ESCAPED_BYTES, _STAGE)
    return written.automaton(limits)


# What the escapes after one state take.
_ESCAPED_BYTES = 4 * 64 * 40


class _Trie:
    """The trie of sorted, distinct words; node 0 is the root.

    ``parents``, ``octets``: of each node after the root its parent, which has a smaller number,
    and the byte that leads to it, (nodes - 1,). ``ends``: the node of each word.
    """

    def __init__(self, words: Sequence[bytes], limits: Limits) -> None:
        lengths = [len(word) for word in words]
        shared = [0, *map(_shared, words, words[1:])]
        # A word adds a node for each byte after what it shares with the one before.
        added = np.array(lengths) - shared
        firsts = np.cumsum(added) - added + 1
        size = int(added.sum()) + 1
        limits.check_allocation(size * 40, _STAGE)
        self.parents = np.arange(size - 1)
        fresh = [word[start:] for word, start in zip(words, shared, strict=True)]
        self.octets = np.frombuffer(b"".join(fresh), dtype=np.uint8)
        # The words along whose nodes the last one runs: from which depth, from which node.
        path: list[tuple[int, int]] = []
        parents = []
        for depth, first in zip(shared, firsts.tolist(), strict=True):
            while path and path[-1][0] >= depth:
                path.pop()
            parents.append(path[-1][1] + depth - path[-1][0] - 1 if depth else 0)
            path.append((depth, first))
        # The empty word, which is the first, adds none.
        adds = added > 0
        self.parents[firsts[adds] - 1] = np.array(parents)[adds]
        self.ends = firsts + added - 1

    def classes(self, limits: Limits) -> _States:
        """For each node the class of equivalent ones, from 1 on, int32."""
        size = len(self.parents) + 1
        counts = np.bincount(self.parents, minlength=size)
        # Nodes are listed by their parents, so those of one stand together.
        children = np.argsort(self.parents, kind="stable") + 1
        begins = (np.cumsum(counts) - counts).tolist()
        listed, octets = children.tolist(), [0, *self.octets.tolist()]
        is_end = bytearray(size)
        for node in self.ends.tolist():
            is_end[node] = 1
        classes = [0] * size
        numbers: dict[int | tuple[int, ...], int] = {}
        # Backwards: children have larger numbers.
        for node, count in zip(range(size - 1, -1, -1), reversed(counts.tolist()), strict=True):
            begin = begins[node]
            key: int | tuple[int, ...] = -1
            if count == 1:
                child = listed[begin]
                key = classes[child] << 9 | octets[child] << 1 | is_end[node]
            elif count:
                inside = listed[begin : begin + count]
                key = (is_end[node], *(classes[child] << 8 | octets[child] for child in inside))
            classes[node] = numbers.setdefault(key, len(numbers) + 1)
            if node % _STRIDE == 0:
                limits.check_resources(_STAGE)
        return np.array(classes, dtype=np.int32)


# Nodes between two looks at the clock.
_STRIDE = 4096


def _shared(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(left), len(right)))


@dataclass(slots=True, eq=False)
class _Rows:
    """States that are added: ``edges``, for each group of them the columns as sets of bytes and
    int32 (n, columns), targets. No two of a group are the same."""

    count: int
    edges: list[tuple[Sequence[frozenset[int]], _States]] = field(default_factory=list)

    def states_of(self, rows: _States, octets: Sequence[frozenset[int]]) -> _States:
        """A state for each row (..., n) of targets, one for equal ones, over n sets of bytes; dead
        if all targets are. Shape (...)."""
        flat = rows.reshape(-1, rows.shape[-1])
        found = np.zeros(len(flat), dtype=np.int32)
        live = np.flatnonzero(flat.any(axis=1))
        if len(live):
            numbers, first = _numbered(flat[live])
            found[live] = numbers + self.count
            self.edges.append((octets, flat[live][first]))
            self.count += len(first)
        return found.reshape(rows.shape[:-1])


def _numbered(rows: _States) -> tuple[_States, list[int]]:
    """The number of each row (n, k), one for equal ones, int32 (n,), and the first row of each."""
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    first: dict[bytes, int] = {}
    places = range(0, len(data), width)
    met = [first.setdefault(data[place : place + width], place // width) for place in places]
    number = {place: i for i, place in enumerate(first.values())}
    return np.array([number[place] for place in met], dtype=np.int32), [*number]


class _Written:
    """Makes the automaton of the JSON strings that write the texts of another.

    States 0 to S - 1 are those of the texts, between two characters or, without ``ascii``, inside
    one; the others are inside an escape. ``escaped``: the states after which a character may stand
    that is written by ``\\uXXXX``.
    """

    def __init__(self, dfa: Dfa, is_ascii: bool, escapes: str, *, is_fixed: bool) -> None:
        self._dfa = dfa
        self._rows = _Rows(dfa.states)
        has_slash = escapes == ANY_ESCAPES or (escapes == USUAL and not is_fixed)
        self._letters = _LETTERS if has_slash else _LETTERS.replace(b"/", b"")
        self._is_beyond = is_ascii or escapes != SHORTEST
        coded = bytes(range(0x20)) + (b"\x7f" if self._is_beyond else b"")
        self._coded = _marked(bytes(range(0x80)) if escapes == ANY_ESCAPES else coded)
        firsts = [*np.flatnonzero(self._coded), *(range(0xC2, 0xF5) if self._is_beyond else ())]
        self.escaped = np.flatnonzero(dfa.table[:, np.unique(dfa.classes[firsts])].any(axis=1))
        raw = _RAW_ASCII if is_ascii else _RAW
        # Columns: bytes that the texts do not distinguish, nor the escapes.
        keys = np.where(raw, dfa.classes + 1, 0).astype(np.int32) * 256 + _SPECIAL
        _, self.first_bytes, self._classes = np.unique(keys, return_index=True, return_inverse=True)
        self._raw = raw[self.first_bytes]

    def automaton(self, limits: Limits) -> Dfa:
        """The automaton."""
        dfa, rows = self._dfa, self._rows
        escapes = self._escapes()
        limits.check_resources(_STAGE)
        start, end = rows.count, rows.count + 1
        table = np.zeros((rows.count + 2, len(self.first_bytes)), dtype=np.int32)
        table[: dfa.states] = np.where(self._raw, dfa.table[:, dfa.classes[self.first_bytes]], DEAD)
        table[: dfa.states, self._classes[_BACKSLASH]] = escapes
        table[: dfa.states, self._classes[_QUOTE]] = np.where(dfa.accepting, end, DEAD)
        table[start, self._classes[_QUOTE]] = dfa.start
        place = dfa.states
        for octets, targets in rows.edges:
            for column, group in enumerate(octets):
                for octet in group:
                    table[place : place + len(targets), self._classes[octet]] = targets[:, column]
            place += len(targets)
        accepting = np.zeros(len(table), dtype=np.bool_)
        accepting[end] = True
        limits.check_states(len(table), _STAGE)
        classes = self._classes.astype(np.uint8)
        origins = (frozenset[int](),) * len(table)
        return trimmed(_merged(Dfa(table, classes, accepting, start, origins)), limits)

    def _after(self, states: _Numbers, octets: Sequence[int]) -> _States:
        """Where each byte leads from each of some states (...), int32 (..., bytes)."""
        columns = self._dfa.classes[list(octets)]
        found: _States = self._dfa.table[states[..., None], columns]
        return found

    def _escapes(self) -> _States:
        """The state after a backslash of each state, int32 (S,)."""
        every = np.arange(self._dfa.states)
        units = np.zeros((len(every), 1), dtype=np.int32)
        units[self.escaped, 0] = self._units(self.escaped)
        letters = [frozenset([letter]) for letter in (*self._letters, ord("u"))]
        meant = [_MEANT[_LETTERS.index(letter)] for letter in self._letters]
        return self._rows.states_of(np.column_stack([self._after(every, meant), units]), letters)

    def _units(self, states: _Numbers) -> _States:
        """The state after ``\\u`` of each of n states, int32 (n,).

        Of a code point in hexadecimal digits, the last and two bits of the one before are the last
        byte, and so on.
        """
        states_of = self._rows.states_of
        digits = np.arange(16)
        high, low = digits >> 2, digits & 3
        # In front of the last digit: after which state, and the two bits before.
        last = np.zeros((self._dfa.states, 4), dtype=np.int32)
        if self._is_beyond:
            continuing = self._dfa.table[:, np.unique(self._dfa.classes[0x80:0xC0])]
            inside = np.flatnonzero(continuing.any(axis=1))
            last[inside] = states_of(self._continuing(inside).reshape(-1, 4, 16), _HEX)

        def pairs(before: _States) -> _States:
            """In front of the last two digits, from the states after the four bytes that the
            first two bits may make, (..., 4)."""
            found: _States = last[before[..., high], low]
            return found

        # Of U+0000 to U+07FF, in front of the last digit: by the two before.
        below = pairs(self._after(states, range(0xC0, 0xE0)).reshape(-1, 8, 4))
        coded = np.where(self._coded[:0x80], self._after(states, range(0x80)), DEAD)
        below[:, 0, :8] = states_of(coded.reshape(-1, 8, 16), _HEX)
        third = np.zeros((len(states), 16, 16), dtype=np.int32)
        if self._is_beyond:
            leads = self._after(states, range(0xE0, 0xF0))
            inside = np.unique(leads)
            of_inside = np.zeros((self._dfa.states, 16), dtype=np.int32)
            of_inside[inside] = states_of(pairs(self._continuing(inside).reshape(-1, 16, 4)), _HEX)
            third = of_inside[leads]
            third[:, 13, 8:12] = self._surrogates(states, last)
        third[:, 0, :8] = states_of(below, _HEX)
        return states_of(states_of(third, _HEX), _HEX)

    def _continuing(self, states: _Numbers) -> _States:
        """Where the bytes inside a character lead from each of n states, int32 (n, 64)."""
        return self._after(states, range(0x80, 0xC0))

    def _surrogates(self, states: _Numbers, last: _States) -> _States:
        """The states after ``\\uD8`` to ``\\uDB`` of each of n states, int32 (n, 4); ``last``: in
        front of the last digit of all states, by the two bits before, (S, 4).

        Of the code point less 0x10000 the first unit has the upper ten bits, the second the lower.
        """
        states_of = self._rows.states_of
        digits = np.arange(16)
        leads = self._after(states, range(0xF0, 0xF5))
        heads = np.flatnonzero(leads.any(axis=1))
        found = np.zeros((len(states), 4), dtype=np.int32)
        if not len(heads):
            return found
        # After the first two bytes: by the state before and the upper eight bits.
        upper = np.arange(0x10, 0x110)
        columns = self._dfa.classes[0x80 + (upper & 0x3F)]
        behind = self._dfa.table[leads[heads][:, upper >> 6], columns]
        inside = np.unique(behind)
        # After the first unit: by the state after two bytes and the two bits of the third byte
        # that belong to that unit.
        third = self._continuing(inside).reshape(-1, 4, 4, 4)
        second = states_of(last[third[..., digits >> 2], digits & 3], _HEX)
        unit = states_of(second, _HEX[12:])
        for octets in (_HEX[13], frozenset(b"u"), frozenset(b"\\")):
            unit = states_of(unit[..., None], [octets])
        of_inside = np.zeros((self._dfa.states, 4), dtype=np.int32)
        of_inside[inside] = unit
        # Two bits and two digits of the first unit; the last two bits are the third byte's.
        first = of_inside[behind].reshape(len(heads), 4, 16, 16)
        found[heads] = states_of(states_of(first, _HEX), _HEX)
        return found


def _merged(dfa: Dfa) -> Dfa:
    """States with equal rows joined, until there are none.

    subtle: the texts' states differ from one another, and what is inside an escape leads to them in
    a few steps, so no other states can be equivalent.
    """
    table, accepting, start = dfa.table, dfa.accepting, dfa.start
    while True:
        renumber, first = _numbered(np.column_stack([table, accepting]).astype(np.int32))
        if len(first) == len(table):
            return Dfa(table, dfa.classes, accepting, start, dfa.origins[: len(table)])
        table, accepting = renumber[table[first]], accepting[first]
        start = int(renumber[start])


def _marked(octets: bytes) -> NDArray[np.bool_]:
    marked = np.zeros(256, dtype=np.bool_)
    marked[list(octets)] = True
    return marked


# Bytes that stand for themselves in a JSON string, and those that escapes distinguish.
_RAW = ~_marked(bytes([*range(0x20), _QUOTE, _BACKSLASH]))
_RAW_ASCII = _RAW & (np.arange(256) < 0x80)
_SPECIAL = np.where(_marked(_LETTERS + b"u0123456789abcdefABCDEF"), np.arange(256), 0)
