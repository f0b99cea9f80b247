"""Which members of a grammar have a canonical tokenization, and the shortest that has none.

A member has none if it holds an added token or a byte that no token spells, or if the tokenizer
would rewrite it ("e" and a combining accent under NFC). ``PretokenizerTables.texts`` accepts the
others, so all questions here are about the product of the grammar's DFA with that automaton.
"""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import numbered_rows

from ..automata.dfa import DEAD, Dfa, trimmed
from ..limits import Limits
from .boundary_tables import PretokenizerTables
from .marked_dfa import PairNumbers, synchronous_product

_STAGE = "the members that the tokenizer can spell"


def shortest_unspellable(
    dfa: Dfa, tables: PretokenizerTables, limits: Limits | None = None
) -> bytes | None:
    """The shortest member (of these the first) without a canonical tokenization, None if none.

    Raises ``LimitError``.
    """
    texts = tables.texts
    inside, begin = _unmarked(tables)
    classes = np.arange(256)
    has_empty = bool(texts.final[texts.start])
    return shortest_outside(dfa, inside, classes, texts.final, begin, has_empty, limits)


def _unmarked(tables: PretokenizerTables) -> tuple[NDArray[np.int32], int]:
    """The automaton of the texts over bytes alone, and its state after what stands before each."""
    texts = tables.texts
    # The first byte has the start mark.
    inside = texts.table[:, 0].copy()
    inside[texts.start] = texts.table[texts.start, 1]
    begin = texts.start
    for octet in tables.text_prefix:
        begin = int(inside[begin, octet])
    return inside, begin


def shortest_outside(
    dfa: Dfa,
    table: NDArray[np.integer],
    classes: NDArray[np.integer],
    final: NDArray[np.bool_],
    begin: int,
    has_empty: bool = False,
    limits: Limits | None = None,
) -> bytes | None:
    """The shortest member (of these the first) that an automaton rejects; None if there is none.

    The automaton: ``table``, (S, C), next state by column, state 0 dead; ``classes``, (256,), the
    column of each byte; ``final``, bool (S,); it starts in ``begin``. ``has_empty``: it accepts the
    empty text, whatever ``begin`` says. Breadth first over pairs of states. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    # One byte, the first, of each class that neither automaton divides.
    keys = dfa.classes.astype(np.int64) * 256 + classes
    octets = np.sort(np.unique(keys, return_index=True)[1])
    first, second = dfa.table[:, dfa.classes[octets]].astype(np.int64), classes[octets]
    width = np.int64(len(table))
    # Pairs after texts of one length, in the order of their first texts, and how each was met.
    pairs = np.array([dfa.start * width + begin])
    seen = PairNumbers(len(dfa.table) * len(table))
    seen.add(pairs)
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while len(pairs):
        states, texts = np.divmod(pairs, width)
        rejected = dfa.accepting[states] & ~final[texts]
        if has_empty and not steps:
            rejected[:] = False
        if rejected.any():
            return _path(steps, int(rejected.argmax()))
        targets = first[states] * width + table[texts][:, second]
        live = np.flatnonzero(targets >= width)
        found, met = np.unique(targets.reshape(-1)[live], return_index=True)
        met = live[np.sort(met[seen.of(found) < 0])]
        pairs = targets.reshape(-1)[met]
        seen.add(pairs)
        limits.check_resources(_STAGE)
        before, column = np.divmod(met, len(octets))
        steps.append((before, octets[column]))
    return None


def _path(steps: list[tuple[NDArray[np.int64], NDArray[np.int64]]], place: int) -> bytes:
    """The first text that leads to the pair at an index of the last step."""
    text = bytearray()
    for before, octets in reversed(steps):
        text.append(int(octets[place]))
        place = int(before[place])
    return bytes(reversed(text))


def spellable_members(dfa: Dfa, tables: PretokenizerTables, limits: Limits | None = None) -> Dfa:
    """The DFA of the members that have a canonical tokenization, trimmed.

    Token terminals, if ``dfa`` has columns of them, stand between texts that are tokenized apart.
    Raises ``LimitError``.
    """
    texts = tables.texts
    inside, begin = _unmarked(tables)
    # The last state is that in front of all text; nothing is put before an empty one.
    table = np.append(inside, inside[begin : begin + 1], axis=0)
    final = np.append(texts.final, texts.final[texts.start])
    return members_beside(dfa, table, final, len(inside), (limits or Limits()).started(), _STAGE)


def members_beside(
    dfa: Dfa,
    table: NDArray[np.int32],
    final: NDArray[np.bool_],
    start: int,
    limits: Limits,
    stage: str,
) -> Dfa:
    """The members whose texts lead another automaton over bytes, (S, 256), from ``start`` to
    ``final``; trimmed. A text ends before each token terminal. Raises ``LimitError``."""
    columns = np.ascontiguousarray(np.concatenate([dfa.table[:, dfa.classes], table]).T)
    joint, classes = numbered_rows(columns)
    terminals = dfa.table[:, dfa.byte_columns :]
    again = np.where(final, start, DEAD).astype(table.dtype)
    again = np.repeat(again[:, None], terminals.shape[1], axis=1)
    width = np.int64(len(table))

    def check(count: int) -> None:
        limits.check_states(count, stage)
        limits.check_resources(stage)

    pairs, whole = synchronous_product(
        np.concatenate((dfa.table[:, dfa.classes[joint]], terminals), axis=1),
        np.concatenate((table[:, joint], again), axis=1),
        np.array([dfa.start * width + start]),
        check,
    )
    left, right = np.divmod(pairs, width)
    accepting = dfa.accepting[left] & final[right]
    origins = tuple(dfa.origins[state] for state in left.tolist())
    return trimmed(Dfa(whole, classes.astype(np.uint8), accepting, 1, origins))
