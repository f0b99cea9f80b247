"""Drawings of token automata and of tokenizers."""

from pathlib import Path

import pytest
from support import compiled, tokenizer_of
from support.drawing import DATE, shown_edges

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer
from constrain.compiler.drawing import DrawingError, View, draw_tokenizer, draw_tokens
from constrain.compiler.drawing.picture import Size
from constrain.compiler.limits import Limits
from constrain.compiler.machine.whole_tables import with_dfa
from constrain.compiler.merge.dump import tabulated


@pytest.mark.parametrize("tokenization", ["canonical", "any"])
def test_token_edges_are_what_the_masks_allow(
    tokenization: str, default_tokenizer: Tokenizer
) -> None:
    """The drawn transitions are the bits of all mask rows but those that end the text."""
    artifact = compiled("(a|b)*abb", default_tokenizer, tokenization, dialect="regex")
    drawing = draw_tokens(artifact, View("abb"))
    artifact = tabulated(artifact)
    dfa = getattr(artifact.runtime, "token_dfa", None)
    states = range(dfa.states) if dfa else range(1, artifact.byte_dfa.states)
    rows = [set(tokenset.to_ids(artifact.machine().row(s)).tolist()) for s in states]
    expected = sum(len(row.difference(artifact.manifest.eos)) for row in rows)
    assert drawing.left_out is None
    assert f"{len(states)} states, {expected} transitions" in drawing.dot.replace("&#160;", " ")


def test_states_that_are_left_out_are_counted(tmp_path: Path) -> None:
    """Also where no masks are stored; states from which no tokens lead to the end are none."""
    tokenizer = tokenizer_of(tmp_path, "abc", ["a b"], added=[(4, "<eos>", True)])
    for prewarm in (0, None):
        options = {"dialect": "regex", "eos": ["<eos>"]} | (
            {} if prewarm is None else {"prewarm": 0}
        )
        artifact = compiled("(abc){1,40}|axx", tokenizer, "any", **options)
        artifact = with_dfa(artifact, Limits())
        drawing = draw_tokens(artifact, View("t", Size(5, fits=False)))
        assert drawing.left_out is not None
        assert "116 of 121 states" in drawing.left_out, prewarm


def test_a_large_drawing_says_how_to_draw_less(default_tokenizer: Tokenizer) -> None:
    """Beyond 2,000 pixels, where all states are there; not where a way is drawn."""
    artifact = tabulated(compiled(DATE, default_tokenizer, dialect="kbnf"))
    drawing = draw_tokens(artifact, View("date"))
    assert drawing.left_out is not None
    assert "--prefix TEXT" in drawing.left_out
    assert draw_tokens(artifact, View("date"), ids=[]).left_out != drawing.left_out
    assert (
        draw_tokens(compiled("ab", default_tokenizer, dialect="regex"), View("ab")).left_out is None
    )


def test_lifted_edges_follow_the_bytes(tmp_path: Path) -> None:
    """Under ``any`` a token leads to where its bytes lead."""
    tokenizer = tokenizer_of(tmp_path, "ab", ["a b"], added=[(3, "<eos>", True)])
    artifact = compiled("ab", tokenizer, "any", dialect="regex", eos=["<eos>"])
    assert shown_edges(draw_tokens(artifact, View("ab"))) == {
        ("start", "s1"): "",
        ("s1", "s2"): "‹a›",
        ("s1", "s3"): "‹ab›",
        ("s2", "s3"): "‹b›",
    }


def test_tokens_that_end_the_text_are_no_edges(tmp_path: Path) -> None:
    """Where a text token is declared to end the text, accepting states have no edge for it."""
    tokenizer = tokenizer_of(tmp_path, "ab")
    for tokenization in ("canonical", "any"):
        artifact = compiled("[ab]*", tokenizer, tokenization, dialect="regex", eos=["b"])
        edges = shown_edges(draw_tokens(artifact, View("t")))
        assert [text for text in edges.values() if text] == ["‹a›"]


def test_tokenizer_states_are_classes_of_equal_successors(tmp_path: Path) -> None:
    """With the one merge ``a b`` only ‹b› after ‹a› is no canonical pair."""
    tokenizer = tokenizer_of(tmp_path, "ab", ["a b"], added=[(3, "<eos>", True)])
    artifact = compiled("[ab]*", tokenizer, dialect="regex", eos=["<eos>"])
    drawing = draw_tokenizer(artifact, View("t"))
    assert shown_edges(drawing) == {
        ("start", "s0"): "",
        ("s0", "s1"): "‹b› ‹ab›",
        ("s0", "s2"): "‹a›",
        ("s1", "s1"): "‹b›<br/>‹ab›",
        ("s1", "s2"): "‹a›",
        ("s2", "s1"): "‹ab›",
        ("s2", "s2"): "‹a›",
    }
    assert drawing.dot.count("peripheries=2") == 3, "all states accept"


@pytest.fixture(scope="module")
def date_artifact(default_tokenizer: Tokenizer) -> Artifact:
    """The date grammar for the default tokenizer."""
    return compiled(DATE, default_tokenizer)


def test_crowded_tokenizers_keep_their_largest_classes(date_artifact: Artifact) -> None:
    """As a graph; edges of a whole class lose their label, and the sentence says why states are
    missing."""
    drawing = draw_tokenizer(date_artifact, View("date", Size(100, fits=False)))
    assert drawing.left_out is not None
    assert drawing.left_out.endswith("--draw-edges N draws up to N)")
    assert "without a label: all tokens" in drawing.dot.replace("&#160;", " ")


def test_tokenizer_of_an_any_artifact_is_refused(default_tokenizer: Tokenizer) -> None:
    """Such an artifact has no merges; the message says what to do."""
    artifact = compiled(DATE, default_tokenizer, "any")
    with pytest.raises(DrawingError, match="--tokenization canonical") as caught:
        draw_tokenizer(artifact, View("date"))
    assert caught.value.exit_code == 2
