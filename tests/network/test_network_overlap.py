"""Goals whose copies overlap with what follows them: called, and the language is the same."""

# Tests here say `expected == actual`.

import random

import pytest
from support.grammars import lnf_of, nullable_lnf_of, random_grammars, recogniser
from support.network import check_against_earley

from constrain.artifacts.network.configurations import Network
from constrain.compiler.limits import Limits
from constrain.compiler.network import build as networks
from constrain.compiler.network.build import network

# A comment may end behind each of its characters: what follows may have begun anywhere in it.
COMMENTS = r"""
start ::= ws (function ws)*;
function ::= 'int' ws name ws '(' ws (list ws)? ')' ws block;
list ::= 'int' ws name (ws ',' ws 'int' ws name)*;
block ::= '{' ws (statement ws)* '}';
statement ::= block | 'if' ws '(' ws e ws ')' ws statement | e ws ';' | 'int' ws name ws ';';
e ::= e ws '+' ws e | name | '(' ws e ws ')' | name ws '(' ws e ws ')';
name ::= #'[a-z]+';
ws ::= (#'[ \\n]+' | #'//[^\\n]*')*;
"""
PROGRAM = b"int f ( int a, // int b\n int b) { // note (\n a + g(b); if (a) { int c; } // x\n }"


def test_comments_are_called() -> None:
    """What a comment overlaps with is distinguished by threads, not by powers of states."""
    tables = network(nullable_lnf_of(COMMENTS), Limits(states=2000))
    assert "ws" in {name.split("/")[0] for name in tables.names}
    assert tables.states < 400


def test_comments_are_read_as_by_earley() -> None:
    """Random changes of a text are as viable as Earley says."""
    rng = random.Random(5)
    found, earley = Network(network(nullable_lnf_of(COMMENTS))), recogniser(lnf_of(COMMENTS))
    assert found.viable(PROGRAM) == len(PROGRAM)
    for _ in range(60):
        text = bytearray(PROGRAM)
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice(b"a+(){};,/ \n")
        earley.truncate(0)
        assert earley.feed(text) == found.viable(text), bytes(text)
        reached = found.read(found.start, text[: len(earley)])
        assert earley.is_accepting == found.may_end(reached), bytes(text)


def test_whatever_is_called_equals_earley(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """Random grammars with no room for copies: all that could be copied is called."""
    monkeypatch.setattr(networks, "_GROWTH", 0)
    monkeypatch.setattr(networks, "_SLACK", 3)
    rng = random.Random(8)
    called = 0
    for text, lnf in random_grammars(1000 if full else 40, seed=41):
        tables = network(nullable_lnf_of(text))
        called += len(tables.names) > 1
        check_against_earley(Network(tables), lnf, rng, text)
    assert called > 20
