"""Derivatives of an operand that has no DFA: sets of the states of its NFA, as bits of integers.

The states of an NFA are partial derivatives of an expression, and a set of them is a derivative
(Antimirov 1996). Sets are made when a text leads to them; a step is cached by its set and column.
"""

from .conjunctions import Operand

# Cached steps of one operand; with more the cache is emptied.
_MOST_STEPS = 1 << 16


class Derivatives:
    """Of one operand. ``start``: before any text. ``every``: all states, of which each derivative
    is a subset. ``excludes``: as the operand's."""

    def __init__(self, operand: Operand, columns: int) -> None:
        self.excludes = operand.excludes
        self.start = sum(1 << state for state in set(operand.starts.tolist()))
        states = len(operand.accepting)
        self.every = (1 << states) - 1
        self._accepting = sum(1 << s for s, ends in enumerate(operand.accepting.tolist()) if ends)
        self._offsets, self._targets = operand.offsets.tolist(), operand.targets.tolist()
        self._columns = columns
        self._moves: dict[int, int] = {}
        self._steps: dict[tuple[int, int], int] = {}

    def accepts(self, states: int) -> bool:
        """Whether a text that leads to ``states`` is one of the operand."""
        return bool(states & self._accepting)

    def step(self, states: int, column: int) -> int:
        """The states after a byte of ``column``."""
        found = self._steps.get((states, column))
        if found is None:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            found = self._steps[states, column] = self._union(states, column)
        return found

    def _union(self, states: int, column: int) -> int:
        found, moves, columns = 0, self._moves, self._columns
        while states:
            low = states & -states
            states ^= low
            cell = (low.bit_length() - 1) * columns + column
            targets = moves.get(cell)
            if targets is None:
                targets = 0
                for target in self._targets[self._offsets[cell] : self._offsets[cell + 1]]:
                    targets |= 1 << target
                moves[cell] = targets
            found |= targets
        return found
