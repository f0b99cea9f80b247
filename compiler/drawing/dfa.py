"""The picture of a grammar's DFA over bytes, and of a lexer, which is one of all terminals."""

from collections.abc import Iterator, Sequence

import numpy as np

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa

from ..automata.utf8 import normalized
from ..earley.union_lexer import Lexer
from .collapse import collapsed
from .drawing import Drawing, DrawingError
from .graph import Graph, Reads, Step, explored
from .picture import Notation, View, counted, on_a_line
from .plan import Plan

# Characters of a terminal, and terminals of a state, that its name shows.
_SHOWN_CHARACTERS, _SHOWN_TERMINALS = 16, 3


def draw_dfa(
    dfa: ByteDfa,
    view: View,
    terminal_names: Sequence[str] = (),
    rules: Sequence[Sequence[str]] = (),
) -> Drawing:
    """Draw a DFA without its dead state.

    ``terminal_names``: one for each token terminal. ``rules``: those whose text may follow each
    state, of which the drawing has the names. Draws at most ``view.size.states`` states, in
    reading order. Raises ``DrawingError`` for a DFA of the empty language.
    """
    graph = dfa_graph(dfa, terminal_names, rules=rules)
    whole = graph if view.by_bytes else collapsed(graph)
    plan = Plan(whole, f"DFA of {view.title}", _counts(graph, whole))
    return plan.drawing(view.size, view.prefix)


def draw_lexer(
    lexer: Lexer, view: View, texts: Sequence[str], terminal_names: Sequence[str] = ()
) -> Drawing:
    """Draw a lexer; states where terminals end are named after them.

    ``texts``: the terminals as their author wrote them. ``terminal_names``: of the token
    terminals. The rest as for ``draw_dfa``.
    """
    names = {state: _named(found, texts) for state, found in enumerate(lexer.ends) if found}
    graph = dfa_graph(lexer.dfa, terminal_names, names)
    whole = graph if view.by_bytes else collapsed(graph)
    plan = Plan(
        whole,
        f"Lexer of {view.title}",
        _counts(graph, whole),
        accepts="a terminal ends here",
        naming=Notation.ENDS,
        is_lexer=True,
    )
    return plan.drawing(view.size, view.prefix)


def dfa_graph(
    dfa: ByteDfa,
    terminal_names: Sequence[str] = (),
    names: dict[int, str] | None = None,
    rules: Sequence[Sequence[str]] = (),
) -> Graph:
    """The states that can be reached, byte by byte; ``names``: of states that have one."""
    if dfa.start == DEAD:
        raise DrawingError("this DFA has only its dead state: there is nothing to draw")
    first = dfa.table.shape[1] - len(dfa.terminals)
    octets: list[list[int]] = [[] for _ in range(dfa.table.shape[1])]
    for octet, column in enumerate(dfa.classes.tolist()):
        octets[column].append(octet)

    def leaving(state: int) -> Iterator[Step]:
        own = frozenset(rules[state] if rules else ())
        read: dict[int, tuple[list[int], list[str]]] = {}
        for column, target in enumerate(dfa.table[state].tolist()):
            if target != DEAD:
                found, terminals = read.setdefault(target, ([], []))
                found += octets[column]
                terminals += terminal_names[column - first :][:1] if column >= first else []
        for target, (found, terminals) in read.items():
            reads = Reads(normalized((o, o) for o in found), terminals=tuple(terminals))
            yield Step(target, reads, own)

    steps = explored(dfa.start, leaving)
    accepting = frozenset(s for s in np.flatnonzero(dfa.accepting).tolist() if s in steps)
    named = {s: n for s, n in (names or {}).items() if s in steps}
    of = {state: rules[state] for state in steps} if rules else {}
    return Graph(dfa.start, accepting, steps, named, rules=of)


def _counts(graph: Graph, whole: Graph) -> str:
    edges = sum(len(steps) for steps in graph.steps.values())
    text = f"{counted(len(graph.steps), 'state')}, {counted(edges, 'edge')}, "
    text += "the dead state not among them"
    return text + drawn_as(graph, whole)


def drawn_as(graph: Graph, whole: Graph) -> str:
    """How many states are left when those inside characters and texts are not drawn."""
    if len(whole.order) == len(graph.order):
        return ""
    return f"; here {len(whole.order):,}, without those inside characters and texts"


def _named(terminals: Sequence[int], texts: Sequence[str]) -> str:
    shown = [on_a_line(texts[t], _SHOWN_CHARACTERS) for t in terminals[:_SHOWN_TERMINALS]]
    return "\n".join([*shown, "…"] if len(terminals) > _SHOWN_TERMINALS else shown)
