"""From a picture to DOT text: how states, edges, title and legend look.

Text reaches DOT in two forms. The names of states and tooltips are escStrings, in which
Graphviz gives a meaning to backslashes and to entities such as ``&amp;``; the labels of edges
and the title with the legend are HTML-like, and their text is an escString inside HTML.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING

from .drawing import Drawing
from .graph import Regions
from .picture import FAINT, FRAME_NAME, GREY, LINK, WAY, Edge, Notation, Picture, on_a_line

if TYPE_CHECKING:
    from graphviz import Digraph

# Families of about the same width: who looks at an SVG may lack the one that was measured.
_MONO = "DejaVu Sans Mono,Menlo,Consolas,monospace"
_SANS = "DejaVu Sans,Verdana,sans-serif"
_INK, _LINE, _ALERT = "#111111", "#444444", "#b00020"
# After the names of states in which a text begins, and may end.
_START_FILL, _ACCEPT_FILL = "#d6eaf8", "#dff3e3"
# After labels: lines that cross one shine through without covering it.
_VEIL = "#ffffffd0"

_GRAPH = {
    "rankdir": "LR",
    "labelloc": "t",
    "labeljust": "l",
    "bgcolor": "white",
    "fontname": _SANS,
    "fontsize": "11",
    "nodesep": "0.25",
    "ranksep": "0.45",
    "pad": "0.15",
}
_VERTICAL = {"rankdir": "TB", "ranksep": "0.25"}
_NODE = {
    "shape": "circle",
    "fontname": _SANS,
    "fontsize": "11",
    "margin": "0.03",
    "width": "0.4",
    "height": "0.4",
    "color": _LINE,
    "fontcolor": _INK,
}
_EDGE = {"fontname": _MONO, "fontsize": "11", "color": _LINE, "fontcolor": _INK, "arrowsize": "0.7"}
_NAMED = {"shape": "box", "style": "rounded", "fontname": _MONO, "margin": "0.1,0.06"}
_FRAME = {"color": FAINT, "fontcolor": FAINT, "fontname": _MONO, "style": "rounded"}
_BESIDE = {"shape": "plaintext", "width": "0", "height": "0", "margin": "0.03"}

# Rows of the legend before it begins another column.
_LEGEND_ROWS = 4
_NO_CELL = "<td></td>"


def to_dot(picture: Picture) -> Drawing:
    """The drawing of a picture."""
    from graphviz import Digraph

    look = {**_GRAPH, **(_VERTICAL if picture.vertical else {})}
    graph = Digraph("automaton", graph_attr=look, node_attr=_NODE, edge_attr=_EDGE)
    graph.attr(label=f"<{_table(picture)}>", tooltip=_text(picture.heading))
    if picture.start is not None:
        graph.node("start", "start", tooltip="start", **_BESIDE)
    _add_states(graph, picture, picture.states)
    if picture.start is not None:
        graph.edge("start", f"s{picture.start}", tooltip="start")
    # Loops last: the lines of a state's other edges then pass after the loop's label.
    for edge in sorted(picture.edges, key=lambda edge: edge.source == edge.target):
        _add_edge(graph, edge if edge.wide is None or not picture.vertical else _widened(edge))
    return Drawing(graph.source, picture.left_out)


def table_to_dot(
    heading: str,
    counts: str,
    rows: Sequence[Sequence[str]],
    *,
    left_out: str | None = None,
    legend: Sequence[tuple[str, str, str]] = (),
) -> Drawing:
    """A table instead of a graph: ``rows`` of cells, made by ``cell``; ``legend``:
    samples, their meanings and colours."""
    from graphviz import Digraph

    graph = Digraph("table", graph_attr=_GRAPH, node_attr={**_NODE, "shape": "plaintext"})
    lines = _title(heading, counts, left_out)
    if legend:
        lines.append(_legend(legend))
    graph.attr(label=f"<{_stacked(lines)}>", tooltip=_text(heading))
    graph.node("table", f"<{_rows(rows)}>", tooltip=_text(heading))
    return Drawing(graph.source, left_out)


def nested(rows: Sequence[Sequence[str]], span: int) -> str:
    """A cell over ``span`` columns that holds a table."""
    return f'<td align="left" colspan="{span}">{_rows(rows)}</td>'


def _rows(rows: Sequence[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table border="0" cellborder="0" cellspacing="1" cellpadding="2">{body}</table>'


def cell(
    text: str,
    *,
    color: str = _INK,
    fill: str = "",
    align: str = "left",
    url: str = "",
    span: int = 1,
) -> str:
    """A cell of a table, with its text in the font of labels."""
    attributes = f'align="{align}"'
    attributes += f' bgcolor="{fill}"' if fill else ""
    attributes += f' href="{_html(url)}"' if url else ""
    attributes += f' colspan="{span}"' if span > 1 else ""
    shown = _html(text) or "&#160;"
    shown = f"<u>{shown}</u>" if url else shown
    return f'<td {attributes}><font face="{_MONO}" color="{color}">{shown}</font></td>'


def _add_states(graph: "Digraph", picture: Picture, states: Sequence[int], depth: int = 0) -> None:
    """Those of a region stand together, in a frame with its name."""
    groups: dict[Regions, list[int]] = {}
    for state in states:
        around = picture.inside.get(state, ())[depth : depth + 1]
        groups.setdefault(around, []).append(state)
    for around, members in groups.items():
        for state in () if around else members:
            _add_state(graph, picture, state)
        for number, name in around:
            with graph.subgraph(name=f"cluster{number}") as frame:
                shown = {"label": _text(on_a_line(name, FRAME_NAME)), "tooltip": _text(name)}
                frame.attr(**shown, **_FRAME)
                _add_states(frame, picture, members, depth + 1)


def _add_state(graph: "Digraph", picture: Picture, state: int) -> None:
    attributes: dict[str, str] = {}
    name = str(state)
    if state in picture.names:
        attributes.update(_NAMED)
        name = picture.names[state].text
    fill = _START_FILL if state == picture.start else ""
    if state in picture.accepting:
        attributes["peripheries"] = "2"
        fill = fill or _ACCEPT_FILL
    if state in picture.beside:
        attributes.update(_BESIDE)
    color = picture.state_colors.get(state, "")
    if color:
        attributes["color"] = color
    if color == WAY:
        attributes["penwidth"] = "2.5"
    if color == GREY:
        attributes["fontcolor"] = GREY
    elif fill:
        style = attributes.get("style", "")
        attributes.update(style=f"{style},filled".strip(","), fillcolor=fill)
    if state in picture.links:
        attributes.update(URL=_text(picture.links[state]), fontcolor=LINK)
    attributes["tooltip"] = _text(picture.tooltips.get(state, f"state {state}"))
    graph.node(f"s{state}", _text(name), **attributes)


def _widened(edge: Edge) -> Edge:
    return edge._replace(label=edge.wide or edge.label)


def _add_edge(graph: "Digraph", edge: Edge) -> None:
    source, target = f"s{edge.source}", f"s{edge.target}"
    attributes = {"tooltip": _text(edge.tooltip or edge.label.text)}
    if edge.color:
        attributes.update(color=edge.color, fontcolor=edge.color)
    if not edge.reads or edge.target is None:
        attributes["style"] = "dashed"
    if edge.is_bold:
        attributes["penwidth"] = "2.5"
    if edge.link:
        attributes["URL"] = _text(edge.link)
    if edge.target is None:
        target = f"more{edge.source}"
        attributes.update(color=edge.color or FAINT, fontcolor=edge.color or FAINT)
        graph.node(target, "…", tooltip="states that are left out", fontcolor=FAINT, **_BESIDE)
    graph.edge(source, target, _padded(edge.label.text), **attributes)


def _table(picture: Picture) -> str:
    """Title, counts, what is left out, and the legend, as an HTML-like table."""
    lines = _title(picture.heading, picture.counts, picture.left_out)
    url = ""
    if picture.home:
        text, url = picture.home
        lines.append(f'<font color="{LINK}"><u>{_html(text)}</u></font>')
    entries = [(*_meaning(notation, picture), _INK) for notation in _used(picture)]
    entries += [("→", meaning, color) for color, meaning in picture.colors.items()]
    return _stacked(lines, _legend(entries) if entries else "", url)


def _title(heading: str, counts: str, left_out: str | None) -> list[str]:
    lines = [
        f'<font point-size="14"><b>{_html(heading)}</b></font>',
        f'<font color="{FAINT}">{_html(counts)}</font>',
    ]
    return [*lines, f'<font color="{_ALERT}">{_html(left_out)}</font>'] if left_out else lines


def _stacked(lines: Sequence[str], legend: str = "", url: str = "") -> str:
    """Lines above each other; ``url``: where the last of them leads."""
    cells = [f'<tr><td align="left">{line}</td></tr>' for line in lines]
    if url:
        cells[-1] = cells[-1].replace("<td", f'<td href="{_html(url)}"', 1)
    cells += [f'<tr><td align="left">{legend}</td></tr>'] if legend else []
    return f'<table border="0" cellspacing="0" cellpadding="2">{"".join(cells)}</table>'


def _legend(entries: Sequence[tuple[str, str, str]]) -> str:
    """Samples, meanings and colours, in columns."""
    columns = [entries[i : i + _LEGEND_ROWS] for i in range(0, len(entries), _LEGEND_ROWS)]
    cells = [_legend_column(column) for column in columns]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip_longest(*cells, fillvalue=_NO_CELL))
    return (
        f'<table border="1" color="#cccccc" cellborder="0" cellspacing="1" cellpadding="2">'
        f"{body}</table>"
    )


def _meaning(notation: Notation, picture: Picture) -> tuple[str, str]:
    sample, meaning = notation.value
    if notation is Notation.START:
        return sample, picture.starts
    return sample, f"{meaning}: {picture.accepts}" if notation is Notation.ACCEPT else meaning


def _legend_column(entries: Sequence[tuple[str, str, str]]) -> list[str]:
    """Cells of sample and meaning in one text: two cells would drift apart in a wide table."""
    width = max(len(sample) for sample, _, _ in entries)
    return [
        f'<td align="left"><font face="{_MONO}" color="{color}">'
        f"{_html(sample.ljust(width + 1))}</font>{_html(meaning + '  ')}</td>"
        for sample, meaning, color in entries
    ]


def _used(picture: Picture) -> Iterator[Notation]:
    """The notations that occur, in the legend's order."""
    labels = [edge.label for edge in picture.edges] + list(picture.names.values())
    used: set[Notation] = set().union(*(label.notations for label in labels))
    if picture.start is not None:
        used.add(Notation.START)
    if any(state in picture.accepting for state in picture.states):
        used.add(Notation.ACCEPT)
    if any(picture.inside.get(state) for state in picture.states):
        used.add(Notation.REGION)
    if any(edge.target is None for edge in picture.edges):
        used.add(Notation.LEFT_OUT)
    if picture.beside:
        used.add(Notation.ELSEWHERE)
    return (notation for notation in Notation if notation in used)


