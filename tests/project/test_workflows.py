"""What runs elsewhere: workflows and hooks name commands that exist and do what they say."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from constrain.compiler.dialects import DIALECTS

yaml = pytest.importorskip("yaml")

EXAMPLE = ROOT / "examples" / "ci"
CI, RELEASE = (ROOT / ".github" / "workflows" / name for name in ("ci.yml", "release.yml"))
WORKFLOWS = [*(ROOT / ".github" / "workflows").glob("*.yml"), EXAMPLE / "workflow.yml"]


def read(path: Path) -> Any:
    """A YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(path: Path, *jobs: str) -> dict[str, str]:
    """The commands of a workflow's steps by name; of these jobs alone if any is named."""
    steps = [
        s
        for name, job in read(path)["jobs"].items()
        if name in (jobs or name)
        for s in job["steps"]
    ]
    return {step["name"]: step["run"] for step in steps if "run" in step}


def test_ci_runs_the_commands_of_the_readme() -> None:
    """All that the README says to set up with, as it is printed, and nothing else but tools."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = re.findall(r"^python3 -m venv .*$", readme, re.MULTILINE)
    run = commands(CI, "readme")

    assert len(printed) >= 2
    assert printed == [line for line in run.values() if line.startswith("python3 ")]
    assert len(run) == len(printed) + 2


def test_ci_runs_on_all_systems_with_the_oldest_and_the_newest_python() -> None:
    """Those that the classifiers name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    matrix = read(CI)["jobs"]["readme"]["strategy"]["matrix"]
    named = [c.split(" :: ")[-1] for c in project["classifiers"] if "Python :: 3." in c]

    assert matrix["python"] == [named[0], named[-1]]
    assert project["requires-python"] == f">={named[0]}"
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert {entry["os"] for entry in matrix["include"]} == set(matrix["os"])


def test_a_change_and_a_release_pass_the_same_script() -> None:
    """Linters, types and tests; each night with all counts, and before anything is built."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    jobs = read(CI)["jobs"]
    needed = read(RELEASE)["jobs"]["build"]["needs"]

    for check in ("ruff check", "ruff format --check", "mypy", 'pytest "$@"'):
        assert f"\n.venv/bin/{check}\n" in script
    assert [*commands(CI, "checks").values()][-1].endswith(" .ci/run")
    assert [*commands(CI, "nightly").values()][-1].endswith(" .ci/run --full")
    assert [*commands(RELEASE, needed).values()][-1].endswith(" .ci/run")
    # YAML 1.1 reads the key "on" as true.
    assert read(CI)[True]["schedule"]
    scheduled = {name for name, job in jobs.items() if "== 'schedule'" in job["if"]}
    assert scheduled == {"nightly"}
    assert all("!= 'schedule'" in job["if"] for name, job in jobs.items() if name not in scheduled)


def test_ci_tries_the_oldest_dependencies() -> None:
    """Those that pyproject.toml admits, of all that tests need."""
    resolve, test = commands(CI, "lowest").values()

    assert "uv pip compile pyproject.toml --extra test --resolution lowest-direct" in resolve
    assert "pip install --constraint lowest.txt --editable '.[test]'" in resolve
    assert test == ".venv/bin/pytest"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    assert all(">=" in name for name in needed)


def test_a_release_has_the_sources_and_a_wheel_for_each_system() -> None:
    """Those that CI tests; a wheel is built by the oldest Python and tried by the newest, too, and
    the sources where there is no C compiler."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    jobs = read(RELEASE)["jobs"]
    tested = read(CI)["jobs"]["readme"]["strategy"]["matrix"]
    systems = jobs["wheels"]["strategy"]["matrix"]["os"]
    pythons = [f"cp{version.replace('.', '')}-*" for version in tested["python"]]

    assert {name.split("-")[0] for name in systems} == {n.split("-")[0] for n in tested["os"]}
    assert settings["cibuildwheel"]["build"] == pythons
    assert any("'compiled'" in command for command in settings["cibuildwheel"]["test-command"])
    assert [*commands(RELEASE, "wheels").values()][-1].endswith("cibuildwheel --output-dir dist\n")
    assert jobs["wheels"]["needs"] == jobs["build"]["needs"] == "test"
    assert jobs["release"]["needs"] == ["build", "wheels"]
    assert any("CC=/bin/false" in command for command in commands(RELEASE, "build").values())
    kept = {
        step["with"]["name"]
        for name in jobs
        for step in jobs[name]["steps"]
        if "upload-artifact" in step.get("uses", "")
    }
    assert kept == {"dist-sources", "dist-${{ matrix.os }}"}
    assert jobs["release"]["steps"][0]["with"]["pattern"] == "dist-*"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_end_and_actions_cannot_change(path: Path) -> None:
    """Each job has a limit of time; each action is a commit, whose version is said beside it."""
    jobs = read(path)["jobs"].values()
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))

    assert all(0 < job["timeout-minutes"] < 360 for job in jobs)
    assert used
    for action in used:
        assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_steps_are_programs_of_the_shell(path: Path) -> None:
    """bash can read each, and each ``constrain`` in it names a command."""
    from constrain.cli.app import COMMANDS

    for name, command in commands(path).items():
        plain = re.sub(r"\$\{\{.*?\}\}", "x", command)
        read_by = subprocess.run(["bash", "-n", "-c", plain], capture_output=True, check=False)
        assert read_by.returncode == 0, (name, read_by.stderr)
        for found in re.findall(r"(?:^|[ /])constrain ([a-z]+)", command, re.MULTILINE):
            assert found in COMMANDS, name


