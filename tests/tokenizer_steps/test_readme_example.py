"""The example of the README of normal forms: NFC on e, x and two marks."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import numpy as np
import pytest
from support.corpus.tokenizer_case import Case

from constrain.artifacts.tokenizer_steps.normal_form_dfa import NormalFormDfa, Runs
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.tokenizer_steps.character_properties import character_properties
from constrain.compiler.tokenizer_steps.inert_tokens import split_characters
from constrain.compiler.tokenizer_steps.normalized_members import (
    normal_form_automaton,
    normal_form_bytes,
)
from constrain.compiler.tokenizers.definition import Form, Normalize

TOKENS = {0: b"e", 1: b"x", 2: b"\xcc", 3: b"\x81", 4: b"\xa3"}
ACUTE, DOT_BELOW = "\u0301", "\u0323"


@pytest.fixture(scope="module")
def dfa() -> NormalFormDfa:
    """Over bytes, with the boundary tokens of those above."""
    characters = character_properties((Normalize(Form.NFC),))
    present = characters.classes[[ord(char) for char in ("e", "x", ACUTE, DOT_BELOW)]]
    automaton = normal_form_automaton(characters, np.unique(present))
    table, start = normal_form_bytes(automaton, characters.classes)
    none = np.zeros(0, dtype=np.int32)
    found = NormalFormDfa(table, np.arange(256, dtype=np.uint8), start, none, none)
    assert 4 == automaton.states
    boundary, split = split_characters(found, automaton.states, TOKENS)
    assert [2, 3, 4] == boundary.tolist()
    # Of the sets of tails that end the character after CC, {81}.
    assert [2], [[True, False]] == (split.tokens.tolist(), split.sets.tolist())
    return NormalFormDfa(table, found.classes, start, boundary, boundary)


def test_the_states(dfa: NormalFormDfa) -> None:
    """After each text the characters that may follow, and where they lead."""
    steps = {
        state: [dfa.step(state, char.encode()) for char in ("e", "x", ACUTE, DOT_BELOW)]
        for state in (1, 2, 3)
    }
    assert {1: [3, 1, 2, 1], 2: [3, 1, 2, 0], 3: [3, 1, 0, 0]} == steps
    assert [5, 6, 0] == [dfa.step(state, b"\xcc") for state in (1, 2, 3)]
    assert [True, False] == dfa.are_free(np.array([5, 6])).tolist()


def runs_of(dfa: NormalFormDfa) -> Runs:
    """Its states after texts of ``TOKENS``."""
    sections = dfa.table, dfa.classes, np.array([dfa.start]), dfa.boundary, dfa.undecided
    return Runs(Vocabulary.from_tokens(TOKENS, (), 5), *sections)


def test_bytes_after_which_any_text_may_follow(dfa: NormalFormDfa) -> None:
    """They lead between two characters, or where no end of the character is left out."""
    states = [1, 2, 3, 6]
    for state, found in zip(states, runs_of(dfa).settled(states), strict=True):
        for octet in range(256):
            after = dfa.step(state, bytes([octet]))
            expected = after != 0 and bool(dfa.are_free(np.array([after]))[0])
            assert expected == bool(found >> octet & 1)


def test_what_tokens_do(dfa: NormalFormDfa) -> None:
    """At each state the tokens that are read, and those after which an end must be looked for."""
    runs = runs_of(dfa)
    for state, read, watched in ((1, [0, 1, 2], []), (2, [0, 1, 2], [(2, 6)]), (3, [0, 1], [])):
        row = tokenset.from_ids(range(5), 5)
        effect = runs.at(state)
        assert effect is not None
        assert watched == effect.restrict(row)
        assert read == tokenset.to_ids(row).tolist()


def test_a_starter_that_both_marks_change_is_a_dead_end(normalizing: Case) -> None:
    """Where one of them must follow."""
    artifact = normalizing.compiled(f"(e|x)({ACUTE}|{DOT_BELOW})", "cartesian")
    allowed = tokenset.to_ids(artifact.matcher().mask()).tolist()
    assert {b"x"} == {artifact.vocabulary.token(token)[:1] for token in allowed}
