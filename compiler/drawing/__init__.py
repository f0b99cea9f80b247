"""Draw automata with Graphviz.

    nfa, dfa            states and bytes, from the grammar alone
    rules               which rule uses which
    network, lexer      the same for grammars that nest: calls, and the terminals' automaton
    tokens, tokenizer   states and tokens, from an artifact
      each with labels  ->  picture  ->  dot (text)  ->  render (svg, png, pdf)

The builders decide what is drawn and in which order, ``labels`` how bytes and tokens
read, ``dot`` how all of it looks. The same input gives the same bytes.
"""

from .dfa import draw_dfa as draw_dfa
from .dfa import draw_lexer as draw_lexer
from .drawing import Drawing as Drawing
from .drawing import DrawingError as DrawingError
from .drawing import MissingDotError as MissingDotError
from .network import draw_network as draw_network
from .nfa import draw_nfa as draw_nfa
from .picture import USUAL_SIZE as USUAL_SIZE
from .picture import Size as Size
from .picture import View as View
from .render import DOT_SUFFIXES as DOT_SUFFIXES
from .render import render as render
from .rules import draw_rules as draw_rules
from .tokenizer import draw_tokenizer as draw_tokenizer
from .tokens import draw_tokens as draw_tokens
from .transducer import draw_transducer as draw_transducer