class Repository:
    """A repository of grammars, in which the steps of the example run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.summary = folder / "repository", folder / "summary.md"
        shutil.copytree(EXAMPLE, self.folder)
        programs = folder / "bin"
        programs.mkdir()
        program = programs / "constrain"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m constrain.cli "$@"\n')
        program.chmod(0o755)
        self.variables = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_BASE_REF": "main",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@example.org"),
        }
        self.run("git init --quiet --initial-branch main . && git add . && git commit -qm base")
        self.run("git update-ref refs/remotes/origin/main HEAD")

    def run(self, command: str) -> tuple[int, str]:
        """As GitHub Actions runs a step: exit code and all output."""
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode()


@pytest.mark.skipif(os.name == "nt", reason="the example's workflow runs on Linux")
def test_the_steps_of_the_example_run(tmp_path: Path) -> None:
    """A change of a schema: what became a member is said, a case that fails ends the step."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    repository, steps = Repository(tmp_path), commands(EXAMPLE / "workflow.yml")
    schema = repository.folder / "grammars" / "call.schema.json"
    schema.write_text(schema.read_text().replace('"fahrenheit"', '"kelvin"'))
    repository.run("git commit -qam change")

    found = {name: repository.run(step) for name, step in steps.items() if name != "Install"}

    assert steps["Install"].splitlines()[-1] == 'pip install "$CONSTRAIN"'
    assert [*found] == [name for name in steps if name != "Install"]
    assert found["Check"] == (0, "")
    code, said = found["Test"]
    assert code == 1
    assert re.search(r"^::error file=grammars/call\.test,line=\d+", said, re.MULTILINE)
    results = (repository.folder / "results.xml").read_text()
    assert (found["Results for other tools"][0], results.count("<testcase")) == (1, 3)
    code, said = found["Differences from the base branch"]
    assert (code, said) == (0, repository.summary.read_text())
    assert 'only in grammars/call.schema.json: shortest "{\\"name\\":\\"get_weather\\"' in said
    assert "kelvin" in said
    if shutil.which("dot") is not None:
        assert found["Drawings"][0] == 0, found["Drawings"]
        assert (repository.folder / "drawings" / "call.schema.json.svg").stat().st_size > 1000


def test_the_hooks_are_those_of_the_files_that_are_read() -> None:
    """Both commands, on every suffix that a dialect has."""
    hooks = {hook["id"]: hook for hook in read(ROOT / ".pre-commit-hooks.yaml")}
    suffixes = [suffix for row in DIALECTS.values() for suffix in row.suffixes]

    assert {name: hook["entry"] for name, hook in hooks.items()} == {
        "constrain-check": "constrain check",
        "constrain-test": "constrain test",
    }
    for hook in hooks.values():
        assert [s for s in suffixes if not re.search(hook["files"], f"a/b{s}")] == [], hook["id"]
        assert hook["language"] == "python"
    assert not re.search(hooks["constrain-check"]["files"], "package.json")
    assert re.search(hooks["constrain-test"]["files"], "constrain.toml")
    assert hooks["constrain-test"]["pass_filenames"] is False
    document = (ROOT / "cli" / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(repos:.*?)```", document, re.DOTALL)
    assert [*hooks] == [hook["id"] for hook in yaml.safe_load(block)["repos"][0]["hooks"]]
