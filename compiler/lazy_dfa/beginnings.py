"""The DFA of what begins a text of an operand: small where the operand's own is exponential.

    .*a.{20}    2^21 sets of places at which an "a" stands; but any text begins one of its texts

All states of the operand's NFA are live, so the DFA's are sets of them, without what the others can
do as well. A state *simulates* another one if it reads whatever that reads, step by step (Milner
1971, with all states accepting; found as a greatest fixpoint). States on cycles are asked first, as
loops such as ``.*`` can do most; and all states where that is not enough, as in [ab]*a[abc]{20}.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.conjunctions import DEAD, Conjunction, Operand
from constrain.artifacts.dfa.sets import Derivatives
from constrain.artifacts.tokens.memo import Numbered

from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..limits import Limits

# States of the DFA at most, and cells that one step of the fixpoint may look at.
_MOST_STATES, _MOST_CELLS = 2_000, 1 << 24

_STAGE = "what begins a text"


def following_its_beginnings(conjunction: Conjunction, limits: Limits) -> Conjunction:
    """The same conjunction of one required operand and nothing else, whose DFA says which texts
    begin a member; unchanged where that has too many states."""
    [operand] = conjunction.operands
    edges = _Edges(operand, conjunction.table.shape[1])
    dfa = _beginnings(operand, conjunction, edges.on_cycles(), edges, limits)
    if dfa is None:
        dfa = _beginnings(operand, conjunction, np.arange(edges.size), edges, limits)
    if dfa is None:
        return conjunction
    columns = np.arange(256)[np.unique(conjunction.classes, return_index=True)[1]]
    return replace(
        conjunction,
        table=np.ascontiguousarray(dfa.table[:, dfa.classes[columns]]),
        accepting=dfa.accepting.astype(np.uint8),
        start=dfa.start,
        operands=(replace(operand, is_followed=True),),
    )


class _Edges:
    """Those of an NFA of ``size`` states: of each the ``sources``, ``columns`` and ``targets``."""

    def __init__(self, operand: Operand, width: int) -> None:
        self.size, self.width = len(operand.accepting), width
        cells = np.arange(self.size * width).repeat(np.diff(operand.offsets))
        self.sources, self.columns = cells // width, cells % width
        self.targets = operand.targets.astype(np.intp)

    def on_cycles(self) -> NDArray[np.intp]:
        """The states that lead back to themselves, and those between two cycles; ascending."""
        alive = np.ones(self.size, dtype=np.bool_)
        while True:
            # What nothing leads to, or what leads to nothing, among the others, is on no cycle.
            inner = alive[self.sources] & alive[self.targets]
            both = np.zeros((2, self.size), dtype=np.bool_)
            both[0, self.sources[inner]] = both[1, self.targets[inner]] = True
            left = alive & both[0] & both[1]
            if (left == alive).all():
                return np.flatnonzero(alive)
            alive = left


def _beginnings(
    operand: Operand,
    conjunction: Conjunction,
    asked: NDArray[np.intp],
    edges: _Edges,
    limits: Limits,
) -> Dfa | None:
    width = edges.width
    if edges.size * max(len(asked), 1) ** 2 * width > _MOST_CELLS:
        return None
    simulated = _simulated(asked, edges, limits)
    derivatives = Derivatives(operand, width)
    sets = Numbered([0, _without(derivatives.start, simulated)])
    rows = [[DEAD] * width]
    for states in islice(sets, 1, None):
        if len(sets) - 1 > _MOST_STATES:
            return None
        limits.check_resources(_STAGE)
        row = []
        for column in range(width):
            row.append(sets.number(_without(derivatives.step(states, column), simulated)))
        rows.append(row)
    accepting = np.ones(len(rows), dtype=np.bool_)
    accepting[DEAD] = False
    table = np.array(rows, dtype=np.int32)
    origins = (frozenset[int](),) * len(rows)
    return minimize(Dfa(table, conjunction.classes, accepting, 1, origins), limits)


def _without(states: int, simulated: dict[int, int]) -> int:
    """A set without the states that others of it simulate."""
    for state, others in simulated.items():
        if states >> state & 1:
            states &= ~others
    return states


def _simulated(asked: NDArray[np.intp], edges: _Edges, limits: Limits) -> dict[int, int]:
    """For each state that is asked the others that it simulates, as bits."""
    by_column = []
    for column in range(edges.width):
        held = np.flatnonzero(edges.columns == column)
        if len(held):
            sources, targets = edges.sources[held], edges.targets[held]
            leads = np.zeros((edges.size, edges.size), dtype=np.bool_)
            leads[sources, targets] = True
            moves = leads[asked]
            heads, starts = np.unique(sources, return_index=True)
            within = moves[:, asked].astype(np.float32)
            by_column.append((heads, starts, targets, within.T, moves.T))
    # simulates[s, i]: whether asked[i] can read whatever s can, as far as it is known.
    simulates = np.ones((edges.size, len(asked)), dtype=np.bool_)
    while True:
        limits.check_resources(_STAGE)
        fails = np.zeros_like(simulates)
        for heads, starts, targets, within, moves in by_column:
            follows = (simulates.astype(np.float32) @ within > 0) | moves
            fails[heads] |= np.logical_or.reduceat(~follows[targets], starts)
        left = simulates & ~fails
        if (left == simulates).all():
            break
        simulates = left
    found: dict[int, int] = {}
    for i, state in enumerate(asked.tolist()):
        others = np.flatnonzero(simulates[:, i]).tolist()
        found[state] = sum(1 << other for other in others if other != state)
    return found
