"""What documents and docstrings say: files that are named exist, commands print what is shown."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import FOLDERS, ROOT, forked, python_files
from support.drawing import drawn_by_this_dot

# Every document, and those of them with commands.
PLACES = (*FOLDERS, "benchmarks", "examples")
PATTERNS = ("*.md", ".github/*.md", *(f"{folder}/**/*.md" for folder in PLACES))
DOCUMENTS = sorted(path.relative_to(ROOT) for p in PATTERNS for path in ROOT.glob(p))
SHOWING = [path for path in DOCUMENTS if "```console\n" in (ROOT / path).read_text("utf-8")]

PYTHON = re.compile(r"(?<=```python\n)(.*?)(?=```\n)", re.DOTALL)
IMAGE = re.compile(r"!\[[^]]*\]\(([^)]*\.svg)\)")
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```\n)", re.DOTALL)
CODE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:)([^)#]+)(?:#[^)]*)?\)")

# In backquotes: a file of this repository with its folder or without, and a module.
FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|lark))`")
MODULE = re.compile(r"`(?:constrain\.)?(artifacts|compiler|cli)((?:\.\w+)+)`")

NAMES = {
    path.name
    for f in (*FOLDERS, "benchmarks", "tests", ".github")
    for path in (ROOT / f).rglob("*.*")
}

SECONDS = re.compile(r"in \d+\.\d\d s\b")

# Folders of real tokenizers, which documents name as if they stood in the current folder.
TOKENIZERS = ("gpt2", "bert-base-uncased", "qwen2_5")


@dataclass(frozen=True)
class Command:
    """A command of a block and the lines that the document shows below it."""

    line: str
    shown: str

    @property
    def written(self) -> str | None:
        """The file that ``cat`` shows."""
        return self.line.removeprefix("cat ") if self.line.startswith("cat ") else None


def commands_of(block: str) -> list[Command]:
    """The commands of a block, each with its lines."""
    found: list[Command] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append(Command(line[2:].rstrip("\n"), ""))
        else:
            found[-1] = Command(found[-1].line, found[-1].shown + line)
    return found


def lost_names(path: Path, text: str) -> list[str]:
    """The files and modules that a text names in backquotes and that do not exist.

    A file without its folder may be any of that name; one with its folder is looked for from the
    repository's root and from the text's own folder.
    """
    lost = []
    for name in FILE.findall(text):
        places = (ROOT / name, ROOT / path.parent / name)
        if not any(place.exists() for place in places) and name not in NAMES:
            lost.append(f"{path}: {name}")
    for folder, rest in MODULE.findall(text):
        *rooms, last = rest[1:].split(".")
        home = ROOT.joinpath(folder, *rooms)
        if not (home / last).exists() and not home.joinpath(f"{last}.py").exists():
            file = home.with_suffix(".py") if rooms else home
            file = file if file.is_file() else home / "__init__.py"
            if not file.exists() or last not in file.read_text("utf-8"):
                lost.append(f"{path}: {folder}{rest}")
    return lost


def test_documents_name_files_that_exist() -> None:
    """Also where they link to one."""
    lost = []
    for path in DOCUMENTS:
        text = CODE.sub("", (ROOT / path).read_text("utf-8"))
        here = (ROOT / path).parent
        lost += lost_names(path, text)
        lost += [f"{path}: {link}" for link in LINK.findall(text) if not (here / link).exists()]

    assert [] == lost


def test_every_document_is_a_page_of_the_site() -> None:
    """But what is no document: templates, and the site's own."""
    index = (ROOT / ".github" / "docs" / "index.md").read_text("utf-8")
    pages = re.findall(r"^(\.\./\S+)$", index, re.MULTILINE)
    found = {os.path.normpath(f".github/docs/{page}.md") for page in pages}
    wanted = {path.as_posix() for path in DOCUMENTS if path.parts[1:2] != ("templates",)}

    assert wanted <= found
    assert len(pages) == len(found)


