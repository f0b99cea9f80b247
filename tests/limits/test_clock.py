"""Limits of time are of the processor: however long a busy machine lets the work wait."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import EXAMPLES, sampled
from support.cli import Cli, content
from support.limits import work

from constrain.cli import watch
from constrain.compiler import (
    Compiler,
    Limits,
    children,
    compile_grammar,
    limits,
    load_tokenizer,
)
from constrain.compiler.children import ChildClock
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.dialects import dialect_of
from constrain.compiler.limits import Clock, in_force, making_tables
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.serving import workers
from constrain.compiler.serving.service import SERVER_OPTIONS, CompileService
from constrain.compiler.tokenizers import Tokenizer, default_path

MUNCH = 'start: "(" start ")" | WORD\nWORD: /[a-z]+/\n%ignore " "\n'
COMMANDS = {
    "compile": ("date.ebnf", "-o", "d.cst"),
    "mask": ("date.ebnf", "--prefix", "20"),
    "explain": ("date.ebnf", "date.ebnf"),
    "check": ("date.ebnf",),
    "convert": ("date.ebnf", "--to", "regex"),
    "inspect": ("date.ebnf", "-o", "page.html"),
    "sample": ("date.ebnf", "-n", "3"),
    "show": ("date.ebnf",),
    "viz": ("date.ebnf",),
    "diff": ("date.ebnf", "date.ebnf"),
}


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which an hour passes whenever somebody looks at the clock on the wall."""
    hours = itertools.count(time.monotonic(), 3_600.0)
    clocks = SimpleNamespace(monotonic=lambda: next(hours), thread_time=time.thread_time)
    monkeypatch.setattr(limits, "time", clocks)
    monkeypatch.setattr(watch, "time", clocks)


