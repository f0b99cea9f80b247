"""Which part may know which: the imports of every file, held against a table."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import FOLDERS, PUBLIC, ROOT, python_files
from support.project.imports import imports, imports_of, imports_within, top_of

pytestmark = pytest.mark.quick

# The rooms that plug into the servers of models, into stores and editors, and what they may import
# of these besides: inside functions alone.
HOSTS = {
    "artifacts/store": {"fsspec"},
    "cli/everywhere": {"watchfiles"},
    "cli/language_server": {"lsprotocol", "pygls"},
    "compiler/batch": {"distributed"},
    "artifacts/serving": {"mlx", "torch", "transformers", "xgrammar"},
    "compiler/inspection": {"llguidance", "matplotlib", "xgrammar"},
    "compiler/serving": {"pydantic", "sglang", "torch", "vllm"},
}

# What each folder may import besides the standard library and itself.
OUTSIDE = {
    "artifacts": {"numpy"},
    "compiler": {
        "constrain.artifacts",
        "graphviz",
        "huggingface_hub",
        "lark",
        "numpy",
        "jsonschema_specifications",
        "regex",
        "tiktoken_ext",
    },
    "cli": {"constrain.artifacts", "constrain.compiler", "numpy", "rich", "typer"},
}

# What each room of ``artifacts`` may import of the others: rooms are its packages and its top-level
# files. Nothing points up, so that a machine can be read without those that stand on it.
ARTIFACTS: dict[str, set[str]] = {
    "errors": set(),
    "container": {"errors"},
    "tokens": {"container", "errors"},
    "dfa": {"container", "errors", "tokens"},
    "tokenizer_steps": {"container", "dfa", "errors", "tokens"},
    "network": {"container", "errors", "tokens"},
    "machine": {"container", "dfa", "errors", "network", "tokens", "walk"},
    "walk": {"container", "errors", "network", "tokens"},
    "earley": {"container", "dfa", "errors", "tokens"},
    "wordpiece": {"container", "dfa", "errors", "tokens"},
    "maximal_munch": {"container", "dfa", "errors", "machine", "network", "tokens", "walk"},
    "canonical_network": {"container", "errors", "machine", "network", "tokenizer_steps"}
    | {"tokens", "walk"},
    "token_terminals": {"container", "errors", "network", "tokens"},
    "matcher": {"errors", "tokens"},
    "lazy_lexer": {"container", "dfa", "maximal_munch", "tokens", "walk"},
    "kinds": {"canonical_network", "container", "dfa", "earley", "errors", "lazy_lexer", "machine"}
    | {"matcher", "maximal_munch", "network", "token_terminals", "tokenizer_steps", "tokens"}
    | {"walk", "wordpiece"},
    "artifact": {"container", "dfa", "kinds", "matcher", "tokens"},
    "growing": {"artifact", "container", "kinds", "tokens"},
    "prefix": {"artifact", "container", "kinds", "tokens", "wordpiece"},
    "read": {"artifact", "container", "errors", "tokens"},
    "serving": {"artifact", "container", "errors", "kinds", "matcher", "read", "tokens"},
    "store": {"artifact", "container", "errors", "read", "tokens"},
    "__init__": {"artifact", "errors", "matcher", "read", "tokens"},
}

# The same for the compiler.
BASE = {"diagnostics", "limits", "progress", "thresholds"}
COMPILER: dict[str, set[str]] = {
    "diagnostics": set(),
    "limits": {"diagnostics", "progress"},
    "thresholds": set(),
    "progress": set(),
    "children": set(),
    "public": {"__init__", "serving"},
    "automata": BASE,
    "files": {"diagnostics"},
    "tokenizers": BASE | {"files", "wordpiece"},
    "grammar": BASE | {"automata"},
    "schema": BASE | {"automata", "grammar"},
    "structural_tags": BASE | {"automata", "grammar", "schema"},
    "dialects": BASE | {"automata", "grammar", "schema", "structural_tags"},
    "lnf": BASE | {"automata", "grammar", "lazy_dfa"},
    "lints": BASE | {"automata", "dialects", "grammar", "lnf", "schema", "writers"},
    "tokenizer_steps": BASE | {"automata", "tokenizers"},
    "wordpiece": BASE | {"automata", "files"},
    "options": BASE | {"schema", "tokenizers", "wordpiece"},
    "choose": BASE | {"bpe", "dialects", "grammar", "options", "tokenizers"},
    "bpe": BASE
    | {"automata", "files", "grammar", "options", "tokenizer_steps", "tokenizers", "wordpiece"},
    "network": BASE | {"automata", "grammar", "lnf", "options", "tokenizers"},
    "earley": BASE | {"automata", "lnf"},
    "maximal_munch": BASE
    | {"automata", "earley", "grammar", "lazy_dfa", "lnf", "network", "options", "tokenizers"},
    "lazy_dfa": BASE | {"automata", "grammar"},
    "frontend": BASE
    | {
        "automata",
        "choose",
        "dialects",
        "earley",
        "grammar",
        "lazy_dfa",
        "lnf",
        "maximal_munch",
        "network",
    }
    | {"options"},
    "machine": BASE
    | {"automata", "choose", "dialects", "frontend", "grammar", "lazy_dfa", "lnf", "maximal_munch"}
    | {"merge", "network", "options", "schema", "token_ids", "tokenizers", "wordpiece"},
    "writers": BASE | {"automata", "choose", "dialects", "frontend", "grammar", "lnf", "options"},
    "token_ids": BASE | {"automata", "frontend", "grammar", "options", "schema", "tokenizers"},
    "merge": BASE
    | {"automata", "bpe", "choose", "grammar", "options", "token_ids", "tokenizer_steps"}
    | {"tokenizers"},
    "canonical_network": BASE
    | {"automata", "bpe", "grammar", "merge", "options", "tokenizer_steps", "tokenizers"},
    "coverage": BASE
    | {"automata", "frontend", "grammar", "lazy_dfa", "lnf", "maximal_munch", "options"},
    "explain": BASE
    | {"automata", "compiler", "dialects", "earley", "frontend", "grammar", "lnf", "maximal_munch"}
    | {"choose", "network", "options", "pipeline", "schema", "token_ids", "tokenizers"}
    | {"structural_tags", "wordpiece"},
    "inspection": BASE
    | {"automata", "children", "choose", "compiler", "dialects", "explain", "frontend", "grammar"}
    | {"lnf", "merge", "network", "notes", "options", "pipeline", "schema", "tokenizers"}
    | {"wordpiece", "writers"},
    "testing": BASE
    | {
        "automata",
        "bpe",
        "choose",
        "coverage",
        "dialects",
        "explain",
        "frontend",
        "options",
        "pipeline",
    },
    "drawing": BASE | {"automata", "children", "earley", "grammar", "maximal_munch", "network"},
    "notes": BASE | {"choose", "frontend", "grammar", "options", "schema", "tokenizers"},
    "pipeline": BASE
    | {
        "bpe",
        "canonical_network",
        "choose",
        "files",
        "frontend",
        "grammar",
    }
    | {"machine", "maximal_munch", "merge", "network", "notes", "options", "token_ids"}
    | {"tokenizers", "wordpiece"},
    "compiler": BASE
    | {"bpe", "files", "machine", "options", "pipeline", "token_ids", "tokenizers"},
    "serving": BASE
    | {"children", "compiler", "dialects", "grammar"}
    | {"options", "schema", "structural_tags", "tokenizers"},
    "batch": BASE | {"compiler", "dialects", "options", "serving", "tokenizers"},
    # The names that the package as a whole offers; they load on first use.
    "__init__": {
        "batch",
        "compiler",
        "coverage",
        "diagnostics",
        "files",
        "limits",
        "options",
        "schema",
        "serving",
        "tokenizers",
        "wordpiece",
    },
    # What builds the distributions; no module imports it.
    "packaging": set(),
}
INSIDE = {"artifacts": ARTIFACTS, "compiler": COMPILER}

# Third-party modules of the compiler that belong to one part each.
OWNERS = {
    "graphviz": {"drawing"},
    "huggingface_hub": {"tokenizers"},
    "jsonschema_specifications": {"schema"},
    "lark": {"dialects", "maximal_munch"},
    "regex": {"tokenizers", "automata"},
    "tiktoken_ext": {"tokenizers"},
}

# What the build imports besides.
PROGRAMS = {"compiler/packaging/sdist.py": {"setuptools"}}
PROGRAMS["compiler/packaging/walk_kernel.py"] = {"Cython", "setuptools"}

# At most so many lines a file, and Python files a folder; files at the top of the two folders. The
# walk is one source, which is compiled as one.
LINES = 500
LINES_OF = {"artifacts/walk/kernel.py": 700}
FILES_OF_A_FOLDER = 20
FILES_AT_THE_TOP = {"artifacts": 7, "compiler": 13, "cli": 18}

# Code of others.
VENDORED = {Path("cli", "assets", "dagre.min.js")}

FILES = python_files()
ALL = python_files((*FOLDERS, "benchmarks", "tests"))


def part_of(file: Path) -> str:
    """The room that a file of ``artifacts`` or ``compiler`` belongs to."""
    return file.parts[1] if len(file.parts) > 2 else file.stem


def module_of(file: Path) -> str:
    """A file's full name as a module; a package's is that of its ``__init__``."""
    parts = ("constrain", *file.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of_module(module: str) -> str:
    """The room that a module's name belongs to."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else "__init__"


