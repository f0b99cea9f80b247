"""Files that a grammar or a schema names, or that are found in a folder, lie in the folder that was
named, whatever links say.

Each reader of such files, by each way out of the folder: a link to a file, a link to a folder, a
link beside a file that is imported, and a path with ``..``.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Cli, content

pytestmark = [
    pytest.mark.quick,
    pytest.mark.skipif(sys.platform == "win32", reason="links need rights there"),
]

SECRET = "hunter2"

# What lies outside: by reader its name and its text, which an error would show.
OUTSIDE = {
    "lark": ("pw.lark", f'A: "{SECRET}" B\n'),
    "lark that reads": ("pw.lark", f'A: "{SECRET}"\n'),
    "schemas": ("pw.json", f'{{"const": "{SECRET}", }}\n'),
    "schemas that read": ("pw.json", f'{{"const": "{SECRET}"}}\n'),
}


def link(where: Path, to: Path) -> None:
    """A link, in folders that are made for it."""
    where.parent.mkdir(parents=True, exist_ok=True)
    where.symlink_to(to, target_is_directory=to.is_dir())


def to_file(inside: Path, outside: Path, name: str) -> str:
    """``inside/pw`` is a link to the file."""
    link(inside / name, outside / name)
    return "pw"


def to_file_by_a_path(inside: Path, outside: Path, name: str) -> str:
    """``inside/pw`` is a link with ``..`` in it."""
    link(inside / name, Path(os.path.relpath(outside / name, inside)))
    return "pw"


def in_a_folder(inside: Path, outside: Path, name: str) -> str:
    """``inside/more/pw`` is a link to the file."""
    link(inside / "more" / name, outside / name)
    return "more.pw"


def to_a_link(inside: Path, outside: Path, name: str) -> str:
    """``inside/pw`` is a link to one inside, which leads out."""
    link(inside / "hidden" / f"x{Path(name).suffix}", outside / name)
    link(inside / name, inside / "hidden" / f"x{Path(name).suffix}")
    return "pw"


def by_a_folder(inside: Path, outside: Path, name: str) -> str:
    """``inside/more`` is a link to the folder."""
    link(inside / "more", outside)
    return "more.pw"


WAYS: list[Callable[[Path, Path, str], str]] = [
    to_file,
    to_file_by_a_path,
    in_a_folder,
    to_a_link,
    by_a_folder,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("reader", OUTSIDE)
def test_nothing_outside_is_read(
    reader: str, way: Callable[[Path, Path, str], str], cli: Cli, tmp_path: Path
) -> None:
    """It is refused by its name, and none of its text is shown."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    name, text = OUTSIDE[reader]
    content(outside / name, text)
    path = way(inside, outside, name)
    if reader.startswith("lark"):
        content(inside / "g.lark", f"%import .{path}.A\nstart: A\n")
        arguments = ["sample", "inside/g.lark", "--shortest"]
    else:
        reference = "x:/" + path.replace(".", "/") + ".json"
        content(tmp_path / "g.schema.json", json.dumps({"$ref": reference}))
        arguments = ["sample", "g.schema.json", "--schemas", "x:/=inside", "--shortest"]
    found = cli(*arguments)

    assert SECRET not in found.out.decode() + found.err
    assert found.code == 2, found.err
    # Folders of schemas are not searched by way of links to folders.
    is_passed_over = way is by_a_folder and reader.startswith("schemas")
    assert is_passed_over != ("leads out of the folder" in found.err), found.err


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_links_inside_are_followed(
    way: Callable[[Path, Path, str], str], cli: Cli, tmp_path: Path
) -> None:
    """The folder that the user names may be a link, and so may what it holds."""
    real, other = tmp_path / "real", tmp_path / "real" / "other"
    other.mkdir(parents=True)
    content(other / "pw.lark", 'A: "a"\n')
    path = way(real, other, "pw.lark")
    content(real / "g.lark", f"%import .{path}.A\nstart: A\n")
    link(tmp_path / "inside", real)

    found = cli("sample", "inside/g.lark", "--shortest")
    assert (found.code, found.out.strip()) == (0, b"a"), found.err


