"""SECURITY.md names the tests that hold what it promises, and all that are here are named."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import re

import pytest
from support import ROOT

pytestmark = pytest.mark.quick

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_each_promise_names_tests_that_hold_it() -> None:
    """Each row of the table links to files of tests, which are there."""
    table = TEXT.split("## What is promised")[1].split("## What is not")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    links = [re.findall(r"\]\((tests/[\w/]+\.py)\)", row[-1]) for row in rows]

    assert len(rows) > 10
    assert all(links)
    assert [] == [file for row in links for file in row if not (ROOT / file).is_file()]


def test_each_file_of_tests_on_hostile_input_is_named() -> None:
    """What is checked and not said would not be looked for."""
    here = {f"tests/fuzz/{path.name}" for path in (ROOT / "tests" / "fuzz").glob("test_*.py")}

    assert [] == sorted(name for name in here - {"tests/fuzz/test_promises.py"} if name not in TEXT)


def test_readers_find_it() -> None:
    """The README and the contributor's guide link to it."""
    assert "](SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    guide = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "](../SECURITY.md)" in guide
