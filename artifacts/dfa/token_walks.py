"""What all tokens make of a state of a conjunction, by walks of the token trie.

A token leads a state of the DFA to one of some *ends*: a state, and how many characters were begun.
One walk for each state of the DFA finds them, whatever the number of characters so far and whatever
the sets are: of hundreds of ends it is decided afterwards whether they are live.

Without operands an end matters by what the DFA needs from it to a member. States that agree in that
after every text of a few bytes (k-equivalent: Moore 1956) share what short tokens make of them, as
most states within a label of a host name do; long tokens, which are few, are walked for each.
"""

from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import numbered_below, numbered_rows
from ..tokens.level_walk import LevelWalk
from ..tokens.memo import ENTRY_BYTES, BoundedCache
from ..tokens.subtrees import levels_of
from ..tokens.trie import Trie
from .conjunctions import PHASES, Conjunction, phase_after
from .cores import Cores
from .lengths import Lengths

# Tokens of at most so many bytes are short.
_SHORT = 12

# DFAs of more cells are not divided into classes.
_MOST_CELLS = 1 << 17

# Tries of fewer nodes are walked as a whole.
_MANY_NODES = 1 << 14


class Ends(NamedTuple):
    """``states``, ``characters``: int64 (n,), of each end. ``of_token``: int32, a multiple of
    32 and at least V, one more than the end of each token, 0 for one that is not read. Instead of
    that the ends of the tokens ``ids`` are ``numbers``, int32 (m,); where there are such,
    ``of_token`` is shared with other states."""

    states: NDArray[np.int64]
    characters: NDArray[np.int64]
    of_token: NDArray[np.int32]
    ids: NDArray[np.int32]
    numbers: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes of its own arrays."""
        shared = len(self.ids) > 0
        return sum(array.nbytes for array in self) - shared * self.of_token.nbytes

    def flags(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The tokens whose ends are ``allowed``, as flags."""
        found: NDArray[np.bool_] = np.append(False, allowed).take(self.of_token)
        found[self.ids] = allowed.take(self.numbers)
        return found


class TrieParts:
    """What walks need of a trie with N nodes besides its arrays.

    ``characters``: int32 (N,), the characters that begin on the way to a node.
    ``levels``: first node and end of each. ``nodes``: int32 (T,), the node of each of
    ``trie.ids``. ``first_ids``: int32 (N,), a token of each node, -1 for none. ``others``: tokens
    of the same texts, and ``like`` the ones that these have; int32 (n,).
    """

    def __init__(self, trie: Trie) -> None:
        self.trie, self.levels = trie, levels_of(trie)
        self.characters = self._counted(0, np.zeros((1, 256), dtype=np.uint8))
        self.most = int(self.characters.max(initial=0))
        self._by_phase: dict[int, NDArray[np.int32]] = {}
        count, own = len(trie.octets), np.diff(trie.held)
        self.nodes = np.arange(count, dtype=np.int32).repeat(own)
        self.first_ids = np.full(count, -1, dtype=np.int32)
        ending = np.flatnonzero(own)
        self.first_ids[ending] = trie.ids[trie.held[ending]]
        firsts = self.first_ids[self.nodes]
        further = np.flatnonzero(firsts != trie.ids)
        self.others, self.like = trie.ids[further], firsts[further]

    def characters_in(self, conjunction: Conjunction, state: int) -> NDArray[np.int32]:
        """``characters`` of what is read from a state: where that is inside an escape of JSON, or
        escapes follow, these are counted as one."""
        if not conjunction.has_escapes:
            return self.characters
        phase = conjunction.phases[state]
        found = self._by_phase.get(phase)
        if found is None:
            after = np.array([[phase_after(p, o) for o in range(256)] for p in range(PHASES)])
            found = self._by_phase[phase] = self._counted(phase, after)
        return found

    def _counted(self, phase: int, after: NDArray[np.integer]) -> NDArray[np.int32]:
        """The characters that begin in phase 0. ``after``: (phases, 256), the phase after each."""
        octets, above = self.trie.octets, self.trie.above
        begins = (octets & 0xC0) != 0x80
        phases = np.full(len(octets), phase, dtype=np.uint8)
        found = np.zeros(len(octets), dtype=np.int32)
        for first, last in self.levels[1:]:
            before = phases[above[first:last]]
            found[first:last] = found[above[first:last]] + (begins[first:last] & (before == 0))
            phases[first:last] = after[before, octets[first:last]]
        return found

    def of_tokens(self, places: slice) -> "TrieParts":
        """The same of what leads to some tokens, by their places."""
        return TrieParts(self.trie.leading_to(self.nodes[places], self.trie.ids[places]))


