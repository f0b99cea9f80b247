"""The pairs of states that some text leads to: of a network, and of a pre-tokenizer DFA beside it.

    s ::= "a" s "b" | "c";     state 1 beside what precedes a text, and beside what "a" leads to, …

Reading, calls and returns are followed until nothing is new. After a call that may end in q each
frame is taken beside q, whoever called: so there are pairs among them that no text leads to.
"""

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..network.sets import NO_SEPARATOR
from ..network.tables import NetworkTables
from ..pretokenizer.byte_sets import of_flags

if TYPE_CHECKING:
    from .pretokenized import PretokenizedNetwork


def meet_all_pairs(network: "PretokenizedNetwork") -> None:
    """Number all of them in ``network.contexts``, and those after the ones that were met."""
    contexts = network.contexts
    begun = dict(enumerate(network.reached))
    # Those of the reader are pairs here as well.
    for each in (network, network.reader):
        pairs = () if each is None else (each.contexts.states[1:], each.contexts.pre_states[1:])
        for state, pre_state in zip(*(array.tolist() for array in pairs), strict=True):
            begun[state] |= 1 << pre_state
    for state, pre_states in enumerate(reached(network, begun)):
        if pre_states:
            met = np.flatnonzero(contexts.sets.flags(pre_states))
            contexts.numbers(np.full(len(met), state), met)


def begun(network: "PretokenizedNetwork") -> dict[int, int]:
    """By state the set (``ByteSets``) of pre-tokenizer states in which texts begin, also after a
    prompt, which ends between characters. Beside the inert DFA they may begin wherever the reader
    is."""
    if network.reader is not None:
        return dict(enumerate(network.reader.reached))
    tables, pretokenizer = network.network.tables, network.pretokenizer
    prompted = tables.start if network.continued is None else network.continued
    between = network.sets.between(pretokenizer.classes) | network.final
    found = {prompted: of_flags(between) & network.sets.all}
    found[tables.start] = found.get(tables.start, 0) | 1 << pretokenizer.start
    return found


def reached(network: "PretokenizedNetwork", begun: Mapping[int, int]) -> list[int]:
    """The set of each state, from where texts begin."""
    sets = network.sets
    tables, reading, watch = network.network.tables, network.byte_edges, network.watch
    frames = _resumed(tables).tolist()
    starts = [{start for start, _ in calls} for calls in tables.calls]
    # Of each state what is reached, and what of that is new.
    found, new = [0] * tables.states, [0] * tables.states
    todo, ended = deque[int](), 0

    def reach(state: int, more: int) -> None:
        more &= ~found[state]
        if more:
            found[state] |= more
            if not new[state]:
                todo.append(state)
            new[state] |= more

    for state, pre_states in begun.items():
        reach(state, pre_states)
    while todo:
        state = todo.popleft()
        fresh, new[state] = new[state], 0
        watch(fresh.bit_count() * (1 + len(reading[state])), 0)
        for target, columns in reading[state]:
            reach(target, sets.after(columns, fresh))
        for start in starts[state]:
            reach(start, fresh)
        if tables.accepting[state] and (ending := fresh & ~ended):
            ended |= ending
            for frame in frames:
                reach(frame, ending)
    return found


def _resumed(tables: NetworkTables) -> NDArray[np.int64]:
    """The states in which something goes on where a call ends."""
    returns, counters = tables.call_returns, tables.counters
    if counters is not None:
        plain, sets = returns[returns < tables.states], counters.sets
        returns = np.concatenate((plain, counters.items, counters.backs))
        if sets is not None:
            between = sets.separators[sets.separators != NO_SEPARATOR]
            returns = np.concatenate((returns, sets.parts, sets.backs, between))
    return np.unique(returns).astype(np.int64)
