"""Tokens of whole pre-tokens (``ignore_merges``) beside a pre-tokenizer DFA: places in their trie.

Such a token is given where it is all of a pre-token, and its text is then spelled by no others. An
automaton of all their texts would be large, so that a *place* says beside the pre-tokenizer's state
what the pre-token holds so far:

    OFF      nothing, or what none of the texts begins with
    1, 2, …  a node of the trie of the texts
    WHOLE    such a token: the pre-token ends here
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..tokens.trie import Trie, ranges
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary
from .dfa import DEAD, PretokenizerDfa

OFF = 0


@dataclass(frozen=True, eq=False)
class TokensBelow:
    """The tokens that lead from a place to nodes of the trie.

    ``ids``, ``nodes``: int32 (n,). ``octets``: uint8 (n, L), padded; ``lengths``: (n,), of each.
    """

    ids: NDArray[np.int32]
    nodes: NDArray[np.int32]
    octets: NDArray[np.uint8]
    lengths: NDArray[np.integer]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for a in (self.ids, self.nodes, self.octets, self.lengths))


class WholePieces:
    """The trie of the texts of some tokens of a vocabulary; merging gives all others."""

    def __init__(self, whole: NDArray[np.int32], vocabulary: Vocabulary) -> None:
        self._vocabulary, self._own = vocabulary, whole
        self.trie = _trie_of(whole, vocabulary)
        self.is_text = np.diff(self.trie.held) > 0
        self._first, self._octets = self.trie.first.tolist(), self.trie.octets.tolist()

    @property
    def whole(self) -> int:
        """The place ``WHOLE``."""
        return len(self._octets)

    @property
    def places(self) -> int:
        """How many places there are."""
        return len(self._octets) + 1

    def may_end(self, place: int) -> bool:
        """Whether the pre-token may end here: its text is not that of a token."""
        return place in (OFF, self.whole) or not self.is_text[place]

    def after(self, place: int, octets: bytes) -> int:
        """The place after more text of the pre-token; the root (``OFF`` too) before any."""
        for octet in octets:
            low, high = self._first[place : place + 2]
            found = next((n for n in range(low, high) if self._octets[n] == octet), OFF)
            if found == OFF:
                return OFF
            place = found
        return place

    def below(self, place: int) -> TokensBelow:
        """The tokens that merging gives and that lead from a place (or the root) to a node."""
        trie, tokens = self.trie, self._tokens
        keys = self._token_keys
        nodes, places = np.zeros(1, dtype=np.int32), np.array([place], dtype=np.int32)
        ids, ends = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
        while len(nodes):
            fan_out = trie.first[places + 1] - trie.first[places]
            places, parents = ranges(trie.first[places], fan_out), np.repeat(nodes, fan_out)
            wanted = parents.astype(np.int64) * 256 + trie.octets[places]
            found = np.searchsorted(keys, wanted)
            is_node = keys[found] == wanted
            # Key i is that of node i + 1: the root has none.
            nodes, places = (found[is_node] + 1).astype(np.int32), places[is_node]
            counts = tokens.held[nodes + 1] - tokens.held[nodes]
            ids.append(tokens.ids[ranges(tokens.held[nodes], counts)])
            ends.append(np.repeat(places, counts))
        held = np.concatenate(ids)
        lengths = self._vocabulary.lengths[held]
        places_of = np.arange(int(lengths.max(initial=1)))
        indices = self._vocabulary.offsets[held][:, None] + places_of
        data = self._vocabulary.data
        octets = data[np.minimum(indices, max(0, len(data) - 1))]
        return TokensBelow(held, np.concatenate(ends), octets, lengths)

    @cached_property
    def _tokens(self) -> Trie:
        merged = np.setdiff1d(np.flatnonzero(self._vocabulary.kinds == TEXT), self._own)
        return _trie_of(merged, self._vocabulary)

    @cached_property
    def _token_keys(self) -> NDArray[np.int64]:
        """Parent · 256 + byte of each node but the root, ascending, and more than any."""
        trie = self._tokens
        parents = np.repeat(np.arange(len(trie.octets), dtype=np.int64), np.diff(trie.first))
        return np.append(parents * 256 + trie.octets[1:], np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class PretokenizerBesidePieces(PretokenizerDfa):
    """The same as its base, but that a state is that of the DFA · ``pieces.places`` + a place."""

    pieces: WholePieces | None = None

    @property
    def begin(self) -> int:
        """The state before any text."""
        return self.start * self._width

    @property
    def everywhere(self) -> Sequence[int]:
        """The states that some text may lead to, where nothing is known of it."""
        return range(self._width, len(self.table) * self._width, self._width)

    def step(self, state: int, mark: int, token: int, octets: bytes) -> int:
        """The state after a token whose first byte has the mark 0 or 1; 0 if it cannot stand
        here."""
        assert self.pieces is not None
        state, place = divmod(state, self._width)
        is_whole = token in self.whole
        if not octets or (not self.pieces.may_end(place) if mark else place == self.pieces.whole):
            return DEAD
        for at, octet in enumerate(octets):
            state = int(self.table[state, mark if not at else 0, self.classes[octet]])
        if state == DEAD or (is_whole and not mark):
            return DEAD
        after = self.pieces.whole if is_whole else self.pieces.after(OFF if mark else place, octets)
        # What is off the trie stays so.
        if not mark and place == OFF:
            after = OFF
        return state * self._width + after

    @property
    def _width(self) -> int:
        assert self.pieces is not None
        return self.pieces.places


def _trie_of(ids: NDArray[np.integer], vocabulary: Vocabulary) -> Trie:
    kinds = np.full(vocabulary.size, HOLE, dtype=np.uint8)
    kinds[ids] = TEXT
    return Trie.from_vocabulary(replace(vocabulary, kinds=kinds))
