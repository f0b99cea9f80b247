"""The lines of code of each room keep to a budget, which may fall, and rises for a reason alone."""

import ast
import tomllib
from collections import Counter

import pytest
from support import ROOT, python_files
from support.project.imports import statements

pytestmark = pytest.mark.quick

BUDGET = ROOT / "tests" / "project" / "budget.toml"

# A budget so far above what there is would be none.
SLACK = 30


def lines_of_code(text: str) -> int:
    """The lines of a module that are neither blank nor comment nor docstring."""
    written = ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))
    lines = {number for number, line in written if line and not line.startswith("#")}
    documentation, tree = list[ast.stmt](), ast.parse(text)
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())) as documented, *_]:
                    documentation.append(documented)
    # Within other strings of several lines blank lines and comments are code.
    if text.count('"""') > 2 * len(documentation):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                lines |= numbers(node)
    return len(lines.difference(*map(numbers, documentation)))


def numbers(node: ast.expr | ast.stmt) -> set[int]:
    """The numbers of the lines of a part of a module."""
    assert node.end_lineno is not None
    return set(range(node.lineno, node.end_lineno + 1))


def counted() -> Counter[str]:
    """The lines of code of each room: ``folder/room``, or ``folder`` for the files at its top."""
    rooms = Counter[str]()
    for file in python_files():
        room = "/".join(file.parts[:2] if len(file.parts) > 2 else file.parts[:1])
        rooms[room] += lines_of_code((ROOT / file).read_text(encoding="utf-8"))
    return rooms


def test_rooms_keep_to_their_budgets(update: bool) -> None:
    """Each room has a number that it does not exceed and is close to."""
    budget = tomllib.loads(BUDGET.read_text(encoding="utf-8"))["rooms"]
    rooms = counted()
    if update:
        kept = {room: min(budget.get(room, n), n) for room, n in sorted(rooms.items())}
        text = BUDGET.read_text(encoding="utf-8")
        head, _, rest = text.partition("[rooms]\n")
        tail = "[reasons]" + rest.partition("[reasons]")[2]
        table = "".join(f'"{room}" = {n}\n' for room, n in kept.items())
        BUDGET.write_text(f"{head}[rooms]\n{table}\n{tail}", encoding="utf-8")
        budget = kept

    assert {room: n for room, n in rooms.items() if n > budget.get(room, 0)} == {}
    assert {room: n for room, n in budget.items() if n > rooms[room] + SLACK} == {}


def test_budgets_rise_for_a_reason() -> None:
    """A room above what it was at the revision that the file names says why."""
    told = tomllib.loads(BUDGET.read_text(encoding="utf-8"))
    risen = {room for room, n in told["rooms"].items() if n > told["before"].get(room, 0)}

    assert risen == set(told["reasons"])
    assert all(reason for reason in told["reasons"].values())


def test_lines_are_counted() -> None:
    """Docstrings, comments and blanks are none; a text over three lines is three."""
    text = (
        '"""Doc."""\n\n# Comment\nx = 1\n\n\ndef f() -> str:\n    """Doc.\n\n    More.\n    """\n'
    )
    assert lines_of_code(f'{text}    return """a\n\nb"""\n') == 5
