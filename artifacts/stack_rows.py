"""The tokens that fit a thread of a network: a state, and the stacks below it."""

from collections.abc import Sequence

import numpy as np

from .chains import UNKNOWN, Chains, frames_of
from .network_tables import DEAD, NetworkTables
from .residual import NOTHING, ROOT, Residual
from .stacks import Entries

MISSING = -1


class StackRows:
    """Rows by number, as ``residual`` numbers them; ``entries`` those of ``Stacks``."""

    def __init__(
        self,
        tables: NetworkTables,
        residual: Residual,
        entries: Sequence[Entries],
        chains: Chains,
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
