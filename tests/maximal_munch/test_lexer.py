"""The contextual lexer, and the DFAs of its lexemes."""

# Tests here say `expected == actual`.

import pytest
from support.maximal_munch import BOTH, maximal_munch_tables

from constrain.artifacts.maximal_munch.lexer import NO_ACCEPT, Lexer
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import literal
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar


def test_a_lexer_reads_what_is_allowed() -> None:
    """Lexemes that are not allowed at the start are never found; ignored ones always are."""
    text = BOTH + 'start: NAME | "if"\nNAME: /[a-z]+/\n%ignore " "\n'
    tables = maximal_munch_tables(read_grammar(text, "lark")).lexer
    lexer = Lexer(tables)
    name, word, space = (tables.texts.index(t) for t in ("NAME", '"if"', '" "'))
    for allowed in ({name}, {word}, {name, word}, set[int]()):
        start = lexer.start(frozenset(allowed))
        assert allowed | {space} == lexer.lexemes(start)
        state = lexer.rows[lexer.rows[start][ord("i")]][ord("f")]
        assert allowed == lexer.lexemes(state)
        number = lexer.accept_of[state]
        assert allowed == (set() if number == NO_ACCEPT else set(lexer.accept_sets[number]))


@pytest.mark.parametrize("data", [b"a", b"aab", bytes(range(256)), bytes(range(255, -1, -1)) * 2])
def test_literals_are_minimal_automata(data: bytes) -> None:
    """The DFA of a text is what determinisation and minimisation make of it."""
    expected, found = minimize(determinize(thompson(regex.lit(data)))), literal(data)
    assert expected.table.tolist() == found.table.tolist()
    assert expected.classes.tolist() == found.classes.tolist()
    assert expected.accepting.tolist() == found.accepting.tolist()
    assert (expected.start, expected.origins) == (found.start, found.origins)
