"""Which part may know which: the imports of every file, held against a table."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import FOLDERS, ROOT, python_files

# What each folder may import besides the standard library and itself.
OUTSIDE = {
    "artifacts": {"numpy"},
    "compiler": {
        "constrain.artifacts",
        "graphviz",
        "huggingface_hub",
        "lark",
        "numpy",
        "regex",
        "tiktoken_ext",
    },
    "cli": {"constrain.artifacts", "constrain.compiler", "rich", "typer"},
}

# What each part of the compiler may import of the others. Parts are its packages and its
# top-level files.
BASE = {"diagnostics", "folding", "limits", "progress"}
INSIDE = {
    "diagnostics": set(),
    "limits": {"diagnostics"},
    "progress": set(),
    "folding": set(),
    "cache": set(),
    "automata": BASE,
    "tokenizers": BASE | {"cache"},
    "wordpiece": BASE,
    "grammar": BASE | {"automata"},
    "dialects": BASE | {"automata", "grammar"},
    "lnf": BASE | {"automata", "grammar"},
    "parsing": BASE | {"automata", "grammar", "lnf"},
    "lints": BASE | {"automata", "grammar", "lnf"},
    "explain": set(),
    "explain_parser": BASE | {"explain", "parsing"},
    "writers": BASE | {"automata", "grammar", "lnf"},
    "merge": BASE | {"automata", "cache", "tokenizers", "wordpiece"},
    "masks": BASE | {"automata", "merge", "tokenizers"},
    "drawing": BASE | {"automata", "grammar", "merge", "parsing"},
    "token_ids": BASE | {"automata", "grammar", "tokenizers"},
    "package": BASE | {"automata", "grammar", "masks", "merge", "tokenizers"},
    "parsers": BASE | {"grammar", "lnf", "parsing"},
    "closing": BASE | {"merge"},
    "canonical_parser": BASE | {"closing", "merge", "package", "parsers", "tokenizers"},
    "package_parser": BASE | {"package", "parsers", "parsing", "token_ids"},
    "meanings": BASE | {"grammar", "lnf", "parsing"},
    "vocabularies": BASE | {"tokenizers", "wordpiece"},
    "explain_greedy": BASE | {"explain", "explain_parser", "lnf", "meanings", "parsing"},
    "package_greedy": BASE | {"meanings", "package", "package_parser", "parsing"},
    "front": BASE | {"automata", "dialects", "grammar", "lnf", "meanings", "parsers"} | {"parsing"},
    "merging": BASE | {"automata", "grammar", "merge", "package", "tokenizers"},
    "package_words": BASE | {"automata", "grammar", "merge", "package", "wordpiece"},
    "pipeline": BASE
    | {"automata", "canonical_parser", "front", "grammar", "masks", "merge", "merging", "package"}
    | {"meanings", "package_greedy", "package_parser", "package_words", "parsers", "token_ids"}
    | {"parsing", "tokenizers", "vocabularies", "wordpiece"},
    # The names that the package as a whole offers; they load on first use.
    "__init__": {"cache", "limits", "pipeline", "tokenizers", "wordpiece"},
}

# Third-party modules of the compiler that belong to one part each.
OWNERS = {
    "graphviz": {"drawing"},
    "huggingface_hub": {"tokenizers"},
    "lark": {"dialects"},
    "regex": {"tokenizers", "automata"},
    "tiktoken_ext": {"tokenizers"},
}

# Programs that make data beside them; they are run by hand and import what that takes.
PROGRAMS = {
    "compiler/tokenizers/default/recipe.py": {"tokenizers"},
    "compiler/wordpiece/make_characters.py": {"tokenizers"},
}

# Files, tests and benchmarks too, may have this many lines; a longer one needs a reason here.
LINES = 300
LONGER: dict[str, str] = {}

FILES = python_files()
WITH_TESTS = python_files((*FOLDERS, "benchmarks", "tests"))


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
    """All imports of a file, also those inside functions and for type checkers alone."""
    package = ("constrain", *file.parent.parts)
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
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


def is_module(name: str) -> bool:
    """Whether a dotted name is a file or folder of the project."""
    first, *rest = name.split(".")
    path = ROOT.joinpath(*rest)
    return first == "constrain" and (path.is_dir() or path.with_suffix(".py").is_file())


def top_of(module: str) -> str:
    """What a module belongs to: one of our folders, or a distribution's first name."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "constrain" else parts[0]


def part_of(file: Path) -> str:
    """The part of the compiler that a file belongs to."""
    return file.parts[1] if len(file.parts) > 2 else file.stem


