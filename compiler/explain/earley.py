"""Why a text is or is not a member of any grammar, by the last column of Earley's recogniser.

The items of the column where the text stops wait for the terminals that could have gone on or begun
there; following items that wait for each other back to the start gives the rules that lie inside
each other at that place:

    v ::= '[' v ']' | 'x';   "[["  ->  incomplete at 1:3 in v, expected "x" or "["
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from constrain.artifacts.earley.recogniser import Earley

from ..automata.dump import ranges
from .machines import Reading, TextMachine
from .report import Status, Verdict, common, shortened, verdict_at

# Terminals that are listed at most.
_MOST_TERMINALS = 12

_FIRST_TERMINAL = 256
_ALL = (1 << _FIRST_TERMINAL) - 1

# A dot, a state of the terminal after it, a head and the column that it began in.
Item: TypeAlias = tuple[int, int, int, int]

# A nonterminal and the column that it began in.
_Pair = tuple[int, int]


def explain_parser(
    earley: Earley,
    text: bytes,
    names: Sequence[str] = (),
    machine: TextMachine | None = None,
    *,
    follows: bool = True,
) -> Verdict:
    """The verdict on ``text``. ``earley``: before any text. ``names``: of token terminals.
    ``machine``: what says which of the texts that Earley's recogniser reads are meant.
    ``follows``: beside it that one reads the text, for the rules and terminals at the place."""
    return with_items(earley, text, names, machine, follows=follows)[0]


def with_items(
    earley: Earley, text: bytes, names: Sequence[str], machine: TextMachine | None, *, follows: bool
) -> tuple[Verdict, list[Item]]:
    """The same, and the items that wait where the text stops, if they were followed so far."""
    reading = None if machine is None else Reading(machine)
    offset = earley.feed(text) if reading is None else reading.feed(text)
    may_end = earley.is_accepting if reading is None else reading.may_end
    accepts = machine.accepts if machine else lambda whole: earley.accepts_at(len(whole))
    found = verdict_at(text, offset, accepts, may_end=may_end)
    items: list[Item] = []
    if reading is None or (follows and found.status is not Status.ACCEPTED):
        if reading is not None:
            earley.feed(text[:offset])
        items = _live_items(earley, offset, reading)
    fresh, begun, inside = _waited_for(earley, items, reading)
    terminals = list(fresh)
    if len(terminals) > _MOST_TERMINALS:
        terminals[_MOST_TERMINALS:] = ["…"]
    verdict = replace(
        found,
        expected=_bytes_of(inside),
        tokens=tuple(name for i, name in enumerate(names) if inside >> _FIRST_TERMINAL + i & 1),
        path=shortened(common([path_of(earley, item) for item in items])),
        terminals=tuple(terminals),
        following=_bytes_of(earley.next_symbols() if reading is None else reading.next_bytes),
        begun=tuple((written, _bytes_of(octets)) for written, octets in begun.items()),
    )
    return verdict, items


def _waited_for(
    earley: Earley, items: Sequence[Item], reading: Reading | None
) -> tuple[list[str], dict[str, int], int]:
    """The terminals that may begin, as they are written; those that have begun with what they go on
    with, as bits; and all of that together, with token terminals."""
    symbols, inside = earley.tables.symbols, 0
    fresh: dict[str, None] = {}
    begun: dict[str, int] = {}
    readable = _ALL if reading is None else reading.next_bytes | ~_ALL
    for dot, state, _, _ in items:
        terminal = ~int(symbols[dot])
        written = earley.tables.texts[terminal]
        following = earley.terminals.next_symbols(state) & (readable if reading else -1)
        if state == earley.terminals.start(terminal) and written and following & _ALL:
            fresh[written] = None
            continue
        inside |= following
        if written and following & _ALL:
            begun[written] = begun.get(written, 0) | following & _ALL
    if reading is not None and not items:
        inside = reading.next_bytes
    return list(fresh), begun, inside


def _bytes_of(bits: int) -> tuple[tuple[int, int], ...]:
    return ranges(octet for octet in range(_FIRST_TERMINAL) if bits >> octet & 1)


def _live_items(earley: Earley, offset: int, reading: Reading | None) -> list[Item]:
    """The items that wait for a terminal after a text which was read, and which ``reading``,
    after that text, goes on with; none where the recogniser has not read so much, as it is of
    other options."""
    symbols = earley.tables.symbols
    if reading is not None and len(earley) < offset:
        return []
    items = [item for item in earley.items(offset) if symbols[item[0]] < 0]
    if reading is None:
        return items
    readable = reading.next_bytes | ~_ALL
    return [
        item
        for item in items
        if earley.terminals.next_symbols(item[1]) & readable
        and reading.continues(_next_text(earley, item))
    ]


def _next_text(earley: Earley, item: Item) -> bytes:
    """The bytes that a terminal goes on with, as far as they can be no others."""
    _, state, _, _ = item
    text = bytearray()
    while not earley.terminals.accepts(state) or not text:
        symbols = earley.terminals.next_symbols(state)
        octet = symbols.bit_length() - 1
        if symbols != 1 << octet or octet >= _FIRST_TERMINAL:
            break
        text.append(octet)
        state = earley.terminals.step(state, octet)
    return bytes(text)


def path_of(earley: Earley, item: Item) -> list[str]:
    """The rules around an item, the start first, by a shortest way to the whole text.

    Completing an item's head leads to the items that wait for it where it began. Leo items are
    skipped: the rules that they complete end where their last symbol does.
    """
    tables = earley.tables
    dot, _, head, start = item
    whole = tables.start, 0
    came: dict[_Pair, tuple[_Pair, int] | None] = {(head, start): None}
    pending = deque([(head, start)])
    reached: _Pair | None = None
    while pending:
        pair = pending.popleft()
        if pair == whole or pair[0] == tables.nonterminals:
            reached = pair
            break
        for waiting, _, above, begun in earley.waiting_for(*pair):
            if (above, begun) not in came:
                came[above, begun] = pair, waiting
                pending.append((above, begun))
    dots = []
    while reached is not None and (step := came[reached]) is not None:
        reached, waiting = step
        dots.append(waiting)
    # Leo items may have skipped the start as well.
    path = tables.path(int(tables.bodies[tables.first[tables.start]]))[:1]
    for place in (*dots, dot):
        # The rest of a production says itself in which rules it lies.
        if place == dot or not tables.rests[tables.symbols[place]]:
            path += tables.path(place)
    return path[:1] + [b for a, b in pairwise(path) if a != b]
