"""Lexemes as text, one line each, for `show --stage lexemes`."""

from collections.abc import Sequence

from constrain.artifacts.errors import visible

from .lexemes import Lexeme


def lexemes_text(lexemes: Sequence[Lexeme]) -> str:
    """One line a lexeme: its number, its text, and what decides between lexemes of one length."""
    lines = [f"lexemes: {len(lexemes)}"]
    for number, lexeme in enumerate(lexemes):
        marks = ["string"] * lexeme.is_string + ["ignored"] * lexeme.ignored
        marks += ["never read, as what is ignored matches it"] * lexeme.swallowed
        marks += ["as short as possible"] * lexeme.shortest
        marks += ["refused"] * lexeme.refused
        marks += ["made while decoding"] * (lexeme.lazily is not None)
        marks += [f"priority {lexeme.priority}"] if lexeme.priority else []
        lines.append(f"  {number} {lexeme.text}" + (f"   ; {', '.join(marks)}" if marks else ""))
    return "\n".join(map(visible, lines)) + "\n"
