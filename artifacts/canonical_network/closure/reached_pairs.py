"""The pairs of states that some text leads to: of a network, and of a pre-tokenizer DFA beside it.

s ::= "a" s "b" | "c";     state 1 beside what precedes a text, and beside what "a" leads to, …

reached            of each state of the network a set of pre-tokenizer states
return_states      those beside which calls and texts may end
meet_all_pairs     all of these pairs get numbers
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ...network.sets import NO_SEPARATOR
from ...network.tables import NetworkTables
from ...pretokenizer.byte_sets import ByteSets, of_flags
from ...tokens.sharing import recent
from ..pretokenized import PretokenizedNetwork


def meet_all_pairs(network: PretokenizedNetwork) -> None:
    """Number all pairs of ``network.contexts`` that some text leads to; and some that none does."""
    contexts = network.contexts
    begun = _begun(network, contexts.sets)
    # Those that were met, and those of the reader, are pairs here as well.
    for each in (network, network.reader):
        pairs = () if each is None else (each.contexts.states[1:], each.contexts.pre_states[1:])
        for state, pre_state in zip(*(array.tolist() for array in pairs), strict=True):
            begun[state] = begun.get(state, 0) | 1 << pre_state
    for state, pre_states in enumerate(_reached(network, contexts.sets, begun)):
        if pre_states:
            met = np.flatnonzero(contexts.sets.flags(pre_states))
            contexts.numbers(np.full(len(met), state), met)


def return_states(network: PretokenizedNetwork) -> int:
    """The pre-tokenizer states beside which a call or the text may end, and maybe others, as a set
    (``ByteSets``)."""
    sets, found = recent(ByteSets, network.pretokenizer.table), 0
    reached = _reached(network, sets, _begun(network, sets))
    for state in np.flatnonzero(network.network.tables.accepting).tolist():
        found |= reached[state]
    return found


def _begun(network: PretokenizedNetwork, sets: ByteSets) -> dict[int, int]:
    """By state the pre-tokenizer states in which texts begin, also after a prompt, which ends
    between characters. Beside the inert DFA they may begin wherever the reader is."""
    if network.reader is not None:
        before = _begun(network.reader, network.reader.contexts.sets)
        return dict(enumerate(_reached(network.reader, network.reader.contexts.sets, before)))
    tables, pretokenizer = network.network.tables, network.pretokenizer
    prompted = tables.start if network.continued is None else network.continued
    between = of_flags(sets.between(pretokenizer.classes) | network.final) & sets.all
    begun = {prompted: between}
    begun[tables.start] = begun.get(tables.start, 0) | 1 << pretokenizer.start
    return begun


def _reached(network: PretokenizedNetwork, sets: ByteSets, begun: dict[int, int]) -> list[int]:
    """By state what reading, calls and returns lead to, until nothing is new.

    After a call that may end in q each frame is taken beside q, whoever called.
    """
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
