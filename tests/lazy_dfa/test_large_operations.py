"""Operations that are too large to be built, with real vocabularies: soon there, and exact."""

import pytest
from support import grows
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.compiler import Compiler, Tokenizer, thresholds

LABEL = r"[a-z0-9]([a-z0-9\-]{0,MOST}[a-z0-9])?"
HOST = r"(LABEL(\.LABEL)*)&.{1,ALL}".replace("LABEL", LABEL)
LARGE = {
    "host": HOST.replace("MOST", "61").replace("ALL", "253"),
    "digit": r"(.*[0-9].*)&[\w\-]+&.{0,200}",
    "without": "~(.*a.{20})",
    "behind": "(.*a.{20}|[0-9]{3})c?",
}
SMALLER = {
    "host": HOST.replace("MOST", "5").replace("ALL", "24"),
    "digit": r"(.*[0-9].*)&[\w\-]+&.{0,6}",
    "without": "~(.*a.{6})",
    "behind": "(.*a.{9}|[0-9]{3})c?",
}


@pytest.fixture(scope="module")
def compiler(gpt2: Tokenizer) -> Compiler:
    """A compiler whose tables are made."""
    made = Compiler(gpt2)
    compiled(made, "a|b")
    return made


def compiled(compiler: Compiler, text: str, **options: object) -> Artifact:
    """An artifact that allows any token sequences, its first mask found."""
    given = {"dialect": "regex-extended", "tokenization": "any", "prewarm": 0} | options
    artifact = compiler.compile(text, **given)
    assert artifact.matcher().mask().any()
    return artifact


@pytest.mark.parametrize("name", LARGE)
def test_masks_of_smaller_bounds_are_those_of_the_dfa(
    name: str, compiler: Compiler, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)
    lazy = compiled(compiler, SMALLER[name])
    eager = compiled(compiler, SMALLER[name], engine="dfa")
    assert grows(lazy)
    assert eager.is_regular
    check_random_texts([lazy, eager], 100 if full else 2, 20, seed=3)


def test_what_begins_a_member_is_known_without_a_search(compiler: Compiler) -> None:
    """Of an automaton that grows exponentially; one that does not grow much is built."""
    artifact = compiled(compiler, "[ab]*a[abc]{30}", dialect="regex", prewarm=None)
    assert grows(artifact)
    assert "states are made while decoding: the automaton is too large to be built" in (
        artifact.manifest.notes
    )
    # Before any "a", and how many may follow the last one: with a "c" after it, and without.
    assert artifact.manifest.counts["dfa_states"] == 1 + 30 + 30
    assert artifact.viable_bytes(b"ab" + b"c" * 40) == 31
    few = compiled(compiler, "[ab]*a[ab]{9}", dialect="regex", prewarm=None)
    assert few.is_regular


@pytest.mark.parametrize("name", LARGE)
def test_states_are_those_of_operands_and_masks_hold_no_dead_ends(
    name: str, compiler: Compiler
) -> None:
    artifact = compiled(compiler, LARGE[name])
    assert artifact.manifest.counts["dfa_states"] < 700
    check_random_texts([artifact], 3, 60, seed=3)


def test_lengths_are_bounds_however_they_are_written(compiler: Compiler) -> None:
    """Without classes and counts: a choice of letters, and 2,001 of these and more."""
    text = """name = some - long;
              some = first, {["-"], letter} | first, "_", letter;
              first = "a" | "b"; letter = first | "c" | "d";
              long = 2001 * any, {any}; any = letter | "-" | "_";"""
    artifact = compiled(compiler, text, dialect="iso14977")
    assert artifact.arrays["lazy.bounds"].tolist() == [[0, 2000]]
    assert artifact.manifest.counts["dfa_states"] < 10
