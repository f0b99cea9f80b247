"""A server, and what `check` says of the same text."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constrain.cli.app import run

from .client import Editor


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One session for all tests of a module, each with files of its own."""
    pytest.importorskip("pygls", reason="the server needs pygls")
    with Editor(tmp_path_factory.mktemp("workspace")) as session:
        yield session


def checked(path: Path) -> list[dict[str, Any]]:
    """The findings of `check`, as an editor has them."""
    output, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO(), "utf-8")
    try:
        run(["check", str(path), "--format", "json", "--isolated"])
        sys.stdout.flush()
        data = sys.stdout.buffer.getvalue()
    finally:
        sys.stdout = output
    return [_diagnostic(each) for each in json.loads(data)["findings"]]


def _diagnostic(item: dict[str, Any]) -> dict[str, Any]:
    """A finding with its place counted from 0; columns are characters, in these tests of one unit
    each. One without a place stands at the beginning."""
    places = [
        {"line": max(item[line] - 1, 0), "character": max(item[column] - 1, 0)}
        for line, column in (("line", "column"), ("end_line", "end_column"))
    ]
    said = f"{item['message']}\nhelp: {item['help']}" if item["help"] else item["message"]
    return {
        "range": {"start": places[0], "end": places[1]},
        "message": said,
        "severity": {"error": 1, "warning": 2, "note": 3}[item["level"]],
        "code": item["lint"],
        "source": "constrain",
    }
