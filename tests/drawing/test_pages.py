"""Drawings that people can read: none is too wide, what is too large becomes pages with links."""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from support import EXAMPLES, sampled
from support.cli import DATE, Cli, content
from support.drawing import needs_dot, svg_texts

from constrain.compiler.drawing.graph import Graph, Reads, Step
from constrain.compiler.drawing.picture import Size
from constrain.compiler.drawing.plan import Plan
from constrain.compiler.drawing.render import render

# Pixels of a PNG, of which a point has two.
WIDEST = 4_000

STAGES = ("nfa", "dfa", "tokens", "tokenizer", "rules", "parser", "lexer")
OF_ANY = {"rules", "parser", "lexer"}
# Grammars, and the folders that have no others.
NO_GRAMMARS = {".test", ".svg", ".py", ".md", ".txt", ".yml", ".yaml", ".toml", ".sh", ".html"}
NO_FOLDERS = {"ci", "drawings", "editors", "notebooks", "serving"}
GRAMMARS = sorted(
    str(path.relative_to(EXAMPLES))
    for path in EXAMPLES.rglob("*")
    if path.is_file() and path.suffix not in NO_GRAMMARS and not NO_FOLDERS & {*path.parts}
)
ALL = [(name, stage) for name in GRAMMARS for stage in STAGES]
SOME = [
    ("tool_call.schema.json", "parser"),
    ("date.ebnf", "tokenizer"),
    ("ipv4.regex", "nfa"),
    ("code.lark", "rules"),
]

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"

HOSTILE = (
    "</title><script>alert(1)</script>",
    '" URL="javascript:alert(1)',
    'a\\" ]; evil [label="',
    "&lt;b&gt; <b>&amp;",
    "line\nbreak\rand\u2028more",
    "right\u202eto\u200fleft",
    "../../up/and\\away:con",
    "javascript:alert(1)",
    "x" * 300,
    "\x00\x1b[31m",
)


def width_of(svg: Path) -> float:
    """Of an SVG in pixels of a PNG, from its header: two for each point."""
    found = re.search(r'<svg width="([\d.]+)pt"', svg.read_text(encoding="utf-8"))
    assert found
    return 2 * float(found[1])


def states_of(root: ElementTree.Element) -> set[int]:
    """The states that a page itself has, not those that it leads to."""
    found = set()
    for group in root.iter(f"{SVG}g"):
        number = re.fullmatch(r"s(\d+)", group.findtext(f"{SVG}title") or "")
        if number and not any("↗" in (text.text or "") for text in group.iter(f"{SVG}text")):
            found.add(int(number[1]))
    return found


def overlapping(svg: Path) -> list[tuple[str, str]]:
    """Pairs of labels and names of states that share more than a hair, in a font of 0.6 ems."""
    boxes = []
    for group in ElementTree.parse(svg).getroot().iter(f"{SVG}g"):
        if group.get("class") in ("edge", "node"):
            title = group.findtext(f"{SVG}title") or ""
            for text in group.iter(f"{SVG}text"):
                shown = (text.text or "").strip("\u00a0 ")
                x, y, size = (float(text.get(name) or 0) for name in ("x", "y", "font-size"))
                width = len(shown) * size * 0.6
                left = x if text.get("text-anchor") == "start" else x - width / 2
                boxes.append((title, left, y - 0.75 * size, left + width, y + 0.15 * size))
    return [
        (a, b)
        for i, (a, *one) in enumerate(boxes)
        for b, *other in boxes[i + 1 :]
        if a != b
        and min(one[2], other[2]) - max(one[0], other[0]) > 2
        and min(one[3], other[3]) - max(one[1], other[1]) > 2
    ]


@needs_dot
@sampled(("name", "stage"), SOME, ALL)
def test_no_drawing_of_an_example_is_too_wide(
    name: str, stage: str, cli: Cli, tmp_path: Path
) -> None:
    """Each page has at most 4,000 pixels, and labels of at least 10 points that do not overlap."""
    done = cli("viz", str(EXAMPLES / name), "--stage", stage, "-o", "drawn.svg")
    if done.code == 3 and "more than 60 seconds" in done.err:
        pytest.skip("compiling took longer than its limit, on this machine")
    if done.code:
        reason = "no network|not drawn" if stage in OF_ANY else "there for regular grammars alone"
        assert done.code == 2, done.err
        assert re.search(reason, done.err), done.err
        return
    for page in tmp_path.glob("drawn*.svg"):
        assert width_of(page) <= WIDEST, page.name
        assert overlapping(page) == [], page.name
        sizes = re.findall(r'font-size="([\d.]+)"', page.read_text(encoding="utf-8"))
        assert sizes
        assert min(map(float, sizes)) >= 10


