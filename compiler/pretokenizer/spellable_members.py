"""Members that no token sequence spells as the tokenizer would."""

import numpy as np
from numpy.typing import NDArray

from ..automata.dfa import DEAD, Dfa, trimmed
from .boundary_tables import PretokenizerTables


def shortest_lost(dfa: Dfa, tables: PretokenizerTables) -> bytes | None:
    """The shortest member (of those the first) without a canonical tokenization.

    Such members hold an added token, or what the tokenizer has no token for, or the tokenizer
    would rewrite them. None if there is no such member. Breadth first over pairs of states.
    """
    texts = tables.texts
    # The first byte is read in the plane of what starts a piece.
    inside = texts.table[:, 0].copy()
    inside[texts.start] = texts.table[texts.start, 1]
    begin = texts.start
    for octet in tables.text_prefix:
        begin = int(inside[begin, octet])
    classes = np.arange(256)
    keeps_empty = bool(texts.final[texts.start])
    return shortest_outside(dfa, inside, classes, texts.final, begin, keeps_empty)


def shortest_outside(
    dfa: Dfa,
    table: NDArray[np.integer],
    classes: NDArray[np.integer],
    final: NDArray[np.bool_],
    begin: int,
    keeps_empty: bool = False,
) -> bytes | None:
    """The shortest member (of those the first) that leads ``table``, (S, C), not to ``final``.

    ``classes``: the column of each byte, (256,). ``keeps_empty``: the empty member is none of
    them. None if there is none. Breadth first over pairs of states.
    """
    # The first byte of each class that neither divides.
    keys = dfa.classes.astype(np.int64) * 256 + classes
    octets = np.sort(np.unique(keys, return_index=True)[1])
    first, second = dfa.table[:, dfa.classes[octets]].astype(np.int64), classes[octets]
    width = np.int64(len(table))
    # Pairs of one length in the order of their first texts, and how each was met.
    pairs = np.array([dfa.start * width + begin])
    known = pairs
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while len(pairs):
        states, texts = np.divmod(pairs, width)
        lost = dfa.accepting[states] & ~final[texts]
        if keeps_empty and not steps:
            lost[:] = False
        if lost.any():
            return _path(steps, int(lost.argmax()))
        moves = first[states] * width + table[texts][:, second]
        live = np.flatnonzero(moves >= width)
        found, met = np.unique(moves.reshape(-1)[live], return_index=True)
        place = np.minimum(np.searchsorted(known, found), len(known) - 1)
        met = live[np.sort(met[known[place] != found])]
        pairs = moves.reshape(-1)[met]
        known = np.sort(np.concatenate([known, pairs]))
        before, column = np.divmod(met, len(octets))
        steps.append((before, octets[column]))
    return None


def _path(steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]], place: int) -> bytes:
    """The text that was met first at a place of the last step."""
    text = bytearray()
    for before, octets in reversed(steps):
        text.append(int(octets[place]))
        place = int(before[place])
    return bytes(reversed(text))


def kept_members(dfa: Dfa, tables: PretokenizerTables) -> Dfa:
    """The members that have a canonical tokenization, trimmed."""
    texts = tables.texts
    inside = texts.table[:, 0].astype(np.int64)
    inside[texts.start] = texts.table[texts.start, 1]
    begin = texts.start
    for octet in tables.text_prefix:
        begin = int(inside[begin, octet])
    columns = np.ascontiguousarray(np.concatenate([dfa.table[:, dfa.classes], inside]).T)
    known: dict[bytes, int] = {}
    classes = np.array([known.setdefault(c.tobytes(), len(known)) for c in columns], np.uint8)
    joint = np.unique(classes, return_index=True)[1]
    first, second = dfa.table[:, dfa.classes[joint]], inside[:, joint]
    # The empty member has no prefix.
    keeps_empty = bool(dfa.accepting[dfa.start] and texts.final[texts.start])
    number = {(DEAD, DEAD): 0, (dfa.start, -1): 1}
    pending, rows = [(dfa.start, -1)], [np.zeros(len(joint), dtype=np.int64)]
    accepting = [False]
    for state, text in pending:
        accepting.append(
            keeps_empty if text < 0 else bool(dfa.accepting[state] & texts.final[text])
        )
        pairs = zip(
            first[state].tolist(), second[begin if text < 0 else text].tolist(), strict=True
        )
        row = []
        for pair in pairs:
            target = pair if DEAD not in pair else (DEAD, DEAD)
            if target not in number:
                number[target] = len(number)
                pending.append(target)
            row.append(number[target])
        rows.append(np.array(row))
    origins = (frozenset[int](), *(dfa.origins[state] for state, _ in pending))
    table = np.stack(rows).astype(np.int32)
    return trimmed(Dfa(table, classes, np.array(accepting), 1, origins))
