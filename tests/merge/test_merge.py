"""DirectMerge against the source document: its examples, its figures, its definitions.

Both implementations are tested alike: ``direct_merge`` on families, and the listing.
Source: Tran-Thien, "Technical Appendix" (2024).
"""

import pytest
from support.merge import Delta, Run, both, tokenized
from support.oracles.merge import merge_pair

pytestmark = pytest.mark.quick

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
def test_example_of_the_readme(run: Run) -> None:
    """a?b[bc] with (a, b), (b, c), (ab, c): state 2 gets a copy, which is like it at the end."""
    delta = {0: {"a": 1, "b": 2}, 1: {"b": 2}, 2: {"b": 3, "c": 3}, 3: {}}
    pairs = [("a", "b"), ("b", "c"), ("ab", "c")]
    after_two = {(0, "ab", 2), (0, "b", 4), (0, "bc", 3), (2, "b", 3), (2, "c", 3), (4, "b", 3)}
    assert run(delta, 0, {3}, pairs[:2]).looks_like(after_two)
    result = run(delta, 0, {3}, pairs)
    after_three = {*after_two, (0, "abc", 3)} - {(2, "c", 3)}
    assert result.looks_like(after_three)
    assert result.words(3) == {("ab", "b"), ("b", "b"), ("bc",), ("abc",)}


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
