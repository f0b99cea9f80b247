"""Files that are thought out to take more than a command may: nothing is read before it is known
that it may be, and what is read is worked on within the limits."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support import sampled
from support.cli import content
from support.limits import measured

from constrain.artifacts import Artifact
from constrain.artifacts.container.json_text import values_of
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.compiler import compile_grammar, load_tokenizer

MEGABYTE = 1_000_000

# Ambiguous, so that reading a text takes time that is cubic in its length.
AMBIGUOUS = 's ::= s s s | s s | "a" | "b" s "c";'


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact for Earley's recogniser."""
    path = tmp_path_factory.mktemp("ambiguous") / "e.cst"
    made: Artifact = compile_grammar(
        AMBIGUOUS,
        dialect="kbnf",
        tokenizer=load_tokenizer(),
        tokenization="any",
        engine="earley",
    )
    made.save(path)
    return path


@pytest.mark.parametrize("command", ["mask", "explain"])
def test_an_artifact_is_worked_on_within_the_limits(
    command: str, ambiguous: Path, tmp_path: Path
) -> None:
    """However long it takes to read a text by it."""
    text = "a" * 3_000
    more = ["--prefix", text] if command == "mask" else [content(tmp_path / "a.txt", text)]
    found = measured(command, ambiguous, *more, "--max-seconds", 0.2)

    assert 3 == found.code, found.stderr
    found.check(seconds=0.2)


@sampled(
    ("command", "is_piped"),
    [("explain", False), ("mask", True), ("schemas", False)],
    [
        *product(["explain", "explain the grammar", "mask", "check", "test"], [False, True]),
        *product(["cases in a folder", "schemas"], [False]),
    ],
)
def test_no_more_is_read_than_may_be_in_memory(
    command: str, is_piped: bool, ambiguous: Path, tmp_path: Path
) -> None:
    """Of a grammar, an artifact, a text and cases of 200 MB with 50 MB allowed."""
    large = tmp_path / "large.kbnf"
    with large.open("wb") as file:
        file.truncate(200 * MEGABYTE)
    name = "-" if is_piped else str(large)
    arguments = {
        "explain": ["explain", ambiguous, name],
        "explain the grammar": ["explain", name, "--dialect", "kbnf", os.devnull],
        "mask": ["mask", name, "--dialect", "kbnf"],
        "check": ["check", name, "--dialect", "kbnf"],
        "test": ["test", ambiguous, name],
        "cases in a folder": ["test", ambiguous, tmp_path],
        "schemas": ["check", content(tmp_path / "a.schema.json", "{}"), "--schemas", tmp_path],
    }[command]
    if command in ("cases in a folder", "schemas"):
        large.rename(tmp_path / "large.json")
    stdin = bytes(200 * MEGABYTE) if is_piped else b""
    found = measured(*arguments, "--max-memory", 50 * MEGABYTE, stdin=stdin)

    assert 3 == found.code, (found.stdout, found.stderr)
    found.check(memory=50 * MEGABYTE)


def of_header(header: str) -> bytes:
    """A file that is a header alone."""
    raw = header.encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw


# Headers of so many values, by what these are.
HEADERS: dict[str, Callable[[int], str]] = {
    "sections": lambda n: (
        '{"__metadata__":{"constrain":"{}"},'
        + ",".join(f'"{i}":{{"dtype":"U8"}}' for i in range(n))
        + "}"
    ),
    "values of a section": lambda n: '{"a":{"shape":[' + "0," * 4 * n + "0]}}",
    "lists": lambda n: "[" * 4 * n,
    "values of the manifest": lambda n: (
        '{"__metadata__":{"constrain":' + json.dumps(json.dumps({"notes": [0] * 4 * n})) + "}}"
    ),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_many_values_are_refused(kind: str) -> None:
    """By their count, before a value is made of them."""
    with pytest.raises(ArtifactError, match=r"has more than [\d,]+ values"):
        load_bytes(of_header(HEADERS[kind](600_000)))


@sampled("kind", ["sections"], HEADERS)
def test_headers_of_many_values_cost_little(kind: str, tmp_path: Path, full: bool) -> None:
    """Time and memory as for reading them."""
    header = HEADERS[kind](1_400_000 if full else 300_000)
    path = tmp_path / "a.cst"
    path.write_bytes(of_header(header))
    found = measured("show", path, "--max-seconds", 2)

    assert 2 == found.code, found.stderr
    assert found.peak < 5 * len(header) + 20 * MEGABYTE
    found.check(seconds=2)


def test_values_are_counted_beside_strings() -> None:
    """Which may hold anything, and need no end."""
    for text, count in (
        ('"\\', 0),
        (',"' * 3, 2),
        ('{"a":[1,2,{"b":"c"}]}', 7),
        ('["[,:{\\"[", "\\\\", "é{"]', 3),
        ('{"a', 1),
        ('"\\"' * 3, 0),
        ("[1\n,\n2]", 2),
    ):
        for most in range(9):
            assert (count > most) == (values_of(text, most) > most), (text, most)