@pytest.mark.quick
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_busy_machine_refuses_nothing(command: str, cli: Cli) -> None:
    """Each command does what it does on an idle one."""
    name, *rest = COMMANDS[command]
    Path(name).write_bytes((EXAMPLES / name).read_bytes())
    found = cli(command, name, *rest)

    assert (1 if command == "explain" else 0) == found.code, found.err


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    "path",
    [path for path in sorted(EXAMPLES.glob("*.*")) if dialect_of(path.name)],
    ids=lambda path: path.name,
)
def test_a_busy_machine_compiles_the_same(
    path: Path, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte by byte."""
    text = path.read_text(encoding="utf-8")
    options = CompileOptions(dialect=dialect_of(path.name), tokenization="any")
    found = compile_grammar(text, tokenizer=default_tokenizer, options=options)
    monkeypatch.undo()
    idle = compile_grammar(text, tokenizer=default_tokenizer, options=options)

    assert idle.to_bytes() == found.to_bytes()


@pytest.mark.quick
def test_what_other_threads_do_is_not_counted() -> None:
    """But for those that look: a compilation may go on in another one."""
    clock, ready = Clock(1.0), threading.Event()
    left = [0.0, 0.0]

    def beside() -> None:
        work(0.1)
        ready.wait()
        left[0] = clock.left()
        work(0.1)
        left[1] = clock.left()

    other = threading.Thread(target=beside)
    other.start()
    before = clock.left()
    ready.set()
    other.join()

    assert before > 0.9
    assert left[0] > 0.9
    assert left[1] <= left[0] - 0.1


@pytest.mark.quick
def test_a_clock_counts_where_it_does_not_stand_still() -> None:
    """What is waited for is never counted."""
    clock = Clock(1.0)
    clock.stand_still()
    work(0.1)
    stood = clock.left()
    clock.go_on()
    time.sleep(0.05)
    work(0.1)

    assert stood > 0.95
    assert 0.5 < clock.left() <= stood - 0.1
    assert not clock.is_over()
    assert Clock(0).is_over()


def test_what_a_grammar_needs_later_is_by_the_clock_of_then() -> None:
    """That of the compilation that made the recogniser is over, and of nobody's interest."""
    given = Limits(seconds=10).started()
    recogniser = build_engine(MUNCH, dialect="lark", limits=given)
    assert given.meter is not None
    given.meter.clock.spend(10)
    assert given.meter.clock.left() < 0

    assert build_artifact(recogniser, load_tokenizer(default_path(), cache=None)).artifact


# --- tables of tokenizers


@sampled(
    "name",
    ("gpt2",),
    ("gpt2", "cl100k_base", "qwen2_5", "mistral_nemo", "mistral-v3", "whisper-multilingual"),
)
def test_tables_are_not_counted_against_the_grammar(name: str, data: Callable[[str], Path]) -> None:
    """A grammar of a letter is compiled within a time that is a part of what its tokenizer takes,
    and a grammar that takes long is refused by that time."""
    path = data(f"tokenizers/{name}/tokenizer.json")
    with in_force(Limits(seconds=0.2)):
        compiler = Compiler(load_tokenizer(path, cache=None), cache=None)
    compiler.compile("a ::= 'x';", dialect="kbnf", eos=_eos(compiler), limits=Limits(seconds=0.8))

    begin = time.thread_time()
    with pytest.raises(LimitError, match="simplify the grammar"):
        compiler.compile(
            "(a|b)*a(a|b){40}",
            dialect="regex",
            engine="dfa",
            limits=Limits(seconds=0.5, states=1 << 30),
            eos=_eos(compiler),
        )
    assert time.thread_time() - begin < 1.2 * 0.5 + 0.5


def _eos(compiler: Compiler) -> list[int]:
    return [] if compiler.tokenizer.eos else [0]


def test_tables_have_a_limit_of_their_own(cli: Cli) -> None:
    """And a message of their own, which blames no rule; once there are tables, it holds no more."""
    grammar = content(Path("a.kbnf"), "a ::= 'x';")
    refused = cli("compile", grammar, "--max-table-seconds", "0", "--no-cache", "-o", "a.cst")
    assert (3, b"") == (refused.code, refused.out)
    assert "error: the tables of this tokenizer are being made, once: " in refused.err
    assert "; raise --max-table-seconds" in refused.err

    # Here the tokenizer is read before the clock starts, which "--tokenization any" needs too.
    compiler, none = (
        Compiler(load_tokenizer(default_path(), cache=None), cache=None),
        Limits(table_seconds=0),
    )
    with pytest.raises(LimitError) as found:
        compiler.compile("a ::= 'x';", dialect="kbnf", limits=none)
    assert (True, ()) == (found.value.is_of_tables, found.value.rules)
    assert str(found.value).endswith("; raise --max-table-seconds or say --tokenization any")
    compiler.compile("a ::= 'x';", dialect="kbnf", tokenization="any", limits=none)
    compiler.compile("a ::= 'x';", dialect="kbnf")
    compiler.compile("a ::= 'x' 'y';", dialect="kbnf", limits=none)


@pytest.mark.quick
def test_all_tables_of_a_compilation_have_one_limit() -> None:
    """However many they are; the grammar's time stands still in each."""
    given = Limits(seconds=0.1, table_seconds=0.25)
    with in_force(given):
        for _ in range(2):
            with making_tables():
                work(0.1)
                limits.check_in_force("the trie")
        with pytest.raises(LimitError, match="once: the trie needs") as found, making_tables():
            work(0.1)
            limits.check_in_force("the trie")
        limits.check_in_force("the grammar")
        work(0.1)
        with pytest.raises(LimitError, match=r"the grammar needs more than 0\.1 seconds"):
            limits.check_in_force("the grammar")
    assert found.value.is_of_tables


# --- processes


@pytest.fixture
def spinning() -> Iterator[Callable[[str], "subprocess.Popen[bytes]"]]:
    """Starts Python on a program, and ends it."""
    started = []

    def start(program: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.skipif(not children.resident_bytes_of(1), reason="the system does not tell")
def test_the_time_of_a_process_is_its_own(
    spinning: Callable[[str], "subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that waits takes none, until it has waited for very long."""
    waits = spinning("print(flush=True); import time; time.sleep(600)")
    assert waits.stdout is not None
    waits.stdout.readline()
    clock = ChildClock(waits.pid, 0.2)
    busy = ChildClock(spinning("while True: pass").pid, 0.2)
    while not busy.is_over():
        time.sleep(0.01)

    assert not clock.is_over()
    monkeypatch.setattr(children, "IDLE_SECONDS", 0.0)
    assert clock.is_over()


@pytest.mark.skipif(not children.resident_bytes_of(1), reason="the system does not tell")
def test_a_process_of_a_service_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is compiled within a second of the processor's time, though its process gets none
    for longer than that."""
    options = replace(SERVER_OPTIONS, dialect="kbnf", limits=Limits(seconds=0.5, table_seconds=0.5))
    monkeypatch.setattr(workers, "_GRACE", 0.0)
    with CompileService(default_path(), workers=1) as service:
        service.get("s ::= 'a';", options).result(60)
        [process] = service._workers._all
        os.kill(process._running.pid, signal.SIGSTOP)
        late = service.get("s ::= 'b';", options)
        time.sleep(1.5)
        os.kill(process._running.pid, signal.SIGCONT)

        assert late.result(60)
