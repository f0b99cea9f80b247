"""Files that are no artifacts, and artifacts of other versions."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors import numpy as safetensors_numpy
from support import opened, sealed
from support.cli import Cli
from support.container import VARIANTS, exercise, refused

from constrain.artifacts import Artifact, ArtifactError, load
from constrain.artifacts.read import load_bytes

pytestmark = pytest.mark.quick


def other_files() -> Iterator[tuple[str, bytes, str]]:
    """Name, content, and what the message says."""
    yield "safetensors", safetensors_numpy.save({"weight": np.zeros(3)}), "something else"
    metadata = {"constrain": "1"}
    yield "metadata", safetensors_numpy.save({"w": np.zeros(3)}, metadata), "manifest is damaged"
    yield "text", b"start ::= 'a';\n" * 9, "no safetensors header"
    yield "short", b"abc", "3 bytes, too few"
    yield "zeros", bytes(100), "not valid JSON"
    yield "binary", random.Random(3).randbytes(5000), "no safetensors header"
    yield "long header", (50).to_bytes(8, "little") + b"{}", "truncated"
    yield "not UTF-8", (2).to_bytes(8, "little") + b"\xff\xfe", "not UTF-8"
    yield "a list", (2).to_bytes(8, "little") + b"[]", "not a JSON object"
    yield "no metadata", (2).to_bytes(8, "little") + b"{}", "something else"


@pytest.mark.parametrize(
    ("content", "message"), [pytest.param(c, m, id=name) for name, c, m in other_files()]
)
def test_other_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    """What is no artifact is called so in one line with the file's name."""
    path = tmp_path / "other.cst"
    path.write_bytes(content)

    assert message in refused(content)
    with pytest.raises(ArtifactError, match=r"^\S*other\.cst: [^\n]+$"):
        load(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """Nothing cannot be mapped; it is refused as an artifact, not as a system error."""
    path = tmp_path / "empty.cst"
    path.touch()

    with pytest.raises(ArtifactError, match=r"empty\.cst: the file is empty"):
        load(path)
    assert "0 bytes" in refused(b"")


def test_a_file_that_is_not_there_is_a_system_error(tmp_path: Path) -> None:
    """A missing file and a folder are what the system calls them."""
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.cst")
    with pytest.raises(OSError, match=str(tmp_path.name)):
        load(tmp_path)


@pytest.mark.parametrize("version", [[0, 9], [2, 1], [3, 0], [77, 5]])
def test_another_major_version_is_refused(
    tiny: dict[tuple[str, int], Artifact], version: list[int]
) -> None:
    """The message names both versions and what to do."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())

    message = refused(sealed({**manifest, "format": version}, described, body))

    assert f"format version {version[0]}.{version[1]}" in message
    assert "reads 5.x" in message
    assert "compile the grammar again" in message


def test_an_older_file_ends_a_command(tiny: dict[tuple[str, int], Artifact], cli: Cli) -> None:
    """Exit code 2, with what to do in one line, and nothing on standard output."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    Path("old.cst").write_bytes(sealed({**manifest, "format": [3, 0]}, described, body))

    for command in (["mask", "old.cst"], ["explain", "old.cst", "ab"]):
        result = cli(*command)

        assert (2, b"") == (result.code, result.out)
        assert "old.cst: format version 3.0 cannot be read by this release" in result.err
        assert "compile the grammar again" in result.err


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_a_later_minor_version_adds_is_ignored(
    tiny: dict[tuple[str, int], Artifact], variant: tuple[str, int]
) -> None:
    """Unknown sections, types and fields of the manifest change nothing."""
    artifact = tiny[variant]
    manifest, described, body = opened(artifact.to_bytes())
    end = len(body)
    later = {
        **described,
        "zz.flags": {"dtype": "U8", "shape": [3], "data_offsets": [end, end + 3]},
        "zz.weights": {"dtype": "F16", "shape": [2], "data_offsets": [end + 3, end + 7]},
    }
    data = sealed({**manifest, "format": [5, 99], "hints": {}}, later, body + b"abcdefg")

    found = load_bytes(data, verify=True)

    assert artifact.manifest == found.manifest
    for state in range(1, len(artifact.arrays["dfa.accepting"])):
        if variant[0] == "any":
            assert artifact.machine().row(state).tolist() == found.machine().row(state).tolist()
    exercise(found)
