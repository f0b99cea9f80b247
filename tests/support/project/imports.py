"""What the project's own files import, also inside functions and for type checkers alone."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support import ROOT, python_files


@dataclass(frozen=True)
class Import:
    """One import: the file, the module's full name, and whether it was written relatively."""

    file: Path
    line: int
    module: str
    relative: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.module}"


def imports_of(file: Path) -> Iterator[Import]:
    """All imports of a file."""
    yield from imports_within(file, ast.parse((ROOT / file).read_text(encoding="utf-8")))


def imports_within(file: Path, tree: ast.AST) -> Iterator[Import]:
    """All imports of a part of a file."""
    package = ("constrain", *file.parent.parts)
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, False)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:
                # `from ..x import y`: y may be a module, as in `from . import tokenset`.
                name = f"{module}.{alias.name}" if is_module(f"{module}.{alias.name}") else module
                yield Import(file, node.lineno, name, node.level > 0)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a part of a file, without their expressions, which are most of a tree."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        for name in ("cases", "handlers", "finalbody", "orelse", "body"):
            pending.extend(reversed(getattr(node, name, ())))


def is_module(name: str) -> bool:
    """Whether a dotted name is a file or folder of the project."""
    first, *rest = name.split(".")
    path = ROOT.joinpath(*rest)
    return first == "constrain" and (path.is_dir() or path.with_suffix(".py").is_file())


def top_of(module: str) -> str:
    """What a module belongs to: one of our folders, or a distribution's first name."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "constrain" else parts[0]


@cache
def imports() -> list[Import]:
    """All imports of all files."""
    return [found for file in python_files() for found in imports_of(file)]
