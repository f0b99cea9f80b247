"""A picture of an automaton before it is DOT: states, labelled edges, and a legend.

The builders of all stages fill a ``Picture`` in; ``dot`` alone knows how it looks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import NamedTuple

from ..automata.graphs import reached
from ..diagnostics import shortened
from .graph import Regions

# States that a drawing shows unless the caller says otherwise.
MAX_STATES = 100


class Size(NamedTuple):
    """How much a drawing shows: at most so many states, and fewer where these have more edges.

    ``edges`` None: half as many as states, and four more for each state that is drawn.
    ``fits``: fewer still where the drawing would be larger than ``layout.MOST``.
    """

    states: int = MAX_STATES
    edges: int | None = None
    fits: bool = True

    def allows(self, edges: int, states: int) -> bool:
        """Whether ``states`` states are drawn with ``edges`` edges between them."""
        if self.edges is not None:
            return edges <= self.edges
        return edges <= self.states // 2 + _EDGES_A_STATE * states


USUAL_SIZE = Size()


class View(NamedTuple):
    """How an automaton is drawn. ``title``: the grammar's name. ``prefix``: a text whose way is
    shown. ``by_bytes``: of bytes every state, with an edge for each byte; otherwise states inside
    characters and texts are left out."""

    title: str
    size: Size = USUAL_SIZE
    by_bytes: bool = False
    prefix: bytes | None = None


# Edges a state from which on they are colored_by_source by colour, and what still can be followed
# (besides some edges that are always granted).
_CROWDED, _EDGES_A_STATE = 3, 4

# Characters of a region's name that its frame shows; of a rule's name that a state shows, and
# of how many rules.
FRAME_NAME, _STATE_NAME, _STATE_NAMES = 32, 16, 3

# From the palette of Okabe and Ito, which colour-blind readers can tell apart; darker where
# text in the original colour would be too faint on white.
PALETTE = ("#0072b2", "#c04e00", "#007a59", "#b0457f", "#8a6500", "#2a7fa8")
FAINT = "#6b6b6b"

# The way of a text, all that is far from it, and what leads to another page.
WAY, GREY, LINK = "#c04e00", "#b5b5b5", "#0b5394"

# The legend of edges that are coloured by the state that they leave.
BY_SOURCE: Mapping[str, str] = {PALETTE[0]: "an edge has the colour of the state that it leaves"}


class Notation(Enum):
    """What a legend explains: a sample and its meaning, in the legend's order."""

    START = ("start →", "the start")
    ACCEPT = ("◎", "accepts")
    CALL = ("- call v →", "reads what rule v matches, and goes on there")
    ENTRY = ("v: 3", "state 3, in which rule v starts")
    ENDS = ('3: "x"', 'state 3, in which the terminal "x" ends')
    RULE = ("→", "a rule uses another one")
    OF_RULE = ("3 v", "state 3, where text of rule v may follow")
    REGION = ("▭ v", "a frame: states of rule v")
    PAGE = ("→", "leads to a state of another page")
    EPSILON = ("- ε →", "reads nothing")
    LEFT_OUT = ("- → …", "to states that are left out")
    ELSEWHERE = ("- → 7 ↗", "to state 7, on another page")
    SPACE = ("␣", "a space")
    WHITE_SPACE = ("white space", "\\t \\n \\r ␣, as in JSON")
    ANY_OTHER = ("any other", "that no other edge of the state begins with")
    TEXT = ('"try"', "these characters, one after the other")
    RANGE = ("a–z", "the characters from a to z")
    CONTROL = ("\\x1F", "a control character, in hexadecimal")
    BYTE_RANGE = ("\\x80–\\xBF", "the bytes from \\x80 to \\xBF")
    OCTET = ("\\xE2", "a byte in hexadecimal")
    CODE_POINT = ("\\u{301}", "a character by its code point")
    MORE_RANGES = ("… (3 more)", "and 3 more ranges")
    MORE_TEXTS = ("… (3 more)", "and 3 more texts")
    CUT_TEXT = ('"ab… 99 bytes"', "a long text, cut short")
    TOKEN = ("‹20›", "a token")
    TERMINAL = ("‹NAME›", "a terminal, which the lexer reads")
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
    ``#0072b2``, empty for the usual one. ``tooltip``: shown by SVG viewers. ``is_bold``: on the way
    that is looked for. ``link``: a relative URL. ``wide``: the label where a loop has room beside
    its state, which it has from top to bottom.
    """

    source: int
    target: int | None
    label: Label
    reads: bool = True
    color: str = ""
    tooltip: str = ""
    is_bold: bool = False
    link: str = ""
    wide: Label | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What a drawing shows; ``states`` are those to draw, in this order.

    ``heading`` names the stage and the grammar, ``counts`` says how large it is. ``names``
    replaces state numbers by other text; ``colors`` is the legend of edge colours, from
    colour to meaning; ``state_colors`` are those of states that are not of the usual one.
    ``starts``, ``accepts``: what the start and an accepting state say. ``beside``: states
    without a frame, which stand on another page; ``start`` is None where it does. ``links``:
    relative URLs of states. ``home``: a text and its URL, under the heading. ``vertical``: from
    top to bottom. ``inside``: the regions of states, which have frames.
    """

    heading: str
    counts: str
    states: Sequence[int]
    start: int | None
    accepting: Collection[int]
    edges: Sequence[Edge]
    left_out: str | None = None
    names: Mapping[int, Label] = field(default_factory=dict)
    tooltips: Mapping[int, str] = field(default_factory=dict)
    colors: Mapping[str, str] = field(default_factory=dict)
    state_colors: Mapping[int, str] = field(default_factory=dict)
    starts: str = "the start state"
    accepts: str = "the text may end here"
    beside: Collection[int] = ()
    links: Mapping[int, str] = field(default_factory=dict)
    home: tuple[str, str] | None = None
    vertical: bool = False
    inside: Mapping[int, Regions] = field(default_factory=dict)


