"""Grammars of which maximal munch leaves nothing are refused; where dead ends are possible, notes
of the artifact say so."""

import pytest

from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError

# The first takes all that the second begins with.
_NEVER = "X: /a+/\nY: /a/\n"


@pytest.mark.parametrize("engine", ["auto", "greedy"])
@pytest.mark.parametrize("rule", ["X Y", '"(" start ")" | X Y', 'X Y | "b" start "c"'])
def test_a_grammar_of_which_maximal_munch_leaves_nothing_is_refused(
    rule: str, engine: str, default_tokenizer: Tokenizer
) -> None:
    """Whether it nests or not, by either engine."""
    text = f"start: {rule}\n{_NEVER}"
    with pytest.raises(CheckError, match="there is no member: maximal munch leaves no way"):
        compile_grammar(
            text,
            dialect="lark",
            meaning="maximal-munch",
            engine=engine,
            tokenization="any",
            tokenizer=default_tokenizer,
        )


@pytest.mark.parametrize("rule", ['X "b"', 'X Y | "(" start ")" | "b"', 'X? | "(" start ")"'])
def test_a_grammar_with_a_member_is_compiled(rule: str, default_tokenizer: Tokenizer) -> None:
    """Though it also has readings that never end, and though only the empty text is a member."""
    artifact = compile_grammar(
        f"start: {rule}\n{_NEVER}",
        dialect="lark",
        meaning="maximal-munch",
        tokenization="any",
        engine="greedy",
        tokenizer=default_tokenizer,
    )
    assert artifact.matcher().mask().any()


def test_notes_say_where_dead_ends_are_possible(default_tokenizer: Tokenizer) -> None:
    """Of the artifact, read back: masks begin ``aa`` here, of which no text is a member."""
    text = f'start: "(" start ")" | X Y | "b"\n{_NEVER}'
    artifact = compile_grammar(
        text,
        dialect="lark",
        meaning="maximal-munch",
        tokenization="any",
        tokenizer=default_tokenizer,
    )
    assert artifact.manifest.kind == "greedy"
    found = load_bytes(artifact.to_bytes())
    assert any(note.startswith("dead ends are possible") for note in found.notes)
