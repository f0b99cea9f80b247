"""The texts that a normalizer leaves as they are, as a DFA over bytes, followed token by token.

    NormalFormDfa   its table; what tokens do at a state depends on few of them, the boundary tokens
    Runs            its state after the text so far

With NFC the state after ``e`` has no transition by U+0301, since both compose to ``é``; after
``x`` it has one. The state after the lead byte CC is inside a character: only tokens that begin
with a continuation byte are read there, and after ``e`` not all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import TokenRuns
from ..tokens import tokenset
from ..tokens.distinct import distinct_below
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.sharing import recent
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary

DEAD = 0

_CONTINUATION = slice(0x80, 0xC0)

# What is kept of states that were met.
_MOST_BYTES = 1 << 22


@dataclass(frozen=True, eq=False)
class NormalFormDfa:
    """``table``: uint16 (S, J), next state by byte class, state 0 dead. ``classes``: uint8
    (256,), class of each byte. ``start``: the state before any text, and wherever the text before
    makes no difference. ``boundary``: int32, the boundary tokens: those that begin inside a
    character, or lead some state between two characters to the dead state or to one that is not
    free. ``undecided``: int32, of those the ones after which the grammar may leave no end of the
    character that they end in.
    """

    table: NDArray[np.uint16]
    classes: NDArray[np.uint8]
    start: int
    boundary: NDArray[np.int32]
    undecided: NDArray[np.int32]

    def step(self, state: int, octets: bytes) -> int:
        """The state after some bytes."""
        flat, classes, width = self._flat, self._classes, self.table.shape[1]
        for octet in octets:
            state = flat[state * width + classes[octet]]
        return state

    def behind(self, ids: Iterable[int], vocabulary: Vocabulary) -> int:
        """The state that a prompt ends in.

        Text begins again after a special token, and where the prompt is not in normal form.
        """
        found = self.start
        for token in ids:
            found = self.step(found, vocabulary.token(token)) if vocabulary.is_text(token) else DEAD
            found = found or self.start
        return found

    def are_inside(self, states: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some states lie inside a character."""
        found: NDArray[np.bool_] = (self.table[states[:, None], self._tails] != DEAD).any(axis=1)
        return found

    def are_free(self, states: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some states let every text in normal form follow that begins with an inert
        character: all between two characters, and those inside one that the start leads to."""
        found: NDArray[np.bool_] = self._begun[states]
        others = np.flatnonzero(~found)
        found[others] = ~self.are_inside(states[others])
        return found

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """The same of all states, bool (S,)."""
        return self.are_free(np.arange(len(self.table)))

    @cached_property
    def _flat(self) -> memoryview:
        # Memoryviews answer integer indices several times faster than arrays.
        return np.ascontiguousarray(self.table).reshape(-1).data

    @cached_property
    def _classes(self) -> memoryview:
        return np.ascontiguousarray(self.classes).data

    @cached_property
    def _begun(self) -> NDArray[np.bool_]:
        """The states inside a character that the start leads to."""
        found = np.zeros(len(self.table), dtype=np.bool_)
        fresh = np.array([self.start])
        while len(fresh):
            found[fresh] = True
            reached = np.zeros_like(found)
            reached[self.table[fresh]] = True
            inner = np.flatnonzero(reached & ~found)
            fresh = inner[self.are_inside(inner)]
        found[self.start] = False
        return found

    @cached_property
    def _tails(self) -> NDArray[np.uint8]:
        """The columns of continuation bytes."""
        return distinct_below(self.classes[_CONTINUATION], 256).astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """What the boundary tokens do at a state.

    ``kept``: uint32, the words of a mask at ``words``, without the tokens that lead to the dead
    state. After some tokens an end must be looked for: ``bits``, uint32, in the words ``places``
    of a mask; ``tokens`` holds each, ascending, and the state that it leads to.
    """

    words: NDArray[np.int32]
    kept: Words
    places: NDArray[np.int32]
    bits: Words
    tokens: list[tuple[int, int]]

    def restrict(self, row: Words) -> list[tuple[int, int]]:
        """Take the tokens that are not read out of ``row``; those of ``tokens`` that it holds."""
        row[self.words] &= self.kept
        if not self.tokens:
            return []
        return [self.tokens[i] for i in np.flatnonzero(row[self.places] & self.bits).tolist()]


class Runs:
    """The states of a normal-form DFA after texts, as numbers below ``states``; 0 is dead. Threads
    may share it, and so may all grammars of a tokenizer."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: NDArray[np.uint16],
        classes: NDArray[np.uint8],
        start: NDArray[np.int64],
        tokens: NDArray[np.int32],
        unsure: NDArray[np.int32],
    ) -> None:
        self._made_of = start
        self.dfa = NormalFormDfa(table, classes, int(start[0]), tokens, unsure)
        self._vocabulary = vocabulary
        self.start, self.states = self.dfa.start, len(table)
        effects, settled = CacheBudget(_MOST_BYTES).divide(3, 1)
        self._effects: BoundedCache[int, Effect] = effects.cache()
        self._settled: BoundedCache[int, int] = settled.cache()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> "Runs":
        """Of the DFA in the sections ``stable.*``."""
        names = "table", "classes", "start", "tokens", "unsure"
        return recent(cls, vocabulary, *(arrays[f"stable.{name}"] for name in names))

    def step(self, state: int, token: int) -> int:
        """The state after a token of text."""
        return self.dfa.step(state, self._vocabulary.token(token))

    def behind(self, ids: Iterable[int]) -> int:
        """The state that a prompt ends in."""
        return self.dfa.behind(ids, self._vocabulary)

    def is_settled(self, state: int) -> bool:
        """Whether any text in normal form may follow: compilation has decided what is live."""
        return state != DEAD and bool(self.dfa.are_free(np.array([state]))[0])

    def settled(self, states: Sequence[int]) -> list[int]:
        """Of each state the bytes that lead to one of those, as bits."""
        missing = [state for state in states if self._settled.get(state) is None]
        if missing:
            behind = self.dfa.table[missing]
            leads = ((behind != DEAD) & self.dfa.free[behind])[:, self.dfa.classes]
            packed = np.packbits(leads, axis=1, bitorder="little")
            for state, row in zip(missing, packed, strict=True):
                self._settled.keep(state, int.from_bytes(row.tobytes(), "little"))
        return [self._settled.get(state) or 0 for state in states]

    def is_inside(self, state: int) -> bool:
        """Whether the text ends inside a character."""
        return bool(self.dfa.are_inside(np.array([state]))[0])

    def at(self, state: int) -> Effect:
        """What tokens do at a state."""
        cached = self._effects.get(state)
        if cached is None:
            read, tokens, states = self._read(state)
            cached = self._tokens.effect(read, tokens, states)
            weight = cached.kept.nbytes + ENTRY_BYTES * (1 + len(cached.tokens))
            self._effects.keep(state, cached, weight)
        return cached

    def _read(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The boundary tokens that are read; those after which an end must be looked for, which
        are undecided and lead to a state that is not free; and these states."""
        read, states = self._tokens.run(state)
        some = np.flatnonzero(self._tokens.is_undecided[read])
        some = some[~self.dfa.are_free(states[some])]
        return read, read[some], states[some]

    @cached_property
    def _tokens(self) -> "_BoundaryTokens":
        return _BoundaryTokens(self.dfa, self._vocabulary)


class _BoundaryTokens:
    """The boundary tokens of a DFA, and the words of a mask that hold them."""

    def __init__(self, dfa: NormalFormDfa, vocabulary: Vocabulary) -> None:
        ids, size = dfa.boundary, vocabulary.size
        octets = vocabulary.tokens(ids)
        self.run = TokenRuns(ids, octets, dfa.table, dfa.classes).run
        self.is_undecided = np.zeros(size, dtype=np.bool_)
        self.is_undecided[dfa.undecided] = True
        self._words = distinct_below(ids >> 5, tokenset.word_count(size)).astype(np.int32)
        # The place of each word of a mask among those.
        self._place = np.zeros(tokenset.word_count(size), dtype=np.int32)
        self._place[self._words] = np.arange(len(self._words))
        # Those words with the bits of all other tokens.
        self._others = (~tokenset.from_ids(ids, size))[self._words]
        self._bits: Words = np.uint32(1) << np.arange(32, dtype=np.uint32)

    def effect(
        self,
        read: NDArray[np.int32],
        tokens: NDArray[np.int32],
        states: NDArray[np.int64],
    ) -> Effect:
        """``read``: the boundary tokens that are read. ``tokens``, ``states``: those after which
        an end must be looked for, and where they lead, in any order."""
        kept = self._others.copy()
        np.bitwise_or.at(kept, self._place[read >> 5], self._bits[read & 31])
        order = np.argsort(tokens, kind="stable")
        tokens, states = tokens[order], states[order]
        found = list(zip(tokens.tolist(), states.tolist(), strict=True))
        return Effect(self._words, kept, tokens >> 5, self._bits[tokens & 31], found)
