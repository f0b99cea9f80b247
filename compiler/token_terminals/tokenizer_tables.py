"""The tables of a tokenizer with sentinel tokens, each of which ends a text and begins another.

    pre-tokenizer DFA    from each state in which a text may end, a sentinel leads to the start
    forbidden pairs      of sentinel tokens there are none
    normal-form DFA      from each state between two characters, a sentinel leads to the start

So "a" F5 "b" is the marked text 1 1 1, whatever the tokenizer does with "ab": sentinels have start
marks, and behind one all texts have them.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.token_terminals.sentinels import first_sentinel
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import HOLE, TEXT, Vocabulary

from ..bpe.forbidden_pairs import ForbiddenPairTables, PairTables
from ..bpe.tokenizer_tables import TokenizerTables
from ..diagnostics import TokenizerError
from ..normalizer.normalized_members import NormalFormTables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import MarkedDfa
from ..tokenizers.vocabulary_tables import VocabularyTables

# Bytes have so many classes at most.
_CLASSES = 256


class SentinelTables(TokenizerTables):
    """``tables``: of the tokenizer. ``tokens``: with the sentinel tokens, which are last.
    ``sentinels``: the byte of each; those that are ``read`` stand for tokens. ``vocab_size``: of a
    mask over the tokenizer's own tokens."""

    def __init__(
        self,
        tables: TokenizerTables,
        tokens: VocabularyTables,
        sentinels: bytes,
        read: bytes,
        vocab_size: int,
    ) -> None:
        super().__init__(tables.tokenizer, None, tokens)
        self._without, self._sentinels, self._read = tables, sentinels, read
        self._first = first_sentinel(vocab_size)

    @cached_property
    def pretokenizer(self) -> PretokenizerTables:
        """Which texts have an encoding, and where the tokenizer splits them."""
        return with_restarts(self._without.pretokenizer, self._read)

    @cached_property
    def product_pretokenizer(self) -> PretokenizerTables:
        """The same for products."""
        found = self._without.product_pretokenizer
        if found is self._without.pretokenizer:
            return self.pretokenizer
        return with_restarts(found, self._read)

    @cached_property
    def pairs(self) -> PairTables:
        """Which tokens cannot be adjacent inside a pre-token."""
        size = self._first + len(self._sentinels)
        found = self._without.pairs.forbidden
        rows, columns = (
            _with_tokens(found.rows, self._first, size),
            _with_tokens(found.columns, self._first, size),
        )
        trie = _trie_of(rows.order, self.tokens.vocabulary(size))
        return PairTables(ForbiddenPairTables(rows, columns), trie)

    @cached_property
    def normal_form(self) -> NormalFormTables | None:
        """Which texts the normalizers leave alone; None if they change no character."""
        found = self._without.normal_form
        return None if found is None else _with_restarting_forms(found, self._read)


def with_restarts(tables: PretokenizerTables, sentinels: bytes) -> PretokenizerTables:
    """The tables of texts with sentinels between them. Raises ``TokenizerError`` for a tokenizer
    whose DFA has a class for each byte."""
    dfa, texts = tables.dfa, tables.texts
    column = dfa.table.shape[2]
    if column >= _CLASSES:
        raise TokenizerError("the pre-tokenizer's DFA distinguishes too many bytes")
    table = np.pad(dfa.table, ((0, 0), (0, 0), (0, 1)))
    table[dfa.final, 1, column] = dfa.start
    classes = tables.classes.copy()
    classes[list(sentinels)] = column
    by_byte = texts.table.copy()
    # subtle: at the start the first byte has the mark.
    ends = np.flatnonzero(texts.final)
    by_byte[ends[:, None, None], np.arange(2)[None, :, None], list(sentinels)] = texts.start
    return replace(
        tables,
        dfa=MarkedDfa(table, dfa.final, dfa.start),
        classes=classes,
        texts=MarkedDfa(by_byte, texts.final, texts.start),
    )


def _with_tokens(pairs: ForbiddenPairs, first: int, size: int) -> ForbiddenPairs:
    """The pairs of more tokens, ``first`` to ``size - 1``, which are in none."""
    padded = pairs.padded(size)
    row_class = padded.row_class.copy()
    row_class[first:] = pairs.classes
    order = np.concatenate((pairs.order, np.arange(first, size, dtype=np.int32)))
    return replace(padded, row_class=row_class, order=order)


def _trie_of(ids: NDArray[np.integer], vocabulary: Vocabulary) -> Trie:
    kinds = np.full(vocabulary.size, HOLE, dtype=np.uint8)
    kinds[ids] = TEXT
    return Trie.from_vocabulary(replace(vocabulary, kinds=kinds))


def _with_restarting_forms(tables: NormalFormTables, sentinels: bytes) -> NormalFormTables:
    table, classes = _with_column(tables.table, tables.classes, sentinels)
    table[1 : tables.between, -1] = tables.start
    inert, inert_classes = _with_column(tables.inert, tables.inert_classes, sentinels)
    inert[tables.inert_start, -1] = tables.inert_start
    return replace(
        tables,
        table=table,
        classes=classes,
        inert=inert,
        inert_classes=inert_classes,
        restarts=sentinels,
    )


def _with_column(
    table: NDArray[np.uint16], classes: NDArray[np.uint8], sentinels: bytes
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """A DFA with a column for the sentinels, which are not read yet."""
    column = table.shape[1]
    if column >= _CLASSES:
        raise TokenizerError("the normalizer's DFA distinguishes too many bytes")
    classes = classes.copy()
    classes[list(sentinels)] = column
    return np.pad(table, ((0, 0), (0, 1))), classes
