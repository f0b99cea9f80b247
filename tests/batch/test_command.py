"""``constrain compile-many``: what it compiles, what it reports, and what it refuses beforehand."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.fuzzing.calls import called

from constrain.artifacts.store.store import Store
from constrain.compiler.batch import processes

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are done in threads: spawned processes have tests of their own."""
    from concurrent.futures import ThreadPoolExecutor

    class Threads:
        def __init__(self, count: int) -> None:
            self.pool = ThreadPoolExecutor(count)
            self.submit = self.pool.submit

        def renew(self) -> None:
            """Nothing is broken."""

        def end(self) -> None:
            self.pool.shutdown()

    from constrain.compiler.batch import batch

    monkeypatch.setattr(batch, "Processes", Threads)
    assert processes.Processes is not Threads


def lines(out: bytes) -> list[dict[str, Any]]:
    """Objects of lines of JSON."""
    return [json.loads(line) for line in out.decode().splitlines()]


def test_files_and_folders_are_compiled_for_each_tokenizer(cli: Cli) -> None:
    """Thin by default, under the keys that ``store key --thin`` says; a second run does nothing."""
    Path("g").mkdir()
    Path("g/yes.ebnf").write_text('s ::= "yes";')
    Path("g/no.regex").write_text("no+")
    from constrain.compiler.tokenizers import default_path

    Path("own.json").write_bytes(default_path().read_bytes())
    arguments = ("compile-many", "g", "-t", "own.json", "--store", "st", "--lazy", "-f", "json")
    first, again = cli(*arguments), cli(*arguments)

    assert (0, 0) == (first.code, again.code)
    report, second = json.loads(first.out), json.loads(again.out)
    assert (2, 0) == (report["compiled"], report["failed"])
    assert (0, 2) == (second["compiled"], second["present"])
    assert {"own.json"} == {job["tokenizer"] for job in report["jobs"]}
    key = cli("store", "key", "g/yes.ebnf", "-t", "own.json", "--thin", "--lazy").out.decode()
    assert key.strip() in [job["key"] for job in report["jobs"]]
    assert 1 == len(list(Path("st").glob("tok/*")))
    whole = cli("compile-many", "g", "-t", "own.json", "--store", "st", "--no-thin", "--lazy")
    assert 0 == whole.code
    assert 4 == len(list(Store("st").entries()))


