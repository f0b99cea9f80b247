"""Pipes are read where the command line names them, and nowhere waited for where a file does."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from support import tokenizer_json
from support.cli import Cli, content, names

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other pipes")

GRAMMAR, CASES = 'a ::= "x";\n', "===\none\n===\nx\n---\n"
_NO_FILE = "it is no regular file"


@pytest.fixture(autouse=True)
def no_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, in which whoever waits for a pipe is woken by an error."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail("it waits")

    monkeypatch.chdir(tmp_path)
    kept = signal.signal(signal.SIGALRM, end)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, kept)


@contextmanager
def pipe(data: bytes) -> Iterator[str]:
    """The name of a pipe that brings this once, as shells give it for ``<(…)``."""
    ours, theirs = os.pipe()
    os.write(theirs, data)
    os.close(theirs)
    try:
        yield f"/dev/fd/{ours}"
    finally:
        os.close(ours)


def test_a_command_line_may_name_pipes(cli: Cli, tmp_path: Path) -> None:
    """Grammars, artifacts, tokenizers, cases, texts and project files: each is read once."""
    grammar = content(tmp_path / "g.ebnf", GRAMMAR)
    document = tokenizer_json("abx", added=[(3, "<eos>", True)])
    tokenizer = content(tmp_path / "t.json", json.dumps(document))
    assert cli("compile", grammar, "-t", tokenizer, "--eos", "<eos>", "-o", "g.cst").code == 0
    text, artifact = GRAMMAR.encode(), Path("g.cst").read_bytes()
    for data, line, out in (
        (text, ("show", "-d", "kbnf"), "start a"),
        (text, ("check", "-d", "kbnf"), ""),
        (text, ("convert", "-d", "kbnf", "--to", "gbnf"), "root"),
        (text, ("sample", "-d", "kbnf"), "x"),
        (text, ("diff", "-d", "kbnf", grammar), "equal"),
        (text, ("test", "-d", "kbnf", "{}", content(tmp_path / "c.test", CASES)), ""),
        (CASES.encode(), ("test", grammar), ""),
        (artifact, ("mask",), '"x"'),
        (artifact, ("inspect",), ""),
        (artifact, ("show",), "start"),
        (b"x", ("explain", grammar), "accepted"),
        (b"x", ("tokenize", "--file"), "x"),
        (json.dumps(document).encode(), ("tokenize", "bax", "-f", "ids", "-t"), "1\n0\n2"),
        (b'allow = ["left-recursion"]', ("config", "--config"), "project file"),
    ):
        with pipe(data) as name:
            named = [each.format(name) for each in line]
            done = cli(*named, *([] if "{}" in line else [name]))
        assert (done.code, out in done.out.decode()) == (0, True), (line, done)


def test_cases_of_a_pipe_or_standard_input_are_not_updated(cli: Cli, tmp_path: Path) -> None:
    """No file is written for them."""
    grammar = content(tmp_path / "g.ebnf", GRAMMAR)
    cases = CASES.encode() + b"count: 7\n"
    before = names(tmp_path)
    refused = cli("test", grammar, "-", "--update", stdin=cases)
    with pipe(cases) as name:
        done = cli("test", grammar, name, "--update")
    for each in (refused, done):
        assert (each.code, "--update rewrites files" in each.err) == (2, True), each
    assert names(tmp_path) == before


Made = Callable[[Path], tuple[str, ...]]


def _of_cases(setting: str) -> Made:
    def made(folder: Path) -> tuple[str, ...]:
        content(folder / "g.ebnf", GRAMMAR)
        case = "===\none\n===\nx\n---\ntokens: 1\n"
        return "test", content(folder / "g.test", f"{setting}: pipe\n{case}")

    return made


def _of_a_job(key: str) -> Made:
    def made(folder: Path) -> tuple[str, ...]:
        job = {"grammar": GRAMMAR, "dialect": "kbnf", "name": "a"}
        if key == "path":
            job = {"dialect": "kbnf"}
        jobs = content(folder / "a.jsonl", json.dumps({**job, key: "pipe"}))
        return "compile-many", jobs, "--store", str(folder / "store")

    return made


def _of_a_project(text: str, *command: str) -> Made:
    def made(folder: Path) -> tuple[str, ...]:
        content(folder / "g.ebnf", GRAMMAR)
        content(folder / "constrain.toml", text)
        return command

    return made


def _of_an_import(folder: Path) -> tuple[str, ...]:
    (folder / "pipe").rename(folder / "p.lark")
    return "check", content(folder / "g.lark", "start: X\n%import .p.X\n")


def _of_merges(folder: Path) -> tuple[str, ...]:
    (folder / "pipe").rename(folder / "merges.txt")
    return "tokenize", "x", "-t", content(folder / "vocab.json", "{}")


_NAMED: dict[str, Made] = {
    "grammar of cases": _of_cases("grammar"),
    "tokenizer of cases": _of_cases("tokenizer"),
    "path of a job": _of_a_job("path"),
    "tokenizer of a job": _of_a_job("tokenizer"),
    "grammar of a project": _of_a_project('grammars = ["pipe"]', "check"),
    "cases of a project": _of_a_project('grammars = ["g.ebnf"]\ntests = ["pipe"]', "test"),
    "tokenizer of a project": _of_a_project('tokenizer = "pipe"', "mask", "g.ebnf"),
    "named tokenizer": _of_a_project('[tokenizers]\na = "pipe"', "mask", "g.ebnf", "-t", "a"),
    "tokenizer of a grammar": _of_a_project(
        '[grammars]\n"g.ebnf" = {tokenizer = "pipe"}', "mask", "g.ebnf"
    ),
    "import": _of_an_import,
    "merges": _of_merges,
}


@pytest.mark.parametrize("name", _NAMED)
def test_a_file_may_not_name_pipes(cli: Cli, tmp_path: Path, name: str) -> None:
    """It is refused at its place, and not waited for."""
    os.mkfifo(tmp_path / "pipe")
    done = cli(*_NAMED[name](tmp_path))
    assert (done.code, _NO_FILE in done.out.decode() + done.err) == (2, True), done


def test_pipes_in_folders_are_passed_over(cli: Cli, tmp_path: Path) -> None:
    """Among grammars, cases, schemas, and beside files."""
    folder = tmp_path / "all"
    (folder / "accept").mkdir(parents=True)
    (folder / "schemas").mkdir()
    content(folder / "g.ebnf", GRAMMAR)
    content(folder / "accept" / "one", "x")
    content(tmp_path / "g.ebnf", GRAMMAR)
    schema = content(tmp_path / "s.schema.json", '{"enum": ["a"]}')
    document = tokenizer_json("abx", added=[(3, "<eos>", True)])
    tokenizer = content(folder / "tokenizer.json", json.dumps(document))
    for name in ("p.ebnf", "p.test", "p.json", "accept/p", "schemas/p.json"):
        os.mkfifo(folder / name)
    os.mkfifo(folder / "tokenizer_config.json")
    os.mkfifo(tmp_path / "g.test")
    assert cli("check", str(folder)).code == 0
    assert "2 cases" not in cli("test", "g.ebnf", str(folder)).err
    assert "no cases of the same name" in cli("test", "g.ebnf").err
    assert cli("check", schema, "--schemas", str(folder / "schemas")).code == 0
    assert cli("tokenize", "x", "-t", tokenizer).code == 0
    assert cli("tokenize", "x", "-t", str(folder)).code == 0


def test_pipes_in_a_store_and_beside_thin_artifacts_are_none_of_their_files(
    cli: Cli, tmp_path: Path
) -> None:
    """A key is not there, and tables are missing."""
    grammar = content(tmp_path / "g.ebnf", GRAMMAR)
    tokenizer = content(
        tmp_path / "t.json", json.dumps(tokenizer_json("abx", added=[(3, "<eos>", True)]))
    )
    options = (grammar, "-t", tokenizer, "--eos", "<eos>")
    key = cli("store", "key", *options).out.decode().strip()
    assert cli("compile", *options, "--thin", "-o", "g.cst").code == 0
    assert cli("store", "put", "g.cst", "--key", key, "--store", "store", "--thin").code == 0
    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    made = written - {tmp_path / name for name in ("g.ebnf", "t.json", "g.cst")}
    assert len(made) == 3, made
    for path in made:
        path.unlink()
        os.mkfifo(path)
    refused = cli("mask", "g.cst")
    assert (refused.code, "regular" in refused.err) == (2, True), refused
    assert cli("store", "get", key, "--store", "store").code == 1
    assert cli("store", "verify", "--store", "store").code in (0, 1)
    assert cli("store", "ls", "--store", "store").code == 0
