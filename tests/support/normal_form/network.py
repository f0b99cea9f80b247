"""The recursive transition network of a grammar in normal form: each nonterminal is called."""

import numpy as np

from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler.automata.dfa import DEAD, Dfa, as_nfa
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Nfa
from constrain.compiler.automata.thompson import Thompson
from constrain.compiler.limits import Limits
from constrain.compiler.lnf.form import Lnf
from support.normal_form.goal_automata import Goals


def network(lnf: Lnf, limits: Limits | None = None, terminals: int = 0) -> NetworkTables:
    """The network of a grammar, nullable symbols included, with as few states as it can have.

    Calls after which there is nothing but the end jump. ``terminals``: T, the number of the
    grammar's token terminals. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    goals = Goals(lnf, limits)
    reached = goals.reached()
    numbered = [lnf.start, *sorted(reached.keys() - {lnf.start})]
    # Symbols of calls, and of where those start, which one state leads to.
    count = len(numbered)
    call = {rule: FIRST_TERMINAL + terminals + i for i, rule in enumerate(numbered)}
    builder = Thompson(limits)
    builder.nfa = Nfa(arcs=[[]], epsilon=[[]], start=0)
    finals = set[int]()
    for rule in numbered:
        base = builder.nfa.states
        for _ in reached[rule].edges:
            builder.new_state()
        builder.add_arc(0, call[rule] + count, call[rule] + count, base, frozenset())
        finals.update(base + final for final in reached[rule].finals)
        for state, edges in enumerate(reached[rule].edges):
            for symbol, target in edges.items():
                if symbol >= 0:
                    there = call[symbol]
                    builder.add_arc(base + state, there, there, base + target, frozenset())
                    continue
                fragment = builder.compile(goals.nodes[~symbol])
                builder.add_epsilon(base + state, fragment.start)
                builder.add_epsilon(fragment.end, base + target)
    builder.nfa.finals = frozenset(finals)
    nfa = builder.nfa
    while True:
        found = minimal(nfa, limits, terminals + 2 * count)
        nfa = as_nfa(found, keep_origins=False)
        starts = {arc.low - count: arc.target for arc in nfa.arcs[nfa.start]}
        ends = {state for state in nfa.finals if not nfa.arcs[state]}
        jumps = False
        for state, arcs in enumerate(nfa.arcs):
            for arc in arcs if state != nfa.start else ():
                if arc.low in starts and arc.target in ends:
                    nfa.arcs[state] = [kept for kept in nfa.arcs[state] if kept is not arc]
                    nfa.epsilon[state].append(starts[arc.low])
                    jumps = True
        if not jumps:
            names = tuple(lnf.owners[rule] for rule in numbered)
            return _tables(found, names, terminals, lnf.start in goals.nullable)


def _tables(
    found: Dfa, names: tuple[str, ...], terminals: int, nullable_start: bool
) -> NetworkTables:
    # The state that joins the automata is no part of them; nothing leads to it.
    states = np.arange(found.states)
    inner = np.flatnonzero((states != found.start) | (states == DEAD))
    number = np.zeros(found.states, dtype=np.int32)
    number[inner] = np.arange(len(inner))
    table, count = number[found.table], len(names)
    width = table.shape[1] - 2 * count
    starts = table[found.start, width + count :]
    sources, called = np.nonzero(table[inner, width : width + count])
    return NetworkTables(
        table=np.ascontiguousarray(table[inner, :width]),
        classes=found.classes,
        accepting=found.accepting[inner].astype(np.uint8),
        call_offsets=np.searchsorted(sources, np.arange(len(inner) + 1)).astype(np.int64),
        call_starts=starts[called],
        call_returns=table[inner[sources], width + called],
        start=int(starts[0]),
        nullable_start=nullable_start,
        names=names,
        entries=starts,
    )
