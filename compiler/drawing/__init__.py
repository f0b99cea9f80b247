"""Draw automata with Graphviz.

    nfa, dfa            states and bytes, from the grammar alone
    rules               which rule uses which
    network, lexer      the same for grammars that nest: calls, and the terminals' automaton
    tokens, tokenizer   states and tokens, from an artifact
      each with labels  ->  picture  ->  dot (text)  ->  render (svg, png, pdf)

The builders decide what is drawn and in which order, ``labels`` how bytes and tokens
read, ``dot`` how all of it looks. The same input gives the same bytes.
"""

from .dfa import draw_dfa, draw_lexer
from .drawing import Drawing, DrawingError, MissingDotError
from .network import draw_network
from .nfa import draw_nfa
from .picture import USUAL_SIZE, Size, View
from .render import DOT_SUFFIXES, render
from .rules import draw_rules
from .tokenizer import draw_tokenizer
from .tokens import draw_tokens
from .transducer import draw_transducer

__all__ = [
    "DOT_SUFFIXES",
    "USUAL_SIZE",
    "Drawing",
    "DrawingError",
    "MissingDotError",
    "Size",
    "View",
    "draw_dfa",
    "draw_lexer",
    "draw_network",
    "draw_nfa",
    "draw_rules",
    "draw_tokenizer",
    "draw_tokens",
    "draw_transducer",
    "render",
]
