"""The README's table of what is refused or left out, beside what the room says of it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support import ROOT

_ROOM = ROOT / "compiler" / "schema"


def _said(value: ast.expr, among: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The texts that a message may be, with … for what it names."""
    match value:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from _said(one, among)
            yield from _said(other, among)
        case ast.Name(id=name):
            for each in among.get(name, ()):
                yield from _said(each, among)


def _messages(file: Path) -> Iterator[str]:
    """What functions of a file say that they leave out, and in rules what they refuse."""
    is_of_rules = file.parent.name == "rules" and file.stem != "contradictions"
    calls = {"narrowed": 1} | ({"Refused": 1, "_refused": 0} if is_of_rules else {})
    for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        among: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    among.setdefault(name, []).append(value)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
                    if len(args) > calls.get(name, len(args)):
                        yield from _said(args[calls[name]], among)


def test_the_table_of_what_is_left_out_has_every_message() -> None:
    """By the words of the notes and errors, with … for what they name; and no others."""
    text = (_ROOM / "README.md").read_text(encoding="utf-8")
    table = text.partition("## What is refused or left out\n")[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")]
    told = {message for row in rows for message in re.findall("`([^`]*)`", row[-1])}
    said = {message for file in _ROOM.rglob("*.py") for message in _messages(file)}

    assert sorted(said) == sorted(told)
