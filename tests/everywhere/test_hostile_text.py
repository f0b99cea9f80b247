"""No text of strangers reaches a terminal raw: not by any command, format, grammar or file name."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.cli import DATE, Cli, content
from support.drawing import dot_attributes
from support.fuzzing.lines import with_names

from constrain.artifacts import load
from constrain.compiler.tokenizers import byte_alphabet

# What sets a title, what is ESC [ by itself, what turns and breaks lines, and what is no UTF-8.
EVIL = "\x1b]0;x\x07\x9b31m\u202eabc\u2066\u200f\u2028\r\x7f\x00"
# What a line begins with that was not ours.
FORGED = "\nFORGED: error: "

_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_NAMES = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")


def checked(cli: Cli, *arguments: str) -> str:
    """What a command line writes, after looking through all of it."""
    done = cli(*arguments)
    shown = f"{arguments} -> {done.code}: {done.out[:2000]!r} {done.err[:2000]!r}"
    assert done.code in (0, 1, 2, 3), shown
    out = done.out.decode()  # UTF-8 in all formats.
    if out.startswith(("{", "[")):
        json.loads(out)
        out = out.replace("\x7f", "")  # JSON has it as it is.
    if out.startswith("<?xml"):
        ElementTree.fromstring(out)
    for text in (out, done.err):
        assert not _RAW.search(text), shown
        assert not re.search("^FORGED", text, re.MULTILINE), shown
    assert max(map(len, done.err.split("\n"))) < 10_000, shown
    return out + done.err


def _escapes(text: str) -> str:
    return json.dumps(text)[1:-1]


# Grammars of each dialect with hostile names, literals, comments, and errors about them.
_TEXTS = {
    "literal.ebnf": f'a ::= "{EVIL}x" | "y" b;\nb ::= "z"?;\n',
    "comment.ebnf": f'(* {EVIL} *) a ::= "x" undefined{EVIL};\n',
    "name.ebnf": f'a{EVIL} ::= "x";\n',
    "iso.iso-ebnf": f'a b{EVIL} = "x" | unknown {EVIL} name;',
    "x.gbnf": f'root ::= "{EVIL}" | "a" [{EVIL}]\nunused ::= "{EVIL}"\n',
    "x.lark": f'start: "{EVIL}" | /a{EVIL}+/ | UNDEFINED\n%import {EVIL}.X\n',
    "x.regex": f"a|[{EVIL}]b|(?P<{EVIL}>",
    "x.schema.json": json.dumps(
        {
            "type": "object",
            "properties": {f"k{EVIL}{FORGED}": {"$ref": f"#/$defs/{EVIL}{FORGED}"}},
            "required": [f"k{EVIL}{FORGED}"],
            "additionalProperties": False,
            f"x{EVIL}{FORGED}": 1,
            "title": EVIL + FORGED,
            "$defs": {EVIL + FORGED: {"enum": [EVIL + FORGED, 1], f"z{FORGED}": 0}},
        }
    ),
    "bad.schema.json": json.dumps({"type": f"{EVIL}{FORGED}", "$ref": f"#/{EVIL}{FORGED}"}),
    "bad2.schema.json": f'{{"a": {EVIL} }}',
    "x.structural-tag.json": json.dumps(
        {"type": "structural_tag", "format": {"type": f"{EVIL}{FORGED}"}}
    ),
    "x.tools.json": json.dumps([{"type": "function", "function": {"name": EVIL + FORGED}}]),
}

_DIALECTS = {
    "iso.iso-ebnf": "iso14977",
    "x.structural-tag.json": "structural-tag",
    "x.tools.json": "tools",
    "bad2.schema.json": "json-schema",
}


def _on_a_grammar(path: str, text: str) -> list[tuple[str, ...]]:
    """Command lines about a grammar, in all formats of people's."""
    return [
        *(("check", path, "-f", f) for f in ("text", "json", "github", "sarif")),
        *(("show", path, "--stage", s) for s in ("tree", "lnf", "nfa", "dfa", "network")),
        *(("explain", path, text, "-f", f) for f in ("text", "json")),
        *(("sample", path, "-n", "2", "-f", f) for f in ("text", "json")),
        ("diff", path, DATE),
        ("convert", path, "--to", "gbnf", "-o", text + ".out"),
        ("inspect", path, "--text", text, "--tokenization", "any"),
        ("mask", path, "--tokenization", "any"),
        ("store", "key", path),
    ]


