"""Options and fixtures that all tests share.

Tests on real tokenizers and grammars read them below ``CONSTRAIN_TEST_DATA``. Without that
variable they skip and say so; with it, a missing file is a failure. ``--full`` runs the
counts that the project states, without it a sample with a fixed seed: large tests take fewer cases,
and the whole suite takes ``SAMPLED`` of a test's parameters. Tests that are named run with all.
"""

import gc
import io
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import EXAMPLES, compiled, constrain, forked, tokenizer_of, written
from support.automata import build_automaton
from support.cli import Cli, Result
from support.container import KINDS, VARIANTS
from support.drawing import DATE
from support.grammars import JSON
from support.matcher import Compile
from support.network import ENGINES, made

from constrain.artifacts import Artifact
from constrain.artifacts.store.folders import default_folder
from constrain.cli.app import run
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.explain import lockstep
from constrain.compiler.files.cache import Cache
from constrain.compiler.frontend import Automaton
from constrain.compiler.tokenizers import default_path

if TYPE_CHECKING:
    from support.corpus.tokenizer_case import Case

VARIABLE = "CONSTRAIN_TEST_DATA"

# Set in the processes that pytest-xdist starts.
WORKER = "PYTEST_XDIST_WORKER"

# So many of a test's parameters run where the whole suite does, without --full.
SAMPLED = 2

# What is reported of tests that skip because it is not set.
WITHOUT_DATA = "without data"


def pytest_addoption(parser: pytest.Parser) -> None:
    """--full and --update."""
    parser.addoption("--full", action="store_true", help="run the full counts of large tests")
    parser.addoption("--update", action="store_true", help="rewrite snapshots and golden files")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite, or ``-m`` of it, runs on all cores (pytest-xdist) unless ``-n`` says
    otherwise; tests that are named run in one process, which begins at once."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    # subtle: a worker comes by here as well, and must not start workers of its own.
    is_worker = WORKER in os.environ
    if whole and not is_worker and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parameters of which a sample is run without --full (``support.sampled``)."""
    for marker in metafunc.definition.iter_markers("sampled"):
        names, some, every = marker.args
        metafunc.parametrize(names, every if metafunc.config.getoption("--full") else some)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every other process goes through folders backwards: in a fresh clone each compiles half of
    the files and finds the other half compiled."""
    report = yield
    if isinstance(collector, pytest.Directory) and os.environ.get(WORKER, "gw0")[-1] in "13579":
        report.result.reverse()
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A sample of the parameters of each test; the same one in each process and each run."""
    items.sort(key=lambda item: item.path)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not whole or config.getoption("--full") or config.getoption("--update"):
        return
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    chosen = {
        item
        for name, alike in cases.items()
        for item in random.Random(name).sample(alike, min(SAMPLED, len(alike)))
    }
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is imported and collected stays: no garbage is looked for meanwhile."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Nor in it afterwards, and rarely in what tests make: both took a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables of tests are kept apart from the user's, in one folder for all processes, with a key
    of their own, so that no file is made in the user's home; so is the bytecode of children where
    none is to be written beside the sources."""
    session = tmp_path_factory.getbasetemp()
    if WORKER in os.environ:
        session = session.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSTRAIN_CACHE_DIR", str(session / "cache"))
        patch.setenv("CONSTRAIN_CACHE_KEY", "that of the tests")
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(session / "bytecode"))
        yield
        forked.stop()


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether large tests run in full."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def deep(full: bool) -> int:
    """Levels of nesting beyond any Python stack: sixty thousand in full."""
    return 60_000 if full else 6_000


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    """Whether snapshots are rewritten."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """The path of a file of the test data; skips where there is no test data."""
    root = os.environ.get(VARIABLE)
    if not root:
        pytest.skip(f"{VARIABLE} is not set: no real tokenizers and grammars to test on")

    def find(name: str) -> Path:
        path = Path(root, name)
        if not path.exists():
            pytest.fail(f"{VARIABLE} is set, but {path} is missing")
        return path

    return find


@pytest.fixture(scope="session")
def default_tokenizer() -> Tokenizer:
    """The embedded default tokenizer."""
    return load_tokenizer(default_path())


@pytest.fixture(scope="session")
def real(data: Callable[[str], Path]) -> Callable[[str], Tokenizer]:
    """A tokenizer of the test data by the name of its folder; each is loaded once."""

    @cache
    def load(name: str) -> Tokenizer:
        path = data(f"tokenizers/{name}/tokenizer.json")
        return load_tokenizer(path, cache=Cache(default_folder()))

    return load


@pytest.fixture(scope="session")
def gpt2(real: Callable[[str], Tokenizer]) -> Tokenizer:
    """GPT-2's tokenizer, out of the test data."""
    return real("gpt2")


