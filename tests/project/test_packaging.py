"""What a user installs: the wheel holds all that is needed, and nothing else."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest
from support import FOLDERS, PUBLIC, ROOT, python, python_files
from support.project.imports import imports

from constrain.artifacts.walk.forms import source_hash

IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", "build", "*.so", "*.pyd")

# What the build runs; it stays in the repository.
PACKAGING = Path("compiler", "packaging")

# What is no code, and is read at run time.
DATA = ("*.lark", "*.json", "*.html", "*.css", "*.js", "*.pxd", "py.typed")


def settings() -> dict[str, object]:
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def installed_as(path: Path) -> Path:
    """Where a file of the tree is below the installed package."""
    return path.relative_to(PUBLIC) if path.is_relative_to(PUBLIC) else path


def setuptools_version() -> int:
    """The first number of the version that builds the wheel."""
    return int(version("setuptools").split(".")[0])


@pytest.fixture(scope="module")
def wheel(full: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel, built from a copy of the tree and without the network; as where neither Cython
    nor a C compiler is, or with --full as here."""
    folder = tmp_path_factory.mktemp("tree")
    (folder / "Cython.py").write_text("raise ImportError", encoding="utf-8")
    lacking = {} if full else {"CC": "false", "PYTHONPATH": str(folder)}
    (path,) = built(folder / "constrain", "--wheel", variables=lacking)
    with zipfile.ZipFile(path) as opened:
        yield opened


def built(tree: Path, *options: str, variables: Mapping[str, str] | None = None) -> list[Path]:
    """What ``python -m build`` makes of a copy of the tree, by name."""
    pytest.importorskip("build")
    if setuptools_version() < 77:
        pytest.skip("setuptools 77 or newer is needed to build without isolation")
    tree.mkdir()
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, tree)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tree / folder, ignore=IGNORED, copy_function=shutil.copyfile)
    ran = python(
        *("-P", "-m", "build", *options, "--no-isolation", "--outdir", "out"),
        folder=tree,
        # As where constrain is not importable.
        variables={"SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": "", **(variables or {})},
    )
    assert 0 == ran.returncode, ran.stdout.decode() + ran.stderr.decode()
    return sorted((tree / "out").iterdir())


def test_the_wheel_holds_every_module(wheel: zipfile.ZipFile) -> None:
    """Each Python file of the three folders, below constrain/, but for what builds them."""
    installed = [path for path in python_files() if path.parent != PACKAGING]
    expected = sorted(f"constrain/{installed_as(path).as_posix()}" for path in installed)

    assert expected == sorted(name for name in wheel.namelist() if name.endswith(".py"))


def test_the_wheel_holds_the_data(wheel: zipfile.ZipFile) -> None:
    """Grammars of dialects, Unicode tables, the default tokenizer, pages, and the type markers."""
    paths = [
        path.relative_to(ROOT)
        for folder in FOLDERS
        for pattern in DATA
        for path in (ROOT / folder).rglob(pattern)
    ]
    names = set(wheel.namelist())

    assert {
        "kbnf.lark",
        "unicode_classes.json",
        "tokenizer.json",
        "walk.js",
        "mask.js",
        "py.typed",
    } <= {p.name for p in paths}
    assert [] == [path for path in paths if f"constrain/{path.as_posix()}" not in names]


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    """Nothing outside constrain/ but the wheel's own description; no caches, no tests."""
    names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    suffixes = {Path(name).suffix for name in names if name.startswith("constrain/")}

    assert {"constrain"} == {top for top in tops if not top.endswith(".dist-info")}
    assert 2 == len(tops)
    suffixes -= {Path(name).suffix for name in compiled_in(wheel)}
    suffixes -= {Path(name).suffix for name in names if name.startswith("constrain/cli/templates/")}
    assert suffixes <= {".py", ".pxd", ".lark", ".json", ".md", ".typed"} | {
        *(".html", ".css", ".js", "")
    }
    assert {"__init__.py", "artifacts", "cli", "compiler"} == {
        name.split("/")[1] for name in names if name.startswith("constrain/")
    }


def compiled_in(wheel: zipfile.ZipFile) -> list[str]:
    """The names of compiled modules in a wheel."""
    return [name for name in wheel.namelist() if name.endswith((".so", ".pyd"))]


