"""The picture of a grammar's rules: which one uses which, and which lead back to themselves."""

from collections.abc import Collection

from ..grammar.tree import Grammar, Reference, walk
from .dot import to_dot
from .drawing import Drawing
from .layout import fitted
from .picture import (
    GREY,
    PALETTE,
    WAY,
    Edge,
    Label,
    Notation,
    Picture,
    View,
    breadth_first,
    counted,
    left_out_sentence,
    nearest,
    on_a_line,
)

_CYCLE = PALETTE[0]

# Characters of a name that are shown.
_SHOWN = 40


def draw_rules(grammar: Grammar, view: View, marked: Collection[str] | None = None) -> Drawing:
    """Draw the rules that can be reached from the start, at most ``view.size.states`` of them.

    ``marked``: rules that stand out, with what they use and what uses them; the others are grey.
    """
    size = view.size
    names = list(dict.fromkeys(rule.name for rule in grammar.rules))
    number = {name: i for i, name in enumerate(names)}
    uses: list[dict[int, None]] = [{} for _ in names]
    for defined in grammar.rules:
        for expr in walk(defined.body):
            if isinstance(expr, Reference) and expr.name in number:
                uses[number[defined.name]][number[expr.name]] = None
    start = number[grammar.start]
    reached = breadth_first(start, uses.__getitem__)
    nearest_ = nearest(start, uses.__getitem__, size)
    below = {rule: set(breadth_first(rule, uses.__getitem__)) for rule in nearest_}
    marks = {number[name] for name in marked or () if name in number}

    def picture_of(count: int) -> Picture:
        visible = nearest_[:count]
        cramped = size.fits and count < len(nearest_)
        edges = []
        for rule in visible:
            for end in dict.fromkeys(
                used if used in visible[:count] else None for used in uses[rule]
            ):
                is_cycle = end is not None and rule in below.get(end, ())
                color = _CYCLE if is_cycle else ""
                if marked is not None:
                    color = color if rule in marks or end in marks else GREY
                is_bold = rule in marks and end in marks
                label = Label("", frozenset([Notation.RULE]))
                edges.append(Edge(rule, end, label, color=color, is_bold=is_bold))
        near = marks | {end for rule in marks for end in uses[rule]}
        near |= {rule for rule in visible if marks & uses[rule].keys()}
        colors = {_CYCLE: "leads back to the rule that it leaves"}
        state_colors = {}
        if marked is not None:
            state_colors = {rule: GREY for rule in visible if rule not in near}
            state_colors |= dict.fromkeys(marks, WAY)
            colors[WAY] = "where the text ends or stops, the rules that are begun there"
        used = {edge.color for edge in edges} | set(state_colors.values())
        return Picture(
            heading=f"Rules of {view.title}",
            counts=f"{counted(len(reached), 'rule')}, "
            f"{counted(sum(len(uses[rule]) for rule in reached), 'use')}",
            states=visible,
            start=start,
            accepting=(),
            starts="the start rule",
            edges=edges,
            left_out=left_out_sentence(len(reached), count, size, "rule", is_cramped=cramped),
            names={rule: Label(on_a_line(names[rule], _SHOWN), frozenset()) for rule in visible},
            tooltips={rule: names[rule] for rule in visible},
            colors={color: meaning for color, meaning in colors.items() if color in used},
            state_colors=state_colors,
        )

    return to_dot(fitted(picture_of, len(nearest_), size))
