"""What tests of drawings share."""

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constrain.compiler.drawing import Drawing

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