def test_the_site_is_built(tmp_path: Path) -> None:
    """Each link leads to a page, a heading or a file, and each public name has its docstring."""
    pytest.importorskip("sphinx", reason="the site needs the extra docs")
    command = (sys.executable, "-m", "sphinx", "-q", "-W", "-c", ".github/docs", ".", tmp_path)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)
    assert "Matcher.advance" in (tmp_path / ".github/docs/api.html").read_text("utf-8")


def test_code_names_files_that_exist() -> None:
    """Docstrings and comments say where something stands, and it stands there."""
    lost = []
    for path in python_files((*FOLDERS, "benchmarks", "tests")):
        lost += lost_names(path, (ROOT / path).read_text("utf-8"))

    assert [] == lost


@dataclass(frozen=True)
class Shell:
    """A folder with the examples, and bash in it, with ``constrain`` and ``python`` among the
    programs."""

    folder: Path
    programs: Path

    def run(self, line: str) -> str:
        """All that a line writes, to whichever stream."""
        path = f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}"
        ran = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return ran.stdout.decode()

    def shown(self, command: Command) -> str:
        """What a document is to show for a command: what it shows, if that is true."""
        name = command.written
        if name is not None and not (self.folder / name).exists():
            (self.folder / name).write_text(command.shown, encoding="utf-8", newline="")
        if command.line.startswith("constrain viz") and shutil.which("dot") is None:
            return command.shown
        printed = self.run(command.line)
        return command.shown if untimed(printed) == untimed(command.shown) else printed


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A new folder."""
    if shutil.which("bash") is None:
        pytest.skip("no bash to run the documents' commands")
    made = Shell(tmp_path / "folder", tmp_path / "programs")
    for folder in (made.folder, made.programs):
        folder.mkdir()
    (made.folder / "examples").symlink_to(ROOT / "examples")
    for name, words in (("constrain", forked.program()), ("python", [sys.executable])):
        program = made.programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
    return made


@pytest.mark.parametrize("path", SHOWING, ids=Path.as_posix)
def test_commands_print_what_is_shown(
    path: Path, shell: Shell, update: bool, request: pytest.FixtureRequest
) -> None:
    """All blocks of a document in turn, in one folder; ``--update`` rewrites what they show.

    ``cat`` of a file that does not exist makes it. Times are not compared. Drawings are those that
    the document shows.
    """
    text = (ROOT / path).read_text("utf-8")
    blocks = "".join(BLOCK.findall(text))
    for name in TOKENIZERS:
        if f"{name}/" in blocks:
            data = request.getfixturevalue("data")
            (shell.folder / name).symlink_to(data(f"tokenizers/{name}").resolve())
    actual = BLOCK.sub(
        lambda block: "".join(f"$ {c.line}\n{shell.shown(c)}" for c in commands_of(block[0])), text
    )
    if update and actual != text:
        (ROOT / path).write_text(actual, encoding="utf-8", newline="")

    assert update or text == actual
    for image in IMAGE.findall(text):
        drawn = shell.folder / Path(image).name
        committed = (ROOT / path.parent / image).read_text("utf-8")
        if drawn.exists() and drawn_by_this_dot(committed):
            assert committed == drawn.read_text("utf-8"), image
    if path == Path("README.md"):
        for block in PYTHON.findall(text):
            subprocess.run([sys.executable, "-c", block], cwd=shell.folder, check=True)


@pytest.mark.quick
def test_the_tour_is_short() -> None:
    """The README has at most 200 lines; what is longer stands in the rooms' documents."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.quick
def test_the_plot_is_that_of_the_figures(update: bool) -> None:
    """The README's, drawn from the tables of benchmarks/README.md."""
    folder = ROOT / "benchmarks"
    draw = runpy.run_path(str(folder / "figures" / "plot.py"))["drawing"]
    drawn = draw((folder / "README.md").read_text(encoding="utf-8"))
    path = folder / "figures" / "times.svg"
    if update and path.read_text(encoding="utf-8") != drawn:
        path.write_text(drawn, encoding="utf-8", newline="\n")

    assert drawn == path.read_text(encoding="utf-8")


def untimed(text: str) -> str:
    """A text without what differs from run to run."""
    return SECONDS.sub("", text)
