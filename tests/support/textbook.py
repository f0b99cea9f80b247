"""Masks by the definition: a token fits if a network reads its bytes one after the other.

Nothing but ``Texts.read`` is used, on the tables of the whole network: no walk, no summary and no
row of the package. What a byte makes of a configuration is kept.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts import Matcher
from constrain.artifacts.kinds.generations import always
from constrain.artifacts.network.configurations import REFUSED, Texts
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

_FIRST_TERMINAL = 256


class TextbookMasks:
    """``network``: reads texts. ``named``: the ids of each token terminal."""

    is_full = False

    def __init__(
        self,
        network: Texts,
        trie: Trie,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        named: Sequence[NDArray[np.int32]] = (),
    ) -> None:
        self.network, self.start = network, network.start
        self.is_accepting = network.may_end
        self._trie, self._vocabulary, self._named = trie, vocabulary, named
        self._eos, self._vocab_size = list(eos), vocab_size
        self._behind: dict[tuple[int, int], int] = {}
        self._rows: dict[int, Words] = {}

    def matcher(self) -> Matcher:
        """A matcher before any text."""
        return Matcher(lambda: always(self), self._eos, self._vocab_size)

    def read(self, state: int, octets: bytes) -> int:
        """The configuration behind some bytes."""
        for octet in octets:
            if state != REFUSED:
                state = self._read(state, octet)
        return state

    def _read(self, state: int, octet: int) -> int:
        key = state, octet
        if key not in self._behind:
            self._behind[key] = self.network.read(state, [octet])
        return self._behind[key]

    def row(self, state: int) -> Words:
        """The mask."""
        if state not in self._rows:
            self._rows[state] = tokenset.from_ids(self._ids(state), self._vocab_size)
        return self._rows[state]

    def _ids(self, state: int) -> list[int]:
        trie, found = self._trie, [*self._eos] if self.network.may_end(state) else []
        pending = [(0, state)]
        for node, reached in pending:
            for child in range(int(trie.first[node]), int(trie.first[node + 1])):
                target = self._read(reached, int(trie.octets[child]))
                if target != REFUSED:
                    found += trie.ids[trie.held[child] : trie.held[child + 1]].tolist()
                    pending.append((child, target))
        for number, ids in enumerate(self._named):
            if self.network.read(state, [_FIRST_TERMINAL + number]) != REFUSED:
                found += ids.tolist()
        return found

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration behind a token, or None."""
        readings: list[Sequence[int]] = []
        if self._vocabulary.is_text(token_id) and (text := self._vocabulary.token(token_id)):
            readings.append(text)
        for number, ids in enumerate(self._named):
            if token_id in ids:
                readings.append([_FIRST_TERMINAL + number])
        target = self.network.read(state, *readings)
        return None if target == REFUSED else target

    def step(self, state: int, token_id: int) -> int:
        """The same for a token that fits."""
        target = self.take(state, token_id)
        assert target is not None
        return target