@pytest.mark.parametrize(
    "name",
    [".{}", "..{}", "../outside/{}", "{folder}/{}", "file://{folder}/{}", "%2e%2e/outside/{}"],
)
@pytest.mark.parametrize("reader", OUTSIDE)
def test_no_name_leads_out(reader: str, name: str, cli: Cli, tmp_path: Path) -> None:
    """Neither by ``..`` nor from the root."""
    (tmp_path / "inside" / "schemas").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    file, text = OUTSIDE[reader]
    content(tmp_path / "outside" / file, text)
    if reader.startswith("lark"):
        path = name.format("pw", folder=tmp_path / "outside")
        grammar = content(tmp_path / "inside" / "g.lark", f"%import {path}.A\nstart: A\n")
        found = cli("sample", grammar, "--shortest")
    else:
        reference = {"$ref": name.format(file, folder=tmp_path / "outside")}
        schema = content(tmp_path / "inside" / "g.schema.json", json.dumps(reference))
        found = cli("sample", schema, "--shortest", "--schemas", "inside/schemas")

    assert (found.code, SECRET in found.out.decode() + found.err) == (2, False), found


GRAMMAR, CASES = f'a ::= "{SECRET}" b;\n', f"===\n{SECRET}\n=\n"

# What finds files in a folder ``inside``: the name and text of one outside, whose messages would
# show it, and the command.
FINDERS = {
    "grammars": ("pw.kbnf", GRAMMAR, ["check", "inside"]),
    "jobs": ("pw.kbnf", GRAMMAR, ["compile-many", "inside", "--store", "s", "-j", "1"]),
    "a project's folder": ("pw.kbnf", GRAMMAR, ["check"]),
    "a project's pattern": ("pw.kbnf", GRAMMAR, ["check"]),
    "a project's cases": ("pw.test", CASES, ["test"]),
    "cases": ("pw.test", CASES, ["test", "g.kbnf", "inside"]),
    "cases of schemas": (
        "pw.json",
        f'{{"schema": "{SECRET}", "tests": [{{}}]}}',
        ["test", "inside"],
    ),
    "texts": ("accept", SECRET, ["test", "g.kbnf", "inside"]),
    "cases beside": ("g.test", CASES, ["test", "inside/g.kbnf"]),
    "grammar beside": ("c.kbnf", GRAMMAR, ["test", "inside/c.test"]),
}
PROJECTS = {
    "a project's folder": 'grammars = ["inside"]',
    "a project's pattern": 'grammars = ["inside/*.kbnf"]',
    "a project's cases": 'grammars = ["g.kbnf"]\ntests = ["inside/*.test"]',
}
# Folders are not searched by way of links to folders, but a pattern names what is in them, and so
# does a folder of texts by its name.
SEARCHED = {"a project's pattern", "a project's cases", "texts"}
BESIDE = {"cases beside", "grammar beside"}


@pytest.mark.parametrize(
    ("finder", "way"),
    [
        pytest.param(finder, way, id=f"{finder}-{way.__name__}")
        for finder in FINDERS
        for way in WAYS
        if finder not in BESIDE or way not in (in_a_folder, by_a_folder)
    ],
)
def test_nothing_outside_is_found(
    finder: str,
    way: Callable[[Path, Path, str], str],
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among files of a folder, of a pattern, and beside others."""
    here, outside = tmp_path / "project", tmp_path / "outside"
    inside = here / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(here)
    name, text, arguments = FINDERS[finder]
    if finder == "texts":
        name = "accept/pw"
    (outside / name).parent.mkdir(parents=True)
    content(outside / name, text)
    if finder == "texts" and way is by_a_folder:
        link(inside / "accept", outside / "accept")
    elif finder == "texts":
        way(inside / "accept", outside / "accept", "pw")
    else:
        way(inside, outside, name)
    content(here / "g.kbnf", 'a ::= "x";\n')
    content(inside / "g.kbnf", 'a ::= "x";\n')
    content(inside / "one.test", "===\none\n===\nx\n---\n")
    if finder == "grammar beside":
        content(inside / "c.test", "===\none\n===\nx\n---\n")
    if finder in PROJECTS:
        below = "inside/more/*" if way in (in_a_folder, by_a_folder) else "inside/*"
        content(here / "constrain.toml", PROJECTS[finder].replace("inside/*", below))
    found = cli(*arguments)

    assert SECRET not in found.out.decode() + found.err
    if way is not by_a_folder or finder in SEARCHED:
        assert found.code == 2, found
        assert "leads out of the folder" in found.out.decode() + found.err, found