def test_the_wheel_says_where_it_runs(full: bool, wheel: zipfile.ZipFile) -> None:
    """On systems as this one, by any Python from the oldest on, if the walk is compiled in it; else
    on all."""
    compiled, tag = compiled_in(wheel), Path(wheel.filename or "").stem.split("-", 2)[2]
    if os.name != "nt" and not full:
        assert [] == compiled

    if compiled:
        (name,) = compiled
        assert re.fullmatch(r"constrain/artifacts/walk/compiled_kernel(\.abi3\.so|\.pyd)", name)
        assert source_hash().encode() in wheel.read(name)
        assert re.fullmatch(r"cp311-abi3-\w+", tag)
    else:
        assert "py3-none-any" == tag


def test_the_wheel_installs_a_program(wheel: zipfile.ZipFile) -> None:
    """The console script, the license and the dependencies are in the description."""
    description = {name.split("/")[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    entries = wheel.read(description["entry_points.txt"]).decode()
    metadata = wheel.read(description["METADATA"]).decode()

    assert "constrain = constrain.cli.__main__:main" in entries
    assert "Name: constrain-grammar\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    for name in ("typer", "rich", "lark", "graphviz", "numpy", "regex"):
        assert f"Requires-Dist: {name}" in metadata
    assert any(name.endswith("/licenses/LICENSE") for name in wheel.namelist())


def test_the_wheel_works_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked anywhere it compiles, masks and knows its default tokenizer."""
    wheel.extractall(tmp_path)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]\n"
        "from constrain.compiler import compile_grammar, load_tokenizer\n"
        "from constrain.compiler.tokenizers import default_path\n"
        "from constrain import artifacts\n"
        "tokenizer = load_tokenizer(default_path())\n"
        "found = compile_grammar('s ::= #\"\\\\\\\\w\";', dialect='kbnf', tokenizer=tokenizer)\n"
        "print(artifacts.__file__, found.matcher().mask().any())\n"
    )
    ran = python("-c", script, folder=tmp_path)

    assert (
        f"{tmp_path / 'constrain' / 'artifacts' / '__init__.py'} True\n" == ran.stdout.decode()
    ), ran.stderr.decode()


@pytest.mark.parametrize("init", ["", None])
def test_another_distribution_of_the_name_is_recognised(
    init: str | None, wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    """Its files lie over ours, or are gone with our own: an error says so, and what to do."""
    wheel.extractall(tmp_path)
    theirs = tmp_path / "constrain" / "__init__.py"
    theirs.unlink()
    if init is not None:
        theirs.write_text(init)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]\n"
    )
    ran = python("-c", f"{program}import constrain.artifacts", folder=tmp_path)
    assert b"another distribution has this name" in ran.stderr

    run = "from constrain.cli.__main__ import main; sys.argv = ['constrain', 'check', 'g']; main()"
    ran = python("-c", program + run, folder=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"error: the package 'constrain' (")


def test_a_release_is_the_same_bytes_each_time_and_works_without_the_sources(
    full: bool, wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    """``python -m build`` twice; its wheel, which is made of the archive of sources, is the one of
    the tree; in an environment with nothing else the README's commands and more do their work."""
    if not full:
        pytest.skip("builds releases and an environment: run with --full")
    one, other = (built(tmp_path / name) for name in ("one", "other"))
    assert [path.name for path in one] == [path.name for path in other]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    package, archive = one
    if package.suffix != ".whl":
        package, archive = archive, package
    assert wheel.filename is not None
    assert package.read_bytes() == Path(wheel.filename).read_bytes()
    with tarfile.open(archive) as opened:
        tops = {name.split("/")[1] for name in opened.getnames() if "/" in name}
        owners = {(m.uid, m.gid, m.uname, m.mtime) for m in opened.getmembers()}
    assert {*FOLDERS, "LICENSE", "README.md", "pyproject.toml", "setup.py"} <= tops
    assert not {"tests", "benchmarks", "examples"} & tops
    assert {(0, 0, "", 1700000000)} == owners

    def run(*words: str | Path) -> str:
        cleaned = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        ran = subprocess.run(words, cwd=tmp_path, env=cleaned, capture_output=True, check=False)
        assert 0 == ran.returncode, (words, ran.stdout.decode(), ran.stderr.decode())
        return ran.stdout.decode()

    run(sys.executable, "-m", "venv", "bare")
    programs = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", package)
    for name in ("date.ebnf", "tool_call.schema.json"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    program = programs / "constrain"
    project = settings()["project"]
    assert isinstance(project, dict)
    said = run(program, "--version")
    assert said.startswith(f"constrain {project['version']} (")
    assert said.endswith(f", walk {'compiled' if compiled_in(wheel) else 'in Python'})\n")
    for name in ("date.ebnf", "tool_call.schema.json"):
        run(program, "compile", name, "-o", "compiled.cst")
        assert run(program, "mask", "compiled.cst", "--format", "ids")
        assert run(program, "inspect", "compiled.cst")
        assert run(program, "viz", name, "--stage", "rules").startswith("digraph")
        run(program, "inspect", name, "-o", "page.html")
        assert (tmp_path / "page.html").stat().st_size > 10_000


def test_bare_folders_are_never_importable(tmp_path: Path) -> None:
    """Installed, there is no module called cli, compiler or artifacts."""
    script = (
        "import importlib.util as u; print([u.find_spec(n) for n in "
        f"{FOLDERS!r}], u.find_spec('constrain.cli') is not None)"
    )

    assert b"[None, None, None] True\n" == python("-c", script, folder=tmp_path).stdout


def test_what_is_imported_is_a_dependency() -> None:
    """Every module of others that a file imports is declared, and nothing else is."""
    project = settings()["project"]
    assert isinstance(project, dict)
    names = (re.split(r"[^A-Za-z0-9-]", entry)[0] for entry in project["dependencies"])
    declared = {name.replace("-", "_") for name in names}
    imported = {found.module.split(".")[0] for found in imports() if found.file.parent != PACKAGING}

    # The extras "hf", "tiktoken", "store", "cluster", "bench", "lsp", "watch", those of servers,
    # what reads types.
    optional = {
        "distributed",
        "fsspec",
        "huggingface_hub",
        "tiktoken_ext",
        "llguidance",
        "matplotlib",
    }
    optional |= {"lsprotocol", "pygls", "watchfiles"}
    optional |= {"mlx", "pydantic", "sglang", "torch", "transformers", "vllm", "xgrammar"}
    assert declared == imported - set(sys.stdlib_module_names) - optional - {"constrain"}


def test_the_installed_program_is_this_one() -> None:
    """The console script leads to the entry of the command line, in the version stated."""
    project = settings()["project"]
    assert isinstance(project, dict)
    (script,) = (s for s in entry_points(group="console_scripts") if s.name == "constrain")

    assert project["scripts"]["constrain"] == script.value
    assert project["version"] == version("constrain-grammar")


def test_the_changelog_tells_of_the_version() -> None:
    """Its newest section is that of pyproject.toml, or of what comes after it."""
    project = settings()["project"]
    assert isinstance(project, dict)
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.*?)\](?: - \d{4}-\d\d-\d\d)?$", text, re.MULTILINE)

    assert project["version"] == next(name for name in sections if name != "Unreleased")
    for document in (ROOT / "README.md", ROOT / "cli" / "README.md"):
        named = re.findall(r"\brev: v([0-9.]+)", document.read_text(encoding="utf-8"))
        assert {*named} <= {project["version"]}


def test_every_package_is_installed() -> None:
    """Every folder with Python in it is listed in pyproject.toml, and nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {file.parent for file in python_files()} - {PACKAGING}
    found = {".".join(("constrain", *installed_as(folder).parts)) for folder in folders}

    assert sorted(found) == project["tool"]["setuptools"]["packages"]


def test_every_package_says_what_it_is() -> None:
    """Every folder with Python in it has an __init__ with a docstring."""
    for folder in {file.parent for file in python_files()}:
        tree = ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), folder


@pytest.mark.parametrize("folder", FOLDERS)
def test_types_are_shipped(folder: str) -> None:
    """Type checkers of users read our hints."""
    assert (ROOT / folder / "py.typed").is_file()
