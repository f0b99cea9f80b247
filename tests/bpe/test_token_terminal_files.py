"""What token terminals mean in masks, what a file holds of them, and what people see."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import encoded
from support.automata import build_automaton
from support.tokens import EOS, KINDS, NAMED, TOKENIZER, allowed, built, grammar_of, small_tokenizer

from constrain.artifacts.errors import ArtifactError, TokenRefusedError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.cli.app import run
from constrain.compiler.automata.dump import ids_text
from constrain.compiler.automata.token_classes import over_classes
from constrain.compiler.diagnostics import CheckError, LimitError, Span
from constrain.compiler.drawing import View, draw_dfa, draw_nfa, draw_tokens
from constrain.compiler.explain.machines import DfaMachine
from constrain.compiler.explain.report import Status, explain
from constrain.compiler.frontend import Automata
from constrain.compiler.grammar.tree import Token
from constrain.compiler.limits import Limits
from constrain.compiler.merge.direct_merge import canonical_dfa
from constrain.compiler.merge.token_edges import with_token_edges
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.token_ids import token_ids

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_is_a_border_of_merges(kind: str) -> None:
    """What stands before and after a token is tokenized apart, also where it is a text token."""
    artifact = built('root ::= "a" <[1]> "c"', kind)
    assert [[0], [1], [2], [EOS]] == [allowed(artifact, *(0, 1, 2)[:n]) for n in range(4)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_both_text_and_terminal_leads_both_ways(kind: str) -> None:
    """After ab it is not decided yet which of the two was meant."""
    artifact = built('root ::= <[3]> "c" | "ab" <t>', kind)
    assert [3] == [i for i in allowed(artifact) if i == 3]
    assert [2, NAMED] == allowed(artifact, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_text_as_a_terminal(kind: str) -> None:
    """Where the text may end it ends it; elsewhere it is a token like any other."""
    artifact = built('root ::= "a" (<end> "b")? <t> <end> "c"? <end> "b"?', kind)
    assert [EOS, NAMED] == allowed(artifact, 0)
    matcher = artifact.matcher()
    for token_id in (0, NAMED, EOS, EOS):
        assert not matcher.is_finished
        matcher.advance(token_id)
    assert matcher.is_accepting
    assert [1, EOS] == tokenset.to_ids(matcher.mask()).tolist()
    matcher.advance(EOS)
    assert matcher.is_finished
    with pytest.raises(TokenRefusedError):
        matcher.advance(1)


def test_what_is_behind_an_end_is_noted() -> None:
    """A grammar that goes on by the end of text where it may end is told so."""
    automaton = build_automaton('root ::= "a" (<end> "b")?', dialect="gbnf")
    notes = build_artifact(automaton, small_tokenizer()).notes
    assert any("<end> ends the text wherever" in note for note in notes)
    quiet = build_automaton('root ::= "a" (<t> "b")? | "b" <end>', dialect="gbnf")
    assert () == build_artifact(quiet, small_tokenizer()).notes


def test_a_terminal_without_tokens_is_never_read() -> None:
    """All tokens negated are none; a language that needs one of them is empty."""
    every = Token(None, ((0, 11),), True, Span(0, 1))
    (ids,) = token_ids(grammar_of(every), TOKENIZER, (EOS,))
    assert not len(ids)
    grammar = grammar_of(every)
    automaton = build_automaton('root ::= "a"', dialect="gbnf")
    other = build_automaton("root ::= <t>", dialect="gbnf")
    found = Automata(automaton.nfa, other.dfa, automaton.origins)
    emptied = replace(automaton, grammar=grammar, found=found)
    with pytest.raises(CheckError, match="every one needs a token"):
        build_artifact(emptied, small_tokenizer())


def test_limits_name_the_rule() -> None:
    """Sets of states count as states, whichever automaton they are of."""
    text = 'root ::= x "b"\nx ::= <[3]> "c" | "ab" "a" | !<[0]> "b"'
    automaton = build_automaton(text, dialect="gbnf")
    rules = [rule for rule, _, _ in automaton.origins]
    dfa, classes = over_classes(
        automaton.dfa, token_ids(automaton.grammar, TOKENIZER, (EOS,)), rules=rules
    )
    first = TOKENIZER.vocab_size
    symbols = range(first, first + len(classes))
    merged = canonical_dfa(dfa, TOKENIZER.base, symbols, TOKENIZER.merges)
    rules_of = [sorted({rules[o] for o in origins}) for origins in dfa.origins]
    small = Limits(states=2)
    with pytest.raises(LimitError, match=r"DFA over tokens needs more than 2 states.*'x'"):
        with_token_edges(merged, first, classes, small, rules_of)
    with pytest.raises(LimitError, match=r"determinisation needs more than 2 states.*'x'"):
        build_artifact(automaton, TOKENIZER, limits=small)


def test_a_prompt_does_not_join_a_token() -> None:
    """After a prompt that ends with a, the text b is left out and the token b is not."""
    text = built('root ::= "b" "c" | "c"', "canonical").matcher(after=[0])
    assert [2] == tokenset.to_ids(text.mask()).tolist()
    token = built('root ::= <[1]> "c" | "c"', "canonical").matcher(after=[0])
    assert [1, 2] == tokenset.to_ids(token.mask()).tolist()


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("dfa.token_ids", lambda a: np.where(np.arange(len(a)) == 0, 99, a)),
        ("dfa.token_ids", lambda a: np.where(np.arange(len(a)) == 0, -1, a)),
        ("dfa.token_ids", lambda a: np.full_like(a, 3)),
        ("dfa.token_ids", lambda a: a[::-1]),
        ("dfa.token_ids", lambda a: a[:-1]),
        ("dfa.token_ids", lambda a: None),
        ("dfa.token_offsets", lambda a: None),
        ("dfa.token_offsets", lambda a: a[:-1]),
        ("dfa.token_offsets", lambda a: np.concatenate([a, a[-1:]])),
        ("dfa.token_offsets", lambda a: np.zeros(0, dtype=a.dtype)),
        ("tokens.family_states", lambda a: None),
        ("tokens.family_states", lambda a: a[:-1]),
        ("tokens.family_states", lambda a: np.full_like(a, 99)),
    ],
)
def test_damaged_sections_are_refused(
    section: str, change: Callable[[np.ndarray], np.ndarray | None]
) -> None:
    """Ids and offsets of the classes lead nowhere outside, and no token is in two."""
    found = [built('root ::= <[3]> "c" | "ab" <t> | !<u> "a"', kind) for kind in KINDS]
    holding = [artifact for artifact in found if section in artifact.arrays]
    assert holding
    for artifact in holding:
        damaged = change(artifact.arrays[section])
        if damaged is not None:
            damaged = np.ascontiguousarray(damaged, dtype=artifact.arrays[section].dtype)
        with pytest.raises(ArtifactError):
            load_bytes(encoded(artifact, {section: damaged}), verify=True, name="f")


@pytest.mark.parametrize("kind", KINDS)
def test_files_without_tokens_are_as_they_were(kind: str) -> None:
    """No section is added, and the one that says so is empty."""
    arrays = built('root ::= "ab"', kind).arrays
    assert 0 == len(arrays["dfa.terminals"])
    assert not {"dfa.token_ids", "dfa.token_offsets", "tokens.family_states"} & set(arrays)


def test_explain_names_the_token() -> None:
    """No text matches a token; what was expected there is the token."""
    automaton = build_automaton('root ::= "a" (<t> | !<u>) "b"', dialect="gbnf")
    names = automaton.token_names
    verdict = explain(DfaMachine(automaton.dfa.tables()), lambda _: ("root",), b"a<t>b", names)
    assert (
        verdict.status,
        verdict.offset,
        verdict.expected,
        verdict.tokens,
    ) == (Status.REJECTED, 1, (), ("<t>", "!<u>"))


def test_drawings_name_tokens() -> None:
    """Labels have the token as the grammar has it, or as the vocabulary does."""
    automaton = build_automaton('root ::= "a" <t> "b"', dialect="gbnf")
    names = automaton.token_names
    for drawing in (
        draw_nfa(automaton.nfa, View("g"), terminal_names=names),
        draw_dfa(automaton.dfa.tables(), View("g"), terminal_names=names),
        *(draw_tokens(built('root ::= "a" <t> "b"', kind), View("g")) for kind in KINDS),
    ):
        assert "‹&lt;t&gt;›" in drawing.dot


def test_ids_as_text() -> None:
    """Few ranges in full, of many the first."""
    assert "<[1,5-7]>" == ids_text([1, 5, 6, 7])
    assert "<[0,2,4,6,…]>" == ids_text([0, 2, 4, 6, 8, 10])


@pytest.mark.parametrize("stage", ["tree", "lnf", "nfa", "dfa"])
def test_stages_print_tokens(
    stage: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Each stage before the tokenizer prints terminals as they are written."""
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "a" <t> !<[7]>', encoding="utf-8")
    assert 0 == run(["show", str(file), "--stage", stage])
    printed = capsysbinary.readouterr().out.decode()
    assert "<t>" in printed
    assert "!<[7]>" in printed


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown token is exit code 2; ids give a prefix with tokens; explain says token."""
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "no" <|endofprompt> "x"', encoding="utf-8")
    assert 2 == run(["compile", str(file), "-o", str(tmp_path / "g.cst")])
    said = capsys.readouterr().err
    assert ":1:15: error:" in said
    assert "has no token <|endofprompt>" in said
    assert not (tmp_path / "g.cst").exists()

    file.write_text('root ::= "no" <[300]> "x"', encoding="utf-8")
    assert 0 == run(["compile", str(file), "-o", str(tmp_path / "g.cst")])
    assert 0 == run(["mask", str(tmp_path / "g.cst"), "--prefix", "no", "--format", "ids"])
    printed = capsys.readouterr().out
    assert "300\n" == printed
    assert 1 == run(["mask", str(tmp_path / "g.cst"), "--prefix", "no<[300]>"])
    assert "--prefix-ids gives a prefix of them" in capsys.readouterr().err
    text = tmp_path / "t"
    text.write_text("nox", encoding="utf-8")
    for subject in (file, tmp_path / "g.cst"):
        assert 1 == run(["explain", str(subject), str(text)])
        said = capsys.readouterr().out
        assert "expected the token <[300]>" in said
