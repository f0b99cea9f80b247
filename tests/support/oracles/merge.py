"""The source's definitions and listings as printed, but for their errata: slow oracles for tests.

    merge_pair, tokenize_via_merges    section 1.1, the definition of tokenize
    direct_merge_via_listing           Algorithms 1 and 2, on dictionaries, without the indices of
                                       section 5 and with the final trim
    build_tokenizer_dfa                Algorithm 3, the DFA of tokenize(Σ*)
    allowed_pairs_via_encoding         Algorithm 4, each pair encoded by itself

The DFA of Algorithm 3 is one transition function from S₀ and a set of disallowed tokens for each
state, since all transitions by one token lead to one state. ``bpe.forbidden_pairs`` has the same
sets in a form that grows with the merges alone. Source: Tran-Thien, "Technical Appendix" (2024);
``README.md`` lists the errata E1 to E7.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

Merge = tuple[int, int, int]


def merge_pair(tokens: Sequence[int], a: int, b: int, ab: int) -> list[int]:
    """merge_{a,b}: join each a that b follows, leftmost first.

    ``tokens=[1, 1, 1, 2], a=1, b=1, ab=9 -> [9, 1, 2]``
    """
    out: list[int] = []
    i = 0
    while i < len(tokens):
        if i + 1 < len(tokens) and tokens[i] == a and tokens[i + 1] == b:
            out.append(ab)
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return out


def tokenize_via_merges(letters: Sequence[int], merges: Iterable[Merge]) -> list[int]:
    """tokenize: the composition of all merges, the first one first."""
    tokens = list(letters)
    for a, b, ab in merges:
        tokens = merge_pair(tokens, a, b, ab)
    return tokens


def allowed_pairs_via_encoding(
    tokens: Sequence[int], encode: Callable[[Sequence[int]], Sequence[int]]
) -> dict[int, set[int]]:
    """Algorithm 4, with f as the *allowed* tokens (erratum E7).

    ``encode`` gives the tokens of the text of a pair.
    """
    return {
        first: {second for second in tokens if list(encode([first, second])) == [first, second]}
        for first in tokens
    }


@dataclass(slots=True)
class PlainDfa:
    """A DFA as nested dictionaries: ``delta[state][token]`` is a state."""

    delta: dict[int, dict[int, int]]
    start: int
    final: set[int]

    def members(self, longest: int) -> Iterator[tuple[int, ...]]:
        """All members of at most ``longest`` tokens."""
        pending: list[tuple[int, tuple[int, ...]]] = [(self.start, ())]
        for state, word in pending:
            if state in self.final:
                yield word
            if len(word) < longest:
                pending.extend((t, (*word, y)) for y, t in self.delta.get(state, {}).items())

    def predecessors(self, state: int, token: int) -> list[int]:
        """The states that ``token`` leads from to ``state``."""
        return [s for s, out in self.delta.items() if out.get(token) == state]

    def new_state(self, accepting: bool) -> int:
        """Add a state without transitions."""
        state = max(self.delta) + 1
        self.delta[state] = {}
        if accepting:
            self.final.add(state)
        return state

    def transitions(self) -> int:
        """Number of transitions."""
        return sum(map(len, self.delta.values()))


def direct_merge_via_listing(dfa: PlainDfa, a: int, b: int, ab: int) -> None:
    """Algorithm 1 (a ≠ b) or Algorithm 2 (a = b), in place."""
    if a != b:
        for state in sorted(dfa.delta):
            if b in dfa.delta[state] and dfa.predecessors(state, a):
                _process_state(dfa, state, a, b, ab)
        return
    original = sorted(dfa.delta)
    both = [s for s in original if a in dfa.delta[s] and dfa.predecessors(s, a)]
    prime = {s: dfa.new_state(s in dfa.final) for s in both}
    # E1: the loop of line 15 ranges over the original states; the new ones enter S as well.
    outside = {
        s: [p for p in dfa.predecessors(s, a) if p in set(original) - set(both)] for s in both
    }
    for state in both:
        for y, target in list(dfa.delta[state].items()):
            if y == a and target in prime:
                dfa.delta[state][a] = prime[target]
                dfa.delta[prime[state]][a] = target
            else:
                dfa.delta[prime[state]][y] = target
        for before in outside[state]:
            dfa.delta[before][a] = prime[state]
    for state in both:
        if dfa.predecessors(prime[state], a):
            _process_state(dfa, prime[state], a, a, ab)
    remove_irrelevant(dfa)


def _process_state(dfa: PlainDfa, state: int, a: int, b: int, ab: int) -> None:
    state_b = dfa.delta[state][b]
    before = dfa.predecessors(state, a)
    for state_a in before:
        dfa.delta[state_a][ab] = state_b
    entered_otherwise = state == dfa.start or any(
        y != a and target == state for out in dfa.delta.values() for y, target in out.items()
    )
    left_otherwise = state in dfa.final or any(y != b for y in dfa.delta[state])
    if entered_otherwise and left_otherwise:
        new = dfa.new_state(state in dfa.final)
        for state_a in before:
            dfa.delta[state_a][a] = new
        dfa.delta[new].update({y: t for y, t in dfa.delta[state].items() if y != b})
    elif entered_otherwise:
        for state_a in before:
            del dfa.delta[state_a][a]
    elif left_otherwise:
        del dfa.delta[state][b]
    else:
        for state_a in before:
            del dfa.delta[state_a][a]
        del dfa.delta[state]


def remove_irrelevant(dfa: PlainDfa) -> None:
    """Keep the states on a path from the start to an accepting state (and the start)."""
    forward = [dfa.start]
    for state in forward:
        forward.extend(t for t in dfa.delta.get(state, {}).values() if t not in forward)
    backward = [s for s in dfa.final if s in dfa.delta]
    for state in backward:
        backward.extend(
            s for s, out in dfa.delta.items() if state in out.values() and s not in backward
        )
    kept = (set(forward) & set(backward)) | {dfa.start}
    dfa.delta = {
        s: {y: t for y, t in out.items() if t in kept} for s, out in dfa.delta.items() if s in kept
    }
    dfa.final &= kept


START = 0


@dataclass(frozen=True, slots=True)
class TokenizerDfa:
    """The DFA of tokenize(Σ*), of which all states accept.

    ``delta``: δ(S₀, ·), token to state. ``disallowed``: f, the disallowed tokens of each state.
    """

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
