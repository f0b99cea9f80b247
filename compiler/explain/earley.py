"""Why a text is or is not a member of any grammar, by the last column of Earley's recogniser.

The items of the column where the text stops wait for the terminals that could have gone on or begun
there; following items that wait for each other back to the start gives the rules that lie inside
each other at that place:

    v ::= '[' v ']' | 'x';   "[["  ->  incomplete at 1:3 in v, expected "x" or "["
"""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.network.tables import NetworkTables

from .counted import Counted
from .report import Status, Verdict, common, position, ranges, shortened, without_line_break

# Terminals that are listed at most.
_MOST_TERMINALS = 12

_FIRST_TERMINAL = 256

# A dot, a state of the terminal behind it, a head and the column that it began in.
Item: TypeAlias = tuple[int, int, int, int]

# A nonterminal and the column that it began in.
_Pair = tuple[int, int]


def explain_parser(
    earley: Earley, text: bytes, names: Sequence[str] = (), tables: NetworkTables | None = None
) -> Verdict:
    """The verdict on ``text``. ``earley``: before any text. ``names``: of token terminals.
    ``tables``: of the network, where its frames say what of what Earley's recogniser reads is
    meant."""
    counted = Counted.of(tables)
    offset = earley.feed(text) if counted is None else counted.feed(text)
    may_end = earley.is_accepting if counted is None else counted.may_end
    status = Status.REJECTED
    if offset == len(text):
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    shorter = len(without_line_break(text))
    symbols = earley.tables.symbols
    if counted is not None:
        earley.feed(text[:offset])
    items = live_items(earley, offset, counted)
    inside = 0
    fresh: dict[str, None] = {}
    for dot, state, _, _ in items:
        terminal = ~int(symbols[dot])
        written = earley.tables.texts[terminal]
        if state == earley.terminals.start(terminal) and written:
            fresh[written] = None
        else:
            inside |= earley.terminals.next_symbols(state)
    if counted is not None:
        inside = inside & counted.next_bytes if items else counted.next_bytes
    terminals = list(fresh)
    if len(terminals) > _MOST_TERMINALS:
        terminals[_MOST_TERMINALS:] = ["…"]
    line, column = position(text, offset)
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=(),
        expected=ranges(octet for octet in range(_FIRST_TERMINAL) if inside >> octet & 1),
        tokens=tuple(name for i, name in enumerate(names) if inside >> _FIRST_TERMINAL + i & 1),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED
        and shorter < len(text)
        and offset >= shorter
        and _accepts(earley, text[:shorter], Counted.of(tables)),
        path=shortened(common([path_of(earley, item) for item in items])),
        terminals=tuple(terminals),
    )


def _accepts(earley: Earley, text: bytes, counted: Counted | None) -> bool:
    if counted is None:
        return earley.accepts_at(len(text))
    return counted.feed(text) == len(text) and counted.may_end


def live_items(earley: Earley, offset: int, counted: Counted | None) -> list[Item]:
    """The items that wait for a terminal behind a text which was read, and which ``counted``,
    behind that text, goes on with; none where the recogniser has not read so much, as it is of
    other options."""
    symbols = earley.tables.symbols
    if counted is not None and len(earley) < offset:
        return []
    items = [item for item in earley.items(offset) if symbols[item[0]] < 0]
    if counted is None:
        return items
    return [item for item in items if counted.continues(_next_text(earley, item))]


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
