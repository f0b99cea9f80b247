"""Masks of a network: the machine that a matcher steps, and the rows of its states."""

from collections.abc import Sequence

from . import tokenset
from .errors import ArtifactError
from .network import REFUSED, Network
from .network_tables import DEAD, NetworkTables
from .residual import NOTHING, ROOT, Residual
from .tokenset import Words
from .trie import Trie
from .vocabulary import Vocabulary

# Remembered steps and rows; when there are more, they are worked out anew.
_KEPT = 1 << 20


class NetworkMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    States are configurations. ``terminals``: the symbol of each token that the grammar names.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Trie,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        terminals: dict[int, int] | None = None,
    ) -> None:
        self.network = Network(tables)
        self.residual = Residual(tables, trie, vocab_size)
        self._vocabulary = vocabulary
        self._terminals = terminals or {}
        self._eos_row = self.residual.row_number(tokenset.from_ids(list(eos), vocab_size))
        self._vocab_size = vocab_size
        self._steps: dict[tuple[int, int], int] = {}
        self._row_of: dict[int, Words] = {}

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.network.start

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.network.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        known = self._steps.get((state, token_id))
        if known is not None:
            return known
        target = REFUSED
        if token_id in self._terminals:
            target = self.network.read(state, [self._terminals[token_id]])
        elif self._vocabulary.is_text(token_id) and self._vocabulary.token(token_id):
            target = self.network.read(state, self._vocabulary.token(token_id))
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
            if len(self._row_of) >= _KEPT:
                self._row_of.clear()
            row = self._row_of[state] = self.residual.rows[self._row(state)]
        return row

    def _row(self, configuration: int) -> int:
        union = self.residual.union
        threads = self.network.threads[configuration]
        row = NOTHING
        for state, node in threads:
            row = union(row, self._thread_row(state, node))
        if self._terminals:
            row = union(row, self._terminal_row(configuration))
        if self.network.may_end(configuration):
            row = union(row, self._eos_row)
        return row

    def _thread_row(self, state: int, node: int) -> int:
        """row(e0, p) | row(e1, g1) | … down the stacks, until nothing is pending."""
        residual, entries = self.residual, self.network.stacks.entries
        row, pending = residual.answer(ROOT, state)
        waiting = [(pending, node)]
        seen = set(waiting)
        for exits, below in waiting:
            if exits == NOTHING:
                continue
            for frame, rest in entries[below]:
                if frame != DEAD:
                    more, still = residual.answer(exits, frame)
                    row = residual.union(row, more)
                    if (still, rest) not in seen:
                        seen.add((still, rest))
                        waiting.append((still, rest))
        return row

    def _terminal_row(self, configuration: int) -> int:
        network = self.network
        threads = network.unfolded(network.threads[configuration])
        rows = network.tables.rows
        ids = [
            token_id
            for token_id, symbol in self._terminals.items()
            if any(rows[state][symbol] != DEAD for state, _ in threads)
        ]
        return self.residual.row_number(tokenset.from_ids(ids, self._vocab_size))
