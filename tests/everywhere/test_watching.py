"""What is watched is done again when a file changes that it has read, and nothing else is."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest
from support.cli import Cli

from constrain.cli.everywhere.again import Again, opened

# Seconds after which nothing more is expected.
PATIENCE = 60


class Lines:
    """What a program writes, line by line."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.program = program
        self._lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.program.stdout is not None
        for line in self.program.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, last: str) -> list[str]:
        """The lines up to the next one that begins so."""
        found = [self._lines.get(timeout=PATIENCE)]
        while not found[-1].startswith(last):
            found.append(self._lines.get(timeout=PATIENCE))
        return found


def heard() -> None:
    """An interruption is heard, also where the tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Lines]:
    """A command at work, which somebody interrupts in the end."""
    program = subprocess.Popen(
        [sys.executable, "-m", "constrain.cli", *arguments, "--watch"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        preexec_fn=heard,
    )
    try:
        yield Lines(program)
        program.send_signal(signal.SIGINT)
        assert program.wait(PATIENCE) == 0
    finally:
        program.kill()
        program.wait()
        assert program.stdout is not None
        program.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are signals here")
def test_check_follows_imports_and_the_project_file(tmp_path: Path) -> None:
    """One error more, one less, a file more, and what the project file silences."""
    pytest.importorskip("watchfiles", reason="--watch needs watchfiles")
    project, words = tmp_path / "constrain.toml", tmp_path / "words.lark"
    project.write_text('[grammars]\n"*.lark" = { start = "start" }\n')
    words.write_text('word: "a"\nstart: word\n')
    (tmp_path / "use.lark").write_text("%import .words.word\nstart: word\n")
    with watching(tmp_path, "check") as lines:
        assert ["2 grammars: nothing found; watching"] == lines.until("2 grammars")
        words.write_text("words: b\nstart: words\n")
        found = lines.until("2 grammars")
        assert found[-1] == "2 grammars: 2 errors; watching"
        assert any(
            line.startswith("use.lark:1:16: error: words.lark has no 'word'") for line in found
        )
        words.write_text('word: "a"\nstart: word\nlost: "b"\n')
        assert lines.until("2 grammars")[-1] == "2 grammars: 1 warning; watching"
        project.write_text('[grammars]\n"*.lark" = { allow = ["unreachable"] }\n')
        assert ["2 grammars: nothing found; watching"] == lines.until("2 grammars")
        (tmp_path / "more.lark").write_text('start: "x" y\n')
        assert lines.until("3 grammars")[-1] == "3 grammars: 1 error; watching"


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are signals here")
def test_cases_are_run_again(tmp_path: Path) -> None:
    """Where the grammar, or the cases, change."""
    pytest.importorskip("watchfiles", reason="--watch needs watchfiles")
    grammar, cases = tmp_path / "a.ebnf", tmp_path / "a.test"
    grammar.write_text('start ::= "a";\n')
    cases.write_text("===\none\n===\na\n---\n")
    with watching(tmp_path, "test", "a.ebnf") as lines:
        assert ["1 case: 1 passed; watching"] == lines.until("1 case")
        grammar.write_text('start ::= "b";\n')
        found = lines.until("1 case")
        assert found[0].startswith("a.test:4:1: error: one: should be accepted, and is rejected")
        assert found[-1] == "1 case: 1 failed; watching"
        cases.write_text("===\none\n===\nb\n---\n")
        assert ["1 case: 1 passed; watching"] == lines.until("1 case")
        grammar.write_text("start ::= ;\n")
        assert lines.until("0 cases")[-1] == "0 cases: 1 file with errors; watching"


@pytest.mark.quick
def test_files_that_are_opened_are_noted(tmp_path: Path) -> None:
    """By all blocks around; those of Python are not."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    with opened() as outer:
        (tmp_path / "a").read_bytes()
        with opened() as inner:
            (tmp_path / "b").read_bytes()
            Path(subprocess.__file__).read_bytes()
    (tmp_path / "a").read_bytes()

    assert [str(tmp_path / "a"), str(tmp_path / "b")] == outer
    assert [str(tmp_path / "b")] == inner


def test_what_has_not_changed_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three files the one alone that was written; what they are listed by is read each time."""
    pytest.importorskip("watchfiles", reason="--watch needs watchfiles")
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file in files:
        file.write_text("x")
    done, shown = list[str](), list[str]()

    def work(name: str) -> str:
        done.append(Path(name).name)
        return Path(name).read_text()

    def show(results: list[str]) -> tuple[str, str]:
        shown.append("".join(results))
        if len(shown) == 1:
            files[1].write_text("changed")
        elif len(shown) == 2:
            raise KeyboardInterrupt
        return "", ""

    code = Again(lambda: [str(file) for file in files], work, show).run()
    assert 0 == code
    assert ["a", "b", "c", "b"] == done
    assert ["xxx", "xchangedx"] == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "-", "--watch"], "--watch is of files"),
        (["check", "a.ebnf", "--format", "json", "--watch"], "--watch is of files"),
        (["test", "a.ebnf", "--update", "--watch"], "it takes none of --update"),
        (["test", "-", "--watch"], "--watch is of files"),
    ],
)
def test_what_cannot_be_watched(cli: Cli, arguments: list[str], message: str) -> None:
    """Streams, and results for programs."""
    ran = cli(*arguments)

    assert 2 == ran.code
    assert message in ran.err