@pytest.fixture
def project_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", _TEXTS)
def test_no_grammar_reaches_a_terminal_raw(
    cli: Cli, project_less: Path, name: str, full: bool
) -> None:
    """Names, literals, comments and what is wrong with them, by all commands and formats."""
    path, text = content(project_less / name, _TEXTS[name]), content(project_less / "t", EVIL)
    tokenizer = _tokenizer(project_less)
    dialect = ("--dialect", _DIALECTS[name]) if name in _DIALECTS else ()
    lines = _on_a_grammar(path, text)
    for place, line in enumerate(lines):
        if not full and line[0] in ("inspect", "mask") and name != "literal.ebnf":
            continue
        if not full and place % 3 != len(name) % 3 and line[0] != "check":
            continue
        own = ("--tokenizer", tokenizer) if line[0] in ("inspect", "mask", "store") else ()
        also = () if line[0] == "diff" else dialect
        checked(cli, *line, *also, *own)


@_NAMES
def test_no_file_name_reaches_a_terminal_raw(cli: Cli, project_less: Path) -> None:
    """Nor forges a line, in messages, reports and all formats."""
    stem = f"g{EVIL.replace(chr(0), '')}{FORGED.replace('/', '')}"
    path = content(project_less / f"{stem}.ebnf", 'a ::= "x" | b;\n')
    good = content(project_less / f"good{stem}.ebnf", 'a ::= "x";\n')
    missing = str(project_less / f"{stem}.gone")
    folder = project_less / stem
    folder.mkdir()
    content(folder / f"{stem}.ebnf", 'a ::= "x" | b;\n')
    content(project_less / f"good{stem}.test", "===\none\n===\ny\n---\n")
    assert "is not defined" in checked(cli, "check", path)
    for line in (
        *_on_a_grammar(good, path)[4:],
        *(("check", path, str(folder), missing, "-f", f) for f in ("text", "json", "sarif")),
        ("check", path, str(folder), "-f", "github"),
        *(("test", good, "-f", f) for f in ("text", "json", "junit", "tap", "github", "lcov")),
        ("test", good, "--coverage"),
        ("test", missing),
        ("compile", good, "-t", missing),
        ("compile", good, "-t", path, "-o", path),
        ("tokenize", "--file", missing),
        ("mask", missing),
        ("show", good, "-o", str(folder)),
        ("store", "ls", "--store", str(folder)),
        ("store", "put", missing, "--store", str(folder), "--key", stem),
        ("viz", good, "-o", str(project_less / f"{stem}.bad")),
        ("config", "--config", missing),
        ("config", "--config", path),
        ("bench", good, path, "--plot", missing),
        (stem,),
        ("check", f"--{stem}"),
    ):
        checked(cli, *line)


@_NAMES
def test_what_is_no_utf8_is_a_name_like_any_other(cli: Cli, project_less: Path) -> None:
    """In each place that a command line has for a file, a token or a URL."""
    pytest.importorskip("fsspec")
    no_utf8 = os.fsdecode(b"\xff")
    many = "a ::= " + " | ".join(f'b{i} "x"' for i in range(40)) + ";\n"
    many += "".join(f'b{i} ::= "(" b{i} ")" | "y{i}";\n' for i in range(40))
    nested = content(project_less / f"g{no_utf8}.ebnf", many)
    drawing = f"d{no_utf8}.svg"
    assert "there is no token" in checked(cli, "mask", DATE, "--eos", no_utf8)
    assert "this is none" in checked(cli, "store", "ls", "--store", f"memory://{no_utf8}")
    drawn = cli("viz", nested, "--stage", "parser", "-o", drawing)
    if shutil.which("dot"):
        assert drawn.code == 0, drawn.err
        assert "index of" in drawn.err
        assert "./d%FF-" in (project_less / drawing).read_text(encoding="utf-8")


def test_no_manifest_reaches_a_terminal_raw(cli: Cli, project_less: Path, full: bool) -> None:
    """An artifact's names and notes, with checksums that are right."""
    evil = EVIL + FORGED
    grammar = content(project_less / "g.ebnf", 'a ::= "x" b; b ::= "y";')
    tokenizer = _tokenizer(project_less)
    for tokenization in ("any", "canonical")[: 1 + full]:
        made = str(project_less / "a.cst")
        assert cli("compile", grammar, "-t", tokenizer, "--tokenization", tokenization).code == 0
        artifact = load(project_less / "g.cst")
        Path(made).write_bytes(with_names(artifact, evil))
        text = content(project_less / "t", EVIL)
        content(project_less / "a.test", f"===\none\n:start {evil!r}\n===\ny\n---\n")
        for line in (
            ("show", made),
            ("inspect", made, "--text", text, "-t", tokenizer),
            ("inspect", made, "-f", "json"),
            ("explain", made, text),
            ("explain", made, text, "-f", "json"),
            ("mask", made, "--why", "z", "-t", tokenizer),
            ("mask", made, "--prefix", evil.replace("\0", "")),
            ("test", made, "--coverage"),
            ("sample", made),
            ("diff", made, grammar),
        ):
            checked(cli, *line)


