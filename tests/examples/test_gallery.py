"""The gallery of examples/README.md shows what its commands draw; ``--update`` draws all again."""

import hashlib
import re
import shlex
from pathlib import Path

import pytest
from support import EXAMPLES, sampled
from support.drawing import drawn_by_this_dot

from constrain.cli.app import run
from constrain.compiler.dialects import dialect_of

GALLERY = EXAMPLES / "README.md"
HASHES = EXAMPLES / "drawings" / "dot.sha256"

# CSS pixels, of which a point has four thirds.
WIDEST = 4_000

COMMANDS = {
    shlex.split(line)[-1]: shlex.split(line)[1:]
    for block in re.findall(r"```sh\n(.*?)```", GALLERY.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if line.startswith("constrain viz ")
}


def hashes() -> dict[str, str]:
    """The SHA-256 of each drawing's DOT text, by its name in the gallery."""
    lines = HASHES.read_text(encoding="utf-8").splitlines() if HASHES.exists() else []
    found = {name: digest for digest, name in (line.split("  ") for line in lines)}
    return {name: found[name] for name in found if name in COMMANDS}


def dot_hash(arguments: list[str], folder: Path) -> str:
    """Of the DOT text of a command that draws."""
    path = folder / "drawing.dot"
    assert run([*arguments[:-1], str(path)]) == 0
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.quick
def test_the_gallery_shows_every_example() -> None:
    """Each grammar is named, and each drawing is shown, made by a command, and narrow enough."""
    text = GALLERY.read_text(encoding="utf-8")
    names = [p.relative_to(EXAMPLES).as_posix() for p in EXAMPLES.rglob("*.*") if p.is_file()]
    # A project of its own, with its own tests.
    names = [name for name in names if not name.startswith("ci/")]
    drawings = [name for name in names if name.endswith(".svg")]

    assert [name for name in names if dialect_of(name) and f"({name})" not in text] == []
    assert [name for name in drawings if f"]({name})" not in text] == []
    assert sorted(drawings) == sorted(COMMANDS)
    assert sorted(drawings) == sorted(hashes())
    for name in drawings:
        size = re.search(r'<svg width="(\d+)pt"', (EXAMPLES / name).read_text(encoding="utf-8"))
        assert size is not None, name
        assert int(size[1]) * 4 / 3 <= WIDEST, name


@sampled("name", ["csv/rfc4180.svg", "drawings/date.svg", "sql/select.svg"], COMMANDS)
def test_a_drawing_is_what_its_command_draws(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: bool
) -> None:
    """Byte by byte where ``dot`` is of the version that drew it, its DOT text everywhere."""
    monkeypatch.chdir(EXAMPLES)
    arguments, known = COMMANDS[name], hashes()
    digest = dot_hash(arguments, tmp_path)
    if update and known.get(name) != digest:
        assert run(arguments) == 0
        lines = [f"{digest}  {name}\n" for name, digest in sorted({**known, name: digest}.items())]
        HASHES.write_text("".join(lines), encoding="utf-8", newline="\n")
        known = hashes()
    committed = (EXAMPLES / name).read_text(encoding="utf-8")

    assert digest == known[name], "another drawing: pytest --full --update draws it again"
    if not drawn_by_this_dot(committed):
        pytest.skip("drawn by another version of dot than there is here: its DOT text is the same")
    path = tmp_path / "drawing.svg"
    assert run([*arguments[:-1], str(path)]) == 0
    assert path.read_text(encoding="utf-8") == committed
