"""A page is one file that asks for nothing, and no text of a grammar becomes a part of it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import base64
import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from generators import refetch_assets
from support import EXAMPLES, ROOT, compiled
from support.cli import Cli
from support.fuzzing import small_tokenizer
from support.page import browsed, data_of

from constrain.artifacts import Artifact
from constrain.cli.page.page import page_of
from constrain.cli.page.program import program
from constrain.compiler import Tokenizer, load_tokenizer

TOOL = (EXAMPLES / "tool_call.schema.json").read_text(encoding="utf-8")

# What is run where it becomes a part of a page.
HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u2028]]>"


@pytest.fixture(scope="module")
def date(default_tokenizer: Tokenizer) -> Artifact:
    """The artifact of dates."""
    return compiled((EXAMPLES / "date.ebnf").read_text(encoding="utf-8"), default_tokenizer)


@pytest.fixture(scope="module")
def tool(default_tokenizer: Tokenizer) -> Artifact:
    """That of a tool call."""
    return compiled(TOOL, default_tokenizer, dialect="json-schema")


@pytest.fixture(scope="module")
def hostile(default_tokenizer: Tokenizer) -> dict[str, Any]:
    """The data of a grammar in which every text is hostile."""
    named = "".join(f"\\u{ord(c):04x}" if c == "\u2028" else c for c in HOSTILE)
    text = f'start: "{named}" | /[<]script[>]alert[(]3[)]/ | other\nother: "</style>"\n'
    artifact = compiled(text, default_tokenizer, dialect="lark", meaning="exact")
    data = data_of(artifact, default_tokenizer, HOSTILE.encode(), command=HOSTILE)
    rules = [{**each, "name": HOSTILE, "rule": HOSTILE} for each in data["grammar"]["railroads"]]
    grammar = {**data["grammar"], "railroads": rules, "missing": HOSTILE}
    numbers = [[HOSTILE, [[HOSTILE, HOSTILE]]]]
    changed = {"name": HOSTILE, "notes": [HOSTILE], "missing": [HOSTILE], "numbers": numbers}
    return {**data, **changed, "grammar": grammar}


def elements(page: str, name: str) -> list[str]:
    """The contents of all elements of a name, as a browser finds them: up to the next end tag."""
    return re.findall(rf"<{name}\b[^>]*>(.*?)</{name}", page, re.DOTALL)


def test_a_page_holds_hostile_texts_and_is_none_of_them(hostile: dict[str, Any]) -> None:
    """Data is in one element that ends where it should; its scripts are the page's own."""
    page = page_of(hostile)
    data, *scripts = elements(page, "script")

    assert hostile == json.loads(data)
    assert "<" not in data
    assert "\u2028" not in data
    # Without Graphviz what draws comes first.
    assert program() == scripts[hostile["graph"]["layout"] == "dagre" :]
    assert 1 + len(scripts) == page.count("<script")
    assert "<img" not in page


def test_a_page_shows_canonical_tokens_with_counters(tmp_path: Path) -> None:
    """Such a grammar names no tokens."""
    tokenizer = load_tokenizer(small_tokenizer(tmp_path))
    text = '{"type": "string", "maxLength": 100000}'
    artifact = compiled(text, tokenizer, dialect="json-schema", prewarm=0)

    assert "count.items" in artifact.arrays
    assert data_of(artifact, tokenizer)["graph"]["nodes"]


def test_a_page_runs_what_its_policy_names_and_asks_for_nothing(date: Artifact) -> None:
    """Scripts and style have their hashes in it; there is no address in the page, nor an attribute
    that runs."""
    page = page_of(data_of(date))
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    _, *scripts = elements(page, "script")
    hashes = []
    for text in (*scripts, *elements(page, "style")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes.append(f"'sha256-{digest}'")

    assert 1 == len(policy)
    assert policy[0].startswith("default-src 'none'; ")
    assert hashes == re.findall(r"'sha256-[^']*'", policy[0])
    assert "unsafe" not in policy[0]
    assert [] == re.findall(r"<[^>]+\s(?:on\w+|style|src)=", page)
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\s\"'`]+", page))


def test_the_same_input_gives_the_same_page(date: Artifact, default_tokenizer: Tokenizer) -> None:
    """Byte by byte."""
    pages = {page_of(data_of(date, default_tokenizer, b"2024-02-29")) for _ in range(2)}

    assert 1 == len(pages)


def test_the_page_of_a_tool_call_is_small(tool: Artifact, default_tokenizer: Tokenizer) -> None:
    """Under 3 MB, with all that the page can have; the program under 80 kB."""
    data = data_of(tool, default_tokenizer, b'{"tool": "search", "query": "x"}')

    assert len(page_of(data).encode()) < 3_000_000
    assert {"walk", "vocabulary", "bpe", "rows", "reached"} <= data.keys()
    assert sum(len(text.encode()) for text in program()) < 80_000


