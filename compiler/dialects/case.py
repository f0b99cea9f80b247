"""Texts whose case does not matter."""

from ..automata import regex as ir


def either_case(text: str) -> ir.Node:
    """The node of a text with each letter in either case, where that is one character."""
    return ir.seq(*(ir.char_class([(code, code) for code in _variants(char)]) for char in text))


def _variants(char: str) -> set[int]:
    return {ord(other) for other in (char, char.lower(), char.upper()) if len(other) == 1}