def test_no_token_reaches_a_terminal_raw(cli: Cli, project_less: Path) -> None:
    """A vocabulary's texts, names and what is wrong with it."""
    evil = EVIL + FORGED
    grammar = content(project_less / "g.ebnf", f'a ::= "{EVIL}"* "x"?;')
    tokenizer = _tokenizer(project_less)
    for line in (
        ("mask", grammar, "-t", tokenizer),
        ("mask", grammar, "-t", tokenizer, "--why", "\x1b", "--why", "x"),
        ("tokenize", EVIL.replace("\0", ""), "-t", tokenizer),
        ("tokenize", EVIL.replace("\0", ""), "-t", tokenizer, "-f", "json"),
        ("compile", grammar, "-t", tokenizer, "--eos", evil.replace("\0", "")),
    ):
        checked(cli, *line)
    for change in (
        {"model": {"type": evil, "vocab": {}}},
        {"model": {"type": "BPE", "vocab": {evil: 1, "b": 1}}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [evil]}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "unk_token": evil}},
        {"normalizer": {"type": evil}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": f"(?{evil}"}}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": evil}},
    ):
        document = json.loads(Path(tokenizer).read_text()) | change
        path = content(project_less / "bad.json", json.dumps(document))
        assert "error: " in checked(cli, "tokenize", "a", "-t", path)


def test_no_case_reaches_a_terminal_raw(cli: Cli, project_less: Path) -> None:
    """Names, texts, settings and commands of case files, in all formats."""
    grammar = content(project_less / "g.ebnf", 'a ::= "x";')
    content(
        project_less / "g.test",
        f"===\none {EVIL}\n:todo {EVIL}\n===\n{EVIL}\n---\nat: {EVIL}\n\n"
        f"===\ntwo {EVIL} # SKIP\n===\n{EVIL}\n---\nexpected: {EVIL}\nrule: {EVIL}\n",
    )
    bad = content(project_less / "bad.test", f"grammar: {EVIL}\n===\n{EVIL}\n:{EVIL}\n===\n")
    for form in ("text", "json", "junit", "tap", "github", "lcov"):
        checked(cli, "test", grammar, "-f", form)
        checked(cli, "test", bad, "-f", form)
        checked(cli, "test", grammar, "--coverage", "-f", form)


def test_no_project_file_reaches_a_terminal_raw(cli: Cli, project_less: Path) -> None:
    """Its keys, its values, and what is wrong with them."""
    evil = _escapes(EVIL + FORGED)
    for text in (
        f'[tokenizers]\n"{evil}" = "{evil}.json"\n',
        f'"{evil}" = 1\n',
        f'dialect = "{evil}"\n',
        f'[[grammars]]\nfiles = "{evil}"\n',
        f"# {EVIL}\n",
    ):
        content(project_less / "constrain.toml", text)
        for line in (("config",), ("config", "-f", "json"), ("check",), ("test",)):
            checked(cli, *line)


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_hundreds_of_wrong_lines_give_a_bounded_message(
    cli: Cli, project_less: Path, form: str
) -> None:
    """For people: the first of them, and how many more there are. For programs: all of them."""
    path = content(project_less / "g.ebnf", "".join(f"a{i} ::= b{i};\n" for i in range(700)))
    found = checked(cli, "check", path, "-f", form)
    if form == "text":
        assert len(found) < 40_000
        assert "g.ebnf: and 650 more errors" in found
    else:
        assert "b699" in found
    compiled = cli("compile", path)
    assert (compiled.code, len(compiled.err) < 20_000) == (2, True)
    assert "and 650 more errors" in compiled.err


def test_a_line_of_an_error_has_a_bounded_length(cli: Cli, project_less: Path) -> None:
    """Whatever it quotes."""
    name = "a" * 100_000
    path = content(project_less / "g.ebnf", f'{name} ::= "x" | {name}b;\n')
    assert len(cli("compile", path).err) < 20_000


