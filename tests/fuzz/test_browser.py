"""Pages, drawings and reports of hostile grammars, opened in Chromium: no script of theirs runs."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.fuzzing import small_tokenizer
from support.fuzzing.calls import LIMITS, called
from support.page import browsed

_RUN = "globalThis.pwned=1"
_AWAY = "http://attacker.invalid/x"

# What a stranger would put into a name or a text: each runs, or fetches, where it is not escaped.
PAYLOADS = (
    f"</script><script>{_RUN}</script>",
    f'<img src="x" onerror="{_RUN}">',
    f"<svg onload={_RUN}>",
    f"javascript:{_RUN}",
    f'" onmouseover="{_RUN}" onfocus="{_RUN}" x="',
    f"' onmouseover='{_RUN}' x='",
    f'", URL="javascript:{_RUN}", tooltip="',
    f'"];x [URL="javascript:{_RUN}"];y [label="',
    f"]]><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;img src=x onerror={_RUN}&#62;",
    f"\u2028{_RUN}//",
    f"\u2029;{_RUN};//",
    f"\u202e<script>{_RUN}</script>\u202c",
    f"*/{_RUN}/*",
    f"`${{{_RUN}}}`",
    f"\\u003cscript>{_RUN}</script>",
    f"</title></style></textarea><script>{_RUN}</script>",
    f'<style>@import "{_AWAY}";</style>',
    f"<link rel=stylesheet href={_AWAY}><base href={_AWAY}>",
    f'<iframe srcdoc="<script>parent.pwned=1</script>" src="{_AWAY}">',
    f"<a xlink:href='javascript:{_RUN}' href='javascript:{_RUN}'>x</a>",
    f"<foreignObject><body onload={_RUN}></body></foreignObject>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_RUN}'>",
)

# Inside each document: everything is touched, then whether a script ran, and links that lead away.
TOUCH = """new Promise((resolve) => {
  const all = [...document.querySelectorAll("*")].slice(0, 3000);
  for (const each of all) {
    for (const kind of ["mouseover", "mouseenter", "focus", "pointerdown"])
      each.dispatchEvent(new Event(kind, {bubbles: true}));
    if (["BUTTON", "SUMMARY"].includes(each.tagName)) each.click();
  }
  const links = [...document.querySelectorAll("a, area, [URL]")]
    .map((each) => each.getAttribute("href") || each.getAttribute("xlink:href") || "")
    .filter((target) => /^\\s*(javascript|data|https?|\\/\\/)/i.test(target));
  setTimeout(() => resolve({ran: typeof globalThis.pwned, links}), 60);
})"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A grammar with a payload in it: the name of its file, its dialect and text."""

    name: str
    dialect: str
    text: str


def hostile(payload: str) -> list[Hostile]:
    """Grammars with a payload as literal, comment, name, pattern and file name."""
    quoted = json.dumps(payload)
    line = " ".join(payload.split())
    safe = payload.replace("/", "").replace("\x00", "")
    tools = [{"type": "function", "function": {"name": "f", "description": payload}}]
    tools += [{"type": "function", "function": {"name": payload, "parameters": {
        "type": "object", "properties": {payload: {"const": payload}}}}}]  # fmt: skip
    tag = {"type": "tag", "begin": payload, "content": {"type": "any_text"}, "end": payload[::-1]}
    schema = {
        "title": payload,
        "description": payload,
        "properties": {payload: {"$ref": f"#/$defs/{escape_pointer(payload)}"}},
        "required": [payload],
        "$defs": {payload: {"enum": [payload, payload * 2]}},
    }
    return [
        Hostile("a", "gbnf", f"root ::= {quoted_gbnf(payload)} | x # {line}\nx ::= [a-z]"),
        Hostile("b", "lark", f"// {line}\nstart: {quoted} X\nX: /[a-z]/ // {line}\n"),
        Hostile("c", "regex", "(?:" + regex_of(payload) + ")+|x"),
        Hostile("d", "json-schema", json.dumps(schema)),
        Hostile("e", "json-schema", json.dumps({"anyOf": [{"const": payload}, {"pattern": "a"}]})),
        Hostile("f", "tools", json.dumps(tools)),
        Hostile("g", "structural-tag", json.dumps({"type": "structural_tag", "format": tag})),
        Hostile(safe, "kbnf", f"(* {line.replace('*', '')} *) start ::= x | \"a\"; x ::= \"b\";"),
    ]  # fmt: skip


def escape_pointer(name: str) -> str:
    """A name as part of a pointer in a URI."""
    from urllib.parse import quote

    return quote(name.replace("~", "~0").replace("/", "~1"), safe="")


def quoted_gbnf(text: str) -> str:
    """A text as a literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def regex_of(text: str) -> str:
    """A regex of a text, with what has no meaning in it as it is."""
    return "".join("\\" + c if c in r"\.[]{}()*+?^$|#&~-/" else c for c in text)


def documents(grammar: Hostile, folder: Path, tokenizer: Path) -> list[Path]:
    """All that is written of a grammar and may be opened: a page, drawings, a report."""
    folder.mkdir()
    file = folder / f"{grammar.name}.txt"
    file.write_text(grammar.text, encoding="utf-8")
    given = (str(file), "--dialect", grammar.dialect, *LIMITS)
    tokens = ("--tokenizer", str(tokenizer), "--no-cache")
    found = []
    for name, *call in (
        ("page.html", "inspect", *given, *tokens, "--tokenization", "any"),
        ("dfa.svg", "viz", *given, *tokens),
        ("rules.svg", "viz", *given, *tokens, "--stage", "rules"),
    ):
        assert not called(*call, "-o", str(folder / name)).failed, grammar
        if (folder / name).exists():
            found.append(folder / name)
            if name.endswith("svg"):  # As it is put into documents of others.
                inlined = folder / f"{name}.html"
                svg = (folder / name).read_text(encoding="utf-8")
                inlined.write_text(f"<meta charset=utf-8>{svg[svg.index('<svg') :]}", "utf-8")
                found.append(inlined)
    report = called("check", *given, "--format", "sarif").out
    (folder / "report.json").write_bytes(report)
    return [*found, folder / "report.json"]


def test_no_script_of_a_hostile_grammar_runs_in_what_is_written_of_it(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Pages, SVG as a document and inside others, SARIF: no script, no dialog, no request."""
    if not full:
        pytest.skip("documents are opened in a browser under --full alone")
    tokenizer, raw = small_tokenizer(tmp_path), tmp_path / "raw.html"
    raw.write_text(f'<script>{_RUN}</script><img src="{_AWAY}"><a href="{_AWAY}">x</a>', "utf-8")
    grammars = [grammar for payload in PAYLOADS for grammar in hostile(payload)]
    files = [raw]
    for number, grammar in enumerate(grammars):
        files += documents(grammar, tmp_path / str(number), tokenizer)
    wrong = {}
    for file, found in zip(files, browsed(files, TOUCH), strict=True):
        away = [url for url in found["requests"] if url not in (file.as_uri(), "about:blank")]
        value = found["value"] or {"ran": found["said"], "links": []}
        if value["ran"] != "undefined" or value["links"] or away or found["dialogs"]:
            wrong[file.relative_to(tmp_path).as_posix()] = (value, away, found["dialogs"])
    record_property("grammars", len(grammars))
    record_property("documents", len(files))

    assert ({"ran": "number", "links": [_AWAY]}, [_AWAY], []) == wrong.pop("raw.html")
    assert 200 == len(grammars)
    assert 4 * 200 < len(files)
    assert {} == wrong
