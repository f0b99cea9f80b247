"""Masks of a network: the machine that a matcher steps, and the rows of its states."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .errors import ArtifactError
from .moves import Moves
from .network import REFUSED, Network
from .network_tables import DEAD, NetworkTables
from .residual import NOTHING, ROOT, Residual
from .residual_memo import ResidualMemo
from .tokenset import Words
from .trie import Trie
from .vocabulary import Vocabulary

# Remembered steps and rows; when there are more, they are worked out anew.
_KEPT = 1 << 20

# Configurations from which on a new matcher is given a new network.
_CONFIGURATIONS = 1 << 20

FIRST_TERMINAL = 256

_EOS = -1


class NetworkMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    States are configurations. ``trie``: makes the token trie where ``memo`` lacks something.
    ``terminals``: the ids of each token terminal, ascending; a token may be in several.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        terminals: Sequence[NDArray[np.int32]] = (),
        memo: ResidualMemo | None = None,
    ) -> None:
        self.network = Network(tables)
        self.residual = Residual(tables, trie, vocab_size, memo)
        self._vocabulary = vocabulary
        self._named = [tokenset.from_ids(ids, vocab_size) for ids in terminals]
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._moves = Moves(self.network, self._readings)
        self._steps: dict[tuple[int, int], int] = {}
        self._row_of: dict[int, Words] = {}
        # The numbers of the rows of each terminal, and of EOS.
        self._given: dict[int, int] = {}

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.network.start

    @property
    def is_full(self) -> bool:
        """Whether it has met so many configurations that the next text should have its own."""
        return max(len(self.network.threads), len(self._moves)) > _CONFIGURATIONS

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.network.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        known = self._steps.get((state, token_id))
        if known is not None:
            return known
        target = self._moves.step(state, token_id)
        if target == REFUSED:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        if len(self._steps) >= _KEPT:
            self._steps.clear()
        self._steps[state, token_id] = target
        return target

    def row(self, state: int) -> Words:
        """The allowed tokens; worked out once for each configuration."""
        row = self._row_of.get(state)
        if row is None:
            if len(self._row_of) >= _KEPT or self.residual.is_full:
                self._row_of.clear()
                self._given.clear()
                self.residual.forget()
            row = self._row_of[state] = self.residual.rows[self._row(state)]
        return row

    def _readings(self, token_id: int) -> list[Iterable[int]]:
        """The symbols of a token: its bytes, and each of the terminals that name it."""
        found: list[Iterable[int]] = []
        for number, named in enumerate(self._named):
            if tokenset.contains(named, token_id):
                found.append([FIRST_TERMINAL + number])
        if self._vocabulary.is_text(token_id) and (text := self._vocabulary.token(token_id)):
            found.append(text)
        return found

    def _row(self, configuration: int) -> int:
        residual = self.residual
        row = NOTHING
        for state, node in self.network.threads[configuration]:
            row = residual.union(row, self._thread_row(state, node))
        if self._named:
            row = residual.union(row, self._named_row(configuration))
        if self.network.may_end(configuration):
            row = residual.union(row, self._given_row(_EOS, self._eos))
        return row

    def _given_row(self, number: int, row: Words) -> int:
        known = self._given.get(number)
        if known is None:
            known = self._given[number] = self.residual.add(row)
        return known

    def _thread_row(self, state: int, node: int) -> int:
        """row(e0, p) | row(e1, g1) | … down the stacks, until nothing is pending."""
        residual, entries = self.residual, self.network.stacks.entries
        row, pending = residual.answer(ROOT, state)
        if pending == NOTHING:
            return row
        waiting = [(pending, node)]
        seen = set(waiting)
        for exits, below in waiting:
            for frame, rest in entries[below]:
                if frame == DEAD:
                    continue
                more, still = residual.answer(exits, frame)
                row = residual.union(row, more)
                if still != NOTHING and (still, rest) not in seen:
                    seen.add((still, rest))
                    waiting.append((still, rest))
        return row

    def _named_row(self, configuration: int) -> int:
        """The tokens that are read by their terminals."""
        network = self.network
        threads = network.unfolded(network.threads[configuration])
        rows = network.tables.rows
        row = NOTHING
        for number, named in enumerate(self._named):
            if any(rows[state][FIRST_TERMINAL + number] != DEAD for state, _ in threads):
                row = self.residual.union(row, self._given_row(number, named))
        return row
