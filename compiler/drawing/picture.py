"""A picture of an automaton before it is DOT: states, labelled edges, and a legend.

The builders of all stages fill a ``Picture`` in; ``dot`` alone knows how it looks.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

# States that a drawing shows unless the caller says otherwise.
MAX_STATES = 100


class Size(NamedTuple):
    """How much a drawing shows: at most so many states, and fewer where these have more edges.

    ``edges`` None: half as many as states, and four more for each state that is drawn.
    """

    states: int = MAX_STATES
    edges: int | None = None

    def allows(self, edges: int, states: int) -> bool:
        """Whether ``states`` states are drawn with ``edges`` edges between them."""
        if self.edges is not None:
            return edges <= self.edges
        return edges <= self.states // 2 + _EDGES_A_STATE * states


USUAL_SIZE = Size()

# Edges a state from which on they are colored_by_source by colour, and what still can be followed
# (besides some edges that are always granted).
_CROWDED, _EDGES_A_STATE = 3, 4

# From the palette of Okabe and Ito, which colour-blind readers can tell apart; darker where
# text in the original colour would be too faint on white.
PALETTE = ("#0072b2", "#c04e00", "#007a59", "#b0457f", "#8a6500", "#2a7fa8")
FAINT = "#6b6b6b"

# The legend of edges that are coloured by the state that they leave.
BY_SOURCE: Mapping[str, str] = {PALETTE[0]: "an edge has the colour of the state that it leaves"}


class Notation(Enum):
    """What a legend explains: a sample and its meaning, in the legend's order."""

    START = ("start →", "the start state")
    ACCEPT = ("◎", "accepts: the text may end here")
    CALL = ("- call v →", "reads what rule v matches, and goes on there")
    ENTRY = ("v: 3", "state 3, in which rule v starts")
    ENDS = ('3: "x"', 'state 3, in which the terminal "x" ends')
    RULE = ("→", "a rule uses another one")
    EPSILON = ("- ε →", "reads nothing")
    LEFT_OUT = ("- → …", "to states that are left out")
    SPACE = ("␣", "a space")
    RANGE = ("a–z", "the bytes from a to z")
    OCTET = ("\\xE2", "a byte in hexadecimal")
    CODE_POINT = ("\\u{301}", "a character by its code point")
    MORE_BYTES = ("… (3 more)", "and 3 more ranges of bytes")
    TOKEN = ("‹20›", "a token")
    RUN = ("‹0›–‹9›", "the tokens from ‹0› to ‹9›")
    MORE_TOKENS = ("… 90 tokens", "90 tokens in all, these are the first")
    OUTPUT = ("a / ‹b›", "reads a, writes the token b")
    CUT = ("‹ab… 64 bytes›", "a long token, cut short")
    CLASS = ("S2 ‹a› ‹b›", "the last token read was ‹a› or ‹b›")
    ALL_OF_CLASS = ("→", "without a label: all tokens of the state it leads to")


class Label(NamedTuple):
    """The text on an edge, its lines already broken, and the notations that it uses."""

    text: str
    notations: frozenset[Notation]


class Edge(NamedTuple):
    """All that leads from one state to another. ``target`` None: to states left out.

    ``reads``: whether it reads something (an edge of ε alone does not). ``color``: such as
    ``#0072b2``, empty for the usual one. ``tooltip``: shown by SVG viewers.
    """

    source: int
    target: int | None
    label: Label
    reads: bool = True
    color: str = ""
    tooltip: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What a drawing shows; ``states`` are those to draw, in this order.

    ``heading`` names the stage and the grammar, ``counts`` says how large it is. ``names``
    replaces state numbers by other text; ``colors`` is the legend of edge colours, from
    colour to meaning; ``state_colors`` are those of states that are not of the usual one.
    """

    heading: str
    counts: str
    states: Sequence[int]
    start: int
    accepting: Collection[int]
    edges: Sequence[Edge]
    left_out: str | None = None
    names: Mapping[int, Label] = field(default_factory=dict)
    tooltips: Mapping[int, str] = field(default_factory=dict)
    colors: Mapping[str, str] = field(default_factory=dict)
    state_colors: Mapping[int, str] = field(default_factory=dict)


def breadth_first(
    start: int, successors: Callable[[int], Iterable[int]], limit: int | None = None
) -> list[int]:
    """The first ``limit`` states in breadth-first order (None: all that can be reached)."""
    order = [start]
    seen = {start}
    pending = deque(order)
    while pending and (limit is None or len(order) < limit):
        for target in successors(pending.popleft()):
            if target not in seen and (limit is None or len(order) < limit):
                seen.add(target)
                order.append(target)
                pending.append(target)
    return order


class Extent(NamedTuple):
    """The states that can be reached from the start, those to draw, and what that leaves out."""

    reached: list[int]
    visible: list[int]
    left_out: str | None


def extent(start: int, successors: Callable[[int], Iterable[int]], size: Size) -> Extent:
    """All states in breadth-first order, the ``nearest`` of them, and a sentence on the others."""
    reached = breadth_first(start, successors)
    visible = nearest(start, successors, size)
    return Extent(reached, visible, left_out_sentence(len(reached), len(visible), size))


def nearest(start: int, successors: Callable[[int], Iterable[int]], size: Size) -> list[int]:
    """The states to draw: the first in breadth-first order, or fewer."""
    visible = breadth_first(start, successors, size.states)
    place = {state: i for i, state in enumerate(visible)}
    ends = ((place[s], place[t]) for s in visible for t in successors(s) if t in place)
    return visible[: followable(ends, len(visible), size)]


def followable(ends: Iterable[tuple[int, int]], visible: int, size: Size) -> int:
    """How many of the ``visible`` first states have few enough edges to follow by eye.

    ``ends``: the edges, as places in the order of the states; edges that leave the first
    ``visible`` states do not count. A sparse automaton stays whole; where nearly every state
    leads to every other about as many stay as the square root of ``size.states``. More
    would take Graphviz minutes, and nobody could follow an edge.
    """
    joining = [0] * visible
    for source, target in ends:
        if source < visible and target < visible:
            joining[max(source, target)] += 1
    count = 0
    for place, edges in enumerate(joining):
        count += edges
        if place and not size.allows(count, place + 1):
            return place
    return visible


def colored_by_source(picture: Picture) -> Picture:
    """The same picture; where edges crowd, each has the colour of the state that it leaves."""
    if len(picture.edges) <= _CROWDED * len(picture.states):
        return picture
    colors = {state: PALETTE[i % len(PALETTE)] for i, state in enumerate(picture.states)}
    return replace(
        picture,
        edges=[edge._replace(color=colors[edge.source]) for edge in picture.edges],
        state_colors=colors,
        colors=BY_SOURCE,
    )


def left_out_sentence(total: int, visible: int, size: Size) -> str | None:
    """Say how many states a drawing lacks; None if it lacks none.

    ``total=86, visible=40, 40 states -> "46 of 86 states are left out (--draw-states 40)"``
    """
    missing = total - visible
    if missing <= 0:
        return None
    verb = "is" if missing == 1 else "are"
    crowded = ""
    if visible < size.states:
        crowded = ", more would have too many edges: --draw-edges N draws up to N"
        if size.edges is not None:
            crowded = f", --draw-edges {size.edges}"
    return (
        f"{missing:,} of {counted(total, 'state')} {verb} left out "
        f"(--draw-states {size.states}{crowded})"
    )


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1, "edge" -> "1 edge"``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
