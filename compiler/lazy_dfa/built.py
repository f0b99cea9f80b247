"""The DFA of conjunctions as a whole, for what needs all states: drawings, samples, comparisons.

(state of the DFA, characters)    one state for each number of characters up to the bound
"""

from functools import reduce

import numpy as np

from constrain.artifacts.dfa.conjunctions import DEAD, UNBOUNDED, Conjunction

from ..automata.boolean import union
from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..automata.nfa import Origins
from ..limits import Limits
from .conjunctions import Operation

_STAGE = "the automaton of a bounded length"


def built(operation: Operation, limits: Limits) -> Dfa | None:
    """The minimal DFA, all of whose states have origin 0; None where an operand has no DFA. Raises
    ``LimitError``."""
    if any(each.operands for each in operation.conjunctions):
        return None
    dfas = [_counted(each, limits) for each in operation.conjunctions]
    whole = reduce(lambda one, other: union(one, other, limits), dfas)
    origins: tuple[Origins, ...] = (frozenset(), *[frozenset([0])] * (whole.states - 1))
    return Dfa(whole.table, whole.classes, whole.accepting, whole.start, origins, whole.is_trimmed)


def _counted(conjunction: Conjunction, limits: Limits) -> Dfa:
    """State q after c characters is ``c * S + q``; all numbers from the last on are one, where
    there is no bound above."""
    c, states = conjunction, len(conjunction.table)
    last = c.least if c.most == UNBOUNDED else c.most
    layers = last + 1
    limits.check_states(layers * states, _STAGE)
    limits.check_allocation(layers * c.table.size * 8, _STAGE)
    before = np.repeat(np.arange(layers), states)[:, None]
    after = before + c.begins
    if c.most == UNBOUNDED:
        after = np.minimum(after, last)
    targets = np.tile(c.table, (layers, 1))
    table = np.where((targets == DEAD) | (after > last), DEAD, after * states + targets)
    accepting = np.tile(c.accepts, layers)
    accepting[: c.least * states] = False
    origins: tuple[Origins, ...] = (frozenset(),) * len(table)
    whole = Dfa(table.astype(np.int32), c.classes, accepting, c.start, origins)
    return minimize(whole, limits)
