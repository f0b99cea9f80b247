"""Grammars that others wrote are read as their authors meant them.

What cannot be read stands in ``ratchets/grammars.txt`` with the reason, one
``path<TAB>reason`` or ``path:line<TAB>reason`` a line; the list may only shrink.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import LARK_STARTS, ROOT
from support.automata import build_automaton

from constrain.compiler.diagnostics import GrammarError, NotRegularError
from constrain.compiler.dialects import read_grammar

RATCHET = ROOT / "tests" / "ratchets" / "grammars.txt"
ROWS = "gbnf/test_grammar_integration_rows.jsonl"

# Folder, pattern and dialect of grammars that are a file each.
FILES = [
    ("gbnf", "*.gbnf", "gbnf"),
    ("w3c", "*bnf", "w3c"),
    ("dryruby-ebnf", "**/*.ebnf", "w3c"),
    ("ebnf-convert", "*.ebnf", "w3c"),
    ("lark", "**/*.lark", "lark"),
]

# Files with a grammar a line, the name of its field, and the dialect.
LINES = [
    (ROWS, "grammar", "gbnf"),
    ("kbnf/kbnf_strings.jsonl", "text", "kbnf"),
    ("kbnf/formatron_strings.jsonl", "text", "kbnf"),
]

# Rows of GBNF that no finite automaton recognises, and why.
NOT_REGULAR = {"medium complexity grammar": "an expression may stand in parentheses inside itself"}

Find = Callable[[str], Path]


def ratchet() -> dict[str, str]:
    """What is known not to be read, with the reason."""
    lines = RATCHET.read_text(encoding="utf-8").splitlines()
    return {name: reason for name, _, reason in (line.partition("\t") for line in lines)}


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with their line numbers; lines may be empty."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            yield number, json.loads(line)


def grammar_rows(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of GBNF grammars (others are JSON schemas), by name."""
    return {row["name"]: row for _, row in rows(path) if row["kind"] == "test_grammar"}


def unread(grammars: dict[str, str], dialect: str) -> dict[str, str]:
    """Which of the texts cannot be read, with what is said of them."""
    found = {}
    for name, text in grammars.items():
        try:
            read_grammar(text, dialect, name=name, start=LARK_STARTS.get(name))
        except GrammarError as error:
            found[name] = str(error)
    return found


def check(grammars: dict[str, str], dialect: str) -> None:
    """All are read but those in the ratchet, and all of those are not."""
    assert grammars
    known = ratchet()
    failed = unread(grammars, dialect)

    assert {} == {name: text for name, text in failed.items() if name not in known}
    assert [] == [name for name in grammars if name in known and name not in failed]


def test_the_ratchet_is_in_order() -> None:
    """Sorted, each name once, each with a reason, and of files that the tests read."""
    lines = RATCHET.read_text(encoding="utf-8").splitlines()
    known = ratchet()

    assert sorted(known) == [line.partition("\t")[0] for line in lines]
    assert all(known.values())
    starts = tuple([f"{folder}/" for folder, _, _ in FILES] + [f"{path}:" for path, _, _ in LINES])
    assert [] == [name for name in known if not name.startswith(starts)]


@pytest.mark.parametrize(("folder", "pattern", "dialect"), FILES)
def test_files_are_read(data: Find, folder: str, pattern: str, dialect: str) -> None:
    """Every grammar file of a collection, whatever its suffix."""
    root = data("grammars")
    paths = sorted((root / folder).glob(pattern))
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}

    check(texts, dialect)


@pytest.mark.parametrize(("file", "field", "dialect"), LINES)
def test_lines_are_read(data: Find, file: str, field: str, dialect: str) -> None:
    """Every grammar in a file of one a line."""
    found = rows(data(f"grammars/{file}"))
    texts = {f"{file}:{n}": row[field] for n, row in found if row.get("kind") != "test_schema"}

    check(texts, dialect)


def test_verdicts_of_gbnf_rows(data: Find) -> None:
    """What llama.cpp accepts and rejects, the byte DFA does."""
    found = grammar_rows(data(f"grammars/{ROWS}"))
    assert len(found) == 12
    for name, row in found.items():
        if name in NOT_REGULAR:
            continue
        dfa = build_automaton(row["grammar"], dialect="gbnf", name=name).dfa

        for text in row["accept"]:
            assert dfa.accepts(text.encode()), (name, text)
        for text in row["reject"]:
            assert not dfa.accepts(text.encode()), (name, text)


def test_rows_that_are_not_regular(data: Find) -> None:
    """The rows left out above are refused as what they are."""
    found = grammar_rows(data(f"grammars/{ROWS}"))
    for name in NOT_REGULAR:
        with pytest.raises(NotRegularError):
            build_automaton(found[name]["grammar"], dialect="gbnf", name=name)