class TokenTries:
    """The trie of all tokens, that of the short ones and that of the long ones."""

    def __init__(self, trie: Trie) -> None:
        self.whole = TrieParts(trie)

    @cached_property
    def short(self) -> TrieParts:
        """Made where walks are divided."""
        return self.whole.of_tokens(slice(self._few))

    @cached_property
    def long(self) -> TrieParts:
        """The same of the others."""
        return self.whole.of_tokens(slice(self._few, None))

    @property
    def _few(self) -> int:
        """How many tokens are short: those of the first levels."""
        levels = self.whole.levels[: _SHORT + 1]
        return int(self.whole.trie.held[levels[-1][1]])

    @property
    def width(self) -> int:
        """More than the characters of any token."""
        return self.whole.most + 1


# Made once a trie.
_MADE: WeakKeyDictionary[Trie, TokenTries] = WeakKeyDictionary()


def tries_of(trie: Trie) -> TokenTries:
    """The tries of a vocabulary, made when they are first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = TokenTries(trie)
    return found


class TokenWalks:
    """Walks of the tokens by one conjunction. ``cache``: of ends, which it shares with others;
    ``number``: of the conjunction, by which its own are found there."""

    def __init__(
        self,
        conjunction: Conjunction,
        lengths: Lengths,
        tries: TokenTries,
        vocab_size: int,
        number: int,
        cache: BoundedCache[tuple[int, int, bool], Ends],
    ) -> None:
        self._conjunction, self._lengths = conjunction, lengths
        self._whole, self._tries = TrieWalk(conjunction, tries.whole, tries.width), tries
        self._vocab_size, self._number, self._cache = vocab_size, number, cache
        is_small = conjunction.table.size <= _MOST_CELLS
        is_worth_it = len(tries.whole.trie.octets) >= _MANY_NODES
        self._divides = not conjunction.operands and is_small and is_worth_it
        if self._divides:
            self._short = TrieWalk(conjunction, tries.short, tries.width)
            self._long = TrieWalk(conjunction, tries.long, tries.width)

    def ends(self, state: int) -> Ends:
        """What all tokens make of a state of the DFA."""
        found = self._cache.get((self._number, state, True))
        if found is None:
            found = self._keep(state, True, self._found(state))
        return found

    def ends_via_whole(self, state: int) -> Ends:
        """The same by one walk of all tokens."""
        return self._joined(*self._whole.codes(state))

    def cores_of(
        self, core: int, tokens: NDArray[np.integer], cores: Cores
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each of ``tokens`` makes of a state with its sets: int64 (n,) states, ``DEAD`` for
        none, and int64 (n,) characters."""
        return self._whole.cores_of(core, tokens, cores)

    def _found(self, state: int) -> Ends:
        if not self._divides:
            return self.ends_via_whole(state)
        alike = int(self._alike[state])
        short = self._cache.get((self._number, alike, False))
        if short is None:
            short = self._keep(alike, False, self._joined(*self._short.codes(alike)))
        ids, codes = self._long.codes(state)
        if not len(ids):
            return short
        distinct, numbers = self._distinct(codes)
        numbers += np.int32(len(short.states) - 1)
        parts = self._long.parts
        if len(parts.others):
            of_token = np.full(self._vocab_size, -1, dtype=np.int32)
            of_token[ids] = numbers
            others = parts.others[of_token[parts.like] >= 0]
            ids = np.concatenate((ids, others))
            of_token[parts.others] = of_token[parts.like]
            numbers = of_token[ids]
        width = self._tries.width
        states = np.append(short.states, distinct // width)
        characters = np.append(short.characters, distinct % width)
        return Ends(states, characters, short.of_token, ids, numbers)

    def _joined(self, ids: NDArray[np.int32], codes: NDArray[np.intp]) -> Ends:
        """Tokens and, for each, state and characters as one number."""
        whole, width = self._tries.whole, self._tries.width
        distinct, numbers = self._distinct(codes)
        of_token = np.zeros(-(-self._vocab_size // 32) * 32, dtype=np.int32)
        of_token[ids] = numbers
        of_token[whole.others] = of_token[whole.like]
        none = np.zeros(0, dtype=np.int32)
        return Ends(distinct // width, distinct % width, of_token, none, none)

    def _distinct(self, codes: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The different codes, ascending, and for each code which of them it is, from 1."""
        size = len(self._conjunction.table) * self._tries.width
        distinct, numbers = numbered_below(codes, size)
        return distinct, numbers + np.int32(1)

    def _keep(self, state: int, is_whole: bool, ends: Ends) -> Ends:
        key = self._number, state, is_whole
        return self._cache.keep(key, ends, ends.nbytes + ENTRY_BYTES)

    @cached_property
    def _alike(self) -> NDArray[np.int64]:
        """For each state the first one from which as few characters lead to a member after any
        text of at most ``_SHORT`` bytes, and that accepts with it there."""
        c, needs = self._conjunction, self._lengths.rows.T
        table, needs = c.table, np.concatenate([needs, c.accepting[:, None]], axis=1)
        first, classes = numbered_rows(needs)
        for _ in range(_SHORT):
            before = len(first)
            first, classes = numbered_rows(np.column_stack([classes, classes[table]]))
            if len(first) in (before, len(table)):
                break
        found: NDArray[np.int64] = first[classes]
        return found


class TrieWalk(LevelWalk):
    """Walks of one trie. ``code_width``: more than the characters of any token."""

    def __init__(self, conjunction: Conjunction, parts: TrieParts, code_width: int) -> None:
        trie, levels = parts.trie, parts.levels
        nodes = trie.octets, trie.first, trie.fan_out, trie.above
        super().__init__(*nodes, levels, conjunction.table, conjunction.classes)
        self._code_width, self._conjunction, self.parts = code_width, conjunction, parts

    def codes(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The tokens that a state reads, int32 (n,), and for each the state after it and the
        characters that it begins, as one number: ``state * code_width + characters``."""
        parts = self.parts
        nodes, states = self.reached(state)
        ids = parts.first_ids.take(nodes)
        ending = np.flatnonzero(ids >= 0)
        codes = states.take(ending) * self._code_width
        nodes = nodes.take(ending)
        codes += self.characters(state).take(nodes)
        return ids.take(ending), codes

    def characters(self, state: int) -> NDArray[np.int32]:
        """How many characters begin on the way from a state to each node, int32 (N,)."""
        return self.parts.characters_in(self._conjunction, state)

    def cores_of(
        self, core: int, tokens: NDArray[np.integer], cores: Cores
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each of ``tokens`` makes of a state with its sets: int64 (n,) states, ``DEAD`` for
        none, and int64 (n,) characters."""
        parts, vocab_size = self.parts, int(self.parts.trie.ids.max(initial=0)) + 1
        above = parts.trie.above
        wanted = np.zeros(len(above), dtype=np.bool_)
        slots = np.zeros(vocab_size, dtype=np.bool_)
        slots[tokens] = True
        node_of = np.zeros(vocab_size, dtype=np.int32)
        held = np.flatnonzero(slots[parts.trie.ids])
        node_of[parts.trie.ids[held]] = parts.nodes[held]
        ends = node_of[tokens]
        wanted[ends] = True
        for first, last in reversed(parts.levels[1:]):
            below = np.flatnonzero(wanted[first:last]) + first
            wanted[above[below]] = True
        states = np.zeros(len(wanted), dtype=np.int32)
        states[0] = core
        for first, last in parts.levels[1:]:
            nodes = np.flatnonzero(wanted[first:last]) + first
            before = states[above[nodes]]
            states[nodes] = cores.targets(before, self._columns[nodes])
        characters = parts.characters_in(self._conjunction, cores.parts[core][0])
        return states[ends].astype(np.int64), characters[ends].astype(np.int64)
