"""What all tokens make of a state of a conjunction, by walks of the token trie.

A token leads a state of the DFA to one of some *ends*: a state, and how many characters were begun.
One walk for each state of the DFA finds them, whatever the number of characters so far and whatever
the sets are: of hundreds of ends it is decided afterwards whether they are live.

Without operands an end matters by what the DFA needs from it to a member. States that agree in that
behind every text of a few bytes (k-equivalent: Moore 1956) share what short tokens make of them, as
most states within a label of a host name do; long tokens, which are few, are walked for each.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import ENTRY_BYTES, BoundedCache
from ..tokens.subtrees import levels_of
from ..tokens.trie import Trie, ranges
from .cores import Cores
from .lengths import Lengths
from .tables import CONTINUES, DEAD, Conjunction

# Tokens of at most so many bytes are short.
_SHORT = 12

# DFAs of more cells are not divided into classes.
_MOST_CELLS = 1 << 17

# So few children are looked at one by one.
_FEW = 32

# From so large a share of a level's nodes on all of the level is read.
_DENSE = 4


class Ends(NamedTuple):
    """``states``, ``characters``: int64 (n,), of each end. ``of_token``: int32, a multiple of
    32 and at least V, one more than the end of each token, 0 for one that is not read."""

    states: NDArray[np.int64]
    characters: NDArray[np.int64]
    of_token: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.states.nbytes + self.characters.nbytes + self.of_token.nbytes


class TrieParts:
    """What walks need of a trie with N nodes besides its arrays.

    ``characters``: int32 (N,), the characters that begin on the way to a node.
    ``parents``: int32 (N,). ``levels``: first node and end of each. ``nodes``: int32 (T,), the
    node of each of ``trie.ids``. ``first_ids``: int32 (N,), a token of each node, -1 for none.
    ``others``: tokens of the same texts, and ``like`` the ones that these have; int32 (n,).
    """

    def __init__(self, trie: Trie) -> None:
        self.trie, self.levels = trie, levels_of(trie)
        count = len(trie.octets)
        self.parents = np.zeros(count, dtype=np.int32)
        self.parents[1:] = np.arange(count, dtype=np.int32).repeat(trie.fan_out)
        begins = np.ones(256, dtype=np.int32)
        begins[CONTINUES] = 0
        self.characters = begins[trie.octets]
        self.characters[0] = 0
        for first, last in self.levels[1:]:
            self.characters[first:last] += self.characters[self.parents[first:last]]
        self.most = int(self.characters.max(initial=0))
        own = np.diff(trie.held)
        self.nodes = np.arange(count, dtype=np.int32).repeat(own)
        self.first_ids = np.full(count, -1, dtype=np.int32)
        ending = np.flatnonzero(own)
        self.first_ids[ending] = trie.ids[trie.held[ending]]
        firsts = self.first_ids[self.nodes]
        further = np.flatnonzero(firsts != trie.ids)
        self.others, self.like = trie.ids[further], firsts[further]


class TokenTries(NamedTuple):
    """The trie of all tokens, that of the short ones and that of the long ones."""

    whole: TrieParts
    short: TrieParts
    long: TrieParts

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
        whole = TrieParts(trie)
        found = _MADE[trie] = TokenTries(whole, TrieParts(_short(whole)), TrieParts(_long(whole)))
    return found


def _short(whole: TrieParts) -> Trie:
    """The tokens of at most ``_SHORT`` bytes: the first levels."""
    trie, levels = whole.trie, whole.levels[: _SHORT + 1]
    begin, end = levels[-1]
    first = trie.first[: end + 1].copy()
    first[begin:] = end
    held = trie.held[: end + 1]
    return Trie(trie.octets[:end], first, trie.ids[: int(held[-1])], held)


def _long(whole: TrieParts) -> Trie:
    """The longer ones: what leads to them, numbered from 0."""
    trie, levels = whole.trie, whole.levels
    own = np.diff(trie.held)
    begin = levels[_SHORT + 1][0] if len(levels) > _SHORT + 1 else len(own)
    own[:begin] = 0
    wanted = own > 0
    wanted[0] = True
    for first, last in reversed(levels[1:]):
        below = np.flatnonzero(wanted[first:last]) + first
        wanted[whole.parents[below]] = True
    nodes = np.flatnonzero(wanted)
    numbers = np.concatenate(([0], np.cumsum(wanted))).astype(np.int32)
    # The children of one node are neighbours again.
    children = np.append(numbers[trie.first[nodes]], len(nodes)).astype(np.int32)
    held = np.concatenate(([0], np.cumsum(own[nodes]))).astype(np.int32)
    ids = trie.ids[len(trie.ids) - int(held[-1]) :]
    return Trie(trie.octets[nodes], children, ids, held)


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
        self._classes: NDArray[np.intp] | None = None
        self._divides = not conjunction.operands and conjunction.table.size <= _MOST_CELLS
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
        if self._classes is None:
            self._classes = self._alike()
        alike = int(self._classes[state])
        short = self._cache.get((self._number, alike, False))
        if short is None:
            short = self._keep(alike, False, self._joined(*self._short.codes(alike)))
        ids, codes = self._long.codes(state)
        if not len(ids):
            return short
        distinct, numbers = np.unique(codes, return_inverse=True)
        of_token = short.of_token.copy()
        of_token[ids] = 1 + len(short.states) + numbers
        whole, width = self._tries.whole, self._tries.width
        of_token[whole.others] = of_token[whole.like]
        states = np.append(short.states, distinct // width)
        return Ends(states, np.append(short.characters, distinct % width), of_token)

    def _joined(self, ids: NDArray[np.int32], codes: NDArray[np.intp]) -> Ends:
        """Tokens and, for each, state and characters as one number."""
        whole, width = self._tries.whole, self._tries.width
        flags = np.zeros(len(self._conjunction.table) * width, dtype=np.bool_)
        flags[codes] = True
        distinct = np.flatnonzero(flags)
        numbers = np.zeros(len(flags), dtype=np.int32)
        numbers[distinct] = np.arange(1, len(distinct) + 1, dtype=np.int32)
        of_token = np.zeros(-(-self._vocab_size // 32) * 32, dtype=np.int32)
        of_token[ids] = numbers.take(codes)
        of_token[whole.others] = of_token[whole.like]
        return Ends(distinct // width, distinct % width, of_token)

    def _keep(self, state: int, is_whole: bool, ends: Ends) -> Ends:
        key = self._number, state, is_whole
        return self._cache.keep(key, ends, ends.nbytes + ENTRY_BYTES)

    def _alike(self) -> NDArray[np.intp]:
        """For each state the first one from which as few characters lead to a member behind any
        text of at most ``_SHORT`` bytes."""
        table, needs = self._conjunction.table, self._lengths.rows.T
        first = classes = np.zeros(len(table), dtype=np.intp)
        for _ in range(_SHORT + 1):
            before = len(first)
            _, first, classes = np.unique(needs, axis=0, return_index=True, return_inverse=True)
            classes = classes.reshape(-1)
            if len(first) in (before, len(table)):
                break
            needs = np.concatenate([classes[:, None], classes[table]], axis=1)
        found: NDArray[np.intp] = first[classes]
        return found


class TrieWalk:
    """Walks of one trie. ``code_width``: more than the characters of any token."""

    def __init__(self, conjunction: Conjunction, parts: TrieParts, code_width: int) -> None:
        self._code_width = code_width
        self._flat = conjunction.table.astype(np.intp).ravel()
        self._width = conjunction.table.shape[1]
        self._parts = parts
        self._columns = conjunction.classes[parts.trie.octets]
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        first = np.ascontiguousarray(parts.trie.first).data
        self._views = first, self._flat.data, self._columns.data, self._width

    def codes(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The tokens that a state reads, int32 (n,), and for each the state behind it and the
        characters that it begins, as one number: ``state * code_width + characters``."""
        parts = self._parts
        nodes, states = self.reached(state)
        ids = parts.first_ids.take(nodes)
        ending = np.flatnonzero(ids >= 0)
        codes = states.take(ending) * self._code_width
        nodes = nodes.take(ending)
        codes += parts.characters.take(nodes)
        return ids.take(ending), codes

    def reached(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The nodes below the root that a state reads, ascending, and the states there."""
        trie, parts, width = self._parts.trie, self._parts, self._width
        nodes: NDArray[np.int32] = np.zeros(1, dtype=np.int32)
        states: NDArray[np.intp] = np.array([state], dtype=np.intp)
        met: list[NDArray[np.int32]] = [nodes[:0]]
        ends: list[NDArray[np.intp]] = [states[:0]]
        begin, first = 0, 1
        for _, last in parts.levels[1:]:
            if not len(nodes):
                break
            fan_out = trie.fan_out.take(nodes)
            total = int(fan_out.sum())
            if total <= _FEW:
                nodes, states = self._few_below(nodes.tolist(), states.tolist())
            elif total * _DENSE > last - first:
                # All of the level, by the states of the one above: no node is looked for.
                above = np.zeros(first - begin, dtype=np.intp)
                above[nodes - begin] = states * width
                before = above.take(parts.parents[first:last] - begin)
                before += self._columns[first:last]
                targets = self._flat.take(before)
                live = np.flatnonzero(targets != DEAD)
                nodes, states = live.astype(np.int32), targets.take(live)
                nodes += first
            else:
                children = ranges(trie.first.take(nodes), fan_out)
                before = (states * width).repeat(fan_out)
                before += self._columns.take(children)
                targets = self._flat.take(before)
                live = np.flatnonzero(targets != DEAD)
                nodes, states = children.take(live), targets.take(live)
            met.append(nodes)
            ends.append(states)
            begin, first = first, last
        return np.concatenate(met), np.concatenate(ends)

    def _few_below(
        self, nodes: list[int], states: list[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The same for few children: runs of one character leave few for a hundred levels."""
        first, flat, columns, width = self._views
        met: list[int] = []
        ends: list[int] = []
        for node, state in zip(nodes, states, strict=True):
            for child in range(first[node], first[node + 1]):
                target = flat[state * width + columns[child]]
                if target != DEAD:
                    met.append(child)
                    ends.append(target)
        return np.array(met, dtype=np.int32), np.array(ends, dtype=np.intp)

    def cores_of(
        self, core: int, tokens: NDArray[np.integer], cores: Cores
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each of ``tokens`` makes of a state with its sets: int64 (n,) states, ``DEAD`` for
        none, and int64 (n,) characters."""
        parts, vocab_size = self._parts, int(self._parts.trie.ids.max(initial=0)) + 1
        wanted = np.zeros(len(parts.parents), dtype=np.bool_)
        slots = np.zeros(vocab_size, dtype=np.bool_)
        slots[tokens] = True
        node_of = np.zeros(vocab_size, dtype=np.int32)
        held = np.flatnonzero(slots[parts.trie.ids])
        node_of[parts.trie.ids[held]] = parts.nodes[held]
        ends = node_of[tokens]
        wanted[ends] = True
        for first, last in reversed(parts.levels[1:]):
            below = np.flatnonzero(wanted[first:last]) + first
            wanted[parts.parents[below]] = True
        states = np.zeros(len(wanted), dtype=np.int32)
        states[0] = core
        for first, last in parts.levels[1:]:
            nodes = np.flatnonzero(wanted[first:last]) + first
            before = states[parts.parents[nodes]]
            states[nodes] = cores.targets(before, self._columns[nodes])
        return states[ends].astype(np.int64), parts.characters[ends].astype(np.int64)
