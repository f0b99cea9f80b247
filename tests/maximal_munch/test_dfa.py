"""Grammars read by maximal munch that nest nothing: their DFA, and what is made of it."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from itertools import product
from pathlib import Path

import pytest
from support.maximal_munch import BOTH, random_larks

from constrain.artifacts.tokens import tokenset
from constrain.cli.app import run
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError, NotRegularError
from constrain.compiler.frontend import Automaton, MaximalMunchGrammar
from constrain.compiler.pipeline import build_engine

KEYWORDS = 'start: (KW "(" ID ")" ";" | ID "=" NUM ";")+\nKW: "if"\nID: /[a-z]+/\nNUM: /[0-9]+/\n'
SPACES = "%ignore / +/\n"


def test_the_language_is_that_of_the_definition(full: bool) -> None:
    """All texts up to five bytes, on random grammars that nest nothing."""
    texts = [bytes(t) for n in range(6 if full else 5) for t in product(b"abc #", repeat=n)]
    regular = members = 0
    for text, plain in random_larks(400 if full else 8, seed=13):
        expected = {t for t in texts if plain.accepts(t)}
        try:
            found = build_engine(text, dialect="lark", meaning="maximal-munch")
        except CheckError:
            assert set() == expected, text
            continue
        if isinstance(found, Automaton):
            assert expected == {t for t in texts if found.dfa.accepts(t)}, text
            assert expected == {t for t in texts if found.nfa.accepts(t)}, text
            regular += 1
            members += len(expected)
    assert regular > 5
    assert members > 50


def test_what_nests_stays_a_parser() -> None:
    """auto goes on to the engine over lexemes; dfa says what nests."""
    text = 'start: "(" start ")" | "x"\n' + SPACES
    assert isinstance(build_engine(text, dialect="lark"), MaximalMunchGrammar)
    with pytest.raises(NotRegularError, match="nests itself"):
        build_engine(text, dialect="lark", engine="dfa")


def test_masks_are_canonical_and_lead_to_an_end(default_tokenizer: Tokenizer) -> None:
    """The tokenizer's own tokens, and no prefix that maximal munch could not complete."""
    artifact = compile_grammar(KEYWORDS + SPACES, dialect="lark", tokenizer=default_tokenizer)
    m = artifact.manifest
    assert ("canonical", "maximal-munch") == (m.tokenization, m.meaning)
    for text in ("if(x);", "iff = 1 ;", "  ifs=2;if ( a );"):
        matcher = artifact.matcher()
        for token in default_tokenizer.encode(text):
            matcher.advance(token)
        assert matcher.is_accepting, text
    matcher = artifact.matcher()
    for token in default_tokenizer.encode("if"):
        matcher.advance(token)
    firsts = {artifact.vocabulary.token(i)[:1] for i in tokenset.to_ids(matcher.mask()).tolist()}
    # A name could be followed by "=", but the keyword is none.
    assert b"=" not in firsts
    assert {b"(", b" ", b"a"} <= firsts


def test_commands(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """sample, diff and explain follow the meaning; diff shows a text between."""
    path, both = tmp_path / "g.lark", tmp_path / "both.lark"
    path.write_text('start: KW ";" | ID "!"\nKW: "if"\nID: /i[fg]/\n' + SPACES, encoding="utf-8")
    both.write_text(BOTH + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert 0 == run(["sample", str(path), "--all", "--max-bytes", "3"])
    assert b"if;\nig!\n" == capsysbinary.readouterr().out
    assert 1 == run(["diff", str(path), str(both)])
    assert b'shortest "if!"' in capsysbinary.readouterr().out
    assert 0 == run(["diff", str(path), str(both), "--meaning", "exact"])
    text = tmp_path / "text"
    text.write_bytes(b"if!")
    capsysbinary.readouterr()
    assert 1 == run(["explain", str(path), str(text)])
    out = capsysbinary.readouterr().out.decode()
    assert ':1:3: rejected at "!" (byte 2) in start; expected ";" or / +/\n' in out
