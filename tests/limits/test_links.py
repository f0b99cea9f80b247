"""Files that a grammar or a schema names lie in the folder that its user named, whatever links say.

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
