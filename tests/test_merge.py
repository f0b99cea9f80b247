"""DirectMerge against the source document: its examples, its figures, its definitions.

Both implementations are tested alike: ``direct_merge`` on families, and the listing.
Source: Tran-Thien, "Technical Appendix" (2024).
"""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from constrain.artifacts.pairs import MergeTable
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.tree import Pattern
from constrain.compiler.limits import Limits
from constrain.compiler.merge.canonical import canonical_dfa
from constrain.compiler.merge.direct import direct_merge
from constrain.compiler.merge.families import FamilyAutomaton, with_letters
from constrain.compiler.merge.oracle import (
    PlainDfa,
    allowed_pairs_via_encoding,
    direct_merge_via_listing,
    merge_pair,
    remove_irrelevant,
    tokenize_via_merges,
)

Delta = dict[int, dict[str, int]]
Run = Callable[[Delta, int, set[int], Sequence[tuple[str, str]]], "Result"]


class Names:
    """Token strings to numbers and back."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.text: list[str] = []

    def __getitem__(self, text: str) -> int:
        if text not in self.number:
            self.number[text] = len(self.text)
            self.text.append(text)
        return self.number[text]

    def merges(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int, int]]:
        """(left, right, result) of pairs of strings."""
        return [(self[a], self[b], self[a + b]) for a, b in pairs]


class Result:
    """An automaton with token strings on its edges."""

    def __init__(self, dfa: PlainDfa, names: Names) -> None:
        self.start, self.final = dfa.start, dfa.final
        self.delta = {
            s: {names.text[t]: to for t, to in out.items()} for s, out in dfa.delta.items()
        }

    def edges(self) -> set[tuple[int, str, int]]:
        """All transitions."""
        return {(s, t, to) for s, out in self.delta.items() for t, to in out.items()}

    def looks_like(self, edges: set[tuple[int, str, int]]) -> bool:
        """Whether the transitions are ``edges`` but for the names of states (start 0)."""
        return renamed(self.edges(), self.start) == renamed(edges, 0)

    def words(self, longest: int) -> set[tuple[str, ...]]:
        """Members that spell at most ``longest`` letters."""
        pending: list[tuple[int, tuple[str, ...]]] = [(self.start, ())]
        found = set()
        for state, word in pending:
            if state in self.final:
                found.add(word)
            for token, target in self.delta.get(state, {}).items():
                if len("".join(word)) + len(token) <= longest:
                    pending.append((target, (*word, token)))
        return found


def renamed(edges: set[tuple[int, str, int]], start: int) -> set[tuple[int, str, int]]:
    """Edges with states numbered breadth-first, tokens in order; all states can be reached."""
    order = [start]
    for source in order:
        for _, target in sorted((t, to) for s, t, to in edges if s == source):
            if target not in order:
                order.append(target)
    return {(order.index(s), t, order.index(to)) for s, t, to in edges}


def plain(automaton: FamilyAutomaton) -> PlainDfa:
    """The automaton of families as a plain table; its counters are checked on the way."""
    delta: dict[int, dict[int, int]] = {}
    for family in automaton.families:
        for place, state in enumerate(family.members):
            if not family.gone[place]:
                delta[state] = {
                    t: to for t, to in family.targets.items() if automaton.has(state, t)
                }
                assert automaton.degree(state) == len(delta[state])
    dfa = PlainDfa(delta, automaton.start, {s for s in delta if automaton.accepting[s]})
    assert (automaton.states, automaton.transitions) == (len(delta), dfa.transitions())
    return dfa


def via_families(
    delta: Delta, start: int, final: set[int], pairs: Sequence[tuple[str, str]]
) -> Result:
    """Merge on families."""
    names = Names()
    edges = [(s, names[t], to) for s, out in delta.items() for t, to in out.items()]
    automaton = with_letters(len(delta), start, final, edges)
    for merge in names.merges(pairs):
        direct_merge(automaton, *merge)
    return Result(plain(automaton), names)


def via_listing(
    delta: Delta, start: int, final: set[int], pairs: Sequence[tuple[str, str]]
) -> Result:
    """Merge as printed."""
    names = Names()
    table = {s: {names[t]: to for t, to in out.items()} for s, out in delta.items()}
    dfa = PlainDfa(table, start, set(final))
    for merge in names.merges(pairs):
        direct_merge_via_listing(dfa, *merge)
    return Result(dfa, names)


both = pytest.mark.parametrize("run", [via_families, via_listing])

AB = [("a", "b")]
AA = [("a", "a")]


@both
class TestDifferentTokens:
    """Section 2: a ≠ b. State 1 is S, 0 is S_a (the start), 2 is S_b."""

    def test_example_2_1_no_incoming_a(self, run: Run) -> None:
        """A state without an incoming a is left alone."""
        result = run({0: {"x": 1}, 1: {"b": 2}, 2: {}}, 0, {2}, AB)
        assert result.edges() == {(0, "x", 1), (1, "b", 2)}

    def test_example_2_1_no_outgoing_b(self, run: Run) -> None:
        """So is one without an outgoing b."""
        result = run({0: {"a": 1}, 1: {"y": 2}, 2: {}}, 0, {2}, AB)
        assert result.edges() == {(0, "a", 1), (1, "y", 2)}

    def test_example_2_2_state_disappears(self, run: Run) -> None:
        """Between one a and one b nothing else passes: only ab is left."""
        result = run({0: {"a": 1}, 1: {"b": 2}, 2: {}}, 0, {2}, AB)
        assert result.edges() == {(0, "ab", 2)}
        assert set(result.delta) == {0, 2}

    def test_example_2_3_other_way_out(self, run: Run) -> None:
        """Another way out keeps the state, without its b."""
        result = run({0: {"a": 1}, 1: {"b": 2, "y": 3}, 2: {}, 3: {}}, 0, {2, 3}, AB)
        assert result.edges() == {(0, "ab", 2), (0, "a", 1), (1, "y", 3)}

    def test_example_2_4_accept_state(self, run: Run) -> None:
        """So does acceptance."""
        result = run({0: {"a": 1}, 1: {"b": 2}, 2: {}}, 0, {1, 2}, AB)
        assert result.edges() == {(0, "ab", 2), (0, "a", 1)}
        assert result.final == {1, 2}

    def test_example_2_5_other_way_in(self, run: Run) -> None:
        """Another way in keeps the state, without its incoming a."""
        delta: Delta = {0: {"a": 1, "x": 3}, 1: {"b": 2}, 2: {}, 3: {"x": 1}}
        result = run(delta, 0, {2}, AB)
        assert result.edges() == {(0, "ab", 2), (0, "x", 3), (3, "x", 1), (1, "b", 2)}

    def test_figure_5_self_loop(self, run: Run) -> None:
        """S with an a loop, another way in and another way out is split into S and S' (4)."""
        delta: Delta = {0: {"x": 1}, 1: {"a": 1, "b": 2, "y": 3}, 2: {}, 3: {}}
        result = run(delta, 0, {2, 3}, AB)
        assert result.edges() == {
            (0, "x", 1), (1, "a", 4), (1, "b", 2), (1, "ab", 2), (1, "y", 3),
            (4, "a", 4), (4, "ab", 2), (4, "y", 3),
        }  # fmt: skip

    def test_predecessors_are_taken_before_rewiring(self, run: Run) -> None:
        """L = {a,b}*, merge (b,a): lines 14 to 16 come before 17 and 18."""
        result = run({0: {"a": 0, "b": 0}}, 0, {0}, [("b", "a")])
        assert result.words(3) == tokenized({"a", "b"}, 3, [("b", "a")])


