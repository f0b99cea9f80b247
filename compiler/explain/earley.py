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
from .machines import EarleyMachine, TextMachine
from .report import Status, Verdict, common, shortened, some, verdict_of

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
    reading = machine or EarleyMachine(earley)
    found, state = verdict_of(reading, text)
    readable = sum(1 << octet for octet in reading.next_bytes(state))
    items: list[Item] = []
    if machine is None:
        items = _items(earley, found.offset)
    elif follows and found.status is not Status.ACCEPTED:
        # It may read more than the members: it has the parts of a permutation in any number, and
        # long counts without their ends. As of other options it may not read so much.
        earley.feed(text[: found.offset])
        for item in _items(earley, found.offset) if len(earley) >= found.offset else ():
            more = _next_text(earley, item)
            if earley.terminals.next_symbols(item[1]) & (readable | ~_ALL) and (
                machine.follow(state, more)[0] == len(more)
            ):
                items.append(item)
    fresh, begun, inside = _waited_for(earley, items, readable)
    verdict = replace(
        found,
        expected=_bytes_of(inside),
        tokens=tuple(name for i, name in enumerate(names) if inside >> _FIRST_TERMINAL + i & 1),
        path=shortened(common([path_of(earley, item) for item in items])),
        terminals=some(fresh, _MOST_TERMINALS),
        begun=tuple((written, _bytes_of(octets)) for written, octets in begun.items()),
    )
    return verdict, items


def _waited_for(
    earley: Earley, items: Sequence[Item], readable: int
) -> tuple[list[str], dict[str, int], int]:
    """The terminals that may begin, as they are written; those that have begun with what they go on
    with, as bits; and all of that together, with token terminals."""
    symbols, inside = earley.tables.symbols, 0
    fresh: dict[str, None] = {}
    begun: dict[str, int] = {}
    for dot, state, _, _ in items:
        terminal = ~int(symbols[dot])
        written = earley.tables.texts[terminal]
        following = earley.terminals.next_symbols(state) & (readable | ~_ALL)
        if state == earley.terminals.start(terminal) and written and following & _ALL:
            fresh[written] = None
            continue
        inside |= following
        if written and following & _ALL:
            begun[written] = begun.get(written, 0) | following & _ALL
    return list(fresh), begun, inside if items else readable


def _bytes_of(bits: int) -> tuple[tuple[int, int], ...]:
    return ranges(octet for octet in range(_FIRST_TERMINAL) if bits >> octet & 1)


def _items(earley: Earley, offset: int) -> list[Item]:
    """The items that wait for a terminal after so many bytes."""
    return [item for item in earley.items(offset) if earley.tables.symbols[item[0]] < 0]


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
