"""What every file keeps to, whatever it holds: where it stands, and what is not left in it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import re
import tokenize
from pathlib import Path

import pytest
from support import ROOT, python_files

FILES = python_files()


def test_folders_are_two_levels_deep() -> None:
    """folder/package/file.py; a package that carries data may have one level more."""
    with_data = {"compiler/automata/unicode", "compiler/tokenizers/default"}
    deep = {file.parent.as_posix() for file in FILES if len(file.parts) > 3}

    assert with_data == deep


@pytest.mark.parametrize("file", FILES, ids=str)
def test_nothing_is_left_behind(file: Path) -> None:
    """No prints and no notes to oneself."""
    with (ROOT / file).open("rb") as stream:
        comments = [
            t.string for t in tokenize.tokenize(stream.readline) if t.type == tokenize.COMMENT
        ]
    calls = [
        node.lineno
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("print", "breakpoint")
    ]

    assert [] == calls
    assert [] == [text for text in comments if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text)]