# Each would be a script, a link or markup, or end a label, where it is not escaped.
MARKUP = '</script><script>alert(1)</script>" URL="javascript:x" ]; }\n<b>&amp;\\\u202e\u2028\x1b'

# What DOT's own labels are made of, tags and their attributes; none of them leads anywhere.
_TAGS = {"table", "tr", "td", "font", "b", "u", "br"}
_OF_TAGS = {"border", "cellborder", "cellspacing", "cellpadding", "align", "bgcolor", "colspan"}
_OF_TAGS |= {"color", "face", "point-size"}


def checked_dot(dot: str) -> None:
    """Look through a drawing without links: no text of it ends early, is markup or leads away."""
    for name, value in dot_attributes(dot):
        assert name.lower() not in ("url", "href", "target", "image", "shapefile"), (name, value)
        assert not _RAW.search(value), value
        assert "\n" not in value, value
        if value[0] == "<":
            for element in ElementTree.fromstring(f"<x>{value[1:-1]}</x>").iter():
                assert element.tag in _TAGS | {"x"}, value
                assert {*element.keys()} <= _OF_TAGS, value


@pytest.mark.parametrize("stage", ["nfa", "dfa", "rules", "parser", "lexer"])
def test_drawings_hold_foreign_text_as_text(cli: Cli, project_less: Path, stage: str) -> None:
    """DOT and SVG show quotes, markup, links and line breaks of texts and names of files."""
    named = os.fsdecode(MARKUP.replace("/", "").encode() + b"\xff")
    texts = {
        ".schema.json": json.dumps({"enum": [MARKUP, "b"], "$id": "javascript:alert(1)"}),
        ".lark": f"start: (A | B)+\nA: {json.dumps(MARKUP)}\nB: /[^a]<b>/\n",
        ".regex": re.escape(MARKUP).replace("\\\n", "\\n") + "|b",
    }
    for suffix, text in texts.items():
        grammar = content(project_less / f"{named}{suffix}", text)
        said = cli("viz", grammar, "--stage", stage)
        assert said.code == 0 or (stage in ("nfa", "dfa") and suffix != ".regex"), said.err
        if said.code:
            continue
        checked_dot(said.out.decode())
        if shutil.which("dot") is None:
            continue
        drawing = project_less / f"{named}{suffix}.svg"
        assert cli("viz", grammar, "--stage", stage, "-o", str(drawing)).code == 0
        written = drawing.read_text(encoding="utf-8")
        assert not _RAW.search(written)
        shown = [*ElementTree.fromstring(written).iter()]
        assert {each.tag.rpartition("}")[2] for each in shown} <= _OF_SVG
        said_by = "".join(each.text or "" for each in shown).replace("\u00a0", " ")
        assert '<script>alert(1)<script>" URL="javascript:x" ]; }␊<b>' in said_by
        assert not [v for e in shown for k, v in e.items() if k.endswith("href") and ":x" in v]


# The elements of a drawing; "a" has a tooltip.
_OF_SVG = {"svg", "g", "title", "polygon", "path", "text", "ellipse", "a", "polyline"}


def test_pages_and_reports_hold_foreign_text_as_text(cli: Cli, project_less: Path) -> None:
    """HTML and SARIF have quotes, markup, links and line breaks as characters."""
    schema = {"enum": [MARKUP, "b"], f"x{MARKUP}": {}, "$id": "javascript:alert(1)"}
    grammar = content(project_less / "g.schema.json", json.dumps(schema))
    page = project_less / "g.html"
    tokenizer = _tokenizer(project_less)
    assert cli("inspect", grammar, "-t", tokenizer, "-o", str(page)).code == 0
    html = page.read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert not re.search("[\u2028-\u202e\u2066-\u2069]", html)
    log = json.loads(cli("check", grammar, "-f", "sarif").out)
    [run] = log["runs"]
    assert all(set(r["message"]) == {"text"} for r in run["results"])


def _tokenizer(folder: Path) -> str:
    """A ``tokenizer.json`` with hostile tokens and names."""
    vocab = {c: i for i, c in enumerate(byte_alphabet.characters())}
    spelled = "".join(byte_alphabet.characters()[o] for o in (EVIL + FORGED).encode())
    vocab[spelled] = len(vocab)
    added = [
        {"id": 300, "content": EVIL + FORGED, "special": True},
        {"id": 301, "content": f"<{EVIL}>", "special": False},
    ]
    document = {
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": EVIL + FORGED}))
    return content(folder / "tokenizer.json", json.dumps(document))
