"""The tokens that fit a thread of a network: a state, and the stacks below it.

Masks of a network: the machine that a matcher steps, and the rows of its states.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import Entries, Network
from .lazy_token_effects import LazyTokenEffects
from .mask_automaton import UNKNOWN, MaskAutomaton, frames_of
from .summaries import NOTHING, ROOT, Summaries
from .summary_tables import SummaryTables
from .tables import DEAD, NetworkTables
from .token_steps import TokenEffects, TokenSteps

MISSING = -1


class StackRows:
    """Rows by number, as ``residual`` numbers them; ``entries`` those of ``Stacks``."""

    def __init__(
        self,
        tables: NetworkTables,
        residual: Summaries,
        entries: Sequence[Entries],
        chains: MaskAutomaton,
    ) -> None:
        self._residual, self._entries = residual, entries
        frames = frames_of(tables)
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        self._first, self._answers = chains.first.data, chains.answers.ravel().data
        self._steps, self._pending = chains.steps.ravel().data, len(chains.steps)
        columns = np.zeros(tables.states, dtype=np.int64)
        columns[frames] = np.arange(len(frames))
        self._columns: list[int] = columns.tolist()
        self._width = len(frames)

    def ahead(self, state: int, node: int) -> int:
        """The row of a thread if it has one stack, and its chains are known; else ``MISSING``."""
        entries, columns, steps, width = self._entries, self._columns, self._steps, self._width
        chain = self._first[state]
        while chain < self._pending:
            below = entries[node]
            if chain == UNKNOWN or len(below) > 1:
                return MISSING
            frame, node = below[0]
            chain = steps[chain * width + columns[frame]]
        return self._answers[2 * chain]

    def row(self, state: int, node: int) -> int:
        """The row of a thread."""
        return self._residual.union(self.rows(state, node))

    def rows(self, state: int, node: int) -> set[int]:
        """The rows that are the thread's if united: by chains as far as they are known, else by
        answers. Uniting those of all threads at once takes less than one by one."""
        chain = self._first[state]
        if chain == UNKNOWN:
            return self._pending_rows(*self._residual.answer(ROOT, state), node)
        rows = set[int]()
        waiting = [(chain, node)]
        seen = set(waiting)
        for current, below in waiting:
            if current >= self._pending:
                rows.add(self._answers[2 * current])
                continue
            place = current * self._width
            following = [
                (self._steps[place + self._columns[frame]], rest)
                for frame, rest in self._entries[below]
            ]
            if any(after == UNKNOWN for after, _ in following):
                row, exits = self._answers[2 * current], self._answers[2 * current + 1]
                rows |= self._pending_rows(row, exits, below)
                continue
            for thread in following:
                if thread not in seen:
                    seen.add(thread)
                    waiting.append(thread)
        return rows

    def row_via_answers(self, state: int, node: int) -> int:
        """row(e0, p) | row(e1, g1) | … down the stacks, until nothing is pending."""
        answer = self._residual.answer(ROOT, state)
        return self._residual.union(self._pending_rows(*answer, node))

    def _pending_rows(self, row: int, pending: int, node: int) -> set[int]:
        """A row, and those of what is pending over stacks."""
        rows = {row}
        waiting = [(pending, node)] if pending != NOTHING else []
        seen = set(waiting)
        for exits, below in waiting:
            for frame, rest in self._entries[below]:
                if frame == DEAD:
                    continue
                more, still = self._residual.answer(exits, frame)
                rows.add(more)
                if still != NOTHING and (still, rest) not in seen:
                    seen.add((still, rest))
                    waiting.append((still, rest))
        return rows


# Remembered rows; when there are more, they are worked out anew.
_KEPT = 1 << 20

# Configurations from which on a new matcher is given a new network.
_CONFIGURATIONS = 1 << 20

# How a budget is divided: rows beside the file's, and everything else.
_ROWS, _OTHERS = 1, 3

FIRST_TERMINAL = 256

_EOS = -1


class NetworkMasks:
    """Reads whole tokens, and answers the rows that they lead to.

    States are configurations. ``trie``: makes the token trie where ``memo`` lacks something;
    ``chains`` are over the rows and exit sets of ``memo``.
    ``effects``: of all tokens, terminals included; without them tokens are read. ``take``: the
    configuration after a token, or None where the row of the configuration lacks it.
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
        memo: SummaryTables | None = None,
        chains: MaskAutomaton | None = None,
        effects: TokenEffects | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        self.network = Network(tables)
        rows, _ = (caches or CacheBudget()).divide(_ROWS, _OTHERS)
        self.residual = Summaries(tables, trie, vocab_size, memo, rows.limit)
        chains = chains or MaskAutomaton.of(tables, {}, {})
        self._stacks = StackRows(tables, self.residual, self.network.stacks.entries, chains)
        self._vocabulary = vocabulary
        self._named = [tokenset.from_ids(ids, vocab_size) for ids in terminals]
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._ends = tables.ends
        steps = TokenSteps(self.network, effects or TokenEffects.empty(), self._read)
        self.take = steps.step if steps.classes else steps.read
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
        moves = len(self._moves) if "_moves" in self.__dict__ else 0
        return max(len(self.network.threads), moves) > _CONFIGURATIONS

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.network.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def row(self, state: int) -> Words:
        """The allowed tokens; worked out once for each configuration."""
        row = self._row_of.get(state)
        if row is None:
            number = MISSING if self._named else self._row_ahead(state)
            if number == MISSING or len(self._row_of) >= _KEPT:
                self._make_room()
                number = self._row(state)
            row = self._row_of[state] = self.residual.row(number)
        return row

    def forget(self) -> None:
        """Go back to the rows that were given ahead; the others are worked out anew."""
        self._row_of.clear()
        self._given.clear()
        self.residual.forget()

    def _make_room(self) -> None:
        if len(self._row_of) >= _KEPT or self.residual.is_full:
            self.forget()

    @cached_property
    def _moves(self) -> LazyTokenEffects:
        """Reads the tokens that the effects lack."""
        return LazyTokenEffects(self.network, self._readings)

    def _read(self, state: int, token_id: int) -> int:
        return self._moves.step(state, token_id)

    def _readings(self, token_id: int) -> list[Iterable[int]]:
        """The symbols of a token: its bytes, and each of the terminals that name it."""
        found: list[Iterable[int]] = []
        for number, named in enumerate(self._named):
            if tokenset.contains(named, token_id):
                found.append([FIRST_TERMINAL + number])
        if self._vocabulary.is_text(token_id) and (text := self._vocabulary.token(token_id)):
            found.append(text)
        return found

    def _row_ahead(self, configuration: int) -> int:
        """The row if it was worked out ahead, else ``MISSING``; nothing is added."""
        whole = NOTHING
        for state, node in self.network.threads[configuration]:
            if state == DEAD or (self._ends[state] and self.network.may_return(node)):
                return MISSING
            row = self._stacks.ahead(state, node)
            if row == MISSING:
                return MISSING
            united = row if whole == NOTHING else self.residual.find_union(whole, row)
            if united is None:
                return MISSING
            whole = united
        return whole

    def _row(self, configuration: int) -> int:
        network = self.network
        threads = network.threads[configuration]
        rows = set[int]().union(*(self._stacks.rows(state, node) for state, node in threads))
        if self._named:
            rows.update(self._named_rows(configuration))
        if network.may_end(configuration):
            rows.add(self._given_row(_EOS, self._eos))
        return self.residual.union(rows)

    def _given_row(self, number: int, row: Words) -> int:
        known = self._given.get(number)
        if known is None:
            known = self._given[number] = self.residual.add(row)
        return known

    def _named_rows(self, configuration: int) -> Iterator[int]:
        """The tokens that are read by their terminals."""
        network = self.network
        threads = network.unfolded(network.threads[configuration])
        rows = network.tables.rows
        for number, named in enumerate(self._named):
            if any(rows[state][FIRST_TERMINAL + number] != DEAD for state, _ in threads):
                yield self._given_row(number, named)
