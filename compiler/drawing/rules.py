"""The picture of a grammar's rules: which one uses which, and which lead back to themselves."""

from ..grammar.tree import Grammar, Reference, walk
from .dot import to_dot
from .drawing import Drawing
from .picture import (
    PALETTE,
    USUAL_SIZE,
    Edge,
    Label,
    Notation,
    Picture,
    Size,
    breadth_first,
    counted,
    extent,
)

_CYCLE = PALETTE[1]


def draw_rules(grammar: Grammar, *, size: Size = USUAL_SIZE) -> Drawing:
    """Draw the rules that can be reached from the start, at most ``size.states`` of them."""
    names = list(dict.fromkeys(rule.name for rule in grammar.rules))
    number = {name: i for i, name in enumerate(names)}
    uses: list[dict[int, None]] = [{} for _ in names]
    for defined in grammar.rules:
        for expr in walk(defined.body):
            if isinstance(expr, Reference) and expr.name in number:
                uses[number[defined.name]][number[expr.name]] = None
    start = number[grammar.start]
    reached, visible, left_out = extent(start, uses.__getitem__, size)
    below = {rule: set(breadth_first(rule, uses.__getitem__)) for rule in visible}
    recursive = {
        (rule, used) for rule in visible for used in uses[rule] if rule in below.get(used, ())
    }
    inside = set(visible)
    edges = []
    for rule in visible:
        for end in dict.fromkeys(used if used in inside else None for used in uses[rule]):
            color = _CYCLE if end is not None and (rule, end) in recursive else ""
            edges.append(Edge(rule, end, Label("", frozenset([Notation.RULE])), color=color))
    return to_dot(
        Picture(
            heading=f"Rules of {grammar.start}",
            counts=f"{counted(len(reached), 'rule')}, "
            f"{counted(sum(len(uses[rule]) for rule in reached), 'use')}",
            states=visible,
            start=start,
            accepting=(),
            edges=edges,
            left_out=left_out,
            names={rule: Label(names[rule], frozenset()) for rule in visible},
            colors={_CYCLE: "leads back to the rule that it leaves"} if recursive else {},
        )
    )
