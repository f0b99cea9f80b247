"""Automata of what texts contain: JSON inside a string, and bytes in base64.

json_texts    {"a": [1]}            texts that are JSON, as far as values nest
base64        eyJhIjogWzFdfQ==      any bytes, or those that an automaton accepts
"""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..automata import regex_ir as ir
from ..automata.boolean import embedded
from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimal, minimize
from ..automata.thompson import thompson
from . import numbers, strings

# Arrays and objects inside each other; each level doubles the states.
LEVELS, LEVELS_IN_BASE64 = 3, 2

_States: TypeAlias = NDArray[np.int64]

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@lru_cache(8)
def json_texts(levels: int) -> Dfa:
    """Texts that are JSON (RFC 8259), white space around it included, whose arrays and objects
    nest at most ``levels`` deep."""
    space = ir.repeat(ir.char_class((octet, octet) for octet in b" \t\n\r"), 0, None)
    # A string may have all escapes but lone surrogates.
    text = embedded(strings.free())
    words = (ir.lit(word) for word in (b"null", b"true", b"false"))
    scalar = ir.alt(text, embedded(numbers.numbers()), *words)

    def marked(octet: bytes) -> ir.Node:
        return ir.seq(space, ir.lit(octet), space)

    def listed(item: ir.Node, first: bytes, last: bytes) -> ir.Node:
        some = ir.optional(ir.seq(item, ir.repeat(ir.seq(marked(b","), item), 0, None)))
        return ir.seq(ir.lit(first), space, some, space, ir.lit(last))

    value = scalar
    for _ in range(levels):
        inner = embedded(minimal(thompson(value)))
        member = ir.seq(text, marked(b":"), inner)
        value = ir.alt(scalar, listed(inner, b"[", b"]"), listed(member, b"{", b"}"))
    return minimal(thompson(ir.seq(space, value, space)))


@lru_cache(8)
def base64(of: Dfa | None = None) -> Dfa:
    """Bytes in base64 (RFC 4648), padded, the unused bits 0: any, or those that ``of`` accepts.

    Four digits are three bytes. Between them a state is one of ``of``, after the last whole byte,
    and the bits that are left of it: six, four or two.
    """
    if of is None:
        every, again = np.zeros(256, dtype=np.uint8), np.array([[DEAD], [1]], dtype=np.int32)
        of = Dfa(again, every, np.array([False, True]), 1, (frozenset(),) * 2)
    step = of.table[:, of.classes].astype(np.int64)
    count = of.states
    digits = np.arange(64)
    # States by the bits that are left: none, six, four, two; then what pads two bytes, and one.
    six, four, two = count, count * 65, count * 81
    last_but_one, end = count * 85, count * 85 + 1
    table = np.zeros((count * 85 + 2, 66), dtype=np.int64)

    def to(layer: int, size: int, states: _States, bits: _States) -> _States:
        found: _States = np.where(states == DEAD, DEAD, layer + states * size + bits)
        return found

    before = np.arange(count)
    table[before, 1:65] = to(six, 64, before[:, None], digits)
    for bits in range(64):
        reached = to(four, 16, step[:, bits << 2 | digits >> 4], digits & 15)
        table[six + before * 64 + bits, 1:65] = reached
    for bits in range(16):
        reached = to(two, 4, step[:, bits << 4 | digits >> 2], digits & 3)
        table[four + before * 16 + bits, 1:65] = reached
    for bits in range(4):
        table[two + before * 4 + bits, 1:65] = step[:, bits << 6 | digits]
    ends = np.flatnonzero(of.accepting)
    table[four + ends * 16, 65] = last_but_one
    table[two + ends * 4, 65] = end
    table[last_but_one, 65] = end
    classes = np.zeros(256, dtype=np.uint8)
    classes[list(_ALPHABET)] = np.arange(1, 65)
    classes[ord("=")] = 65
    accepting = np.zeros(len(table), dtype=np.bool_)
    accepting[ends] = True
    accepting[end] = True
    origins = (frozenset[int](),) * len(table)
    return minimize(Dfa(table.astype(np.int32), classes, accepting, of.start, origins))
