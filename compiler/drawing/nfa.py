"""The picture of an NFA: what Thompson's construction made of the grammar."""

from collections.abc import Iterator, Mapping, Sequence

from ..automata.nfa import FIRST_TERMINAL, Nfa
from .collapse import collapsed
from .dfa import drawn_as
from .drawing import Drawing
from .graph import Graph, Reads, Regions, Step, explored
from .picture import PALETTE, View, counted
from .plan import Plan


def draw_nfa(nfa: Nfa, view: View, terminal_names: Sequence[str] = (), start: str = "") -> Drawing:
    """Draw an NFA; edges are coloured by the rule they come from if the rules are few.

    ``terminal_names``: of the token terminals. ``start``: the start rule, whose name
    no state needs. The rest as for ``draw_dfa``.
    """
    graph = nfa_graph(nfa, terminal_names, start)
    whole = graph if view.by_bytes else collapsed(graph)
    colors = _colors(whole)
    arcs = sum(len(nfa.arcs[state]) for state in graph.steps)
    epsilons = sum(len(nfa.epsilon[state]) for state in graph.steps)
    plan = Plan(
        whole,
        f"NFA of {view.title}",
        f"{counted(len(graph.steps), 'state')}, {counted(arcs, 'edge')} that read, "
        f"{counted(epsilons, 'ε edge')}{drawn_as(graph, whole)}",
        colors={color: f"rule {rule}" for rule, color in colors.items()},
        color_of=lambda step: _color(step, colors),
    )
    return plan.drawing(view.size, view.prefix)


def nfa_graph(nfa: Nfa, terminal_names: Sequence[str] = (), start: str = "") -> Graph:
    """The states that can be reached, byte by byte."""

    def leaving(state: int) -> Iterator[Step]:
        yield from (Step(target, Reads(epsilon=True)) for target in nfa.epsilon[state])
        for arc in nfa.arcs[state]:
            rules = frozenset(nfa.rules[i] for i in arc.origins if i < len(nfa.rules))
            if arc.low < FIRST_TERMINAL:
                reads = Reads(octets=((arc.low, arc.high),))
            else:
                first, last = arc.low - FIRST_TERMINAL, arc.high - FIRST_TERMINAL
                reads = Reads(terminals=tuple(terminal_names[first : last + 1]))
            yield Step(arc.target, reads, rules)

    steps = explored(nfa.start, leaving)
    finals = frozenset(s for s in nfa.finals if s in steps)
    if nfa.regions:
        return Graph(nfa.start, finals, steps, inside=_regions(nfa))
    names = {
        state: sorted({rule for step in leaving for rule in step.rules} - {start})
        for state, leaving in steps.items()
    }
    return Graph(nfa.start, finals, steps, rules=names)


def _regions(nfa: Nfa) -> dict[int, Regions]:
    """Named after the rules that the region around is not of, nor the whole, which has no name."""
    found: dict[int, Regions] = {}
    around: list[tuple[int, frozenset[str], Regions]] = []
    # Of two with the same states the later one is around the other.
    order = sorted((first, -last, -i) for i, (first, last, _) in enumerate(nfa.regions))
    for *_, place in order:
        first, last, rules = nfa.regions[-place]
        while around and around[-1][0] <= first:
            around.pop()
        regions = around[-1][2] if around else ()
        if around and (own := rules - around[-1][1] - around[0][1]):
            regions += ((-place, ", ".join(sorted(own))),)
            found |= dict.fromkeys(range(first, last), regions)
        around.append((last, rules, regions))
    return found


def _colors(graph: Graph) -> dict[str, str]:
    """A colour for each rule, in the order of the drawing; none if there are too many."""
    steps = (step for state in graph.order for step in graph.steps.get(state, ()))
    rules = list(dict.fromkeys(rule for step in steps for rule in sorted(step.rules)))
    if not 1 < len(rules) <= len(PALETTE):
        return {}
    return dict(zip(rules, PALETTE, strict=False))


def _color(step: Step, colors: Mapping[str, str]) -> str:
    return colors.get(next(iter(step.rules)), "") if len(step.rules) == 1 else ""
