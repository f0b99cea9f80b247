"""What `constrain new` makes checks clean, passes its cases, and overwrites nothing."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from importlib.metadata import version
from pathlib import Path

import pytest
from support import EXAMPLES, ROOT
from support.cli import Cli, names

MADE = {
    "grammar": ["thing.ebnf", "thing.test"],
    "schema": ["thing.schema.json", "thing.test"],
}


@pytest.mark.quick
@pytest.mark.parametrize("kind", MADE)
def test_a_grammar_and_its_cases(
    kind: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that is made; nothing is found in them, and the cases pass."""
    monkeypatch.chdir(tmp_path)

    assert 0 == cli("new", kind, "inside/thing").code
    assert MADE[kind] == names(tmp_path / "inside")
    grammar = f"inside/{MADE[kind][0]}"
    assert (0, b"") == (cli("check", grammar).code, cli("check", grammar).out)
    ran = cli("test", grammar)
    assert (0, b"") == (ran.code, ran.out)
    assert "passed" in ran.err


def test_a_project(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its grammars are those of its project file, the workflow is that of the examples, and the
    hooks are of this version."""
    monkeypatch.chdir(tmp_path)

    made = cli("new", "project", "my-replies")
    assert 0 == made.code
    assert "note: set CONSTRAIN in my-replies/.github/workflows/grammars.yml" in made.err
    folder = tmp_path / "my-replies"
    monkeypatch.chdir(folder)
    assert (0, 0) == (cli("check").code, cli("test", "--min-coverage", "80").code)
    workflow = (folder / ".github" / "workflows" / "grammars.yml").read_bytes()
    assert (EXAMPLES / "ci" / "workflow.yml").read_bytes() == workflow
    assert b"# CHANGE THIS: " in workflow
    assert b"copy" not in workflow
    hooks = (folder / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert f"rev: v{version('constrain-grammar')}\n" in hooks
    for hook in ("constrain-check", "constrain-test"):
        assert f"id: {hook}" in hooks
        assert f"id: {hook}" in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def test_what_is_there_stays(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And then nothing is made, of the other files either."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thing.test").write_text("mine")

    ran = cli("new", "grammar", "thing")
    assert (2, "error: thing.test is there already; nothing was made\n") == (ran.code, ran.err)
    assert ["thing.test"] == names(tmp_path)


@pytest.mark.parametrize("name", ["1st", "a-b", "ä", "a b", "x.ebnf"])
def test_names_are_those_of_rules(name: str, cli: Cli, tmp_path: Path) -> None:
    """What no rule can be called is refused."""
    ran = cli("new", "grammar", str(tmp_path / name))

    assert 2 == ran.code
    assert "is no name for a grammar" in ran.err
    assert [] == names(tmp_path)
