"""The picture of an NFA: what Thompson's construction made of the grammar."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ..automata.nfa import FIRST_TERMINAL, Nfa
from .dot import to_dot
from .drawing import Drawing
from .labels import byte_label
from .picture import PALETTE, USUAL_SIZE, Edge, Picture, Size, counted, extent


@dataclass(slots=True)
class _Bundle:
    """All that leads from one state to another, or to all states left out (None)."""

    source: int
    target: int | None
    ranges: list[tuple[int, int]] = field(default_factory=list)
    terminals: set[int] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    epsilon: bool = False


def draw_nfa(
    nfa: Nfa, *, title: str, terminal_names: Sequence[str] = (), size: Size = USUAL_SIZE
) -> Drawing:
    """Draw an NFA; edges are coloured by the rule they come from if the rules are few.

    ``title``: the grammar's name. ``terminal_names``: of the token terminals. Draws at most
    ``size.states`` states, those nearest to the start.
    """
    reached, visible, left_out = extent(nfa.start, lambda state: _targets(nfa, state), size)
    bundles = _bundles(nfa, visible)
    colors = _colors(bundles)
    arcs = sum(len(nfa.arcs[state]) for state in reached)
    epsilons = sum(len(nfa.epsilon[state]) for state in reached)
    return to_dot(
        Picture(
            heading=f"NFA of {title}",
            counts=f"{counted(len(reached), 'state')}, {counted(arcs, 'edge')} that read, "
            f"{counted(epsilons, 'ε edge')}",
            states=visible,
            start=nfa.start,
            accepting=nfa.finals,
            edges=[_edge(bundle, colors, terminal_names) for bundle in bundles],
            left_out=left_out,
            colors={color: f"rule {rule}" for rule, color in colors.items()},
        )
    )


def _targets(nfa: Nfa, state: int) -> Iterable[int]:
    return sorted({*nfa.epsilon[state], *(arc.target for arc in nfa.arcs[state])})


def _bundles(nfa: Nfa, visible: Sequence[int]) -> list[_Bundle]:
    inside = set(visible)
    bundles: list[_Bundle] = []
    for source in visible:
        by_target: dict[int | None, _Bundle] = {}
        for target in _targets(nfa, source):
            end = target if target in inside else None
            by_target.setdefault(end, _Bundle(source, end))
        for target in nfa.epsilon[source]:
            by_target[target if target in inside else None].epsilon = True
        for arc in nfa.arcs[source]:
            bundle = by_target[arc.target if arc.target in inside else None]
            bundle.rules.update(nfa.rules[i] for i in arc.origins if i < len(nfa.rules))
            if arc.low < FIRST_TERMINAL:
                bundle.ranges.append((arc.low, arc.high))
            else:
                bundle.terminals.update(range(arc.low, arc.high + 1))
        bundles.extend(by_target.values())
    return bundles


def _colors(bundles: Collection[_Bundle]) -> dict[str, str]:
    """A colour for each rule, in the order of the drawing; none if there are too many."""
    rules = list(dict.fromkeys(rule for b in bundles for rule in sorted(b.rules)))
    if not 1 < len(rules) <= len(PALETTE):
        return {}
    return dict(zip(rules, PALETTE, strict=False))


def _edge(bundle: _Bundle, colors: dict[str, str], names: Sequence[str]) -> Edge:
    rules = sorted(bundle.rules)
    terminals = [names[symbol - FIRST_TERMINAL] for symbol in sorted(bundle.terminals)]
    return Edge(
        bundle.source,
        bundle.target,
        byte_label(
            bundle.ranges,
            epsilon=bundle.epsilon,
            terminals=terminals,
            narrow=bundle.source == bundle.target,
        ),
        reads=bool(bundle.ranges or bundle.terminals),
        color=colors.get(rules[0], "") if len(rules) == 1 else "",
        tooltip=f"rule {', '.join(rules)}" if rules else "",
    )