def test_a_job_is_a_line_of_json(cli: Cli) -> None:
    """Texts, schemas, paths and requests, with options of their own; results are lines, too."""
    Path("sub").mkdir()
    Path("sub/yes.ebnf").write_text('s ::= "yes";')
    body = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"const": 1}}}}
    jobs: list[dict[str, Any]] = [
        {"path": "yes.ebnf", "lazy": True},
        {"name": "numbers", "grammar": "[0-9]+", "dialect": "regex", "tokenization": "any"},
        {"grammar": {"type": "integer"}, "name": "n.schema.json", "prewarm": 0},
        {"request": body, "name": "asked for"},
    ]
    Path("sub/jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
    result = cli("compile-many", "sub/jobs.jsonl", "--store", "st", "-f", "jsonl", "-o", "r.jsonl")

    assert 0 == result.code, result.err
    found = lines(Path("r.jsonl").read_bytes())
    names = [os.path.join("sub", "yes.ebnf"), "numbers", "n.schema.json", "asked for"]  # noqa: PTH118
    assert names == [job["name"] for job in found]
    assert {"compiled"} == {job["status"] for job in found}
    assert {1} == {job["schema"] for job in found}
    keys = set(found[0]) - {"schema"}
    assert {"name", "tokenizer", "key", "status", "bytes", "seconds", "notes", "error"} == keys
    from constrain.compiler.serving.service import SERVER_OPTIONS, CompileService
    from constrain.compiler.tokenizers import default_path

    with CompileService(default_path(), store="st", options=SERVER_OPTIONS, workers=1) as service:
        from constrain.compiler.serving.requests import request_of

        request = request_of(body, options=SERVER_OPTIONS)
        assert request is not None
        artifact = service.get(request).result(60)
        assert found[3]["key"] == artifact.manifest.key
        assert not service._workers._all


def test_what_is_wrong_with_lines_is_said_before_anything_is_compiled(cli: Cli) -> None:
    """All of it, each with file, line and column, and exit code 2."""
    Path("jobs.jsonl").write_text(
        '{"grammar": "a", "dialect": "regex"}\n'
        "\n"
        '{"grammar" "a"}\n'
        "[]\n"
        '{"grammar": "a", "path": "b"}\n'
        '{"grammar": "a", "dialect": "regex", "prewram": 1}\n'
        '{"grammar": "a", "dialect": "regex", "prewarm": -1}\n'
        '{"path": "none.ebnf"}\n'
        '{"grammar": "a", "name": "x.txt"}\n'
        '{"grammar": "a", "name": "a.regex", "tokenizer": 5}\n'
    )
    result = cli("compile-many", "jobs.jsonl", "--store", "st")

    assert 2 == result.code
    heads = [line for line in result.err.splitlines() if ": error: " in line]
    places = ["3:12", "4:1", "5:1", "6:38", "7:38", "8:2", "9:1", "10:37"]
    assert [f"jobs.jsonl:{place}" for place in places] == [h.split(": error")[0] for h in heads]
    assert "did you mean 'prewarm'?" in result.err
    assert not Path("st").exists()
    Path("jobs.jsonl").write_text("x\n" * 2_000)
    said = cli("compile-many", "jobs.jsonl", "--store", "st").err
    assert (50, True) == (said.count("no JSON"), "jobs.jsonl: and 1,950 more errors" in said)


def test_a_failure_makes_the_exit_code_and_stops_nothing(cli: Cli) -> None:
    """Its message is that of ``compile``, and its place is in the report."""
    Path("bad.ebnf").write_text('s ::= "a" | t;')
    Path("wrong.ebnf").write_bytes(b"s ::= \xff;")
    Path("good.ebnf").write_text('s ::= "a";')
    result = cli(
        "compile-many", "bad.ebnf", "wrong.ebnf", "good.ebnf", "--store", "st", "-f", "jsonl"
    )

    assert 1 == result.code
    assert "bad.ebnf:1:13: error: rule 't' is not defined" in result.err
    found = {job["name"]: job for job in lines(result.out)}
    assert (1, 13) == (found["bad.ebnf"]["error"]["line"], found["bad.ebnf"]["error"]["column"])
    assert (None, "failed") == (found["wrong.ebnf"]["key"], found["wrong.ebnf"]["status"])
    assert "compiled" == found["good.ebnf"]["status"]


def test_a_project_names_grammars_and_store(cli: Cli) -> None:
    """``store`` is from the file's folder, and the default of ``constrain store``."""
    Path("constrain.toml").write_text('store = "artifacts"\ngrammars = ["*.ebnf"]\nlazy = true\n')
    Path("yes.ebnf").write_text('s ::= "yes";')

    assert 0 == cli("compile-many").code
    listed = cli("store", "ls")
    assert 1 == len(listed.out.splitlines())
    assert 1 == len(list(Store("artifacts").entries()))
    assert 'store = "artifacts"' in cli("config").out.decode()
    Path("constrain.toml").write_text("store = 3\n")
    assert "constrain.toml:1:9: error: 'store' takes a folder" in cli("store", "ls").err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--shard", "2/2"),
        ("--shard", "x"),
        ("--executor", "dask://localhost:1", "--jobs", "2"),
        ("--executor", "spark://localhost"),
        ("-t", "none.json"),
    ],
)
def test_what_cannot_be_meant_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    """Exit code 2, and no store."""
    Path("yes.ebnf").write_text('s ::= "yes";')
    result = cli("compile-many", "yes.ebnf", "--store", "st", *arguments)

    assert 2 == result.code
    assert "error" in result.err
    assert not Path("st").exists()


def alive_in(group: int) -> list[str]:
    """Processes of a group that have not ended (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, own = path.read_text().rpartition(")")[2].split()[:3]
            if int(own) == group and state != "Z":
                found.append((path.parent / "cmdline").read_text())
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Ctrl-C ends it with 130, and its processes with it; what was compiled is there, whole."""
    jobs = [{"grammar": f"[a-e]{{{n}}}", "dialect": "regex", "lazy": True} for n in range(1, 400)]
    file = tmp_path / "jobs.jsonl"
    file.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    command = [sys.executable, "-m", "constrain.cli", "compile-many", str(file), "-j", "1"]
    running = subprocess.Popen(
        [*command, "--store", str(tmp_path / "st")],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # Shells let what they start in the background ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("st/*/*.cst")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, told = running.communicate(timeout=60)

    assert 130 == running.returncode, told
    assert b"Traceback" not in told
    deadline = time.monotonic() + 60
    while alive_in(running.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [] == alive_in(running.pid)
    store = Store(tmp_path / "st")
    assert 0 < len(list(store.entries())) < len(jobs)
    assert [] == list(store.verify())


@pytest.mark.parametrize("key", ["max-seconds", "max-memory"])
def test_a_number_of_any_size_in_a_file_of_jobs_is_answered(key: str, tmp_path: Path) -> None:
    """None is too large to be compared."""
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text(f'{{"name": "a.regex", "grammar": "a", "{key}": 1{"0" * 400}}}\n')
    share = ("--store", str(tmp_path / "store"), "--shard", "0/999999999")

    ended = called("compile-many", str(jobs), *share)

    assert (ended.failed, ended.code in (0, 2)) == ("", True), ended.err


def test_a_name_that_is_no_text_is_reported(cli: Cli) -> None:
    """Half a character, which JSON can say and no encoding can."""
    job = {"name": "\ud800", "grammar": "a(", "dialect": "regex"}
    Path("jobs.jsonl").write_text(json.dumps(job))
    result = cli("compile-many", "jobs.jsonl", "--store", "st", "-j", "1")

    assert (1, True) == (result.code, b"\\ud800" in result.out), result.out
