"""Each request of an editor, by a client that speaks the protocol to a server of its own."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES

from constrain.cli.language_server.formatting import changes
from constrain.compiler.writers.formatting import format_text

from .client import Editor, RequestFailed
from .conftest import checked

DATE = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
LISTS = "import: _\nlist: item\n"


def spans(found: list[dict[str, Any]]) -> list[tuple[str, int, int, int]]:
    """File, line, and first and last character of places."""
    return [
        (
            each["uri"].rpartition("/")[2],
            each["range"]["start"]["line"],
            each["range"]["start"]["character"],
            each["range"]["end"]["character"],
        )
        for each in found
    ]


@pytest.mark.quick
def test_findings_are_those_of_check(editor: Editor) -> None:
    """While a text is not saved, and again with each edit."""
    wrong = 'year ::= digt digit;\n\ndigit ::= #"[0-9]";\nlost ::= "x";\n'
    editor.write("wrong.ebnf", wrong)

    first = editor.found("wrong.ebnf")
    assert checked(editor.folder / "wrong.ebnf") == first
    assert ["error", "unreachable"] == [each["code"] for each in first]
    place = {"line": 0, "character": 12}
    edit = {"range": {"start": place, "end": place}, "text": "i"}
    editor.change("wrong.ebnf", 2, [edit])
    assert ["unreachable"] == [each["code"] for each in editor.found("wrong.ebnf", 2)]
    editor.tell("textDocument/didClose", editor.about("wrong.ebnf"))
    editor.until(lambda: editor.diagnostics[editor.uri("wrong.ebnf")][1] == [])


def test_places_are_counted_in_units_of_utf_16(editor: Editor) -> None:
    """A character beyond the basic plane is two."""
    editor.write("wide.ebnf", 'a ::= "😀" b;\n')

    (found,) = editor.found("wide.ebnf")
    assert (11, 12) == tuple(found["range"][end]["character"] for end in ("start", "end"))
    assert [("wide.ebnf", 0, 11, 12)] == spans(
        editor.ask("textDocument/references", editor.at("wide.ebnf", 0, 12, **INCLUDING))
    )


INCLUDING: dict[str, Any] = {"context": {"includeDeclaration": True}}


def test_definition_and_references(editor: Editor) -> None:
    """Strings and comments name nothing."""
    editor.write("date.ebnf", DATE + '(* year *) other ::= "year" year;\n')

    definition = editor.ask("textDocument/definition", editor.at("date.ebnf", 1, 11))
    references = editor.ask("textDocument/references", editor.at("date.ebnf", 2, 2, **INCLUDING))
    uses = {"context": {"includeDeclaration": False}}
    without = editor.ask("textDocument/references", editor.at("date.ebnf", 2, 2, **uses))
    assert [("date.ebnf", 2, 0, 4)] == spans(definition)
    assert [1, 2, 5] == [line for _, line, _, _ in spans(references)]
    assert [1, 5] == [line for _, line, _, _ in spans(without)]
    assert [] == editor.ask("textDocument/definition", editor.at("date.ebnf", 0, 5))


def test_names_are_followed_over_imports(editor: Editor) -> None:
    """To the file that defines them, from there to all that import it, and renamed in each; an
    alias is a name of its own file."""
    editor.write("parts/words.lark", "word: LETTER+\nLETTER: /[a-z]/\n")
    editor.write("parts/use.lark", "%import .words.word\nstart: word word\n")
    editor.write("parts/alias.lark", "%import .words.word -> name\nstart: name\n")
    editor.write("parts/library.lark", "%import common.INT\nstart: INT\n")

    from_use = editor.ask("textDocument/definition", editor.at("parts/use.lark", 1, 8))
    found = editor.ask("textDocument/references", editor.at("parts/words.lark", 0, 1, **INCLUDING))
    assert [("words.lark", 0, 0, 4)] == spans(from_use)
    files = [name for name, *_ in spans(found)]
    assert {"words.lark": 1, "use.lark": 3, "alias.lark": 3} == {f: files.count(f) for f in files}
    renamed = editor.ask("textDocument/rename", editor.at("parts/use.lark", 1, 8, newName="term"))
    places = {uri.rpartition("/")[2]: len(edits) for uri, edits in renamed["changes"].items()}
    assert {"words.lark": 1, "use.lark": 3, "alias.lark": 1} == places
    alias = editor.ask("textDocument/rename", editor.at("parts/alias.lark", 1, 8, newName="x"))
    assert {"alias.lark": 2} == {u.rpartition("/")[2]: len(e) for u, e in alias["changes"].items()}
    (library,) = editor.ask("textDocument/definition", editor.at("parts/library.lark", 1, 8))
    assert library["uri"].endswith("/lark/grammars/common.lark")
    with pytest.raises(RequestFailed, match="outside of this workspace"):
        editor.ask("textDocument/rename", editor.at("parts/library.lark", 1, 8, newName="N"))


RENAMED = [
    ("ebnf", "(* a *) a ::= b | a; b = 'a';", "kbnf", "(* a *) new ::= b | new; b = 'a';"),
    ("gbnf", 'root ::= a\na ::= "a" | a root\n', "gbnf", 'root ::= new\nnew ::= "a" | new root\n'),
    ("w3c", "s ::= a a\na ::= 'a'\n", "w3c", "s ::= new new\nnew ::= 'a'\n"),
    ("lark", 'start: a\na: "a"\n', "lark", 'start: new\nnew: "a"\n'),
    ("iso", "a = 'a', a | b; b = 'a';", "iso14977", "new = 'a', new | b; b = 'a';"),
    ("abnf", 'A = "a" / a\n', "abnf", 'new = "a" / new\n'),
    ("bnf", '<a> ::= "a" | <a>\n', "ebnf", '<new> ::= "a" | <new>\n'),
    ("g4", "grammar G;\na : 'a' | a;\n", "antlr", "grammar G;\nnew : 'a' | new;\n"),
]


@pytest.mark.parametrize(("suffix", "text", "dialect", "expected"), RENAMED)
def test_a_rule_is_renamed_in_each_dialect(
    editor: Editor, suffix: str, text: str, dialect: str, expected: str
) -> None:
    """All of its uses and nothing else; and the new text can be read."""
    name = f"renamed.{suffix}"
    editor.write(name, text)
    line, column = _first(text)

    done = editor.ask("textDocument/rename", editor.at(name, line, column, newName="new"))
    assert expected == edited(text, done["changes"][editor.uri(name)]), dialect
    for wrong in ("x | y>", "", '"x"'):
        with pytest.raises(RequestFailed, match="is no name in"):
            editor.ask("textDocument/rename", editor.at(name, line, column, newName=wrong))


def _first(text: str) -> tuple[int, int]:
    """Where the rule ``a`` is defined."""
    for number, line in enumerate(text.splitlines()):
        for head in ("a ", "A ", "a:", "<a>"):
            place = line.find(head, line.find("*)") + 1)
            if place == 0 or (place > 0 and line[:place].endswith("*) ")):
                return number, place + head.startswith("<")
    raise AssertionError


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits, which do not overlap."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places = [
        (*(starts[p["line"]] + p["character"] for p in each["range"].values()), each["newText"])
        for each in edits
    ]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_formatting_changes_the_lines_that_it_must(editor: Editor) -> None:
    """To what the formatter makes of the text; a text that is so already is left."""
    text = 'start   ::=  a|b;\n\n\n\n(* b *)\na ::= "a";\nb::="b" ;\n'
    editor.write("layout.ebnf", text)
    params = editor.about("layout.ebnf", options={"tabSize": 4, "insertSpaces": True})

    done = edited(text, editor.ask("textDocument/formatting", params))
    assert format_text(text, "kbnf") == done
    assert done != text
    editor.change("layout.ebnf", 2, [{"text": done}])
    assert [] == editor.ask("textDocument/formatting", params)
    editor.change("layout.ebnf", 3, [{"text": "start ::= ("}])
    with pytest.raises(RequestFailed, match="unexpected end of the file"):
        editor.ask("textDocument/formatting", params)


def test_fixes_are_those_of_check(editor: Editor) -> None:
    """Of the findings in a range; with them the text has no such finding. Those that keep the
    language are preferred."""
    text = 'start ::= itm | "a" | "a";\nitem ::= "b";\n'
    editor.write("fix.ebnf", text)
    editor.found("fix.ebnf")

    def actions(text_line: int, first: int, last: int) -> list[dict[str, Any]]:
        places = [{"line": text_line, "character": each} for each in (first, last)]
        span = {"start": places[0], "end": places[1]}
        asked = editor.about("fix.ebnf", range=span, context={"diagnostics": []})
        found: list[dict[str, Any]] = editor.ask("textDocument/codeAction", asked)
        return found

    assert [] == actions(1, 12, 12)
    (named,) = actions(0, 11, 11)
    mended = edited(text, named["edit"]["changes"][editor.uri("fix.ebnf")])
    assert text.replace("itm", "item") == mended
    editor.change("fix.ebnf", 2, [{"text": mended}])
    listed = actions(0, 0, 30)
    assert listed
    assert ["quickfix"] == sorted({each["kind"] for each in listed})
    assert any(each["isPreferred"] for each in listed)


def test_changes_of_lines_make_the_other_text(full: bool) -> None:
    """Of random texts, with line ends of both kinds and without one at the end."""
    chance = random.Random(3)
    for _ in range(2_000 if full else 200):
        one, other = (
            "".join(chance.choice(["a\n", "b\r\n", "c", "\n"]) for _ in range(chance.randrange(9)))
            for _ in range(2)
        )
        made, end = "", 0
        for each in changes(one, other):
            assert end <= each.start <= each.end
            made, end = made + one[end : each.start] + each.text, each.end
        assert other == made + one[end:]


def test_ebnf_of_another_kind_has_names(editor: Editor) -> None:
    """In a file whose suffix is that of several."""
    editor.write("other.ebnf", "<word> = <letter>+\n<letter> = 'a' | <word>\n")

    found = editor.ask("textDocument/references", editor.at("other.ebnf", 1, 18, **INCLUDING))
    assert [("other.ebnf", 0, 0, 6), ("other.ebnf", 1, 17, 23)] == spans(found)


def test_hover_says_what_is_known_of_a_rule(editor: Editor) -> None:
    """As it is written, how it would be followed, its first and last bytes, and a member."""
    editor.write("hover.ebnf", DATE)
    editor.write("nested.ebnf", (EXAMPLES / "json.ebnf").read_text(encoding="utf-8"))
    editor.write("open.ebnf", "a ::= b c;\nb ::= x;\n")

    text = editor.ask("textDocument/hover", editor.at("hover.ebnf", 1, 20))["contents"]["value"]
    assert text.splitlines() == [
        "```kbnf",
        'month ::= "0" #"[1-9]" | "1" #"[0-2]";',
        "```",
        "- regular: engine `dfa`, the grammar is regular",
        "- begins with `[01]`, ends with `[0-9]`",
        '- a shortest member: `"01"`',
    ]
    line = next(
        n
        for n, text in enumerate((EXAMPLES / "json.ebnf").read_text("utf-8").splitlines())
        if text.startswith("object")
    )
    nested = editor.ask("textDocument/hover", editor.at("nested.ebnf", line, 2))
    assert "not regular: engine `network`" in nested["contents"]["value"]
    assert '"{}"' in nested["contents"]["value"]
    undefined = editor.ask("textDocument/hover", editor.at("open.ebnf", 0, 6))
    assert "nothing more is known: rule" in undefined["contents"]["value"]
    assert editor.ask("textDocument/hover", editor.at("hover.ebnf", 0, 1)) is None


def test_completion_outline_and_tokens(editor: Editor) -> None:
    """The names of a text whose last rule nobody has finished."""
    editor.write("begun.ebnf", '(* x\n y *)\nstart ::= "a" word;\nword ::= #"[a-z]+" | st')

    names = editor.ask("textDocument/completion", editor.at("begun.ebnf", 3, 23))
    symbols = editor.ask("textDocument/documentSymbol", editor.about("begun.ebnf"))
    tokens = editor.ask("textDocument/semanticTokens/full", editor.about("begun.ebnf"))["data"]
    legend = editor.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    kinds = [legend[tokens[i + 3]] for i in range(0, len(tokens), 5)]
    assert ["start", "word"] == [each["label"] for each in names]
    assert ["start", "word"] == [each["name"] for each in symbols]
    assert kinds[:2] == ["comment", "comment"]
    assert ["function", "operator", "string", "function", "operator"] == kinds[2:7]
    assert kinds[9] == "regexp"


def test_a_schema_has_names_and_findings_at_their_places(editor: Editor) -> None:
    """Definitions, references to them, and errors by pointer."""
    text = '{"$defs": {"a": {"type": "strin"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}'
    editor.write("x.schema.json", text)

    (found,) = editor.found("x.schema.json")
    assert checked(editor.folder / "x.schema.json") == [found]
    assert found["message"].startswith("#/$defs/a/type: there is no type 'strin'")
    assert text[found["range"]["start"]["character"] :].startswith('"strin"')
    (target,) = editor.ask(
        "textDocument/definition", editor.at("x.schema.json", 0, text.index("#/"))
    )
    assert text[target["range"]["start"]["character"] :].startswith("a")
    assert ["#/$defs/a"] == [
        each["name"]
        for each in editor.ask("textDocument/documentSymbol", editor.about("x.schema.json"))
    ]
    tools = (EXAMPLES / "agents" / "issue_tracker.tools.json").read_text(encoding="utf-8")
    editor.write("x.tools.json", tools.replace('"string"', '"strin"', 1))
    assert checked(editor.folder / "x.tools.json") == editor.found("x.tools.json")
    assert editor.found("x.tools.json")[0]["range"]["start"]["line"] > 0


def test_cases_pass_or_fail_in_the_margin(editor: Editor) -> None:
    """By the grammar as it is in the editor, saved or not; `constrain/try` says the same of any
    text."""
    editor.write("cases/date.ebnf", DATE)
    cases = "===\na leap day\n===\n2024-02-29\n---\n\n===\nmonth 13\n===\n2024-13-01\n---\n"
    editor.write("cases/date.test", cases)

    lenses = editor.ask("textDocument/codeLens", editor.about("cases/date.test"))
    titles = [each["command"]["title"] for each in lenses]
    assert titles[0] == "✓ passed"
    assert titles[1].startswith("✗ failed: should be accepted, and is rejected at 1:7")
    assert [1, 7] == [each["range"]["start"]["line"] for each in lenses]
    (failure,) = editor.found("cases/date.test")
    assert (9, 6) == tuple(failure["range"]["start"].values())
    assert lenses[1]["command"]["arguments"] == [
        str(editor.folder / "cases" / "date.ebnf"),
        "2024-13-01",
    ]
    editor.diagnostics.clear()
    editor.change("cases/date.ebnf", 2, [{"text": DATE.replace("[0-2]", "[0-3]")}])
    assert [] == editor.found("cases/date.test")
    tried = editor.ask("constrain/try", editor.about("cases/date.ebnf", text="2024-14"))
    assert ("rejected", 6) == (tried["status"], tried["byte"])
    assert tried["message"].startswith('text:1:7: rejected at "4"')


def test_inspect_gives_the_page(editor: Editor) -> None:
    """That of the text in the editor; of cases there is none."""
    editor.write("page.ebnf", 'start ::= "only in the editor";')

    page = editor.ask("constrain/inspect", editor.about("page.ebnf"))["html"]
    assert page.startswith("<!doctype html>")
    assert "only in the editor" in page
    editor.write("page.test", "===\na\n===\nb\n---\n")
    with pytest.raises(RequestFailed, match="a page is of a grammar"):
        editor.ask("constrain/inspect", editor.about("page.test"))


def test_options_are_those_of_the_project_file(editor: Editor) -> None:
    """Of the nearest one above a document."""
    editor.write("project/constrain.toml", '[grammars]\n"a.ebnf" = { allow = ["unreachable"] }\n')
    text = 'a ::= "x";\nb ::= "y";\n'
    editor.write("project/a.ebnf", text)
    editor.write("project/b.ebnf", text)

    assert [] == editor.found("project/a.ebnf")
    editor.write("broken/constrain.toml", "[grammars\n")
    editor.write("broken/a.ebnf", text)
    (broken,) = editor.found("broken/a.ebnf")
    assert "constrain.toml:1:" in broken["message"]
    assert ["unreachable"] == [each["code"] for each in editor.found("project/b.ebnf")]


def test_what_is_older_is_cancelled(editor: Editor) -> None:
    """Of many edits in a row the last alone has findings, and a request between them is answered
    for the text that it was asked of."""
    editor.write("fast.ebnf", 'a ::= "x";\n')
    editor.found("fast.ebnf")
    for version in range(2, 60):
        editor.change("fast.ebnf", version, [{"text": f"a ::= b{version};\n"}])
        if version == 30:
            number = editor.begin("textDocument/documentSymbol", editor.about("fast.ebnf"))
            editor.tell("$/cancelRequest", {"id": number})

    (found,) = editor.found("fast.ebnf", 59)
    assert "'b59'" in found["message"]


def test_without_pygls_it_says_how_to_get_it(tmp_path: Path) -> None:
    """And ends with the code of wrong input."""
    import subprocess
    import sys

    code = "import sys; sys.modules['pygls'] = None; sys.path_hooks.clear()\n"
    code = (
        "from importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *a: None if name == 'pygls' else find(name, *a)\n"
        "from constrain.cli.app import run\nraise SystemExit(run(['server']))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)

    assert (2, "") == (ran.returncode, ran.stdout)
    assert "pip install 'constrain-grammar[lsp]'" in ran.stderr