@both
class TestSameToken:
    """Section 3: a = b."""

    def test_example_3_1_odd_state(self, run: Run) -> None:
        """After an odd number of a's the next a completes a pair."""
        delta: Delta = {0: {"a": 1}, 1: {"a": 2, "y": 3}, 2: {}, 3: {}}
        result = run(delta, 0, {2, 3}, AA)
        assert result.looks_like({(0, "aa", 2), (0, "a", 1), (1, "y", 3)})

    def test_example_3_1_with_another_way_in(self, run: Run) -> None:
        """Entered by x too, the parity is {0, 1}: S keeps what x leads to, S' (5) the rest."""
        delta: Delta = {0: {"a": 1, "x": 4}, 1: {"a": 2, "y": 3}, 2: {}, 3: {}, 4: {"x": 1}}
        result = run(delta, 0, {2, 3}, AA)
        assert result.looks_like({
            (0, "aa", 2), (0, "a", 5), (5, "y", 3), (0, "x", 4), (4, "x", 1),
            (1, "a", 2), (1, "y", 3),
        })  # fmt: skip

    def test_example_3_2_even_state(self, run: Run) -> None:
        """After an even number of a's nothing happens at the state."""
        delta: Delta = {0: {"a": 1}, 1: {"a": 2, "z": 4}, 2: {"a": 3, "y": 4}, 3: {}, 4: {}}
        result = run(delta, 0, {3, 4}, AA)
        assert result.looks_like({
            (0, "aa", 2), (0, "a", 1), (1, "z", 4), (2, "a", 3), (2, "y", 4),
        })  # fmt: skip

    def test_example_3_3_figure_8(self, run: Run) -> None:
        """An a loop entered after an even number of a's: S' (3) is its odd half."""
        delta: Delta = {0: {"a": 1}, 1: {"a": 1, "y": 2}, 2: {}}
        result = run(delta, 0, {2}, AA)
        assert result.looks_like({
            (0, "a", 3), (0, "aa", 1), (1, "a", 3), (1, "aa", 1), (1, "y", 2), (3, "y", 2),
        })  # fmt: skip

    def test_erratum_1_new_states_are_not_in_the_loop(self, run: Run) -> None:
        """L = a*, merge (a,a): a · aa is not accepted."""
        result = run({0: {"a": 0}}, 0, {0}, AA)
        assert ("a", "aa") not in result.words(3)
        assert result.words(5) == tokenized({"a"}, 5, AA)

    def test_parity_search_seeds(self, run: Run) -> None:
        """{0: a→1, b→0; 1: a→0}, F = {1}: every predecessor by another letter is a seed."""
        result = run({0: {"a": 1, "b": 0}, 1: {"a": 0}}, 0, {1}, AA)
        oracle = {w for w in tokenized({"a", "b"}, 5, AA) if odd_run("".join(w))}
        assert result.words(5) == oracle


