"""All code is used: each module is reached from a command or a public name, by its imports."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT, python_files
from support.project.imports import statements

pytestmark = pytest.mark.quick

# What servers and model libraries import by its full name: their own documents say how.
ENTRIES = {"llama_cpp", "mlx", "tensorrt", "transformers"}


def module_of(file: Path) -> str:
    """The name that a file has when it is installed."""
    parts = file.with_suffix("").parts
    return ".".join(("constrain", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = {module_of(file): file for file in python_files()}


def imported(name: str) -> Iterator[str]:
    """The modules that one imports, inside functions and by name (``import_module``), too."""
    file = MODULES[name]
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    text = (ROOT / file).read_text(encoding="utf-8")
    # Names of modules as strings are in few files.
    nodes = ast.walk if re.search(r"""["'](constrain)?\.""", text) else statements
    for node in nodes(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("."):
                yield ".".join(package) + node.value
            elif node.value.startswith("constrain."):
                yield node.value


def has_code(file: Path) -> bool:
    """Whether there is more than a docstring: a folder of data has that alone."""
    return len(ast.parse((ROOT / file).read_text(encoding="utf-8")).body) > 1


def entries() -> Iterator[str]:
    """Programs, plug-ins, commands, and the packages whose names are public."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    plugged = [project["project"]["scripts"], *project["project"]["entry-points"].values()]
    yield from (target.split(":")[0] for group in plugged for target in group.values())
    yield from (
        name.rpartition(".")[0] for name in project["tool"]["setuptools"]["cmdclass"].values()
    )
    yield from (f"constrain.artifacts.serving.{name}" for name in ENTRIES)
    yield "constrain.compiler.serving.transformers"
    yield from ("constrain.artifacts", "constrain.compiler", "constrain.compiler.public")
    yield from (name for name in MODULES if name.startswith("constrain.cli.commands."))


def test_each_module_is_reached_from_a_command_or_a_public_name() -> None:
    """What tests alone use stands with them."""
    reached = set[str]()
    pending = [*entries()]
    while pending:
        name = pending.pop()
        if name in MODULES and name not in reached:
            reached.add(name)
            pending += [*imported(name), name.rpartition(".")[0]]

    left = {name for name in set(MODULES) - reached if has_code(MODULES[name])}
    assert left == set()
