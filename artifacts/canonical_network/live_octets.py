"""Bytes whose tokens show others to be live: certificates that are found for many places at once.

The token of a byte u continues a pre-token at a place. It is live there if a pre-token may start
where it leads, or the text may end; or, inside of a character, if the token of another byte may
follow it and is live where it leads. So it is a *certificate*: every token that it may follow is
live (``liveness``). Nearly all tokens that end inside of a character are live by such bytes.

A place here is a pair and a context: what calls on it return to is not looked at. Sets of bytes are
four words, uint64 (4,).
"""

from functools import partial
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..network.tables import NetworkTables
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.distinct import distinct
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.memo import ENTRY_BYTES
from ..tokens.vocabulary import Vocabulary
from ..tokens.watch import Watch, unwatched
from .contexts import Contexts

_Words = NDArray[np.uint64]
_Numbers = NDArray[np.integer]

# Bytes after the first that are looked at: the others of a character outside ASCII.
_MORE_BYTES = 3

# Calls inside of calls that are looked at.
_MOST_CALLS = 40

# Pairs that are looked at together: each takes some kilobytes meanwhile.
_AT_ONCE = 1_000

# What a pair takes, in trie nodes that are met.
_PLACE_WORK = 400

# More tokens than so many that lead to one place are tried with some bytes, all at once.
_MANY, _TRIED = 256, 4


class OctetsAfter:
    """Which bytes' tokens may follow a token, by ``forbidden``.

    ``token``: int64 (256,), the token of each byte, -1 for none; ``all``: the bytes that have one.
    Threads may share it.
    """

    def __init__(self, forbidden: ForbiddenPairs, vocabulary: Vocabulary) -> None:
        tokens = np.sort(forbidden.order[vocabulary.lengths[forbidden.order] == 1])[::-1]
        octets = np.array([vocabulary.token(token)[0] for token in tokens.tolist()], dtype=np.int64)
        # Of several for one byte the first id.
        self.token = np.full(256, -1, dtype=np.int64)
        self.token[octets] = tokens
        octets = np.flatnonzero(self.token >= 0)
        tokens = self.token[octets]
        places = forbidden.position[tokens]
        order = np.argsort(places)
        self._places, self._octets = places[order], octets[order]
        self.all = words_of(self.token[None] >= 0)[0]
        # By token its number, -1 for none, and by number the bytes.
        self._number = np.full(len(forbidden.part), -1, dtype=np.int32)
        self._known, self._words = 0, np.zeros((256, 4), dtype=np.uint64)
        self._lock = Lock()
        # Of each byte's token.
        self._after_octets = np.zeros((256, 4), dtype=np.uint64)
        self._after_octets[octets] = self.of(forbidden, tokens)

    def of(self, forbidden: ForbiddenPairs, tokens: _Numbers) -> _Words:
        """The bytes that may follow each token, uint64 (n, 4)."""
        numbers = self._number[tokens]
        if len(numbers) and numbers.min() < 0:
            with self._lock:
                for token in distinct(tokens[numbers < 0]).tolist():
                    self._add(token, *forbidden.intervals(token))
            numbers = self._number[tokens]
        return self._words[numbers]

    def before(self, octets: _Words, used: NDArray[np.bool_]) -> _Words:
        """Which of the bytes ``used``, bool (256,), have a token that may stand before that of one
        of ``octets``; uint64 (n, 4) each."""
        found = np.zeros((len(octets), 256), dtype=np.bool_)
        found[:, used] = (octets[:, None] & self._after_octets[used]).any(axis=2)
        return words_of(found)

    def _add(self, token: int, begin: NDArray[np.int32], end: NDArray[np.int32]) -> None:
        if self._number[token] >= 0:
            return
        low, high = np.searchsorted(self._places, begin), np.searchsorted(self._places, end)
        allowed = self.token >= 0
        for first, last in zip(low[low < high].tolist(), high[low < high].tolist(), strict=True):
            allowed[self._octets[first:last]] = False
        if self._known == len(self._words):
            self._words = np.concatenate((self._words, np.zeros_like(self._words)))
        self._words[self._known] = words_of(allowed[None])[0]
        # Others read the number first.
        self._number[token] = self._known
        self._known += 1


# By the pairs that they are made of: the same for all grammars of a tokenizer.
_MADE: WeakKeyDictionary[ForbiddenPairs, OctetsAfter] = WeakKeyDictionary()


