"""The extension of VS Code: its colours are those of the dialects, its languages what the server
reads, and its client does what it says."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import regex
from support import EXAMPLES

from constrain.compiler.diagnostics import Source
from constrain.compiler.dialects import DIALECTS, dialect_of
from constrain.compiler.dialects.names import names_of
from constrain.compiler.limits import Limits

FOLDER = EXAMPLES / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_colours_are_made_from_the_dialects(update: bool) -> None:
    """The files are what the program writes; --update writes them."""
    made = runpy.run_path(str(FOLDER / "syntaxes.py"))["written"]()
    for name, text in made.items():
        path = FOLDER / "syntaxes" / name
        if update:
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8"), name

    there = {path.name for path in (FOLDER / "syntaxes").iterdir()}
    assert set(made) == there
    listed = {Path(each["path"]).name for each in PACKAGE["contributes"]["grammars"]}
    assert listed == there


@pytest.mark.quick
@pytest.mark.parametrize("name", ["date.ebnf", "code.lark", "xml/drawing.w3c", "csv/rfc4180.gbnf"])
def test_strings_names_and_comments_have_their_colours(name: str) -> None:
    """As an editor finds them on each line: of the patterns that match first the first one."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    dialect = dialect_of(name) or ""
    grammar = json.loads((FOLDER / "syntaxes" / f"{dialect}.tmLanguage.json").read_text("utf-8"))
    found = coloured(text, grammar["patterns"])
    names = names_of(Source(text, name, dialect), Limits())

    for token in names.tokens:
        if token.type in ("STRING", "REGEX", "CLASS") and "\n" not in token:
            scope = found[token.span.start]
            assert scope.startswith("string."), (token, scope)
    for each in names.definitions:
        assert "entity.name.function" == found[each.span.start]
    for use in names.uses:
        assert "variable.other" == found[use.span.start]
    for comment in re.finditer(r"^(?:\(\*|#|//)", text, re.MULTILINE):
        assert found[comment.start()].startswith("comment.")


def coloured(text: str, patterns: list[dict[str, str]]) -> list[str]:
    """The scope of each character, as TextMate's rules have it for patterns side by side."""
    rules = [(each, regex.compile(each.get("match") or each["begin"])) for each in patterns]
    found, place = [""] * len(text), 0
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        matches = [
            (m.start(), i, m) for i, (_, r) in enumerate(rules) if (m := r.search(text, place, end))
        ]
        matches = [each for each in matches if each[2].end() > each[0]]
        if not matches:
            place = end + 1
            continue
        _, number, match = min(matches, key=lambda each: each[:2])
        rule, behind = rules[number][0], match.end()
        if "end" in rule:
            closing = regex.compile(rule["end"]).search(text, behind)
            behind = closing.end() if closing else len(text)
        found[match.start() : behind] = [rule["name"]] * (behind - match.start())
        place = behind
    return found


def test_languages_are_those_that_the_server_reads() -> None:
    """By the names and suffixes of the dialects; JSON is the editor's own."""
    listed = {each["id"]: each["extensions"] for each in PACKAGE["contributes"]["languages"]}
    own = {name: [*row.suffixes] for name, row in DIALECTS.items() if row.suffixes}
    of_json = {name for name, suffixes in own.items() if suffixes[0].endswith(".json")}

    assert {
        **{n: s for n, s in own.items() if n not in of_json},
        "constrain-cases": [".test"],
    } == listed
    text = (FOLDER / "extension.js").read_text(encoding="utf-8")
    assert of_json == {name for name in of_json if f"**/*{own[name][0]}" in text}


def test_the_client_does_what_it_says() -> None:
    """By the tests of the extension, with an editor of plain objects."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node to run the extension's tests")
    ran = subprocess.run([node, "--test"], cwd=FOLDER, capture_output=True, text=True)

    assert 0 == ran.returncode, ran.stdout
    assert "# pass 4" in ran.stdout


def test_setup_lines_can_be_read() -> None:
    """TOML and JSON of other editors; each starts the server by its command."""
    text = (EXAMPLES / "editors" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(toml|json)\n(.*?)```", text, re.DOTALL)
    read = [tomllib.loads(b) if kind == "toml" else json.loads(b) for kind, b in blocks]

    assert {"command": "constrain", "args": ["server"]} == read[0]["language-server"]["constrain"]
    assert ["server"] == read[2]["lsp"]["constrain"]["binary"]["arguments"]
    assert '{ "constrain", "server" }' in text
