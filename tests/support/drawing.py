"""What tests of drawings share."""

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Arc, Nfa
from constrain.compiler.drawing import Drawing
from constrain.compiler.drawing.graph import Graph

DATE = """date  ::= year "-" month "-" day;
year  ::= #"[0-9]{4}";
month ::= "0" #"[1-9]" | "1" #"[0-2]";
day   ::= "0" #"[1-9]" | #"[12][0-9]" | "3" #"[01]";"""


needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None, reason="Graphviz's program dot is not installed"
)


def shown_edges(drawing: Drawing) -> dict[tuple[str, str], str]:
    """The text on each edge, with plain spaces; empty where there is no label."""
    found = {}
    for source, target, rest in re.findall(r"^\t(\w+) -> (\w+) \[(.*)\]$", drawing.dot, re.M):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", rest)
        found[source, target] = cells[0].replace("&#160;", " ") if cells else ""
    return found


def svg_texts(path: Path) -> list[str]:
    """All text in an SVG, with plain spaces."""
    root = ElementTree.parse(path).getroot()
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    return [text.replace("\u00a0", " ") for text in texts]


def untitled(dot: str) -> str:
    """DOT text without the name of the file that it is of."""
    return re.sub(r"(Rules|Lexer|Network|DFA|NFA)( |&#160;)of( |&#160;)[^<\"]*", "", dot)


# Boundaries between lengths of UTF-8, and around what is no character.
_PARTS = ((0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))


def language_of(graph: Graph, entry: int, symbols: dict[str, int]) -> Dfa:
    """The minimal DFA of what is read from ``entry`` to an accepting state; a terminal or a call
    is a symbol of its own, which ``symbols`` numbers."""
    nfa = Nfa()
    number: dict[int, int] = {}

    def node(state: int | None = None) -> int:
        if state is not None and state in number:
            return number[state]
        nfa.arcs.append([])
        nfa.epsilon.append([])
        if state is not None:
            number[state] = len(nfa.arcs) - 1
        return len(nfa.arcs) - 1

    def chain(source: int, ranges: list[tuple[int, int]], target: int) -> None:
        for low, high in ranges[:-1]:
            following = node()
            nfa.arcs[source].append(Arc(low, high, following, frozenset()))
            source = following
        nfa.arcs[source].append(Arc(*ranges[-1], target, frozenset()))

    def terminal(name: str) -> tuple[int, int]:
        symbol = FIRST_TERMINAL + symbols.setdefault(name, len(symbols))
        return symbol, symbol

    for state in graph.order:
        source = node(state)
        for step in graph.steps.get(state, ()):
            target = node(step.target)
            if step.call:
                chain(source, [terminal(f"{step.call} {step.callees}")], target)
            if step.reads.epsilon:
                nfa.epsilon[source].append(target)
            for octets in step.reads.octets:
                chain(source, [octets], target)
            for low, high in step.reads.characters:
                for ranges in _spelled(low, high):
                    chain(source, ranges, target)
            for word in step.reads.words:
                chain(source, [(octet, octet) for octet in word], target)
            for name in step.reads.terminals:
                chain(source, [terminal(name)], target)
    nfa.start = node(entry)
    nfa.finals = frozenset(node(state) for state in graph.accepting)
    return minimal(nfa, terminals=64)


def _spelled(low: int, high: int) -> list[list[tuple[int, int]]]:
    """Code points as sequences of byte ranges, by splitting a range until it is a product."""
    found = []
    for first, last in _PARTS:
        a, b = max(low, first), min(high, last)
        if a <= b:
            found += _products(a, b)
    return found


def _products(low: int, high: int) -> list[list[tuple[int, int]]]:
    first, last = chr(low).encode(), chr(high).encode()
    for place in range(len(first) - 1, 0, -1):
        size = 64**place
        if first[:-place] != last[:-place]:
            if low % size:
                end = low - low % size + size - 1
                return _products(low, end) + _products(end + 1, high)
            if high % size != size - 1:
                begin = high - high % size
                return _products(low, begin - 1) + _products(begin, high)
    return [list(zip(first, last, strict=True))]
