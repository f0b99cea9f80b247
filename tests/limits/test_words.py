"""How limits that are hit are said."""

import pytest

from constrain.compiler.diagnostics import LimitError


@pytest.mark.parametrize(
    ("stage", "verb"),
    [
        ("the DFA", "needs"),
        ("the grammar's rules", "need"),
        ("the contexts of the lexer", "need"),
        ("the automaton of the tokenizer's steps", "needs"),
        ("the tables of this tokenizer are being made, once: the mask table", "needs"),
        ("expanding templates", "needs"),
        ("what begins a text", "needs"),
        ("unknown words", "need"),
    ],
)
def test_the_verb_agrees_with_the_stage(stage: str, verb: str) -> None:
    """One thing needs more, several need more."""
    assert str(LimitError(stage, "states", 5)).startswith(f"{stage} {verb} more than 5 states")