def _padded(text: str) -> str | None:
    """A label that keeps clear of its edge: ``␣`` and ``_`` would lie on the line.

    None instead of an empty one, around which Graphviz would still lead the edge.
    """
    if not text:
        return None
    lines = "<br/>".join(_html(line) for line in text.split("\n"))
    return (
        f'<<table border="0" cellborder="0" cellspacing="2" cellpadding="0">'
        f'<tr><td bgcolor="{_VEIL}">{lines}</td></tr></table>>'
    )


def _text(text: str) -> str:
    """As an escString that shows ``text`` itself, line by line."""
    from graphviz import nohtml

    escaped = _shown(text).replace("&", "&amp;").replace("\\", "\\\\")
    # A tooltip such as <any> would be read as HTML without this.
    literal: str = nohtml(escaped.replace("\n", "\\n"))
    return literal


def _html(text: str) -> str:
    """As the text of an HTML-like label, where backslashes count too and spaces are joined.

    Graphviz refuses a cell of nothing but ``]``, which could begin XML's ``]]>``.
    """
    escaped = escape(_shown(text).replace("\\", "\\\\"))
    return escaped.replace(" ", "&#160;").replace("]", "&#93;")


def _shown(text: str) -> str:
    """Without what XML or UTF-8 cannot hold; a file's name may have such characters."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
