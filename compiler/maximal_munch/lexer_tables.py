"""The tables of a lexer: complete automata of all lexemes, one behind the other.

    NAME: /[a-z]+/   "if"   ->   states 1 NAME's start, 2 inside; 3 'if' start, 4 'i', 5 'if'

llguidance builds these lazily, by derivatives of regular expressions; here they are
finished before a text is read, and ``constrain.artifacts.maximal_munch.lexer`` follows several at a
time.

Automata of slices, the token sets that a lazily computed mask can take whole.

    [^"\\\x00-\x1f\x7f]{1,10}    what JSON strings hold without an escape, ten characters of it

Source: llguidance, "Optimizing": the slices for JSON schemas. A slice here is closed under
beginnings, so that tokens which stop inside a character belong to it as well.
"""

from collections.abc import Sequence

import numpy as np

from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.maximal_munch.slices import Slice
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables

from ..automata import regex_ir as regex
from ..automata.determinize import determinize
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..earley.tables import stacked_dfas
from ..grammar.tree import Grammar
from ..limits import Limits
from ..lnf.form import Lnf
from ..network.build import network
from .lexemes import Lexeme, lexeme_grammar


def lexer_tables(lexemes: Sequence[Lexeme], limits: Limits | None = None) -> LexerTables:
    """The minimal automata of all lexemes, stacked, and their ranks. Raises ``LimitError``."""
    ranks = sorted({lexeme.precedence for lexeme in lexemes})
    return LexerTables(
        stacked_dfas([lexeme.dfa for lexeme in lexemes], (limits or Limits()).started()),
        np.array([ranks.index(lexeme.precedence) for lexeme in lexemes], dtype=np.int32),
        np.array([lexeme.ignored for lexeme in lexemes], dtype=np.uint8),
        tuple(lexeme.text for lexeme in lexemes),
    )


def maximal_munch_tables(grammar: Grammar, limits: Limits | None = None) -> MaximalMunchTables:
    """The network over a checked grammar's lexemes, and its lexer.

    Raises as ``lexeme_grammar`` and ``network`` do.
    """
    limits = (limits or Limits()).started()
    found = lexeme_grammar(grammar, limits)
    return tables_over(found.lexemes, found.lnf(limits), limits)


def tables_over(lexemes: Sequence[Lexeme], lnf: Lnf, limits: Limits) -> MaximalMunchTables:
    """The same, the lexemes being numbered and ``lnf`` the normal form over them."""
    return MaximalMunchTables(network(lnf, limits, len(lexemes)), lexer_tables(lexemes, limits))


# Characters that JSON strings hold as they are, DEL left out.
_SAFE = regex.char_class(
    regex.complement([(0x00, 0x1F), (ord('"'), ord('"')), (ord("\\"), ord("\\")), (0x7F, 0x7F)])
)

JSON_LENGTHS: Sequence[int | None] = (10, 30, None)


def slice_of(node: regex.Node) -> Slice:
    """All beginnings of what ``node`` matches."""
    dfa = minimize(determinize(thompson(node)))
    return Slice(dfa.table, dfa.classes, dfa.start)


def json_slices() -> list[Slice]:
    """The slices for JSON strings, the shortest first."""
    return [slice_of(regex.repeat(_SAFE, 1, most)) for most in JSON_LENGTHS]