def test_the_imports_are_found() -> None:
    """The lists below are not empty by mistake."""
    assert len(FILES) > 60
    assert len(imports()) > 300
    assert {"numpy", "lark", "typer", "graphviz"} <= {top_of(i.module) for i in imports()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_what_they_may(folder: str) -> None:
    """artifacts knows numpy alone, the compiler artifacts, the command line both."""
    allowed = OUTSIDE[folder] | {f"constrain.{folder}"} | set(sys.stdlib_module_names)
    wrong = [
        str(found)
        for found in imports()
        if found.file.parts[0] == folder
        and top_of(found.module)
        not in allowed
        | PROGRAMS.get(found.file.as_posix(), set())
        | HOSTS.get(found.file.parent.as_posix(), set())
    ]

    assert [] == wrong


@pytest.mark.parametrize("room", HOSTS)
def test_hosts_are_imported_inside_functions_alone(room: str) -> None:
    """Importing a module of these rooms needs none of the servers that it is for."""
    wrong, met = [], set[str]()
    for file in FILES:
        if file.parent.as_posix() == room:
            met |= {top_of(found.module) for found in imports_of(file)} & HOSTS[room]
            for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
                if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                    found = {top_of(each.module) for each in imports_within(file, node)}
                    wrong += [f"{file}: {name}" for name in sorted(found & HOSTS[room])]

    assert HOSTS[room] == met
    assert [] == wrong


@pytest.mark.parametrize("folder", INSIDE)
def test_rooms_import_what_they_may(folder: str) -> None:
    """The tables of dependencies inside ``artifacts`` and ``compiler``."""
    wrong = []
    for found in imports():
        if found.file.parts[0] == folder and top_of(found.module) == f"constrain.{folder}":
            part, other = part_of(found.file), part_of_module(found.module)
            if other not in INSIDE[folder][part] | {part}:
                wrong.append(str(found))

    assert [] == wrong


@pytest.mark.parametrize("folder", INSIDE)
def test_every_room_is_in_the_table(folder: str) -> None:
    """A new part is given its place."""
    parts = {part_of(file) for file in FILES if file.parts[0] == folder}

    assert sorted(INSIDE[folder]) == sorted(parts)


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


@pytest.mark.parametrize("folder", INSIDE)
def test_the_tables_have_no_cycle(folder: str) -> None:
    """Whatever the tables allow, no room can come to know itself."""
    assert [] == in_cycles(INSIDE[folder])


def test_no_module_comes_to_know_itself() -> None:
    """Files import each other in one direction, inside functions and for type checkers too."""
    modules = {module_of(file) for file in FILES}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for found in imports():
        graph[module_of(found.file)] |= {found.module} & modules

    assert sum(map(len, graph.values())) > 300
    assert [] == in_cycles(graph)


def test_third_party_modules_have_owners() -> None:
    """The parser generator, the drawings and the regex engine are each known to one part."""
    wrong = [
        str(found)
        for found in imports()
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
        for found in imports()
        if found.module.split(".")[0] == "constrain" and found.file.parent != PUBLIC
        if found.relative != (found.module.split(".")[1] == found.file.parts[0])
    ]

    assert [] == wrong


def test_folders_are_never_imported_bare() -> None:
    """No ``import compiler``: installed, there is no such module."""
    assert [] == [str(found) for found in imports() if found.module.split(".")[0] in FOLDERS]


def test_files_are_short() -> None:
    """One thought a file: at most five hundred lines, of the pages' program, too."""
    scripts = {path.relative_to(ROOT) for path in (ROOT / "cli").rglob("*.js")} - VENDORED
    counts = {
        file: len((ROOT / file).read_text(encoding="utf-8").splitlines())
        for file in (*ALL, *sorted(scripts))
    }

    assert {} == {
        str(file): count for file, count in counts.items() if count > LINES_OF.get(str(file), LINES)
    }


def test_folders_are_small() -> None:
    """No folder with more files than a reader takes in at a glance."""
    counts = Counter(file.parent.as_posix() for file in ALL)
    most = {folder: FILES_AT_THE_TOP.get(folder, FILES_OF_A_FOLDER) for folder in counts}

    assert {} == {folder: n for folder, n in counts.items() if n > most[folder]}


# Folders of tests that are about no one room: the command line, what all engines agree on, the
# examples, hostile input, limits, what decoders rely on, mutants of all code, and the
# project itself.
OF_NO_ROOM = {"cli", "corpus", "examples", "fuzz", "limits", "matcher", "mutation", "project"}
OF_NO_ROOM |= {"derivatives"}


def test_rooms_of_tests_are_rooms() -> None:
    """Tests stand in a folder of the name of what they test."""
    inside = (file.parts for file in FILES if file.parts[0] in {*INSIDE, "cli"})
    rooms = {room for _, *rooms, _ in inside for room in rooms}
    folders = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}

    assert [] == sorted(folders - rooms - OF_NO_ROOM)
    assert [] == [path.name for path in (ROOT / "tests").glob("test_*.py")]


def test_every_folder_of_tests_has_quick_ones() -> None:
    """``pytest -m quick`` covers every room."""
    folders: dict[str, bool] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        is_quick = "mark.quick" in path.read_text(encoding="utf-8")
        folders[path.parent.name] = folders.get(path.parent.name, False) or is_quick

    assert [] == sorted(folder for folder, found in folders.items() if not found)
