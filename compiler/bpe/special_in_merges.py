"""Texts whose encoding needs a special token: merging makes it of letters that are no name there.

With the special token "in", of single words alone, and the merge (i, n), the library encodes "ring"
as r in g. Special tokens stand for no text, so no mask allows them, and such a text has no
canonical tokenization. What is left are the texts of other tokens:

    forbidden pairs, token trie  ->  automaton of the pieces that tokens of text spell
                                 ->  intersected with the pre-tokenizer DFA
                                 ->  without its marks: the texts that have a tokenization

A state of that automaton is a set of pairs: the last token's class of forbidden pairs, and the trie
node of what has been read after it. Only one sequence of tokens is canonical, so few pairs are
held at once. Mostly it is not needed: where the name of a special token occurs, it is found.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible
from constrain.artifacts.tokens.distinct import distinct

from ..automata.graphs import Numbered
from ..diagnostics import TokenizerError
from ..limits import check_in_force
from ..tokenizer_steps.boundary_tables import PretokenizerTables, over_byte_classes
from ..tokenizer_steps.marked_dfa import STAGE, MarkedDfa, intersected, minimal, unmarked
from ..tokenizers import Tokenizer
from .derivations import derive, special_spelled, special_text
from .forbidden_pairs import PairTables

# At most so many states of the automaton of pieces.
_MAX_STATES = 5000

# The last token's class (-1: it forbids nothing, or there is none), and a node of the trie.
_Pair = tuple[int, int]


def without_special_tokens(
    tables: PretokenizerTables, tokenizer: Tokenizer, pairs: Callable[[], PairTables]
) -> PretokenizerTables:
    """The tables without texts whose encoding holds a special token.

    ``pairs``: gives the forbidden pairs, where they are needed. Raises ``TokenizerError`` where
    that takes too many states, or tokens are given for whole pre-tokens.
    """
    names = [tokenizer.added[token] for token in _reached(tables, tokenizer)]
    if not names:
        return tables
    error = TokenizerError(
        f"{visible(tokenizer.name)}: merging makes the special token {visible(names[0])!r} of "
        "parts of other words too, which canonical masks cannot follow here; use --tokenization any"
    )
    if tokenizer.ignore_merges:
        raise error
    pieces = _pieces(pairs(), tables.dfa.table.shape[1], error)
    whole = replace(tables.dfa, table=tables.dfa.table[:, :, tables.classes])
    dfa, classes = over_byte_classes(intersected(whole, pieces))
    texts = unmarked(dfa, int(classes[tables.prefix[0]]) if tables.unless_begun else None)
    texts = intersected(tables.texts, replace(texts, table=texts.table[:, :, classes]))
    return replace(tables, dfa=dfa, classes=classes, texts=texts)


def _reached(tables: PretokenizerTables, tokenizer: Tokenizer) -> Iterator[int]:
    """The special tokens that may be given for a part of a text in which no name is found."""
    spelled = special_spelled(tokenizer)
    given = set[int]()
    if len(spelled):
        made = derive(spelled, tokenizer.merges)
        given.update(made.letters, made.merges[:, 2].tolist())
    if tokenizer.ignore_merges:
        given |= tokenizer.special
    table, classes = tables.dfa.table, tables.classes
    # Names begin alike. Of no text there is no state.
    after = {b"": np.zeros(0, dtype=np.int32)}
    for token in sorted(given):
        text = special_text(tokenizer, token)
        for end in range(1, len(text) + 1):
            if text[:end] not in after:
                column = classes[text[end - 1]]
                before = after[text[: end - 1]]
                after[text[:end]] = distinct(
                    table[before, 0, column] if end > 1 else table[:, :2, column].reshape(-1)
                )
        if after[text].any():
            yield token


def _pieces(pairs: PairTables, marks: int, error: TokenizerError) -> MarkedDfa:
    """The sequences of pieces that tokens of text spell, over so many marks. Raises ``error`` for
    too many states."""
    steps = _Steps(pairs)
    begin = frozenset([(-1, 0)])
    numbers = Numbered[frozenset[_Pair]](begin, frozenset())
    rows = [np.zeros((marks, 256), dtype=np.int32)]

    def row_of(pairs_here: frozenset[_Pair]) -> NDArray[np.int32]:
        row = np.zeros(256, dtype=np.int32)
        if _may_end(pairs_here):
            row[steps.inert] = numbers[begin]
        for octet, after in steps.after(pairs_here):
            row[octet] = numbers[after]
        return row

    first = row_of(begin)
    for pairs_here in numbers.order:
        check_in_force(STAGE)
        if len(numbers) > _MAX_STATES:
            raise error
        row = np.zeros((marks, 256), dtype=np.int32)
        row[0] = row_of(pairs_here)
        if _may_end(pairs_here):
            # A byte token is in no merge.
            row[1], row[2:] = first, numbers[begin]
        rows.append(row)
    return minimal(MarkedDfa(np.stack(rows), np.array([_may_end(s) for s in numbers]), 1))


def _may_end(pairs_here: frozenset[_Pair]) -> bool:
    return any(not node for _, node in pairs_here)


class _Steps:
    """What bytes do to sets of pairs. ``inert``: the bytes whose token is in no merge and in no
    longer token."""

    def __init__(self, pairs: PairTables) -> None:
        self._trie, self._rows = pairs.trie, pairs.forbidden.rows
        self._octets, self._first, self._held = pairs.trie.lists
        self._forbidden: dict[int, frozenset[int]] = {-1: frozenset()}
        columns, counts = pairs.forbidden.columns, np.bincount(pairs.trie.octets[1:], minlength=256)
        self.inert = []
        for node in range(self._first[0], self._first[1]):
            tokens, octet = self._tokens(node), self._octets[node]
            is_free = not any(len(table.ids(t)) for table in (self._rows, columns) for t in tokens)
            is_alone = counts[octet] == 1 and self._first[node] == self._first[node + 1]
            if tokens and is_free and is_alone:
                self.inert.append(octet)
        self._is_inert = frozenset(self.inert)

    def _tokens(self, node: int) -> list[int]:
        found: list[int] = self._trie.ids[self._held[node] : self._held[node + 1]].tolist()
        return found

    def after(self, pairs_here: frozenset[_Pair]) -> Iterator[tuple[int, frozenset[_Pair]]]:
        """Each byte that may be read but for the inert ones, and the set after it."""
        found: dict[int, set[_Pair]] = {}
        for last, node in pairs_here:
            for child in range(self._first[node], self._first[node + 1]):
                octet = self._octets[child]
                if octet in self._is_inert:
                    continue
                target = found.setdefault(octet, set())
                if self._first[child] < self._first[child + 1]:
                    target.add((last, child))
                for token in self._tokens(child):
                    if token not in self._forbidden[last]:
                        target.add((self._class_of(token), 0))
        return ((octet, frozenset(after)) for octet, after in found.items())

    def _class_of(self, token: int) -> int:
        number = int(self._rows.row_class[token])
        if number not in self._forbidden:
            self._forbidden[number] = frozenset(self._rows.ids(token).tolist())
        return number if self._forbidden[number] else -1
