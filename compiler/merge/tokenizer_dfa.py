"""The DFA of tokenize(Σ*): Algorithm 3 as printed, but for its errata. Slow; the oracle.

Source: Tran-Thien, "Technical Appendix" (2024), section 4. All transitions by one token lead
to one state, so a transition function from S₀ and a set of disallowed tokens for each state
say everything. ``rectangles`` holds the same in a form that grows with the merges alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .oracle import Merge

START = 0


@dataclass(frozen=True, slots=True)
class TokenizerDfa:
    """``delta``: δ(S₀, ·), token to state. ``disallowed``: f, for each state. All states
    accept."""

    delta: dict[int, int]
    disallowed: list[frozenset[int]]

    def allowed(self, last: int | None) -> set[int]:
        """``ListAllowedTokens``; None is the start (E6). E5: only tokens that are produced."""
        state = START if last is None else self.delta[last]
        return set(self.delta) - self.disallowed[state]


def build_tokenizer_dfa(letters: Iterable[int], merges: Iterable[Merge]) -> TokenizerDfa:
    """``BuildTokenizerDFA``, with states of equal f fused at the end (section 5.3).

    Each merge is (a, b, ab). The listing's numbers stand beside its lines.
    """
    delta = dict.fromkeys(letters, START)  # 4, 5
    disallowed: list[set[int]] = [set()]  # 2, 3
    forbidding: dict[int, set[int]] = {}
    entered = {START: len(delta)}
    for a, b, ab in merges:
        if a not in delta or b not in delta:  # E4
            continue
        state, state_b = delta[a], delta[b]  # 8
        if b in disallowed[state]:  # 9
            continue
        if a == b or state == START or entered[state] > 1:  # 11, E2
            new = len(disallowed)  # 12
            disallowed.append(disallowed[state] | {b})  # 14
            for token in disallowed[new]:
                forbidding.setdefault(token, set()).add(new)
            delta[a] = new  # 13
            entered[state] -= 1
            entered[new] = 1
        else:
            disallowed[state].add(b)  # 16
            forbidding.setdefault(b, set()).add(state)
        # E3: these lines belong to no branch.
        delta[ab] = state_b  # 17
        entered[state_b] += 1
        for before in forbidding.get(a, ()):  # 18
            disallowed[before].add(ab)  # 19
        forbidding.setdefault(ab, set()).update(forbidding.get(a, ()))
    return _fused(delta, disallowed)


def _fused(delta: dict[int, int], disallowed: list[set[int]]) -> TokenizerDfa:
    """States with the same disallowed tokens are one."""
    number: dict[frozenset[int], int] = {frozenset(): START}
    fused = [number.setdefault(frozenset(f), len(number)) for f in disallowed]
    return TokenizerDfa({t: fused[s] for t, s in delta.items()}, list(number))