def test_the_program_of_a_page_is_all_files_of_its_folder() -> None:
    """Each once; each begins with a comment that says what it is about, and is strict."""
    files = (ROOT / "cli" / "page" / "js").rglob("*.js")
    texts = program()

    assert sorted(file.read_text(encoding="utf-8") for file in files) == sorted(texts)
    for text in texts:
        assert re.match(r'(// .*\n)+"use strict";\n\n', text), text[:80]


def test_a_page_leaves_out_what_makes_it_too_large(
    date: Artifact, default_tokenizer: Tokenizer
) -> None:
    """And says so: the masks first, then the tokenizer, then the vocabulary."""
    left_out = []
    for size in (1_000_000, 170_000, 90_000, 10_000):
        data = data_of(date, default_tokenizer, max_bytes=size)
        left_out.append([not data.get(n) for n in ("vocabulary", "bpe", "states")])
        assert any(left_out[-1]) == bool(data["missing"])

    assert [False, False, False] == left_out[0]
    assert sorted(left_out) == left_out
    assert [True, True, True] == left_out[-1]


def test_a_page_says_what_it_does_not_have(default_tokenizer: Tokenizer) -> None:
    """By the engine's name where no table reads texts; where the grammar's text was stripped."""
    nesting = (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")
    parsed = compiled(nesting, default_tokenizer, "any", engine="earley")
    bare = data_of(replace(parsed, manifest=replace(parsed.manifest, source=None)))
    data = data_of(compiled(".*a.{20}", default_tokenizer, "any", dialect="regex"))

    assert "lazy DFA" in data["missing"][0]
    assert data["graph"] is None
    assert data["grammar"]["railroads"]
    assert "stripped" in bare["grammar"]["missing"]
    assert "Earley's recogniser" in bare["missing"][0]


def test_a_list_of_tools_is_shown_with_its_rules(default_tokenizer: Tokenizer) -> None:
    """Though it has none to start from."""
    tools = (EXAMPLES / "agents" / "issue_tracker.tools.json").read_text(encoding="utf-8")
    data = data_of(compiled(tools, default_tokenizer, "any", dialect="tools", prewarm=0))

    assert "missing" not in data["grammar"]
    assert data["grammar"]["rules"]


def test_lints_stand_at_their_place(default_tokenizer: Tokenizer) -> None:
    """In UTF-16 units, which browsers count in."""
    text = '(* \U0001f600 *) s ::= "a" #"[ ]*" "b"; unused ::= "c";'
    found = data_of(compiled(text, default_tokenizer))["grammar"]
    units = text.encode("utf-16-le")
    [finding] = [f for f in found["findings"] if f["lint"] == "unreachable"]
    places = {r["name"]: (r["start"], r["end"]) for r in found["rules"]}
    begin, end = places["unused"]

    assert "unused" == units[2 * finding["start"] : 2 * finding["end"]].decode("utf-16-le")
    assert units[2 * begin : 2 * end].decode("utf-16-le").startswith('unused ::= "c"')


def test_inspect_writes_a_page(cli: Cli, tmp_path: Path) -> None:
    """For a name that ends in .html, or when asked; what stands in it is for people."""
    member, page = tmp_path / "leap.txt", tmp_path / "date.html"
    member.write_bytes(b"2024-02-29\n")
    grammar = str(EXAMPLES / "date.ebnf")
    given = ["inspect", grammar, "--text", str(member), "--start", "date", "--tokenization", "any"]
    written = cli(*given, "-o", str(page))
    printed = cli(*given, "--format", "html")
    [data, *_] = elements(page.read_text(encoding="utf-8"), "script")
    found = json.loads(data)

    assert (0, b"") == (written.code, written.out)
    assert page.read_bytes() == printed.out
    assert [{"name": str(member), "text": "2024-02-29"}] == found["examples"]
    assert ["engine", "dfa, the grammar is regular"] == found["numbers"][0][1][0]
    command = f"constrain mask {grammar} --start date --tokenization any"
    assert set(command.split()) == set(found["command"].split())


def test_a_page_offers_the_texts_of_test_cases(cli: Cli, tmp_path: Path) -> None:
    """By their names, with what is expected of them; and says what these do not cover."""
    case = "==================\n{}\n{}==================\n{}\n---\n\n"
    cases = case.format("a leap day", "", "2024-02-29")
    cases += case.format("month 13", ":reject\n", "2024-13-01")
    (tmp_path / "date.test").write_text(cases, encoding="utf-8")
    page = tmp_path / "date.html"
    given = ["inspect", str(EXAMPLES / "date.ebnf"), "--tests", str(tmp_path / "date.test")]
    written = cli(*given, "-o", str(page))
    [data, *_] = elements(page.read_text(encoding="utf-8"), "script")

    assert 0 == written.code, written.err
    assert [
        {"name": "a leap day (accept)", "text": "2024-02-29"},
        {"name": "month 13 (reject)", "text": "2024-13-01"},
    ] == json.loads(data)["examples"]
    said = [f["message"] for f in json.loads(data)["grammar"]["findings"]]
    assert 'no test case uses alternative "1" #"[0-2]" in month' in said
    assert not any('"0" #"[1-9]" in month' in each for each in said)
    assert 2 == cli(*given).code


def test_the_vendored_files_are_as_they_were_published() -> None:
    """Their hashes are those of ``VENDORED.md``, and there are no others."""
    folder = ROOT / "cli" / "assets"
    own = {"VENDORED.md", "__init__.py", "__pycache__"}
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name not in own}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}

    assert {name: digest for name, (_, digest) in refetch_assets.vendored().items()} == hashes
    assert refetch_assets.FILES.keys() == hashes.keys()


