"""Enumerations of literals share a trie; runs of plain characters in a regex are one token."""

import random

import pytest
from support.automata import build_automaton
from support.regexes import node_of

from constrain.compiler.automata import determinize, thompson
from constrain.compiler.automata.nfa import Arc, Nfa
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.grammar import regex_lexer
from constrain.compiler.limits import Limits

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


@pytest.mark.parametrize("dialect", ["regex", "kbnf"])
def test_a_long_enumeration_needs_no_sets_of_states(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trie is deterministic as it is."""
    words = random_words(random.Random(7), 400)
    listed = " | ".join(f'"{word}"' for word in words)
    text = "|".join(words) if dialect == "regex" else f"start ::= {listed};"
    with monkeypatch.context() as patched:
        patched.delattr(determinize, "subsets")
        found = build_automaton(text, dialect=dialect).dfa
    monkeypatch.setattr(determinize, "_MANY", 1 << 30)
    expected = build_automaton(text, dialect=dialect).dfa
    assert found.table.tolist() == expected.table.tolist()
    assert found.accepting.tolist() == expected.accepting.tolist()
    assert found.origins == expected.origins


def random_nfa(rng: random.Random) -> tuple[Nfa, int]:
    """Few states, most of them with one way for each symbol, and how many terminals there are."""
    size, terminals = rng.randint(1, 9), rng.choice([0, 0, 2])
    nfa = Nfa([[] for _ in range(size)], [[] for _ in range(size)], rng.randrange(size))
    for state in range(size):
        low = rng.randint(0, 80)
        while low < 256 + terminals and rng.random() < 0.8:
            high = low if low >= 256 else min(255, low + rng.randint(0, 60))
            origins = frozenset(rng.sample(range(4), rng.randint(0, 2)))
            nfa.arcs[state].append(Arc(low, high, rng.randrange(size), origins))
            low = high + rng.choice([0, 1, 1, 1, 1, 1, 30])
            low = low if low < 256 else max(low, high + 1)
        rng.shuffle(nfa.arcs[state])
        if rng.random() < 0.2:
            nfa.epsilon[state].append(rng.randrange(size))
    nfa.finals = frozenset(rng.sample(range(size), rng.randint(0, 1)))
    return nfa, terminals


def test_what_is_deterministic_already_has_the_same_subsets(full: bool) -> None:
    """The automaton as it is, beside its subset construction."""
    rng, compared = random.Random(8), 0
    limits = Limits().started()
    for _ in range(1_000 if full else 350):
        nfa, terminals = random_nfa(rng)
        found = determinize._as_it_is(nfa, limits, terminals)
        expected = determinize.subsets(nfa, limits, terminals).dfa()
        if found is not None:
            compared += 1
            assert found.table.tolist() == expected.table.tolist()
            assert found.classes.tolist() == expected.classes.tolist()
            assert found.accepting.tolist() == expected.accepting.tolist()
            assert (found.start, found.origins) == (expected.start, expected.origins)
    assert 0.2 < compared / (1_000 if full else 350) < 0.9


def test_runs_of_characters_are_one_token(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The expression and what is said of it are the same as with a token for each character,
    whatever flags and quantifiers say."""
    rng = random.Random(6)
    parts = ["ab", "a", "b-c", "x y", "#", "é", "*", "+", "?", "{2}", "{1,3}", "(", ")", "|", "."]
    parts += ["[ab]", "(?i)", "(?x)", "(?i:", "\\d", "&", "~", "{", "=>", "^", "$", '"', "ss", "K"]
    parts += ["[b-d0]", "[^-é]", "[-x]", "[z-a]", "[k&~^]", "[^^]", "[a&&b]", "[:x]", "(?-u)", "["]
    parts += [r"[\n\-\]]", r"[^\\b]", r"[\"-\/\<]", r"[\t-\r]", r"[\r-\t]", r"[\x00-\x7Fé]"]
    single = regex_lexer._outside(True, "")
    read = 0
    for _ in range(3_000 if full else 230):
        text = "".join(rng.choices(parts, k=rng.randrange(1, 9)))
        for extended in (False, True):
            found = []
            for outside in (regex_lexer._outside, lambda *_: single):
                with monkeypatch.context() as patched:
                    patched.setattr(regex_lexer, "_outside", outside)
                    try:
                        found.append(repr(node_of(text, extended=extended)))
                    except GrammarError as error:
                        found.append(str(error))
            assert found[0] == found[1], text
            read += "(" in found[0]
    assert read > 200
