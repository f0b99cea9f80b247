"""The contextual lexer, and the DFAs of its lexemes."""

# Tests here say `expected == actual`.

import pytest
from support.maximal_munch import BOTH, SWALLOWING, vocabulary_of

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch.lexer import NO_ACCEPT, Lexer
from constrain.artifacts.maximal_munch.lexer_trie import Stays
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import literal
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables


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


def test_where_states_of_a_lexer_loop() -> None:
    """A state loops on the classes that lead back to it; the dead state takes no subtree."""
    lexer = Lexer(maximal_munch_tables(read_grammar(SWALLOWING, "lark")).lexer)
    start = lexer.start(frozenset(range(lexer.tables.lexemes)))
    leaving = Stays(lexer).leaving()
    assert lexer.states == len(leaving)
    assert leaving[DEAD] == 2**64 - 1
    trie = Trie.from_vocabulary(vocabulary_of([b"na", b"na b", "né".encode(), "n€".encode()]))
    below = Subtrees.of(trie).below[1].item()
    rows = lexer.rows
    inside = {
        "name": rows[start][ord("b")],
        "string": rows[start][ord('"')],
        "short": rows[start][ord("'")],
    }
    left = {name: below & int(leaving[state]) for name, state in inside.items()}
    assert left["string"] == 0
    # The space, and two classes outside ASCII, in one of which a name has but one character.
    assert left["name"].bit_count() == 3
    assert left["short"] == below
