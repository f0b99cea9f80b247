"""The tables of a lexer: complete automata of all lexemes, one behind the other.

    NAME: /[a-z]+/   "if"   ->   states 1 NAME's start, 2 inside; 3 'if' start, 4 'i', 5 'if'

llguidance builds these lazily, by derivatives of regular expressions; here they are
finished before a text is read, and ``constrain.artifacts.lexer`` follows several at a time.
"""

from collections.abc import Sequence

import numpy as np

from constrain.artifacts.greedy_tables import GreedyTables
from constrain.artifacts.lexer import LexerTables

from ..grammar.tree import Grammar
from ..limits import Limits
from ..lnf.form import Lnf
from .lexemes import Lexeme, lexeme_grammar
from .network import network
from .tables import stacked_dfas


def lexer_tables(lexemes: Sequence[Lexeme], limits: Limits | None = None) -> LexerTables:
    """The minimal automata of all lexemes, stacked, and their ranks. Raises ``LimitError``."""
    ranks = sorted({lexeme.precedence for lexeme in lexemes})
    return LexerTables(
        stacked_dfas([lexeme.dfa for lexeme in lexemes], (limits or Limits()).started()),
        np.array([ranks.index(lexeme.precedence) for lexeme in lexemes], dtype=np.int32),
        np.array([lexeme.ignored for lexeme in lexemes], dtype=np.uint8),
        tuple(lexeme.text for lexeme in lexemes),
    )


def greedy_tables(grammar: Grammar, limits: Limits | None = None) -> GreedyTables:
    """The network over a checked grammar's lexemes, and its lexer.

    Raises as ``lexeme_grammar`` and ``network`` do.
    """
    limits = (limits or Limits()).started()
    found = lexeme_grammar(grammar, limits)
    return tables_over(found.lexemes, found.lnf(limits), limits)


def tables_over(lexemes: Sequence[Lexeme], lnf: Lnf, limits: Limits) -> GreedyTables:
    """The same, the lexemes being numbered and ``lnf`` the normal form over them."""
    return GreedyTables(network(lnf, limits, len(lexemes)), lexer_tables(lexemes, limits))
