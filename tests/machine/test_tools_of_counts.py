"""Tools and a bound of a million: each answers, or refuses by name, and makes no copies."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path

import pytest
from support import tokenizer_of
from support.automata import build_automaton
from support.cli import Cli, content

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.errors import TokenRefusedError
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar
from constrain.compiler.explain.machines import NetworkMachine
from constrain.compiler.explain.network import explain_network
from constrain.compiler.explain.report import Status
from constrain.compiler.frontend import Parser
from constrain.compiler.pipeline import build_engine

STRINGS = 'root ::= "\\"" item{2,1000000} "\\""\nitem ::= [a-z] | "\\\\" [nt]\n'
NESTED = 'root ::= list ";"\nlist ::= "[" ( list | [0-9] ){3,1000000} "]"\n'


@pytest.fixture(params=[STRINGS, NESTED], ids=["regular", "nesting"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A grammar's file."""
    return content(tmp_path / "a.gbnf", request.param)


def test_networks_and_drawings_have_a_label_in_place_of_copies(cli: Cli, path: str) -> None:
    """``show --stage network`` and ``viz``, by the grammar and by an artifact."""
    shown = cli("show", path, "--stage", "network").out.decode()
    assert ",1000000} from" in shown
    assert len(shown.splitlines()) < 40
    assert 0 == cli("compile", path, "--tokenization", "any", "--lazy", "-o", "a.cst").code
    for subject in (path, "a.cst"):
        assert 0 == cli("viz", subject, "-o", "a.dot").code
        drawn = Path("a.dot").read_text()
        assert ",1000000}" in drawn
        assert len(drawn.splitlines()) < 60


def test_texts_are_explained_where_they_stop(cli: Cli, tmp_path: Path) -> None:
    """With the rules around the place, what could stand there, and whether a line break is all."""
    path = content(tmp_path / "n.gbnf", NESTED)
    assert 0 == cli("compile", path, "--tokenization", "any", "--lazy", "-o", "n.cst").code
    for subject in (path, "n.cst"):
        assert 0 == cli("explain", subject, stdin=b"[123];").code
        said = cli("explain", subject, stdin=b"[12[3x45]]").out.decode()
        assert "1:6: rejected at " in said
        assert "in root > list;" in said
        assert 'expected "[" or [0-9]' in said
        broken = cli("explain", subject, "-f", "json", stdin=b"[123];\n")
        assert json.loads(broken.out)["but_for_line_break"]
        assert "incomplete" in cli("explain", subject, stdin=b"[12").out.decode()


@pytest.fixture(scope="module")
def strings() -> tuple[NetworkTables, ByteDfa]:
    """Counts and copies of one grammar."""
    text = STRINGS.replace("1000000", "400")
    counted = build_engine(text, dialect="gbnf", tokenization="any", parser="network")
    assert isinstance(counted, Parser)
    assert counted.network is not None
    return counted.network, build_automaton(text, dialect="gbnf").dfa.tables()


@pytest.mark.parametrize("text", [b'"ab"', b'"a\\nb', b'"a"', b'"ab"\n', b"ab", b"", b'"abc"d'])
def test_verdicts_by_threads_are_those_of_an_automaton(
    text: bytes, strings: tuple[NetworkTables, ByteDfa]
) -> None:
    """Place, bytes that could come, and whether the text may end."""
    network, dfa = strings
    verdict = explain_network(NetworkMachine(network_over(network)), text)
    assert dfa.viable_bytes(text) == verdict.offset
    state = dfa.run(dfa.start, text[: verdict.offset])
    assert bool(dfa.accepting[state]) == verdict.may_end
    assert (verdict.status is Status.ACCEPTED) == (verdict.may_end and verdict.offset == len(text))
    read = [octet for octet in range(256) if dfa.table[state, dfa.classes[octet]]]
    assert read == [o for low, high in verdict.expected for o in range(low, high + 1)]
    assert (text == b'"ab"\n') == verdict.but_for_line_break


def test_what_compares_or_copies_refuses_by_name(cli: Cli, path: str) -> None:
    """The grammar is checked, and written in other dialects, and what needs an automaton of all
    texts says which repetition is too large."""
    assert 0 == cli("check", path).code
    assert "1000000" in cli("convert", path, "--to", "lark").out.decode()
    done = cli("diff", path, path, "--max-depth", "3")
    assert 3 == done.code
    assert "1000000}" in done.err


def test_prompts_rollback_and_forced_tokens_of_many_copies(tmp_path: Path, full: bool) -> None:
    """The end of an exact count leaves no choice; after a prompt, from a file, and taken back.
    ``--full`` counts to a million."""
    merges = ["b b", "bb bb", "bbbb bbbb", "bbbbbbbb bbbbbbbb"]
    tokenizer = tokenizer_of(tmp_path, "abcde", merges, added=[(9, "<eos>", True)])
    a, b, c, d, e, sixteen = 0, 1, 2, 3, 4, 8
    count = 1_000_000 if full else 50_000
    artifact = compile_grammar(
        f'root ::= "a" "b"{{{count}}} "cde"',
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        eos=["<eos>"],
    )
    matcher = load_bytes(artifact.to_bytes(), verify=True).matcher(after=[c, d])
    assert [a] == matcher.forced_tokens(4)
    matcher.advance(a)
    for _ in range(count // 16 - 1):
        matcher.advance(sixteen)
    assert [b, 5, 6, 7, sixteen] == tokenset.to_ids(matcher.mask()).tolist()
    matcher.advance(b)
    assert [b, 5, 6, 7] == tokenset.to_ids(matcher.mask()).tolist()
    for _ in range(13):
        matcher.advance(b)
    assert [b, 5] == tokenset.to_ids(matcher.mask()).tolist()
    matcher.advance(5)
    assert [c, d, e] == matcher.forced_tokens()
    with pytest.raises(TokenRefusedError):
        matcher.advance(b)
    matcher.rollback(15)
    matcher.advance(sixteen)
    assert [c, d, e] == matcher.forced_tokens()
    matcher.rollback(count // 16)
    assert [b, 5, 6, 7, sixteen] == tokenset.to_ids(matcher.mask()).tolist()