@needs_dot
def test_pages_hold_all_states_and_lead_to_each_other(cli: Cli, tmp_path: Path) -> None:
    """Of a tool call's parser; links are relative and lead to files that are there, and the index
    leads to all."""
    done = cli("viz", str(EXAMPLES / "tool_call.schema.json"), "--stage", "parser", "-o", "t c.svg")
    assert done.code == 0, done.err
    assert "the index of" in done.err
    files = {path.name for path in tmp_path.glob("*.svg")}
    assert len(files) > 3
    drawn: set[int] = set()
    total = 0
    for name in files:
        root = ElementTree.parse(tmp_path / name).getroot()
        links = {element.get(HREF, "") for element in root.iter()} - {""}
        assert links
        assert all(link.startswith("./") and unquote(link[2:]) in files for link in links)
        if name == "t c.svg":
            assert {unquote(link[2:]) for link in links} == files - {name}
        drawn |= states_of(root) if name != "t c.svg" else set()
        counts = re.findall(r"here (\d+),", "\n".join(svg_texts(tmp_path / name)))
        total = max(total, *map(int, counts))
    assert drawn == set(range(1, total + 1))


@needs_dot
def test_a_folder_has_pages(cli: Cli, tmp_path: Path) -> None:
    """A page for each rule, whatever their size; what has one page is one file."""
    assert cli("viz", str(EXAMPLES / "json.ebnf"), "-o", "pages/").code == 0
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert names[0] == "parser-01-json.svg"
    assert names[-1] == "parser.svg"
    assert "parser-02-value.svg" in names
    assert cli("viz", DATE, "-o", "one/").code == 0
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["dfa.svg"]


def test_a_size_that_is_asked_for_is_not_split(cli: Cli, tmp_path: Path) -> None:
    """--draw-states draws so many states, however wide; DOT text is one graph."""
    branches = " | ".join(f'#"{char}+x{char}"' for char in "abcdefgh")
    grammar = content(tmp_path / "g.ebnf", f"s ::= {branches};")
    whole = cli("viz", grammar, "--draw-states", "500", "--draw-edges", "5000").out
    assert whole.count(b"digraph") == 1
    assert b"left&#160;out" not in whole
    suffix = "svg" if shutil.which("dot") else "dot"
    assert cli("viz", grammar, "--draw-states", "5", "-o", f"few.{suffix}").code == 0
    assert [path.name for path in tmp_path.glob("few*")] == [f"few.{suffix}"]


def hostile_plan() -> Plan:
    """A network whose rules and texts have hostile names."""
    steps: dict[int, list[Step]] = {}
    for i, name in enumerate(HOSTILE):
        word = name.encode("utf-8")
        call = f"call {name}"
        steps[2 * i] = [Step(2 * i + 1, Reads(words=(word,)), frozenset([name]))]
        after = 2 * i + 2 if i + 1 < len(HOSTILE) else 0
        steps[2 * i + 1] = [Step(2 * i, Reads(), call=call, callees=(after,))]
    named = {2 * i: name for i, name in enumerate(HOSTILE)}
    frames = {2 * i: ((i, name),) for i, name in enumerate(HOSTILE)}
    graph = Graph(0, frozenset([1]), steps, named, frames)
    return Plan(graph, f"Network of {HOSTILE[0]}", "many")


@needs_dot
def test_hostile_names_are_plain_text(tmp_path: Path) -> None:
    """Of rules, literals and files, in DOT, SVG, URLs and names of files: nothing but what is drawn
    anyway is in a page, and every page is there."""
    plan = hostile_plan()
    whole = plan.drawing(Size(100, 100))
    pages = plan.pages(Size(), lambda page: f"h-{page}.svg" if page else "h.svg")
    assert len(pages) == len(HOSTILE) + 1
    seen = ""
    for name, drawing in [*pages, ("w.svg", whole)]:
        assert re.fullmatch(r"[A-Za-z0-9.-]{1,80}", name)
        root = ElementTree.parse(render(drawing, tmp_path / name)).getroot()
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "g", "title", "polygon", "path", "ellipse", "text", "a", "polyline"}
        attributes = {key.rpartition("}")[2] for element in root.iter() for key in element.attrib}
        assert not any(key.startswith("on") for key in attributes)
        links = {element.get(HREF, "") for element in root.iter()} - {""}
        assert all(re.fullmatch(r"\./h(-[A-Za-z0-9-]+)?\.svg", link) for link in links)
        seen += "\n".join(svg_texts(tmp_path / name))
    assert "<script>alert(1)</script>" in seen.replace("\n", "")
    assert "evil [label=" in seen
    assert not set("\u202e\u200f\u2028\x1b") & set(seen)
