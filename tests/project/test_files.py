"""What every file keeps to, whatever it holds: where it stands, and what is not left in it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import re
import tokenize

from support import ROOT, python_files

FILES = python_files()


def test_folders_are_two_levels_deep() -> None:
    """folder/room/file.py; few rooms have one level more."""
    deeper = {"compiler/tokenizers/default", "compiler/tokenizers/encoding"}
    deep = {file.parent.as_posix() for file in FILES if len(file.parts) > 3}

    assert deeper == deep


def test_nothing_is_left_behind() -> None:
    """No prints and no notes to oneself."""
    left = []
    for file in FILES:
        with (ROOT / file).open("rb") as stream:
            left += [
                f"{file}:{token.start[0]}: {token.string}"
                for token in tokenize.tokenize(stream.readline)
                if token.type == tokenize.COMMENT
                and re.search(r"\b(TODO|FIXME|XXX|HACK)\b", token.string)
            ]
        left += [
            f"{file}:{node.lineno}: {node.func.id}"
            for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("print", "breakpoint")
        ]

    assert [] == left