def breadth_first(
    start: int, successors: Callable[[int], Iterable[int]], limit: int | None = None
) -> list[int]:
    """The first ``limit`` states in breadth-first order (None: all that can be reached)."""
    return list(islice(reached([start], successors), limit))


def nearest(start: int, successors: Callable[[int], Iterable[int]], size: Size) -> Sequence[int]:
    """The states to draw: the first in breadth-first order, or fewer."""
    return drawable(breadth_first(start, successors, size.states), successors, size)


def drawable(
    order: Sequence[int], successors: Callable[[int], Iterable[int]], size: Size
) -> Sequence[int]:
    """As many of the first states in an order as are drawn at most."""
    visible = order[: size.states]
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


def with_rules(picture: Picture, rules: Mapping[int, Sequence[str]]) -> Picture:
    """The same picture with the names of ``rules`` for each state: whose text may follow there.

    States next to each other with the same names stand in a frame. Where a way leads out of
    it and back Graphviz would draw edges over each other; there, and alone, each has the names.
    """
    beside: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for source, target, *_ in picture.edges:
        if target is not None:
            after.setdefault(source, []).append(target)
            if rules.get(source) and rules[source] == rules.get(target):
                beside.setdefault(source, []).append(target)
                beside.setdefault(target, []).append(source)
    inside: dict[int, Regions] = dict(picture.inside)
    names = dict(picture.names)
    for state, found in rules.items():
        if not found or state in inside or state in names:
            continue
        region = list(reached([state], lambda q: beside.get(q, ())))
        left = {end for q in region for end in after.get(q, ())}.difference(region)
        later = reached(sorted(left), lambda q: after.get(q, ()))
        if len(region) > 1 and set(later).isdisjoint(region):
            inside |= dict.fromkeys(region, ((state, ", ".join(found)),))
            continue
        lines = [on_a_line(rule, _STATE_NAME) for rule in found[:_STATE_NAMES]]
        lines += ["…"] * (len(found) > _STATE_NAMES)
        for q in region:
            names[q] = Label("\n".join([str(q), *lines]), frozenset([Notation.OF_RULE]))
    return replace(picture, inside=inside, names=names)


def left_out_sentence(
    total: int,
    visible: int,
    size: Size,
    noun: str = "state",
    *,
    is_cramped: bool = False,
    has_pages: bool = False,
) -> str | None:
    """Say how many states a drawing lacks; None if it lacks none. ``is_cramped``: since more would
    not fit; ``has_pages``: all do on several.

    ``total=86, visible=40, 40 states -> "46 of 86 states are left out (--draw-states 40)"``
    """
    missing = total - visible
    if missing <= 0:
        return None
    verb = "is" if missing == 1 else "are"
    reason = f"--draw-states {size.states}"
    if is_cramped:
        pages = "-o FILE.svg or DIR/ makes pages of it, " if has_pages else ""
        reason = f"the drawing would be too large: {pages}--prefix TEXT draws the way of a text, "
        reason += "--draw-states N draws up to N"
    elif size.edges is not None and visible < size.states:
        reason += f", --draw-edges {size.edges}"
    elif visible < size.states:
        reason += ", more would have too many edges: --draw-edges N draws up to N"
    return f"{missing:,} of {counted(total, noun)} {verb} left out ({reason})"


def on_a_line(text: str, most: int) -> str:
    """A name or a text without line breaks, and not too long."""
    return shortened(" ".join(text.split()), most)


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1, "edge" -> "1 edge"``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
