"""DirectMerge and pairs of tokens on random automata and merges; growth and caps."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from support.automata import words_of
from support.merge import (
    plain,
)
from support.oracles.merge import (
    PlainDfa,
    allowed_pairs_via_encoding,
    direct_merge_via_listing,
    remove_irrelevant,
    tokenize_via_merges,
)
from support.regexes import minimal_dfa_of

from constrain.compiler.bpe.derivations import derive
from constrain.compiler.bpe.forbidden_pairs import build_forbidden_pairs
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.merge.direct_merge import canonical_dfa, direct_merge
from constrain.compiler.merge.families import with_letters


def random_dfa(rng: random.Random, letters: int) -> PlainDfa | None:
    """A trimmed automaton with states from 0 on; None if it has no member."""
    size = rng.randrange(1, 6)
    delta = {
        s: {c: rng.randrange(size) for c in range(letters) if rng.random() < 0.7}
        for s in range(size)
    }
    dfa = PlainDfa(delta, 0, {s for s in range(size) if rng.random() < 0.4})
    remove_irrelevant(dfa)
    number = {s: i for i, s in enumerate(sorted(dfa.delta))}
    if not dfa.final:
        return None
    return PlainDfa(
        {number[s]: {y: number[t] for y, t in out.items()} for s, out in dfa.delta.items()},
        number[dfa.start],
        {number[s] for s in dfa.final},
    )


def random_merges(rng: random.Random, letters: int) -> tuple[list[tuple[int, int, int]], list[str]]:
    """A merge list over strings, improper ones included, and the strings."""
    strings = [chr(97 + c) for c in range(letters)]
    merges: list[tuple[int, int, int]] = []
    for _ in range(rng.randrange(1, 6)):
        a, b = rng.randrange(len(strings)), rng.randrange(len(strings))
        if any(m[:2] == (a, b) for m in merges):
            continue
        joined = strings[a] + strings[b]
        if joined not in strings:
            strings.append(joined)
        merges.append((a, b, strings.index(joined)))
    return merges, strings


def test_random_automata_and_merges(full: bool) -> None:
    """Families and listing give merge(L), the same number of states, and only relevant ones."""
    rng = random.Random(5)
    cases = 0
    while cases < (4000 if full else 36):
        letters = rng.randrange(1, 4)
        dfa = random_dfa(rng, letters)
        if dfa is None:
            continue
        cases += 1
        merges, strings = random_merges(rng, letters)
        edges = [(s, c, t) for s, out in sorted(dfa.delta.items()) for c, t in out.items()]
        automaton = with_letters(len(dfa.delta), dfa.start, dfa.final, edges)
        longest = 6
        expected = {tuple(tokenize_via_merges(w, merges)) for w in dfa.members(longest)}
        for merge in merges:
            direct_merge(automaton, *merge)
            direct_merge_via_listing(dfa, *merge)
        merged = plain(automaton)
        for found in (dfa, merged):
            words = {
                w for w in found.members(longest) if sum(len(strings[t]) for t in w) <= longest
            }
            assert words == expected
        assert (len(merged.delta), merged.transitions()) == (len(dfa.delta), dfa.transitions())
        before = set(merged.delta)
        remove_irrelevant(merged)
        assert set(merged.delta) == before


def proper_merges(rng: random.Random, letters: int, count: int) -> list[tuple[int, int, int]]:
    """A merge list as a tokenizer's training makes it; tokens 0.. are the letters."""
    strings = [chr(97 + c) for c in range(letters)]
    merges: list[tuple[int, int, int]] = []
    while len(merges) < count:
        a, b = rng.randrange(len(strings)), rng.randrange(len(strings))
        if strings[a] + strings[b] not in strings:
            merges.append((a, b, len(strings)))
            strings.append(strings[a] + strings[b])
    return merges


def test_pairs_agree_with_algorithm_4(full: bool) -> None:
    """The forbidden rectangles are what encoding every pair tells, on random merge lists."""
    rng = random.Random(3)
    for _ in range(400 if full else 30):
        merges = proper_merges(rng, rng.randrange(1, 4), rng.randrange(1, 14))
        letters = min(min(a, b) for a, b, _ in merges), merges[0][2]
        text = {c: [c] for c in range(letters[1])}
        for a, b, ab in merges:
            text[ab] = text[a] + text[b]

        def encode(pair: Sequence[int]) -> list[int]:
            return tokenize_via_merges([c for t in pair for c in text[t]], merges)  # noqa: B023

        # Tokens that no text is encoded to have no pairs to be right about.
        tokens = [t for t in text if tokenize_via_merges(text[t], merges) == [t]]
        allowed = allowed_pairs_via_encoding(tokens, encode)
        found = derive(text, np.array(merges, dtype=np.int32))
        forbidden = build_forbidden_pairs(found, len(text)).rows.forbidden(tokens, tokens)
        for i, first in enumerate(tokens):
            expected = {second for j, second in enumerate(tokens) if not forbidden[i, j]}
            assert allowed[first] == expected


@pytest.mark.parametrize("pattern", ["[ab]*", "(ab|ba)+c?", "a{2,5}", "[abc]{3}", "(a|bb)*c"])
def test_tables_hold_the_merged_language(pattern: str) -> None:
    """The packed tables accept exactly tokenize(L), and fused states stay distinct."""
    dfa = minimal_dfa_of(pattern)
    rng = random.Random(17)
    for _ in range(20):
        merges = proper_merges(rng, 3, 6)
        base = [-1] * 256
        base[97:100] = [0, 1, 2]
        result = canonical_dfa(dfa, base, (), np.array(merges, dtype=np.int32))
        text = {0: "a", 1: "b", 2: "c"}
        for a, b, ab in merges:
            text[ab] = text[a] + text[b]
        found = set()
        pending: list[tuple[int, tuple[int, ...]]] = [(result.dfa.start, ())]
        for state, word in pending:
            if result.dfa.is_accepting(state):
                found.add(word)
            tokens, targets = result.dfa.edges_of(state)
            for t, to, ok in zip(
                tokens.tolist(), targets.tolist(), result.flags(state), strict=True
            ):
                if ok and sum(len(text[x]) for x in word) + len(text[t]) <= 6:
                    pending.append((to, (*word, t)))
        expected = {
            tuple(tokenize_via_merges([c - 97 for c in word], merges)) for word in words_of(dfa, 6)
        }
        assert found == expected
        keys = {
            (int(result.dfa.family[s]), result.flags(s).tobytes()) for s in range(result.dfa.states)
        }
        assert len(keys) == result.dfa.states


def test_growth_and_caps() -> None:
    """Growth begins before the first merge and ends after the last; caps name the rule."""
    base = [-1] * 256
    base[97:100] = [0, 1, 2]
    merges = np.array(proper_merges(random.Random(2), 3, 12), dtype=np.int32)
    dfa = minimal_dfa_of("[abc]*")
    result = canonical_dfa(dfa, base, (), merges)
    assert result.growth[0].merges == 0
    assert (result.growth[0].states, result.growth[0].transitions) == (1, 3)
    assert result.growth[-1].merges == len(merges)
    assert result.growth[-1].states >= result.dfa.states
    with pytest.raises(LimitError, match=r"more than 20 transitions.*--max-transitions"):
        canonical_dfa(dfa, base, (), merges, Limits(transitions=20))