def module_of(file: Path) -> str:
    """A file's full name as a module; a package's is that of its ``__init__``."""
    parts = ("constrain", *file.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of_module(module: str) -> str:
    """The part of the compiler that a module's name belongs to."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else "__init__"


IMPORTS = [found for file in FILES for found in imports_of(file)]


def test_the_imports_are_found() -> None:
    """The lists below are not empty by mistake."""
    assert len(FILES) > 60
    assert len(IMPORTS) > 300
    assert {"numpy", "lark", "typer", "graphviz"} <= {top_of(i.module) for i in IMPORTS}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_what_they_may(folder: str) -> None:
    """artifacts knows numpy alone, the compiler artifacts, the command line both."""
    allowed = OUTSIDE[folder] | {f"constrain.{folder}"} | set(sys.stdlib_module_names)
    wrong = [
        str(found)
        for found in IMPORTS
        if found.file.parts[0] == folder
        and top_of(found.module) not in allowed | PROGRAMS.get(found.file.as_posix(), set())
    ]

    assert [] == wrong


def test_parts_of_the_compiler_import_what_they_may() -> None:
    """The table of dependencies inside the compiler."""
    wrong = []
    for found in IMPORTS:
        if found.file.parts[0] == "compiler" and top_of(found.module) == "constrain.compiler":
            part, other = part_of(found.file), part_of_module(found.module)
            if other not in INSIDE[part] | {part}:
                wrong.append(str(found))

    assert [] == wrong


def test_every_part_of_the_compiler_is_in_the_table() -> None:
    """A new part is given its place."""
    parts = {part_of(file) for file in FILES if file.parts[0] == "compiler"}

    assert sorted(INSIDE) == sorted(parts)


def in_cycles(graph: Mapping[str, set[str]]) -> list[str]:
    """The nodes from which a cycle is reached and that are reached from one."""
    reversed_graph = {name: {n for n, others in graph.items() if name in others} for name in graph}
    return sorted(set(not_settled(graph)) & set(not_settled(reversed_graph)))


def not_settled(graph: Mapping[str, set[str]]) -> Mapping[str, set[str]]:
    """What is left when nodes that lead nowhere are taken out, again and again."""
    left = {name: set(others) for name, others in graph.items()}
    while ready := {name for name, others in left.items() if not others}:
        left = {name: others - ready for name, others in left.items() if name not in ready}
    return left


def test_the_table_has_no_cycle() -> None:
    """Whatever the table allows, no part can come to know itself."""
    assert [] == in_cycles(INSIDE)


def test_no_module_comes_to_know_itself() -> None:
    """Files import each other in one direction, inside functions and for type checkers too."""
    modules = {module_of(file) for file in FILES}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for found in IMPORTS:
        graph[module_of(found.file)] |= {found.module} & modules

    assert sum(map(len, graph.values())) > 300
    assert [] == in_cycles(graph)


def test_third_party_modules_have_owners() -> None:
    """The parser generator, the drawings and the regex engine are each known to one part."""
    wrong = [
        str(found)
        for found in IMPORTS
        if found.file.parts[0] == "compiler"
        and part_of(found.file) not in OWNERS.get(found.module.split(".")[0], {part_of(found.file)})
    ]

    assert [] == wrong


def test_commands_do_not_import_the_library_at_start() -> None:
    """Command files load the compiler and the artifacts' machinery when they run."""
    heavy = ("constrain.compiler", "constrain.artifacts.read", "constrain.artifacts.prefix")
    wrong = []
    for file in FILES:
        if file.parts[0] == "cli":
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            wrong += [
                f"{file}: {node.module}"
                for node in tree.body
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(heavy)
            ]

    assert [] == wrong


def test_imports_are_relative_inside_a_folder_alone() -> None:
    """Relative inside one of the three folders, ``from constrain.…`` across them."""
    wrong = [
        str(found)
        for found in IMPORTS
        if found.module.split(".")[0] == "constrain"
        and found.relative != (found.module.split(".")[1] == found.file.parts[0])
    ]

    assert [] == wrong


def test_folders_are_never_imported_bare() -> None:
    """No ``import compiler``: installed, there is no such module."""
    assert [] == [str(found) for found in IMPORTS if found.module.split(".")[0] in FOLDERS]


@pytest.mark.parametrize("file", WITH_TESTS, ids=str)
def test_files_are_short(file: Path) -> None:
    """One job each: at most three hundred lines."""
    count = len((ROOT / file).read_text(encoding="utf-8").splitlines())

    assert count <= LINES or file.as_posix() in LONGER


def test_long_files_are_long() -> None:
    """An exception that is no longer needed is taken out."""
    for name in LONGER:
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) > LINES