class LiveOctets:
    """The bytes whose tokens are certificates of pairs above contexts, as far as they are found."""

    def __init__(
        self,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        contexts: Contexts,
        forbidden: ForbiddenPairs,
        vocabulary: Vocabulary,
        watch: Watch = unwatched,
    ) -> None:
        self._tables, self._contexts, self._forbidden = tables, contexts, forbidden
        self._watch = watch
        if forbidden not in _MADE:
            _MADE[forbidden] = OctetsAfter(forbidden, vocabulary)
        self._after = after = _MADE[forbidden]
        self._pre_table = pretokenizer.table[:, 0]
        # One column of each class that neither automaton divides, and its bytes.
        keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
        _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
        self._columns = tables.classes[octets].astype(np.int64)
        self._pre_columns = pretokenizer.classes[octets].astype(np.int64)
        members = np.zeros((len(octets), 256), dtype=np.bool_)
        members[classes, np.arange(256)] = after.token >= 0
        self._members = words_of(members)
        # Those with a token of a byte that begins or goes on with a character outside ASCII.
        self._is_high: NDArray[np.bool_] = np.logical_or.reduce(members[:, 128:], axis=1)
        self._calls = np.diff(tables.call_offsets) > 0
        # Reused: flags of pairs that are met, and their places among them.
        self._met = np.zeros(0, dtype=np.bool_)
        self._place = np.zeros(0, dtype=np.int32)
        self._number: dict[tuple[int, int], int] = {}
        self._words = np.zeros((64, 4), dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """About the size of what is known."""
        return ENTRY_BYTES * len(self._number) + self._words.nbytes

    def certified(
        self, pairs: _Numbers, context: int, tokens: _Numbers, places: _Numbers
    ) -> NDArray[np.bool_]:
        """Which tokens are live, as far as bytes show; token i leads to ``pairs[places[i]]``."""
        octets, after = self.of(pairs, context), self._after
        found = np.zeros(len(tokens), dtype=np.bool_)
        counts = np.bincount(places, minlength=len(pairs))
        for place in np.flatnonzero(counts > _MANY).tolist():
            here = np.flatnonzero(places == place)
            for octet in np.flatnonzero(flags_of(octets[place]))[:_TRIED].tolist():
                token = int(after.token[octet])
                found[here] |= ~self._forbidden.forbidden_before(tokens[here], [token])
        left = np.flatnonzero(~found & (octets != 0).any(axis=1)[places])
        found[left] = (after.of(self._forbidden, tokens[left]) & octets[places[left]]).any(axis=1)
        return found

    def following(self, token: int) -> _Words:
        """The bytes whose tokens may follow a token, uint64 (4,)."""
        found: _Words = self._after.of(self._forbidden, np.array([token]))[0]
        return found

    def of(self, pairs: _Numbers, context: int, depth: int = 0) -> _Words:
        """The certificates of some pairs, uint64 (n, 4). ``depth``: calls that they lie in."""
        keys = [(pair, context) for pair in pairs.tolist()]
        missing = list(
            dict.fromkeys(pair for pair, _ in keys if (pair, context) not in self._number)
        )
        for begin in range(0, len(missing), _AT_ONCE):
            some = missing[begin : begin + _AT_ONCE]
            found = self._find(np.array(some), context, _MORE_BYTES, depth)
            self._keep([(pair, context) for pair in some], found)
        return self._words[[self._number[key] for key in keys]]

    def _keep(self, keys: list[tuple[int, int]], found: _Words) -> None:
        first = len(self._number)
        while first + len(keys) > len(self._words):
            self._words = np.concatenate((self._words, np.zeros_like(self._words)))
        self._words[first : first + len(keys)] = found
        self._number.update(zip(keys, range(first, first + len(keys)), strict=True))

    def _find(self, pairs: _Numbers, context: int, more: int, depth: int) -> _Words:
        self._watch(_PLACE_WORK * len(pairs), 0)
        contexts = self._contexts
        states, pre_states = contexts.states[pairs], contexts.pre_states[pairs]
        after = self._tables.table[states[:, None], self._columns]
        pre_after = self._pre_table[pre_states[:, None], self._pre_columns]
        targets = contexts.numbers(after, pre_after)
        targets[~contexts.are_live(targets, context)] = 0
        if len(contexts.states) > len(self._met):
            self._met = np.zeros(2 * len(contexts.states), dtype=np.bool_)
            self._place = np.zeros(len(self._met), dtype=np.int32)
        used = np.flatnonzero(targets.any(axis=0))
        targets, members = targets[:, used], self._members[used]
        met = self._distinct(targets)
        self._place[met] = np.arange(len(met), dtype=np.int32)
        places = self._place[targets]
        at_boundary = contexts.are_at_boundary(met, context)
        # By pair that is met, which bytes may lead there.
        before = np.where(at_boundary[:, None], self._after.all, np.uint64(0))
        inside = self._distinct(targets[:, self._is_high[used]]) if more else met[:0]
        inside = inside[~at_boundary[self._place[inside]] & (inside > 0)]
        if len(inside):
            rows = self._place[inside]
            deeper = self._find(inside, context, more - 1, depth)
            leading = flags_of(np.bitwise_or.reduce(members))
            before[rows] = self._after.before(deeper, leading)
        found: _Words = np.bitwise_or.reduce(before[places] & members, axis=1)
        calls: dict[tuple[int, int], list[int]] = {}
        callers_of = self._calls[states] if depth < _MOST_CALLS else self._calls[:0]
        for place in np.flatnonzero(callers_of).tolist():
            for call in self._tables.calls[int(states[place])]:
                calls.setdefault(call, []).append(place)
        for (start, frame), callers in calls.items():
            begun = contexts.numbers(np.full(len(callers), start), pre_states[callers])
            some = np.array(callers)[begun > 0]
            if len(some):
                inner = contexts.push(frame, context)
                find = self.of if more == _MORE_BYTES else partial(self._find, more=more)
                found[some] |= find(begun[begun > 0], inner, depth=depth + 1)
        return found

    def _distinct(self, pairs: NDArray[np.int32]) -> NDArray[np.int64]:
        """The different pairs, ascending."""
        self._met[pairs] = True
        found = np.flatnonzero(self._met)
        self._met[found] = False
        return found


def words_of(flags: NDArray[np.bool_]) -> _Words:
    """Bytes as four words: bool (n, 256) to uint64 (n, 4)."""
    return np.packbits(flags, axis=1, bitorder="little").view("<u8")


def flags_of(words: _Words) -> NDArray[np.bool_]:
    """The inverse for one set: uint64 (4,) to bool (256,)."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
