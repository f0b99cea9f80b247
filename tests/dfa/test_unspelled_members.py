"""The shortest member that no tokens spell, against a search of all members and all divisions."""

import random

import pytest
from support.automata import build_automaton, words_of

from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.machine.unspelled_members import shortest_unspelled


def is_spelled(text: str, tokens: list[str]) -> bool:
    """Whether a text is tokens one after the other."""
    return not text or any(
        text.startswith(token) and is_spelled(text[len(token) :], tokens) for token in tokens
    )


@pytest.mark.quick
def test_is_that_of_all_divisions(full: bool) -> None:
    """Random vocabularies that lack letters, and languages of three words."""
    rng, lost = random.Random(11), 0
    for _ in range(2000 if full else 55):
        pieces = ["".join(rng.choices("abc", k=rng.randrange(1, 4))) for _ in range(5)]
        tokens = sorted({*pieces, *rng.sample("abc", 2)})
        parts = ["|".join({"".join(rng.choices("abc", k=rng.randrange(3))) for _ in "123"})]
        parts += ["|".join({"".join(rng.choices("abc", k=rng.randrange(1, 3))) for _ in "12"})]
        regex = "".join(f"({rng.choice(parts)})" for _ in range(3))
        dfa = build_automaton(regex, dialect="regex").dfa
        texts = {i: token.encode() for i, token in enumerate(tokens)}
        trie = Trie.from_vocabulary(Vocabulary.from_tokens(texts, [], len(texts)))
        members = sorted(
            (bytes(member).decode() for member in words_of(dfa, 12)), key=lambda m: (len(m), m)
        )
        expected = next((m.encode() for m in members if not is_spelled(m, tokens)), None)
        assert expected == shortest_unspelled(dfa, trie), (regex, tokens)
        lost += expected is not None
    assert lost > 20
