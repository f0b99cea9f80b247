"""How large a drawing becomes, without Graphviz: its direction, and how many states fit.

``dot`` puts a state after the longest way to it and lays the labels of edges between the states
of two ranks. The sizes here follow that, and do not depend on which Graphviz is installed, or
whether: the same input gives the same DOT text.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ..automata.graphs import reverse_postorder
from .picture import Label, Picture, Size

# Points, of which a PNG has two pixels each: 4,000 pixels are too wide to be looked at.
WIDEST = 2000.0
# What is tall can be scrolled; a page is no longer than that, what has no pages may be.
TALLEST, ENDLESS = 2500.0, 10_000.0
# What the estimate may be off by.
_MARGIN = 0.94

# Points a character in the labels' fonts at 11 points, and a line of them.
_MONO, _SANS, _LINE = 6.63, 6.6, 13.0
_PASSING = 12.0
# From top to bottom a frame is as wide where little stands in it.
_FRAMED = 2.0

# How much ``dot`` needs beyond that: it draws long edges straight, at the cost of room.
_LENGTHENED, _SPREAD, _SPREAD_DOWN, _SHIFTED = 1.05, 2.4, 1.3, 1.3

_CIRCLE, _APART, _BETWEEN = 29.0, 18.0, 32.0


class Extent(NamedTuple):
    """Width and height in points."""

    width: float
    height: float

    def fits(self, tallest: float = TALLEST) -> bool:
        """Whether it can be looked at."""
        return self.width <= WIDEST * _MARGIN and self.height <= tallest * _MARGIN


def fitting(
    picture_of: Callable[[int], Picture], count: int, tallest: float = TALLEST
) -> tuple[Picture, int]:
    """The picture of the most states, up to ``count``, that can be looked at, and how many."""
    whole = directed(picture_of(count), tallest)
    if estimate(whole).fits(tallest) or count <= 1:
        return whole, count
    least, most, found = 1, count, directed(picture_of(1), tallest)
    while most - least > max(1, count // 50):
        middle = (least + most) // 2
        picture = directed(picture_of(middle), tallest)
        if estimate(picture).fits(tallest):
            least, found = middle, picture
        else:
            most = middle
    return found, least


def fitted(picture_of: Callable[[int], Picture], count: int, size: Size) -> Picture:
    """The same of what has no pages; all ``count`` states where the size that was asked for says
    so."""
    if size.fits:
        return fitting(picture_of, count, ENDLESS)[0]
    return directed(picture_of(count), ENDLESS)


def directed(picture: Picture, tallest: float = TALLEST) -> Picture:
    """From left to right, or from top to bottom where that alone fits."""
    other = replace(picture, vertical=True)
    first, second = estimate(picture), estimate(other)
    if first.fits(tallest) or not (second.fits(tallest) or second.width < first.width):
        return picture
    return other


def estimate(picture: Picture) -> Extent:
    """The size of a picture that ``dot`` lays out."""
    ranks = _ranks(picture)
    # A node's extent along the ranks and across, then what lies between ranks.
    along: dict[float, float] = {}
    across: dict[float, float] = {}
    for state in picture.states:
        width, height = _state(picture, state)
        for edge in picture.edges:
            if edge.source == state == edge.target:
                label = (edge.wide or edge.label) if picture.vertical else edge.label
                wide, high = _label(label)
                if picture.vertical:
                    width, height = width + wide, max(height, high)
                else:
                    height += high
        _add(along, across, ranks[state], width, height, vertical=picture.vertical)
    more = 0.0
    for edge in picture.edges:
        if edge.source == edge.target:
            continue
        first = ranks[edge.source]
        last = first + 1 if edge.target is None else ranks[edge.target]
        first, last = min(first, last), max(first, last)
        width, height = _label(edge.label)
        place = (first + last) / 2
        _add(along, across, place, width, height, vertical=picture.vertical)
        if edge.target is None:
            more = 30.0
        for passed in range(2 * first + 1, 2 * last):
            if passed / 2 != place:
                across[passed / 2] = across.get(passed / 2, 0) + _PASSING
    begun = dict[tuple[int, tuple[int, str]], int]()
    for state in picture.states if picture.vertical else ():
        for frame in enumerate(picture.inside.get(state, ())):
            begun[frame] = min(ranks[state], begun.get(frame, ranks[state]))
    for rank, _ in {(rank, depth) for (depth, _), rank in begun.items()}:
        along[rank] += _LINE
    last = max(ranks.values(), default=0)
    for rank in range(last + 1):
        gap = along.get(rank + 0.5, 0)
        along[rank + 0.5] = gap + _BETWEEN if rank < last else gap
    length = sum(along.values()) + 60 + more
    breadth = max(across.values(), default=0)
    entered = {edge.target for edge in picture.edges if edge.source != edge.target}
    if sum(state not in entered for state in picture.states) > 1:
        # Part of an automaton: its pieces are moved against each other.
        length *= _SHIFTED
    heading = max(9.2 * len(picture.heading), _SANS * len(picture.counts))
    heading = max(heading, _SANS * len(picture.left_out or ""))
    if picture.vertical:
        breadth *= _FRAMED if begun else 1
        return Extent(max(breadth * _SPREAD, heading) + 30, length + 150)
    return Extent(max(length * _LENGTHENED, heading) + 30, breadth * _SPREAD_DOWN + 150)


def _add(
    along: dict[float, float],
    across: dict[float, float],
    place: float,
    width: float,
    height: float,
    *,
    vertical: bool,
) -> None:
    long, broad = (height, width) if vertical else (width, height)
    along[place] = max(along.get(place, 0), long)
    across[place] = across.get(place, 0) + broad + _APART


def _state(picture: Picture, state: int) -> tuple[float, float]:
    if state not in picture.names:
        return _CIRCLE, _CIRCLE
    lines = picture.names[state].text.split("\n")
    return max(map(len, lines)) * _MONO + 18, len(lines) * _LINE + 12


def _label(label: Label) -> tuple[float, float]:
    lines = label.text.split("\n")
    if not label.text:
        return 0.0, 0.0
    return max(map(len, lines)) * _MONO + 6, len(lines) * _LINE + 6


def _ranks(picture: Picture) -> dict[int, int]:
    """The longest way to each state; the edges that close a cycle count the other way round."""
    place = {state: i for i, state in enumerate(picture.states)}
    targets: list[list[int]] = [[] for _ in place]
    for edge in reversed(picture.edges):
        if edge.target in place and edge.target != edge.source:
            targets[place[edge.source]].append(place[edge.target])
    starts = [*([place[picture.start]] if picture.start in place else []), *place.values()]
    order = reverse_postorder(len(place), starts, targets.__getitem__)
    number = {each: i for i, each in enumerate(order)}
    behind: list[set[int]] = [set() for _ in place]
    for one, others in enumerate(targets):
        for first, last in (sorted((one, other), key=number.__getitem__) for other in others):
            behind[first].add(last)
    ranks = [0] * len(place)
    for each in order:
        for other in behind[each]:
            ranks[other] = max(ranks[other], ranks[each] + 1)
    return {state: ranks[i] for state, i in place.items()}