# What a page says of a text that is typed, and how long each character takes.
TYPING = """(async () => {
  const input = document.getElementById("input"), times = [];
  const paint = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const text = TEXT;
  for (let end = 0; end <= text.length; end++) {
    const begun = performance.now();
    input.value = text.slice(0, end);
    input.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.push(performance.now() - begun);
    await paint();
  }
  times.sort((a, b) => a - b);
  return {
    median: times[times.length >> 1],
    verdict: document.getElementById("verdict").textContent,
    tokens: document.querySelectorAll("#tokens button").length,
    lit: document.querySelectorAll("#graph .lit").length,
    images: document.images.length,
    labels: [...document.querySelectorAll("#graph text")].map((each) => each.textContent),
    inside: [...document.querySelectorAll("#graph rect")].every((each) => each.getBBox().x >= -8),
  };
})()"""


def typed(path: Path, data: dict[str, Any], text: str) -> dict[str, Any]:
    """What a browser says of the page."""
    path.write_text(page_of(data), encoding="utf-8")
    [said] = browsed([path], TYPING.replace("TEXT", json.dumps(text)))

    assert [] == said["errors"]
    assert [] == said["dialogs"]
    assert [path.as_uri()] == said["requests"]
    found: dict[str, Any] = said["value"]
    return found


def test_a_browser_answers_a_typed_character_in_50_ms(
    default_tokenizer: Tokenizer, tmp_path: Path, full: bool
) -> None:
    """In the page of an agent's calls, of more than 300 states; with --full, in Chromium."""
    if not full:
        pytest.skip("a browser is started with --full alone")
    tools = (EXAMPLES / "agents" / "issue_tracker.tools.json").read_text(encoding="utf-8")
    calls = compiled(tools, default_tokenizer, dialect="tools")
    arguments = '{"query": "a page", "state": "open", "labels": ["bug", "question"]}'
    text = f'<tool_call>\n{{"name": "search_issues", "arguments": {arguments}}}\n</tool_call>'
    found = typed(tmp_path / "calls.html", data_of(calls, default_tokenizer), text)

    assert calls.manifest.counts["network_states"] > 300
    assert found["verdict"].startswith("accepted")
    assert found["median"] < 50
    assert found["tokens"] == len(default_tokenizer.encode(text)) + 1
    assert 1 == found["lit"]


def test_a_browser_runs_nothing_of_a_hostile_grammar(
    hostile: dict[str, Any], tmp_path: Path, full: bool
) -> None:
    """With --full, in Chromium: no dialog, no image, no request."""
    if not full:
        pytest.skip("a browser is started with --full alone")
    found = typed(tmp_path / "hostile.html", hostile, HOSTILE)

    assert "accepted" == found["verdict"]
    assert 0 == found["images"]


def test_a_browser_places_states_where_graphviz_is_missing(
    date: Artifact, tmp_path: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the vendored library, which the page has then alone; with --full, in Chromium."""
    with_dot = data_of(date)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    without = data_of(date)
    monkeypatch.undo()
    library = (ROOT / "cli" / "assets" / "dagre.min.js").read_text(encoding="utf-8")
    library = library.replace("\x01", r"\x01")

    assert "dagre" == without["graph"]["layout"]
    assert library in page_of(without)
    if with_dot["graph"]["layout"] == "dot":
        assert library not in page_of(with_dot)
    if full:
        found = typed(tmp_path / "date.html", without, "2024-02")

        assert found["inside"]
        assert "1–9" in found["labels"]
        assert found["verdict"].startswith("incomplete; expected")
