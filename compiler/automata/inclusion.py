"""Which states of one automaton accept part of what others accept."""

from collections.abc import Iterable

from .dfa import DEAD, Dfa

# Pairs of states that are looked at, of all questions together.
_PAIRS = 1 << 20


class Inclusion:
    """Answers "is L(p) a part of L(q)?" for states of a trimmed DFA.

    Pairs that a proof has gone through are proven with it (coinduction): a run of questions about
    the states of one counter costs as much as one of them. Where the questions have looked at
    ``pairs`` pairs, all later ones are answered with no.
    """

    def __init__(self, dfa: Dfa, pairs: int = _PAIRS) -> None:
        self._rows = dfa.table.tolist()
        self._accepting = dfa.accepting.tolist()
        self._left = pairs
        self._proven: set[tuple[int, int]] = set()
        self._refuted: set[tuple[int, int]] = set()

    def largest(self, states: Iterable[int]) -> list[int]:
        """The states without those of which another accepts all; the earlier of equal ones."""
        kept: list[int] = []
        for state in states:
            if not any(self.holds(state, other) for other in kept):
                kept = [other for other in kept if not self.holds(other, state)]
                kept.append(state)
        return kept

    def holds(self, p: int, q: int) -> bool:
        """Whether all that is accepted from ``p`` is accepted from ``q``; no also means unknown."""
        if (p, q) in self._refuted:
            return False
        seen = {(p, q)}
        pending = [(p, q)]
        while pending:
            pair = pending.pop()
            one, other = pair
            if one in (DEAD, other) or pair in self._proven:
                continue
            self._left -= 1
            refuted = other == DEAD or (self._accepting[one] and not self._accepting[other])
            if refuted or pair in self._refuted or self._left < 0:
                self._refuted.add((p, q))
                return False
            for following in {*zip(self._rows[one], self._rows[other], strict=True)} - seen:
                seen.add(following)
                pending.append(following)
        self._proven |= seen
        return True
