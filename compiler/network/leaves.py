"""Write what names no rule between two positions of a grammar: texts, characters and automata."""

from collections.abc import Sequence

from constrain.artifacts.machine.positions import NOWHERE, Positions

from ..automata.nfa import Nfa


def write_text(positions: Positions, text: bytes, start: int, end: int) -> None:
    """Write a text between two positions."""
    arcs, epsilon = positions.arcs, positions.epsilon
    if not text:
        positions.add_epsilon(start, end)
    elif len(text) == 1:
        arcs[start] += (text[0], text[0], end)
    else:
        first = len(arcs) - 1
        arcs[start] += (text[0], text[0], first + 1)
        arcs.extend([text[i], text[i], first + i + 1] for i in range(1, len(text) - 1))
        arcs.append([text[-1], text[-1], end])
        epsilon.extend(NOWHERE for _ in text[1:])


def write_character(
    positions: Positions, edges: Sequence[tuple[int, int, int, int]], start: int, end: int
) -> None:
    """Write a character by edges between 0 and 1: source, low, high, target."""
    states = {0: start, 1: end}
    for source, low, high, target in edges:
        if target not in states:
            states[target] = positions.new_state()
        positions.arcs[states[source]] += (low, high, states[target])


def write_automaton(positions: Positions, automaton: Nfa, start: int, end: int) -> None:
    """Write an automaton between two positions."""
    first = positions.states
    for state, leaving in enumerate(automaton.arcs):
        runs: list[int] = []
        for low, high, target, _ in leaving:
            runs += (low, high, first + target)
        positions.arcs.append(runs)
        positions.epsilon.append([first + target for target in automaton.epsilon[state]])
    positions.add_epsilon(start, first + automaton.start)
    for final in sorted(automaton.finals):
        positions.add_epsilon(first + final, end)
