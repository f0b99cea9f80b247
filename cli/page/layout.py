"""Where the states and edges of a page's automaton stand: by Graphviz, else by the page itself.

Graphviz gets numbers and sizes alone, no text of a grammar. Another release of it may give other
positions; all else in a page is the same for the same input.
"""

import json
import shutil
from typing import Any
from unicodedata import east_asian_width

from .graph import READS, Graph

# Pixels of four characters of a label, and the height of its line.
_CHARS, _LINE = 29, 16

_INCH = 72

# Bounds of its iterations, without which it takes ten times as long for little.
_GRAPH = "rankdir=LR nodesep=0.15 ranksep=0.25 nslimit=2 nslimit1=2 mclimit=0.5"


def text_width(text: str) -> int:
    """About how many pixels a text takes."""
    cells = sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
    return (cells * _CHARS + 3) // 4


def layout_data(graph: Graph) -> dict[str, Any]:
    """Nodes and edges as the page reads them; with positions where Graphviz is installed, else
    ``layout`` is ``dagre``."""
    numbers = {state: number for number, state in enumerate(graph.nodes)}
    nodes: list[dict[str, Any]] = []
    for state in graph.nodes:
        label = f"{graph.names[state]}: {state}" if state in graph.names else str(state)
        label = label if len(label) <= 40 else f"{label[:24]}…: {state}"
        nodes.append(
            {
                "state": state,
                "label": label,
                "w": max(28, text_width(label) + 14),
                "accepting": state in graph.accepting,
                "entry": state in graph.names,
                "rule": graph.rules.get(state, ""),
            }
        )
    edges: list[dict[str, Any]] = []
    for edge in graph.edges:
        target = numbers.get(edge.target)
        if target is None:
            # What is left out, as a node of its own.
            target = len(nodes)
            nodes.append({"state": -1, "label": "…", "w": 28, "rule": ""})
        edges.append(
            {
                "from": numbers[edge.source],
                "to": target,
                "kind": edge.kind,
                "label": edge.label,
                "w": text_width(edge.label) + 8,
                "via": list(edge.via),
                "text": None if edge.kind != READS else _typed(edge.text),
                "callee": edge.callee,
            }
        )
    found = {
        "start": numbers[graph.start],
        "nodes": nodes,
        "edges": edges,
        "left_out": graph.left_out,
        "layout": "dagre",
    }
    placed = _placed(nodes, edges)
    if placed is not None:
        found |= placed
    return found


def _typed(text: bytes | None) -> str | None:
    """What a click on an edge types; nothing where that is no text."""
    try:
        return None if text is None else text.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _placed(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Adds positions to nodes and edges; the size of the whole. None without Graphviz."""
    from constrain.compiler.diagnostics import LimitError
    from constrain.compiler.drawing.run_dot import run_dot
    from constrain.compiler.limits import Limits

    program = shutil.which("dot")
    if program is None:
        return None
    lines = ["digraph {", _GRAPH, "node [shape=box fixedsize=true]"]
    for number, node in enumerate(nodes):
        lines.append(f"n{number} [width={node['w'] / _INCH:.3f} height={26 / _INCH:.3f}]")
    for number, edge in enumerate(edges):
        label = (
            f'<<table border="0" fixedsize="true" width="{edge["w"]}" height="{_LINE}">'
            f"<tr><td></td></tr></table>>"
        )
        lines.append(f"n{edge['from']} -> n{edge['to']} [id={number} label={label}]")
    lines.append("}")
    try:
        drawn = json.loads(run_dot(program, ["-Tjson0"], "\n".join(lines), Limits()).out)
    except (OSError, ValueError, LimitError):
        # The page places the states by itself then.
        return None
    _, _, width, height = (float(part) for part in drawn["bb"].split(","))

    def place(text: str) -> list[float]:
        x, y = text.split(",")[-2:]
        return [round(float(x), 1), round(height - float(y), 1)]

    for item in drawn["objects"]:
        node = nodes[int(item["name"][1:])]
        node["x"], node["y"] = place(item["pos"])
    for item in drawn.get("edges", []):
        edge = edges[int(item["id"])]
        end, *points = item["pos"].split()
        edge["points"] = [place(point) for point in points] + [place(end)]
        edge["at"] = place(item["lp"])
    return {"layout": "dot", "width": round(width, 1), "height": round(height, 1)}