def odd_run(text: str) -> bool:
    """Membership in the language of the automaton above: 0 -a-> 1 -a-> 0, 0 -b-> 0, F = {1}."""
    state = 0
    for letter in text:
        if letter == "b" and state == 1:
            return False
        state = 1 - state if letter == "a" else state
    return state == 1


def all_words(letters: set[str], longest: int) -> list[str]:
    """All words over letters."""
    words = [""]
    for word in words:
        if len(word) < longest:
            words.extend(word + letter for letter in sorted(letters))
    return words


def tokenized(
    letters: set[str], longest: int, pairs: Sequence[tuple[str, str]]
) -> set[tuple[str, ...]]:
    """tokenize(Σ*) up to a length, by the definition."""
    names = Names()
    merges = names.merges(pairs)
    found = set()
    for word in all_words(letters, longest):
        tokens = tokenize_via_merges([names[letter] for letter in word], merges)
        found.add(tuple(names.text[t] for t in tokens))
    return found


@both
@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "a"), ("aa", "a")],
        [("a", "a")],
        [("a", "a"), ("a", "aa"), ("aaa", "a")],
        [("a", "a"), ("a", "aa")],
        [("aa", "a"), ("a", "a")],
    ],
    ids=["E2", "E3", "E4", "E5", "improper"],
)
def test_counterexamples_of_the_errata(run: Run, pairs: list[tuple[str, str]]) -> None:
    """The merge lists on which the printed listings go wrong, on Σ* = {a}*."""
    result = run({0: {"a": 0}}, 0, {0}, pairs)
    assert result.words(7) == tokenized({"a"}, 7, pairs)


@both
def test_figure_9(run: Run) -> None:
    """tokenize({a,b,c}*) with (a,b), (a,a), (a,c): three states, all accept.

    As Algorithm 3 has it: f(S0) = ∅, f(S1) = {b} after aa, f(S2) = {a, b, c, aa, ac} after a.
    """
    pairs = [("a", "b"), ("a", "a"), ("a", "c")]
    result = run({0: {"a": 0, "b": 0, "c": 0}}, 0, {0}, pairs)
    assert len(result.delta) == len(result.final) == 3
    for token in ("a", "b", "c", "ab", "aa", "ac"):
        assert len({out[token] for out in result.delta.values() if token in out}) == 1
    after = {t: set(result.delta[to]) for t, to in result.delta[result.start].items()}
    everything = {"a", "b", "c", "ab", "aa", "ac"}
    assert after["b"] == after["c"] == after["ab"] == after["ac"] == everything
    assert after["aa"] == everything - {"b"}
    assert after["a"] == {"ab"}
    assert result.words(5) == tokenized({"a", "b", "c"}, 5, pairs)


def test_merge_pair_is_leftmost() -> None:
    """merge_{a,a}(aaab) is aa · a · b."""
    assert merge_pair([1, 1, 1, 2], 1, 1, 9) == [9, 1, 2]
    assert merge_pair([], 1, 1, 9) == []


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
    while cases < (4000 if full else 250):
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


def dfa_of(pattern: str):  # type: ignore[no-untyped-def]
    """The minimal byte DFA of a pattern."""
    body = read_grammar(pattern, "regex").rules[0].body
    assert isinstance(body, Pattern)
    return minimize(determinize(thompson(body.node)))


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
    for _ in range(400 if full else 60):
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
        forbidden = MergeTable(np.array(merges, dtype=np.int32)).forbidden(tokens, tokens)
        for i, first in enumerate(tokens):
            expected = {second for j, second in enumerate(tokens) if not forbidden[i, j]}
            assert allowed[first] == expected


@pytest.mark.parametrize("pattern", ["[ab]*", "(ab|ba)+c?", "a{2,5}", "[abc]{3}", "(a|bb)*c"])
def test_tables_hold_the_merged_language(pattern: str) -> None:
    """The packed tables accept exactly tokenize(L), and fused states stay distinct."""
    dfa = dfa_of(pattern)
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
            tuple(tokenize_via_merges([c - 97 for c in word], merges)) for word in dfa.members(6)
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
    dfa = dfa_of("[abc]*")
    result = canonical_dfa(dfa, base, (), merges)
    assert result.growth[0].merges == 0
    assert (result.growth[0].states, result.growth[0].transitions) == (1, 3)
    assert result.growth[-1].merges == len(merges)
    assert result.growth[-1].states >= result.dfa.states
    with pytest.raises(LimitError, match=r"more than 20 transitions.*--max-transitions"):
        canonical_dfa(dfa, base, (), merges, Limits(transitions=20))
