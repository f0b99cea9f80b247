"""The LALR tables in the package are those that Lark makes of the grammars beside them, and where
they are not, Lark makes them when a text is read."""

import json
import shutil
import sys
from pathlib import Path

import lark
import pytest
from generators.make_lalr_tables import BUILDERS, encoded
from support import ROOT

from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import parse, read_grammar
from constrain.compiler.dialects.builder import Builder
from constrain.compiler.dialects.lalr_tables import tables_name

pytestmark = pytest.mark.quick

TEXT = 'vowel ::= "a" | "e" | [iou]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the grammars and their tables, which a process reads that has read none."""
    for pattern in ("*.lark", "*.lalr.json"):
        for path in (ROOT / "compiler" / "dialects").glob(pattern):
            shutil.copy(path, tmp_path)
    monkeypatch.setattr(Builder, "folder", lambda: tmp_path)
    monkeypatch.setattr(parse, "_TABLES", {})
    return tmp_path


def without_lark(patch: pytest.MonkeyPatch) -> None:
    """From here on nothing can import it."""
    patch.setitem(sys.modules, "lark", None)


@pytest.mark.parametrize("name", BUILDERS)
def test_the_tables_are_those_of_the_grammar(name: str) -> None:
    """Letter for letter with the version of Lark that they were made with."""
    text = BUILDERS[name].folder().joinpath(tables_name(name)).read_text("utf-8")
    if json.loads(text)["lark"] != lark.__version__:
        pytest.skip(f"the tables are not those of Lark {lark.__version__}")

    assert encoded(BUILDERS[name]) == text, "run python -m tests.generators.make_lalr_tables"


@pytest.mark.parametrize("name", BUILDERS)
def test_the_kept_tables_need_no_lark(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are of the text that lies beside them, whatever the version of Lark."""
    without_lark(monkeypatch)

    assert parse._tables(BUILDERS[name]).states


def test_an_edited_grammar_is_what_texts_are_read_by(folder: Path) -> None:
    """With no program run in between."""
    expected = repr(read_grammar(TEXT, "w3c").rules)
    path = folder / "w3c.lark"
    grammar = path.read_text("utf-8")
    edited = grammar.replace('BAR: "|"', 'BAR: "!"')
    assert grammar != edited
    path.write_text(edited, "utf-8")
    parse._TABLES.clear()

    assert expected == repr(read_grammar(TEXT.replace("|", "!"), "w3c").rules)
    with pytest.raises(GrammarError, match="unexpected"):
        read_grammar(TEXT, "w3c")


def test_another_terminal_of_line_breaks_is_not_the_kept_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lark knows of it, beside the grammar."""
    builder = BUILDERS["gbnf.lark"]
    monkeypatch.setattr(builder, "line_break_token", "")
    without_lark(monkeypatch)

    with pytest.raises(ImportError):
        parse._tables(builder)


@pytest.mark.parametrize("kept", [None, "", "{", "[]", "{}", "\udcff", '{"made_of": 1}'])
def test_missing_and_damaged_tables_are_made(
    kept: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is read as with them."""
    expected = repr(read_grammar(TEXT, "w3c"))
    path = folder / "w3c.lalr.json"
    if kept is None:
        path.unlink()
    else:
        path.write_text(kept, "utf-8", "surrogateescape")
    parse._TABLES.clear()

    assert expected == repr(read_grammar(TEXT, "w3c"))
    parse._TABLES.clear()
    without_lark(monkeypatch)
    with pytest.raises(ImportError):
        read_grammar(TEXT, "w3c")
