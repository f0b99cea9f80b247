"""Procedure summaries by states that are made on the way, of grammars with growing terminals."""

from collections.abc import Callable, Generator
from typing import TypeAlias

from ..network.summaries import Summaries, TrieWalk
from ..summaries.node_sets import ROOT, Nodes
from ..tokens.lengths import ENDLESS
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .states import States
from .walk import StateWalk

# The row of the tokens that fit, and the set of nodes where the call ends, by their numbers.
_Summary: TypeAlias = tuple[int, int]


class StateSummaries(Summaries):
    """Summaries by walks that make states on the way."""

    def __init__(
        self, states: States, trie: Callable[[], Trie], vocab_size: int, caches: CacheBudget
    ) -> None:
        super().__init__(states, trie, vocab_size, None, caches, compact=True)
        self._states = states

    def _made_walk(self, trie: Trie) -> StateWalk:
        self._by_states = StateWalk(self._states, trie, self._vocab_size, self._children)
        return self._by_states

    def _steps(self, key: tuple[int, int]) -> Generator[tuple[int, int], _Summary, _Summary]:
        """By its twin, a state with bounds: alone where no text is longer than there is room. Else
        texts that are longer are walked by themselves, if they are whole tokens; and if not, the
        nodes with longer ones below."""
        suspended, state = key
        room, begun = self._states.rooms[state], self.sets[suspended]
        walk = self._by_states
        low = walk.within(begun, room) if room < ENDLESS else None
        if low is None or not (suspended == ROOT or low.any()):
            return (yield from super()._steps(key))
        twin = self._states.twin(state)
        if low.all():
            return self._found(key, (yield suspended, twin))
        if suspended == ROOT:
            row, left = yield key[0], twin
            longer, after = yield from super()._steps(key)
            words = self.rows[row] & ~walk.longer(room) | self.rows[longer]
            parts = [walk.up_to(self.sets[left], room), self.sets[after]]
            return self._found(key, (self.rows.number(words), self.sets.number(walk.merged(parts))))
        rows, lefts = set[int](), list[Nodes]()
        for nodes, each in ((begun[low], twin), (begun[~low], state)):
            row, left = yield self.sets.number(nodes), each
            rows.add(row)
            lefts.append(self.sets[left])
        return self._found(key, (self.rows.union(rows), self.sets.number(walk.merged(lefts))))

    def _read_from(
        self, walk: TrieWalk, number: int, suspended: Nodes, state: int
    ) -> tuple[Words, list[tuple[int, Nodes]], int]:
        room = self._states.rooms[state] if number == ROOT else ENDLESS
        if room < ENDLESS:
            return self._by_states.walk_longer(suspended, state, room)
        return super()._read_from(walk, number, suspended, state)
