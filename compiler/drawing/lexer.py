"""The picture of a grammar's lexer: all terminals in one automaton."""

from collections.abc import Sequence

from ..earley.union_lexer import Lexer
from .dfa import draw_dfa
from .drawing import Drawing
from .picture import USUAL_SIZE, Label, Notation, Size

# Characters of a terminal, and terminals of a state, that its name shows.
_SHOWN_CHARACTERS, _SHOWN_TERMINALS = 16, 3


def draw_lexer(
    lexer: Lexer,
    *,
    title: str,
    texts: Sequence[str],
    terminal_names: Sequence[str] = (),
    size: Size = USUAL_SIZE,
) -> Drawing:
    """Draw a lexer; states where terminals end are named after them.

    ``texts``: the terminals as their author wrote them. ``terminal_names``: of the token
    terminals. Draws at most ``size.states`` states, those nearest to the start.
    """
    names = {
        state: Label(f"{state}: {_named(found, texts)}", frozenset([Notation.ENDS]))
        for state, found in enumerate(lexer.ends)
        if found
    }
    return draw_dfa(
        lexer.dfa,
        title=title,
        terminal_names=terminal_names,
        size=size,
        kind="Lexer",
        names=names,
    )


def _named(terminals: Sequence[int], texts: Sequence[str]) -> str:
    shown = [_cut(texts[t]) for t in terminals[:_SHOWN_TERMINALS]]
    return "\n".join([*shown, "…"] if len(terminals) > _SHOWN_TERMINALS else shown)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
