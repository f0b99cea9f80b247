"""What every file keeps to, whatever it holds: where it stands, and what is not left in it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import inspect
import io
import re
import tokenize

import pytest
from support import ROOT, python_files

pytestmark = pytest.mark.quick

FILES = python_files()

DOCSTRING = re.compile(r'r?"""(.*?)"""', re.DOTALL)

# Words of the project's own where the field has a term (``compiler/GLOSSARY.md``).
PRIVATE = re.compile(
    r"\b(worked out|anew|told apart|tell apart|laid out|in step|on demand|stable texts?|in doubt"
    r"|unsure|asked for|longest match(es)?)\b",
    re.IGNORECASE,
)


def test_folders_are_two_levels_deep() -> None:
    """folder/room/file.py; few rooms have one level more."""
    deeper = {"compiler/dialects/ebnf", "compiler/tokenizers/encoding"}
    deeper |= {"compiler/schema/keywords", "compiler/schema/rules"}
    deeper |= {"artifacts/canonical_network/closure"}
    deep = {file.parent.as_posix() for file in FILES if len(file.parts) > 3}

    assert deeper == deep


def test_nothing_is_left_behind() -> None:
    """No prints and no notes to oneself."""
    left = []
    note, call = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), re.compile(r"\b(print|breakpoint)\b")
    for file in FILES:
        text = (ROOT / file).read_text(encoding="utf-8")
        if note.search(text):
            left += [
                f"{file}:{token.start[0]}: {token.string}"
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type == tokenize.COMMENT and note.search(token.string)
            ]
        if call.search(text):
            left += [
                f"{file}:{node.lineno}: {node.func.id}"
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("print", "breakpoint")
            ]

    assert [] == left


def test_first_lines_are_sentences_in_the_words_of_the_field() -> None:
    """Each file says first what it does, and none of its docstring in private words."""
    wrong = []
    for file in FILES:
        found = DOCSTRING.match((ROOT / file).read_text(encoding="utf-8"))
        said = inspect.cleandoc(found[1]) if found else ""
        first = said.split("\n\n")[0].split("\n    ")[0]
        ends = first.rstrip().endswith((".", ":", "?", "!"))
        wrong += [str(file)] * (not ends or PRIVATE.search(said) is not None)

    assert [] == wrong