@pytest.fixture
def fewer_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two languages are compared in a tenth of the pairs of states that ``diff`` looks at."""
    monkeypatch.setattr(lockstep, "_MOST_PAIRS", lockstep._MOST_PAIRS // 10)


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Cli:
    """Runs the command line inside this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        monkeypatch.setattr(sys, "argv", ["constrain", *arguments])
        capsysbinary.readouterr()
        code = run()
        out, err = capsysbinary.readouterr()
        return Result(code, out, err.decode())

    return call


@pytest.fixture(scope="session")
def date_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the compiled example of dates."""
    path = tmp_path_factory.mktemp("artifact") / "date.cst"
    assert constrain("compile", str(EXAMPLES / "date.ebnf"), "-o", str(path)).returncode == 0
    return path


@pytest.fixture(scope="session")
def date_automaton() -> Automaton:
    """The automata of a grammar of dates."""
    return build_automaton(DATE, dialect="kbnf")


@pytest.fixture(scope="session")
def dates(default_tokenizer: Tokenizer) -> dict[str, Artifact]:
    """The example grammar of dates with the default tokenizer, by kind."""
    text = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
    return {kind: compiled(text, default_tokenizer, kind) for kind in KINDS}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Artifact]:
    """Artifacts small enough to try every bit of; the tokens are a, b, ab and an end of text."""
    letters = tokenizer_of(
        tmp_path_factory.mktemp("letters"), "ab", ["a b"], added=[(3, "<eos>", True)]
    )
    return {
        (kind, limit): compiled(
            's ::= "ab" | "b" s;', letters, kind, eos=["<eos>"], max_artifact_bytes=limit
        )
        for kind, limit in VARIANTS
    }


@pytest.fixture(scope="session")
def artifacts(default_tokenizer: Tokenizer) -> Compile:
    """Compiles a grammar for the default tokenizer, once."""
    known: dict[tuple[Any, ...], Artifact] = {}

    def find(text: str, kind: str, **options: Any) -> Artifact:
        key = (text, kind, *options.items())
        if key not in known:
            known[key] = compiled(text, default_tokenizer, kind, **options)
        return known[key]

    return find


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A vocabulary with all that is not text: holes, an empty token, special ones."""
    return tokenizer_of(
        tmp_path_factory.mktemp("odd"),
        "abc",
        ["a b", "ab c"],
        extra={"": 7, "語": 31},
        added=[(9, "<eos>", True), (10, "abc<end>", True), (33, "<b>", False)],
    )


@pytest.fixture(scope="session")
def json_artifacts(default_tokenizer: Tokenizer) -> dict[str, Artifact]:
    """JSON by engine, with the built-in tokenizer."""
    return {engine: made(JSON, default_tokenizer, engine).completed for engine in ENGINES}


@pytest.fixture(scope="session")
def case(data: Callable[[str], Path]) -> "Callable[[str], Case]":
    """A tokenizer of the test data beside its own library; each is loaded once."""
    from support.corpus.tokenizer_case import Case

    return cache(lambda name: Case(data(f"tokenizers/{name}/tokenizer.json"), shared=True))


@pytest.fixture(scope="session")
def normalizing(data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> "Case":
    """A small tokenizer with a normalization form before it."""
    from support.corpus.tokenizer_case import Case

    read = json.loads(data("tokenizers/tiny-bpe-1000/tokenizer.json").read_bytes())
    return Case(
        written(tmp_path_factory.mktemp("nfc"), {**read, "normalizer": {"type": "NFC"}}),
        shared=True,
    )


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> "Callable[[str], Case]":
    """A small tokenizer of ``support.corpus.small_tokenizers`` beside its library."""
    from support.corpus.small_tokenizers import small_tokenizer
    from support.corpus.tokenizer_case import Case

    return cache(
        lambda name: Case(small_tokenizer(name, tmp_path_factory.mktemp(name)), shared=True)
    )


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Tests that lack their data are counted by themselves: a line of the summary says so."""
    if report.skipped and VARIABLE in str(report.longrepr):
        return WITHOUT_DATA, "s", "SKIPPED"
    return None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """How many tests lacked their data; with --full what tests counted (``record_property``)."""
    if lacking := len(terminalreporter.getreports(WITHOUT_DATA)):
        terminalreporter.write_line(
            f"{lacking} tests on real tokenizers and grammars were skipped: {VARIABLE} names no "
            f"folder that holds them (.github/CONTRIBUTING.md says how to get them)"
        )
    if not config.getoption("--full"):
        return
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        if report.when == "call" and report.user_properties:
            counted = ", ".join(f"{value:,} {name}" for name, value in report.user_properties)
            terminalreporter.write_line(f"{report.nodeid}: {counted}")
