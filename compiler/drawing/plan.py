"""From a graph to its drawings: which states stand on one, or the pages that hold them all.

Plan.drawing    one picture: all states, as many as can be looked at, or those of a text's way
Plan.pages      all states: a page for each rule, more for a large one, and an index of them
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import TypeAlias
from urllib.parse import quote

from constrain.artifacts.maximal_munch.lexer import LexerTables

from .dot import cell, table_to_dot, to_dot
from .drawing import Drawing
from .graph import Graph, Reads, Step, gathered
from .labels import reads_label
from .layout import directed, estimate, fitting
from .picture import (
    GREY,
    USUAL_SIZE,
    WAY,
    Edge,
    Label,
    Notation,
    Picture,
    Size,
    colored_by_source,
    counted,
    drawable,
    left_out_sentence,
    on_a_line,
    with_rules,
)
from .way import Way, way_of, way_of_lexemes

# Characters of a rule's name that a label and a file's name show.
_NAME, _SLUG = 32, 40

# Rows of an index that is a list, before it begins another column.
_LIST_ROWS = 60

# Title, the entry of its rule, and states.
_Page: TypeAlias = tuple[str, int, list[int]]


@dataclass(frozen=True, eq=False)
class Plan:
    """``heading`` names the stage and the file, ``counts`` says how large the automaton is.

    ``naming``: how ``graph.named`` reads. ``colors``: the legend of ``color_of``'s colours.
    ``accepts``: what an accepting state says. ``is_lexer``: texts begin again after each part.
    ``lexemes``: what splits a text into the terminals that the graph reads instead of bytes.
    """

    graph: Graph
    heading: str
    counts: str
    accepts: str = "the text may end here"
    naming: Notation = Notation.ENTRY
    colors: Mapping[str, str] = field(default_factory=dict)
    color_of: Callable[[Step], str] = lambda _: ""
    is_lexer: bool = False
    lexemes: LexerTables | None = None

    def drawing(self, size: Size = USUAL_SIZE, prefix: bytes | None = None) -> Drawing:
        """One picture; of the states that do not fit it says how many they are."""
        order = self.graph.order
        way = None
        if prefix is not None:
            way = (
                way_of(self.graph, prefix, again=self.is_lexer)
                if self.lexemes is None
                else way_of_lexemes(self.graph, self.lexemes, prefix)
            )
        visible = drawable(order, self.graph.targets, size)
        picture, drawn = self._fitted(visible, size, way)
        if way is not None and drawn < len(order):
            order = self._around(way)
            picture, drawn = self._fitted(drawable(order, self.graph.targets, size), size, way)
        total = len(self.graph.order)
        cramped = size.fits and drawn < min(len(visible), len(order))
        left_out = left_out_sentence(total, drawn, size, is_cramped=cramped, has_pages=True)
        if way is not None and left_out:
            left_out = f"{total - drawn:,} of {counted(total, 'state')} that are not near the way "
            left_out += "of the text are left out"
        if left_out:
            picture = replace(picture, left_out=left_out)
        drawing = to_dot(picture)
        if prefix is not None:
            return drawing
        return replace(drawing, is_cramped=size.fits and drawn < total, pages=self.pages)

    def pages(self, size: Size, name: Callable[[str], str]) -> list[tuple[str, Drawing]]:
        """File names and drawings, the index first. ``name``: the file's name for what it holds,
        in ASCII letters, digits and hyphens; empty for the index."""
        parts = self._pages(size)
        files = [name(_slug(i, title)) for i, (title, _, _) in enumerate(parts, start=1)]
        page_of: dict[int, int] = {}
        for i, (_, _, states) in enumerate(parts):
            for state in states:
                page_of.setdefault(state, i)
        links = {state: _url(files[i]) for state, i in page_of.items()}
        index = name("")
        found = [(index, self._index(parts, page_of, files))]
        for i, (title, entry, states) in enumerate(parts):
            others = {s: url for s, url in links.items() if s not in states}
            picture = directed(self._picture(states, entry=entry, links=others))
            heading = f"{self.heading}: {title}, page {i + 1:,} of {len(parts):,}"
            home = ("all pages", _url(index))
            found.append((files[i], to_dot(replace(picture, heading=heading, home=home))))
        return found

    def _pages(self, size: Size) -> list[_Page]:
        """The pages in reading order."""
        found = []
        for entry, inside in self.graph.parts.items():
            name = self.graph.named.get(entry, "") if len(self.graph.parts) > 1 else ""
            title = f"rule {on_a_line(name, _NAME)}" if name else ""
            rest = inside
            while rest:
                most = len(drawable(rest, self.graph.targets, size))
                _, count = fitting(partial(self._page, rest, entry), most)
                states, rest = rest[:count], rest[count:]
                numbers = self.graph.number
                span = f"states {numbers[states[0]]}–{numbers[states[-1]]}"
                is_all = len(states) == len(inside)
                found.append(
                    (title if is_all and title else f"{title} {span}".strip(), entry, states)
                )
        return found

    def _page(self, states: Sequence[int], entry: int, count: int) -> Picture:
        return self._picture(states[:count], entry=entry, links=dict.fromkeys(self.graph.order, ""))

    def _index(
        self, parts: Sequence[_Page], page_of: Mapping[int, int], files: Sequence[str]
    ) -> Drawing:
        edges: dict[tuple[int, int], bool] = {}
        for i, (_, _, states) in enumerate(parts):
            for state in states:
                for step in self.graph.steps.get(state, ()):
                    for callee in step.callees:
                        edges[i, page_of[callee]] = True
                    target = i if step.target in states else page_of[step.target]
                    if target != i:
                        edges.setdefault((i, target), False)
        urls = {i: _url(file) for i, file in enumerate(files)}
        call = next((color for color, what in self.colors.items() if what == "a call"), "")
        picture = Picture(
            heading=f"{self.heading}: index of {counted(len(parts), 'page')}",
            counts=self.counts,
            states=range(len(parts)),
            start=0,
            accepting=(),
            edges=[
                Edge(i, j, Label("", frozenset([Notation.PAGE])), color=call if is_call else "")
                for (i, j), is_call in edges.items()
            ],
            starts="the page of the start state",
            names={
                i: Label(f"{title}\n{counted(len(states), 'state')}", frozenset())
                for i, (title, _, states) in enumerate(parts)
            },
            links=urls,
            colors={call: "a call"} if any(edges.values()) and call else {},
        )
        laid = directed(picture)
        if estimate(laid).fits():
            return to_dot(laid)
        cells = [cell(f"{i + 1}. {part[0]}", url=urls[i]) for i, part in enumerate(parts)]
        columns = [cells[i : i + _LIST_ROWS] for i in range(0, len(cells), _LIST_ROWS)]
        rows = zip_longest(*columns, fillvalue=cell(""))
        return table_to_dot(picture.heading, picture.counts, list(rows))

    def _fitted(self, states: Sequence[int], size: Size, way: Way | None) -> tuple[Picture, int]:
        def made(count: int) -> Picture:
            return self._picture(states[:count], entry=self.graph.start, way=way)

        if size.fits:
            return fitting(made, len(states))
        return directed(made(len(states))), len(states)

    def _around(self, way: Way) -> list[int]:
        """The start, the states of a way, and those one step from them."""
        near = {self.graph.start: None, **way.states}
        for state in list(near):
            near.update(dict.fromkeys(self.graph.targets(state)))
        return list(near)

    def _picture(
        self,
        states: Sequence[int],
        *,
        entry: int,
        links: Mapping[int, str] | None = None,
        way: Way | None = None,
    ) -> Picture:
        """Of these states. ``links``: where the others are, if they are on other pages."""
        number, inside = self.graph.number, set(states)
        edges = [edge for state in states for edge in self._edges(state, inside, links, way)]
        beside = {
            edge.target: links[state]
            for edge in edges
            if links and edge.target is not None
            for state in [self.graph.order[edge.target - 1]]
            if state not in inside
        }
        names = {number[s]: self._name(s) for s in states if s in self.graph.named}
        names.update(
            {other: Label(f"{other} ↗", frozenset([Notation.ELSEWHERE])) for other in beside}
        )
        used = {edge.color for edge in edges}
        colors = {color: text for color, text in self.colors.items() if color in used}
        state_colors = {}
        if way is not None:
            shown = way.text.decode("utf-8", "backslashreplace")
            colors[WAY] = f"the way of {on_a_line(shown, _NAME)!r}"
            near = set(self._around(way))
            state_colors = {number[s]: GREY for s in states if s not in near}
            state_colors |= {number[s]: WAY for s in states if s in way.states}
            if GREY in state_colors.values():
                colors[GREY] = "far from that way"
        counts = (
            self.counts if way is None or not way.sentence else f"{self.counts}; {way.sentence}"
        )
        picture = Picture(
            heading=self.heading,
            counts=counts,
            states=[*(number[s] for s in states), *beside],
            start=number[entry] if entry in inside and entry == self.graph.start else None,
            accepting={number[s] for s in states if s in self.graph.accepting},
            edges=edges,
            names=names,
            tooltips={number[s]: f"state {s} of the automaton" for s in states},
            colors=colors,
            state_colors=state_colors,
            accepts=self.accepts,
            beside=set(beside),
            links=beside,
            inside={number[s]: self.graph.inside[s] for s in states if s in self.graph.inside},
        )
        picture = with_rules(picture, {number[s]: self.graph.rules.get(s, ()) for s in states})
        return picture if self.colors or way is not None else colored_by_source(picture)

    def _terminals(self, label: Label) -> Label:
        """What stands between ‹ and ›: tokens, unless a lexer reads terminals."""
        if self.lexemes is None or Notation.TOKEN not in label.notations:
            return label
        return Label(label.text, label.notations - {Notation.TOKEN} | {Notation.TERMINAL})

    def _name(self, state: int) -> Label:
        number, name = self.graph.number[state], self.graph.named[state]
        if self.naming is Notation.ENTRY:
            return Label(f"{on_a_line(name, _NAME)}: {number}", frozenset([Notation.ENTRY]))
        return Label(f"{number}: {name}", frozenset([self.naming]))

    def _edges(
        self, source: int, inside: set[int], links: Mapping[int, str] | None, way: Way | None
    ) -> list[Edge]:
        number = self.graph.number
        leaving = self.graph.steps.get(source, ())
        outside = [s for s in leaving if s.target not in inside] if links is None else []
        shown = [(step, number[step.target]) for step in leaving if step not in outside]
        joined: list[tuple[Step, int | None]] = [
            (step, None) for step in gathered(s._replace(target=-1) for s in outside)
        ]
        edges = []
        for step, target in [*shown, *joined]:
            is_loop = target == number[source]
            color, is_bold = self.color_of(step), False
            if way is not None:
                is_bold = (source, step.target, step.call) in way.steps
                color = WAY if is_bold else color if source in way.states else GREY
            if step.call:
                link = (links or {}).get(step.callees[0], "")
                label = Label(on_a_line(step.call, _NAME + 5), frozenset([Notation.CALL]))
                edges.append(
                    Edge(number[source], target, label, False, color, step.call, is_bold, link)
                )
                continue
            others = [s.reads for s in leaving if s.target != step.target and s not in outside]
            if target is None:
                others = [s.reads for s in leaving if s not in outside]
            label = self._terminals(reads_label(step.reads, others, narrow=is_loop))
            tooltip = reads_label(step.reads, others, whole=True).text
            if step.rules:
                tooltip += f"\nrule {', '.join(sorted(step.rules))}"
            reads = step.reads != Reads(epsilon=True)
            wide = self._terminals(reads_label(step.reads, others)) if is_loop else None
            edges.append(
                Edge(number[source], target, label, reads, color, tooltip, is_bold, wide=wide)
            )
        return edges


def _slug(number: int, title: str) -> str:
    """A file's name for a page: the number keeps names apart that look alike or are no names."""
    safe = "".join(c if c.isascii() and c.isalnum() else "-" for c in title.removeprefix("rule "))
    safe = "-".join(part for part in safe.split("-") if part)[:_SLUG].strip("-")
    return f"{number:02}-{safe}" if safe else f"{number:02}"


def _url(file: str) -> str:
    """Relative to the page that has it; ``./`` before a name that could read as a scheme."""
    return f"./{quote(os.fsencode(file), safe='')}"
