"""The tables of a tokenizer with sentinel tokens, each of which ends a text and begins another.

    pre-tokenizer DFA    from each state in which a text may end, a sentinel leads to the start
    forbidden pairs      of sentinel tokens there are none
    normal-form DFA      from each state between two characters, a sentinel leads to the start

So "a" F5 "b" is the marked text 1 1 1, whatever the tokenizer does with "ab": sentinels have start
marks, and after one all texts have them.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.token_terminals.sentinels import begin_of, first_sentinel, twinned
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.trie import ranges

from ..diagnostics import TokenizerError
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.normalized_members import NormalFormTables
from ..tokenizers.vocabulary_tables import VocabularyTables
from .forbidden_pairs import ForbiddenPairTables, PairTables
from .sentinel_steps import CLASSES, unprefixed_behind, with_restarts
from .tokenizer_tables import TokenizerTables


class SentinelTables(TokenizerTables):
    """``tables``: of the tokenizer. ``tokens``: with the sentinel tokens and twins, which are last.
    ``sentinels``: the bytes that stand for terminals; those that are ``read`` stand for tokens.
    ``vocab_size``: of a mask over the tokenizer's own tokens."""

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
        self._begin = begin_of(len(sentinels)) if tables.pretokenizer.prefix else None

    @cached_property
    def pretokenizer(self) -> PretokenizerTables:
        """Which texts have an encoding, and where the tokenizer splits them."""
        return with_restarts(self._without.pretokenizer, self._read, self._begin, self._behind)

    @property
    def _behind(self) -> PretokenizerTables | None:
        """Those of texts after a terminal, where other ones have a prefix."""
        other = unprefixed_behind(self._without.tokenizer)
        return None if other is None else TokenizerTables(other, None, self.tokens).pretokenizer

    @cached_property
    def pairs(self) -> PairTables:
        """Which tokens cannot be adjacent inside a pre-token."""
        own, twins = self._first + len(self._sentinels), self._twinned
        found = self._without.pairs.forbidden
        rows, columns = (
            _with_tokens(pairs, self._first, own, twins) for pairs in (found.rows, found.columns)
        )
        rows = _with_rows(rows, own, twins)
        return PairTables(
            ForbiddenPairTables(rows, columns), self.tokens.trie.restricted(rows.order)
        )

    @property
    def _twinned(self) -> NDArray[np.int32]:
        """The tokens that have twins."""
        tokens = self._without.tokens.vocabulary(self.tokenizer.vocab_size)
        return twinned(tokens, self._without.pretokenizer.prefix)

    @cached_property
    def normal_form(self) -> NormalFormTables | None:
        """Which texts the normalizers leave alone; None if they change no character."""
        found = self._without.normal_form
        if found is None:
            return None
        prefix = self._without.pretokenizer.prefix
        return _with_restarting_forms(found, self._read, self._begin, prefix)


def _with_tokens(
    pairs: ForbiddenPairs, first: int, own: int, twins: NDArray[np.int32]
) -> ForbiddenPairs:
    """The pairs of more tokens: those from ``first`` to ``own - 1`` are in none, and those after
    are in the pairs of their ``twins``, but begin none."""
    padded = pairs.padded(own + len(twins))
    row_class = padded.row_class.copy()
    row_class[first:] = pairs.classes
    # Each twin's place is after its own.
    place = pairs.position[twins]
    kept = np.flatnonzero(place >= 0)
    kept = kept[np.argsort(place[kept])]
    order = np.insert(pairs.order, place[kept] + 1, own + kept)
    before = np.searchsorted(place[kept], np.arange(len(pairs.order) + 1)).astype(np.int32)
    return replace(
        padded,
        row_class=row_class,
        begin=pairs.begin + before[pairs.begin],
        end=pairs.end + before[pairs.end],
        order=np.append(order, np.arange(first, own)).astype(np.int32),
    )


def _with_rows(pairs: ForbiddenPairs, own: int, twins: NDArray[np.int32]) -> ForbiddenPairs:
    """The same where each twin, from ``own`` on, begins the pairs that the other one does."""
    if not len(twins):
        return pairs
    part, bound, row_class = pairs.part.copy(), pairs.bound.copy(), pairs.row_class.copy()
    for field in (part, bound, row_class):
        field[own:] = field[twins]
    counts = np.diff(pairs.offsets)
    counts[own:] = counts[twins]
    places = ranges(pairs.offsets[twins], counts[twins])
    index, begin, end = (
        np.concatenate((field, field[places])) for field in (pairs.index, pairs.begin, pairs.end)
    )
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return replace(
        pairs,
        part=part,
        bound=bound,
        row_class=row_class,
        offsets=offsets,
        index=index,
        begin=begin,
        end=end,
    )


def _with_restarting_forms(
    tables: NormalFormTables, sentinels: bytes, begin: int | None, prefix: bytes
) -> NormalFormTables:
    table, classes = _with_column(tables.table, tables.classes, sentinels)
    table[1 : tables.between, -1] = tables.start
    inert, inert_classes = _with_column(tables.inert, tables.inert_classes, sentinels)
    inert[tables.inert_start, -1] = tables.inert_start
    if begin is not None:
        # It is where the prefix is read.
        classes[begin], inert_classes[begin] = classes[prefix[0]], inert_classes[prefix[0]]
    return replace(
        tables,
        table=table,
        classes=classes,
        inert=inert,
        inert_classes=inert_classes,
        restarts=sentinels,
        prefixes=b"" if begin is None else bytes([begin]) + prefix,
    )


def _with_column(
    table: NDArray[np.uint16], classes: NDArray[np.uint8], sentinels: bytes
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """A DFA with a column for the sentinels, which are not read yet."""
    column = table.shape[1]
    if column >= CLASSES:
        raise TokenizerError("the normalizer's DFA distinguishes too many bytes")
    classes = classes.copy()
    classes[list(sentinels)] = column
    return np.pad(table, ((0, 0), (0, 1))), classes
