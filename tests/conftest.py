"""Options and fixtures that all tests share.

Tests on real tokenizers and grammars read them below ``CONSTRAIN_TEST_DATA``. Without that
variable they skip and say so; with it, a missing file is a failure. ``--full`` runs the
counts that the project states, without it a sample with a fixed seed.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.tokenizers import default_path

VARIABLE = "CONSTRAIN_TEST_DATA"


def pytest_addoption(parser: pytest.Parser) -> None:
    """--full and --update."""
    parser.addoption("--full", action="store_true", help="run the full counts of large tests")
    parser.addoption("--update", action="store_true", help="rewrite snapshots and golden files")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables of tests are kept apart from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


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
        return load_tokenizer(data(f"tokenizers/{name}/tokenizer.json"))

    return load


@pytest.fixture(scope="session")
def gpt2(real: Callable[[str], Tokenizer]) -> Tokenizer:
    """GPT-2's tokenizer, out of the test data."""
    return real("gpt2")
