"""Prepared cases of six grammars, of six engines: verdicts, places and expectations that other
parsers give."""

import random
from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from support.cli import Cli
from support.testing.prepared import FOLDER, ORACLES, Oracle, status_of_tokens

from constrain.artifacts.network.tables import NetworkTables
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.automata.dump import class_text, ranges
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar, Parser
from constrain.compiler.options import CompileOptions
from constrain.compiler.testing.cases import Case
from constrain.compiler.testing.format import parse
from constrain.compiler.testing.notation import tokens_of
from constrain.compiler.tokenizers import default_path

# What reads the texts of each: call.gbnf is a network with token terminals.
ENGINES = {
    "time.regex": Automaton,
    "expression.ebnf": Parser,
    "statements.lark": MaximalMunchGrammar,
    "person.schema.json": Parser,
    "log.gbnf": NetworkTables,
    "call.gbnf": Automaton,
}

STATUS = {"accepted": "accept", "rejected": "reject", "incomplete": "incomplete"}


def prepared(name: str) -> tuple[Case, ...]:
    """The cases of a file."""
    path = next(FOLDER.glob(f"{name}.test"))
    return parse(path.read_text(encoding="utf-8"), path.name).cases


def said(case: Case) -> dict[str, str]:
    """Its expectations."""
    return {each.key: each.value for each in case.expectations}


def place_in(text: str, at: str) -> int:
    """The characters before a line and column."""
    line, column = map(int, at.split(":"))
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1


def test_all_prepared_cases_have_their_verdicts_places_and_expectations(cli: Cli) -> None:
    """At least 50 for each grammar, at least 10 of each kind."""
    found = cli("test", str(FOLDER))

    assert (found.code, found.out.decode()) == (0, "")
    for grammar in ENGINES:
        kinds = Counter(case.kind.value for case in prepared(grammar.split(".")[0]))
        assert sum(kinds.values()) >= 50
        assert min(kinds[kind] for kind in STATUS.values()) >= 10


@pytest.mark.quick
@pytest.mark.parametrize("name", ENGINES)
def test_the_six_grammars_are_of_different_engines(name: str) -> None:
    """A DFA, networks, one that counts, and a lexer below one."""
    path = FOLDER / name
    dialect = {".ebnf": "kbnf", ".json": "json-schema"}.get(path.suffix, path.suffix[1:])
    tokenization = "any" if path.suffix == ".gbnf" else None
    options = CompileOptions(dialect=dialect, tokenization=tokenization)
    found = explainer_of_grammar(path.read_text(encoding="utf-8"), options, name).recogniser

    assert isinstance(found, ENGINES[name])
    assert bool(getattr(found, "token_names", ())) == (name == "call.gbnf")


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_gives_the_same_verdicts_and_places(name: str) -> None:
    """Other parsers, asked about each text and each of its beginnings."""
    for case in prepared(name):
        text = case.body.decode()
        status, place = ORACLES[name].status(text)

        assert STATUS[status] == case.kind, text
        assert place == place_in(text, said(case).get("at", "0:0")) or status == "accepted", text


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_expects_the_same_bytes(name: str, request: pytest.FixtureRequest) -> None:
    """All that a text goes on with to a member; without --full of some texts."""
    cases = [case for case in prepared(name) if "expected" in said(case)]
    if not request.config.getoption("--full"):
        cases = random.Random(3).sample(cases, 2)
    assert cases
    oracle = ORACLES[name]
    for case in cases:
        text = case.body.decode()
        before = text[: place_in(text, said(case)["at"])]
        octets = [octet for octet in range(256) if goes_on(oracle, before, octet)]
        texts = [class_text(ranges(octets))] if octets else []
        texts += ["the end of the text"] * oracle.accepts(before)

        assert said(case)["expected"] == " or ".join(texts)


def goes_on(oracle: Oracle, before: str, octet: int) -> bool:
    """Whether a member begins with this text and byte: of a byte that begins a character, with some
    character of it."""
    if octet < 0x80:
        return oracle.is_viable(before + chr(octet))
    starts = {0xC2: "\x80", 0xE0: "\u0800", 0xED: "\u0d7f", 0xF0: "\U00010000", 0xF4: "\U00100000"}
    if octet in starts:
        return oracle.is_viable(before + starts[octet])
    data = bytes([octet, *([0x80] * (1 if octet < 0xE0 else 2 if octet < 0xF0 else 3))])
    try:
        return oracle.is_viable(before + data.decode())
    except UnicodeDecodeError:
        return False


def test_a_reader_of_tokens_gives_the_same_of_calls(request: pytest.FixtureRequest) -> None:
    """Verdicts, places, how many tokens may follow, and which; without --full that of some."""
    counted = [case.name for case in prepared("call") if "count" in said(case)]
    if not request.config.getoption("--full"):
        counted = random.Random(5).sample(counted, 3)
    tokenizer = cast(Tokenizer, load_tokenizer(default_path()))
    by_text = {octets: i for i, octets in tokenizer.tokens.items() if i not in tokenizer.added}

    def text_of(token_id: int) -> bytes | None:
        return None if token_id in tokenizer.added else tokenizer.tokens[token_id]

    def ids(text: str) -> list[int]:
        found = tokens_of(text)
        return [by_text[t.octets] if t.token_id is None else t.token_id for t in found if t]

    for case in prepared("call"):
        body, expected = ids(case.body.decode()), said(case)
        status, taken = status_of_tokens(body, text_of)
        assert STATUS[status] == case.kind
        assert expected.get("at", f"1:{taken + 1}") == f"1:{taken + 1}"
        if case.name in counted:
            follow = [
                i
                for i in range(tokenizer.vocab_size)
                if status_of_tokens([*body, i], text_of)[1] == len(body) + 1
            ]
            assert int(expected["count"]) == len(follow)
            assert set(ids(expected["allowed"])) <= set(follow)
            assert not set(ids(expected.get("refused", ""))) & set(follow)


def test_cases_stand_as_they_were_prepared(tmp_path: Path, cli: Cli) -> None:
    """--update has nothing to rewrite in them."""
    for path in FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    assert cli("test", str(tmp_path), "--update").code == 0
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {
        p.name: p.read_bytes() for p in FOLDER.iterdir()
    }
