"""Enumerations of literals share a trie; runs of plain characters in a regex are one token."""

import random
import re

import pytest
from support.regexes import node_of

from constrain.compiler.automata import thompson
from constrain.compiler.dialects import regex_lexer
from constrain.compiler.pipeline import build_automaton

LETTERS = "abé"


def random_words(rng: random.Random, count: int) -> list[str]:
    """Words of few letters; some begin others, some come twice."""
    return ["".join(rng.choices(LETTERS, k=rng.randrange(1, 7))) for _ in range(count)]


@pytest.mark.parametrize("dialect", ["regex", "kbnf"])
def test_an_enumeration_is_its_words(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what stands beside them, and the same automaton and origins as without a trie."""
    rng = random.Random(5)
    for count in (2, 30, 200):
        words = random_words(rng, count)
        if dialect == "regex":
            text = f"({'|'.join(words)}|[xy]+)z"
        else:
            listed = " | ".join(f'"{word}"' for word in words)
            text = f'start ::= (word | number) "z"; word ::= {listed}; number ::= #"[xy]+";'
        automata = []
        for most in (1, 1 << 30):
            monkeypatch.setattr(thompson, "MANY_WORDS", most)
            monkeypatch.setattr("constrain.compiler.lnf.automaton.MANY_WORDS", most)
            automata.append(build_automaton(text, dialect=dialect))
        shared, plain = (found.dfa for found in automata)
        assert shared.table.tolist() == plain.table.tolist()
        assert shared.accepting.tolist() == plain.accepting.tolist()
        assert shared.origins == plain.origins
        for word in {*words, *random_words(rng, 100)}:
            assert automata[0].dfa.accepts(word.encode() + b"z") == (word in words)


def test_runs_of_characters_are_one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expression is the same as with a token for each, whatever flags and quantifiers say."""
    rng = random.Random(6)
    parts = ["ab", "a", "b-c", "x y", "#", "é", "*", "+", "?", "{2}", "{1,3}", "(", ")", "|", "."]
    parts += ["[ab]", "(?i)", "(?x)", "(?i:", "\\d", "&", "~", "{", "=>", "^", "$", '"', "ss", "K"]
    read = 0
    for _ in range(3_000):
        text = "".join(rng.choices(parts, k=rng.randrange(1, 9)))
        for extended in (False, True):
            found = []
            for pattern in (regex_lexer._RUN, re.compile("(?!)")):
                with monkeypatch.context() as patched:
                    patched.setattr(regex_lexer, "_RUN", pattern)
                    try:
                        found.append(repr(node_of(text, extended=extended)))
                    except Exception as error:
                        found.append(type(error).__name__)
            assert found[0] == found[1], text
            read += "(" in found[0]
    assert read > 1_000
