"""A pattern that is too large for a DFA, as a tree: its own alternatives and repetitions count
then.

#'(a|b){1,100000}'      ->      ('a' | 'b'), repeated 1 to 100,000 times
"""

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..grammar.tree import Choice, Expr, Literal, Pattern, Repetition, Sequence


def opened(pattern: Pattern) -> Expr | None:
    """The tree of an expression without intersections, complements and assertions; None of others.
    All of it stands where the pattern does."""
    if any(isinstance(part, _OTHERS) for part in regex.walk(pattern.node)):
        return None
    span = pattern.span

    def of(node: regex.Node, parts: list[Expr]) -> Expr:
        match node:
            case regex.Lit(data):
                return Literal(data, span)
            case regex.Seq():
                return _one(parts) or Sequence(tuple(parts), span)
            case regex.Alt(options) if options:
                return _one(parts) or Choice(tuple(parts), span)
            case regex.Repeat(_, low, high):
                return Repetition(parts[0], low, high, span)
            case regex.Optional():
                return Repetition(parts[0], 0, 1, span)
            case _:
                return Pattern(node, pattern.text, span)

    def _one(parts: list[Expr]) -> Expr | None:
        if not parts:
            return Literal(b"", span)
        return parts[0] if len(parts) == 1 else None

    return fold(pattern.node, regex.parts_of, of)


# What no tree has.
_OTHERS = (regex.And, regex.Not, regex.Look, regex.Around, regex.Embedded, regex.TokenTerminal)
