"""JSONTestSuite at byte level, by the network, by Earley, and through a matcher."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT
from support.grammars import JSON
from support.network import long_json, minimal_tables

from constrain.artifacts import Artifact, TokenRefusedError
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.explain.earley import explain_parser
from constrain.compiler.explain.report import Status
from constrain.compiler.frontend import Parser
from constrain.compiler.pipeline import build_engine

RATCHET = ROOT / "tests" / "ratchets" / "json_suite.txt"
SUITE = "suites/JSONTestSuite/test_parsing"

Data = Callable[[str], Path]


@pytest.fixture(scope="module")
def accepts() -> Callable[[bytes], bool]:
    """The network's verdict on a text."""
    found = Network(minimal_tables(JSON))

    def accepts(text: bytes) -> bool:
        if found.viable(text) < len(text):
            return False
        return found.may_end(found.read(found.start, text))

    return accepts


@pytest.fixture(scope="module")
def artifact(default_tokenizer: Tokenizer) -> Artifact:
    """JSON with the built-in tokenizer."""
    return compile_grammar(JSON, dialect="kbnf", tokenizer=default_tokenizer)


def test_what_is_json_is_accepted(data: Data, accepts: Callable[[bytes], bool]) -> None:
    """All 95 files that every parser must accept."""
    files = sorted(data(SUITE).glob("y_*.json"))
    assert 95 == len(files)
    assert [] == [file.name for file in files if not accepts(file.read_bytes())]


def test_what_is_not_is_rejected(data: Data, accepts: Callable[[bytes], bool]) -> None:
    """All 188 files that every parser must refuse; two nest 100,000 deep."""
    files = sorted(data(SUITE).glob("n_*.json"))
    assert 188 == len(files)
    assert [] == [file.name for file in files if accepts(file.read_bytes())]


def test_what_is_open_is_recorded(
    data: Data, accepts: Callable[[bytes], bool], update: bool
) -> None:
    """The verdict on each file that a parser may accept or refuse is the recorded one."""
    files = sorted(data(SUITE).glob("i_*.json"))
    assert 35 == len(files)
    lines = [
        f"{file.name}\t{'accepted' if accepts(file.read_bytes()) else 'rejected'}\n"
        for file in files
    ]
    if update:
        RATCHET.write_text("".join(lines), encoding="utf-8")
    assert "".join(lines) == RATCHET.read_text(encoding="utf-8")


def test_earley_explains_as_the_network_decides(
    data: Data, accepts: Callable[[bytes], bool], full: bool
) -> None:
    """The explanation's verdict and place are the network's, on texts of moderate size."""
    parser = build_engine(JSON, dialect="kbnf", engine="network")
    assert isinstance(parser, Parser)
    assert parser.network is not None
    found = Network(parser.network)
    files = [f for f in sorted(data(SUITE).iterdir()) if f.stat().st_size < 3000]
    for file in files if full else random.Random(6).sample(files, 60):
        text = file.read_bytes()
        verdict = explain_parser(parser.recogniser(), text)
        assert accepts(text) == (verdict.status is Status.ACCEPTED), file.name
        assert found.viable(text) == verdict.offset, file.name


def test_a_matcher_agrees(
    data: Data, accepts: Callable[[bytes], bool], artifact: Artifact, default_tokenizer: Tokenizer
) -> None:
    """Token by token: accepted texts to their end, the others not."""
    for file in sorted(data(SUITE).glob("[yn]_*.json")):
        octets = file.read_bytes()
        try:
            ids = default_tokenizer.encode(octets.decode("utf-8"))
        except UnicodeDecodeError:
            continue
        if len(octets) < 3000:
            assert accepts(octets) == taken(artifact, ids), file.name


def taken(artifact: Artifact, ids: list[int]) -> bool:
    """Whether a matcher takes all tokens and may end after them."""
    matcher = artifact.matcher()
    try:
        for token_id in ids:
            matcher.advance(token_id)
    except TokenRefusedError:
        return False
    return matcher.is_accepting


def test_a_long_document(artifact: Artifact, default_tokenizer: Tokenizer, full: bool) -> None:
    """A megabyte of JSON (a tenth without --full); what is kept grows with depth, not length."""
    fresh = load_bytes(artifact.to_bytes())
    size = 1_000_000 if full else 50_000
    held = []
    for length in (size // 10, size):
        assert taken(fresh, default_tokenizer.encode(long_json(length)))
        network = fresh.machine().network
        held.append(network.nbytes)
        assert len(network.threads.several) + len(network.stacks.entries) < 1_000
    assert held[1] < 2 * held[0]


def test_sixty_thousand_brackets(default_tokenizer: Tokenizer, deep: int) -> None:
    """Nesting has no bound, and no recursion."""
    artifact = compile_grammar(
        JSON, dialect="kbnf", tokenizer=default_tokenizer, tokenization="any"
    )
    (opening,) = default_tokenizer.encode("[")
    (closing,) = default_tokenizer.encode("]")
    matcher = artifact.matcher()
    for _ in range(deep):
        matcher.advance(opening)
    assert not matcher.is_accepting
    for _ in range(deep):
        matcher.advance(closing)
    assert matcher.is_accepting
