"""A pre-tokenizer's tables for texts with sentinels between them.

    a sentinel               read where a text may end, leads to where one begins
    what stands for a prefix read where a text begins, leads to after that prefix, where none ends

A prefix may stand before the first text alone (``Metaspace``): then others are of a second DFA.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.marked_dfa import DEAD, MarkedDfa
from ..tokenizers import Tokenizer
from ..tokenizers.definition import Metaspace, PrependScheme

# Bytes have so many classes at most.
CLASSES = 256


def unprefixed_behind(tokenizer: Tokenizer) -> Tokenizer | None:
    """The tokenizer of texts that are not the first, where these have no prefix; None where they
    are as others are."""
    steps = tokenizer.pre_tokenizers
    if not steps or not isinstance(steps[0], Metaspace):
        return None
    if steps[0].prepend is not PrependScheme.FIRST:
        return None
    never = replace(steps[0], prepend=PrependScheme.NEVER)
    return replace(tokenizer, pre_tokenizers=(never, *steps[1:]))


def with_restarts(
    tables: PretokenizerTables,
    sentinels: bytes,
    begin: int | None = None,
    behind: PretokenizerTables | None = None,
) -> PretokenizerTables:
    """The tables of texts with sentinels between them. ``begin``: the byte that stands for the
    prefix of each text, None if there is none. ``behind``: of the texts after sentinels, if they
    are others. Raises ``TokenizerError`` for a tokenizer whose DFA has a class for each byte."""
    both = _united(tables, behind or tables)
    dfa, classes, after = both.dfa, both.classes.copy(), both.after
    column = dfa.table.shape[2]
    if column + 1 >= CLASSES:
        raise TokenizerError("the pre-tokenizer's DFA distinguishes too many bytes")
    table, final, start = np.pad(dfa.table, ((0, 0), (0, 0), (0, 2))), dfa.final, dfa.start
    texts, first, others = both.texts, both.texts.start, both.texts_after
    by_byte, ends = texts.table, texts.final
    if begin is not None:
        # Where a text begins, and after its prefix, where it cannot end.
        (octet,) = tables.prefix
        start, inside = len(table), int(table[dfa.start, 1, classes[octet]])
        rows = np.stack((table[dfa.start], table[inside]))
        if not tables.unless_begun:
            rows[0] = DEAD
        else:
            # A text that begins with the prefix has no other before it.
            rows[1, :, classes[octet]] = DEAD
        rows[0, 1, column + 1] = start + 1
        table, final = np.concatenate((table, rows)), np.append(final, [True, False])
        classes[begin] = column + 1
        # The same texts, of which the prefix is no part.
        first, row = len(by_byte), by_byte[texts.start, 1]
        for place in tables.text_prefix:
            row = by_byte[int(row[place]), 0]
        by_byte = np.concatenate((by_byte, row[None, None].repeat(2, axis=1)))
        ends = np.append(ends, True)
        by_byte[first, :, begin] = first
        if behind is None:
            after, others = start, first
    # subtle: a sentinel is read after a text, not after its prefix alone.
    table[final, 1, column] = after
    classes[list(sentinels)] = column
    by_byte = by_byte.copy()
    places = np.flatnonzero(ends)
    by_byte[places[:, None, None], np.arange(2)[None, :, None], list(sentinels)] = others
    return replace(
        tables,
        dfa=MarkedDfa(table, final, start),
        classes=classes,
        prefix=b"",
        texts=MarkedDfa(by_byte, ends, first),
        unless_begun=False,
        prompt=dfa.start if begin is not None else DEAD,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _United:
    """Two pre-tokenizers' DFAs in one table: ``after``, ``texts_after`` are the second starts."""

    dfa: MarkedDfa
    classes: NDArray[np.uint8]
    after: int
    texts: MarkedDfa
    texts_after: int


def _united(one: PretokenizerTables, other: PretokenizerTables) -> _United:
    if other is one:
        return _United(one.dfa, one.classes, one.dfa.start, one.texts, one.texts.start)
    keys = one.classes.astype(np.int64) * CLASSES + other.classes
    _, octets, joint = np.unique(keys, return_index=True, return_inverse=True)
    dfa, after = _side_by_side(
        _over(one.dfa, one.classes[octets]), _over(other.dfa, other.classes[octets])
    )
    texts, texts_after = _side_by_side(one.texts, other.texts)
    # subtle: the first byte of a text has the mark, and what is after the first one has none.
    texts.table[texts_after] = texts.table[texts_after, 1]
    return _United(dfa, joint.reshape(-1).astype(np.uint8), after, texts, texts_after)


def _over(dfa: MarkedDfa, columns: NDArray[np.uint8]) -> MarkedDfa:
    return replace(dfa, table=dfa.table[:, :, columns])


def _side_by_side(one: MarkedDfa, other: MarkedDfa) -> tuple[MarkedDfa, int]:
    """Both tables with one dead state, and the start of the second."""
    more = one.states - 1
    moved = np.where(other.table == DEAD, DEAD, other.table + more)[1:].astype(np.int32)
    table = np.concatenate((one.table, moved))
    return MarkedDfa(table, np.append(one.final, other.final[1:]), one.start), other.start + more
