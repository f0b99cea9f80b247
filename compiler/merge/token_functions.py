"""What each token does to the states of an automaton, as a partial function.

A token of several bytes is the function of its first bytes and then that of its last one. There
are far fewer functions than tokens: in `[a-z]*` all tokens of letters have the same. So the trie
is walked level by level with the number of a function at each node, and each function is
followed by each byte class once, for all states together:

    node        f, the function of the bytes so far
    child       table[f(·), class of its byte], looked up where (f, class) has been met before

These are elements of the automaton's transition monoid. A function is stored as the states
where it is defined and what they are led to, so that states that read little cost little.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.trie import Trie, ranges

DEAD = 0

# Pairs of state and target that the functions of one walk may have, and that it may look at in
# one step; if there are more, half of the states are walked at once.
_MOST_PAIRS = 1 << 23

# Numbers are sorted if there are more than so many possible ones for each.
_SPARSE = 64

# Function 0 is defined nowhere.
_NOWHERE, _IDENTITY = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class TokenFunctions:
    """``starts``: int64, ascending, the states that the functions are of. ``classes``: int32
    (T,), parallel to the ids of the trie, the function of each token; 0 is defined nowhere.
    ``offsets``: int64 (K + 1,), function k leads ``sources[i]`` (int32, ascending) to
    ``targets[i]`` (int32, never dead) for i from ``offsets[k]`` to ``offsets[k + 1] - 1``. All
    but function 0 are those of some token.
    """

    starts: NDArray[np.int64]
    classes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]


def token_functions(
    trie: Trie,
    table: NDArray[np.int32],
    columns: NDArray[np.integer],
    starts: NDArray[np.int64],
    most_pairs: int = _MOST_PAIRS,
) -> Iterator[TokenFunctions]:
    """The functions of all tokens on ``starts``, ascending, in groups of these.

    ``table``: (S, J), state 0 dead. ``columns``: (N,), of the byte of each trie node. Each start
    is in one of the groups; usually there is one.
    """
    pending = [starts]
    while pending:
        group = pending.pop()
        found = _Walk(trie, table, columns, group).run(most_pairs if len(group) > 1 else None)
        if found is not None:
            yield found
            continue
        half = len(group) // 2
        pending += [group[half:], group[:half]]


class _Walk:
    """One walk of the trie. ``known``: number of each function by its pairs, as bytes."""

    def __init__(
        self,
        trie: Trie,
        table: NDArray[np.int32],
        columns: NDArray[np.integer],
        starts: NDArray[np.int64],
    ) -> None:
        self.trie, self.table, self.columns, self.starts = trie, table, columns, starts
        identity = np.stack([starts, starts], axis=1).astype(np.int32)
        self.pairs = identity
        self.offsets = [0, 0, len(starts)]
        self.known = {b"": _NOWHERE, identity.tobytes(): _IDENTITY}
        # Number of (function, column), as one number, to that of the function after it.
        self.after: dict[int, int] = {}

    def run(self, most_pairs: int | None) -> TokenFunctions | None:
        """The functions of all tokens, or None if they have more than ``most_pairs`` pairs."""
        first = self.trie.first.astype(np.int64)
        width = self.table.shape[1]
        function = np.zeros(len(self.trie.octets), dtype=np.int32)
        function[0] = _IDENTITY
        nodes = np.zeros(1, dtype=np.int64)
        while len(nodes):
            fan_out = first[nodes + 1] - first[nodes]
            child = ranges(first[nodes], fan_out)
            keys = np.repeat(function[nodes].astype(np.int64) * width, fan_out)
            keys += self.columns[child]
            steps, place = _distinct(keys, len(self.offsets) * width)
            if not self._take(steps, most_pairs):
                return None
            numbers = np.array([self.after[key] for key in steps.tolist()], dtype=np.int32)
            function[child] = numbers[place]
            nodes = child[function[child] != _NOWHERE]
        return self._of_tokens(np.repeat(function, np.diff(self.trie.held)))

    def _take(self, steps: NDArray[np.int64], most_pairs: int | None) -> bool:
        """Number the functions after ``steps``; whether there are not too many pairs."""
        new = np.array([key for key in steps.tolist() if key not in self.after], dtype=np.int64)
        before, column = np.divmod(new, self.table.shape[1])
        bounds = np.array(self.offsets)
        sizes = bounds[before + 1] - bounds[before]
        if most_pairs is not None and len(self.pairs) + int(sizes.sum()) > most_pairs:
            return False
        looked_at = self.pairs[ranges(bounds[before], sizes)]
        looked_at[:, 1] = self.table[looked_at[:, 1], np.repeat(column, sizes)]
        live = looked_at[:, 1] != DEAD
        counts = np.concatenate([[0], np.cumsum(live)])[np.cumsum(sizes)]
        looked_at = looked_at[live]
        data, low = looked_at.tobytes(), 0
        kept = [self.pairs]
        for key, high in zip(new.tolist(), counts.tolist(), strict=True):
            pairs = data[low * 8 : high * 8]
            number = self.known.setdefault(pairs, len(self.offsets) - 1)
            if number == len(self.offsets) - 1:
                self.offsets.append(self.offsets[-1] + high - low)
                kept.append(looked_at[low:high])
            self.after[key], low = number, high
        if len(kept) > 1:
            self.pairs = np.concatenate(kept)
        return True

    def _of_tokens(self, function: NDArray[np.int32]) -> TokenFunctions:
        """Only the functions of tokens, numbered anew."""
        used = np.unique(np.append(function, _NOWHERE))
        number = np.zeros(len(self.offsets), dtype=np.int32)
        number[used] = np.arange(len(used))
        bounds = np.array(self.offsets)
        sizes = np.diff(bounds)[used]
        sources, targets = self.pairs[ranges(bounds[used], sizes)].T.copy()
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return TokenFunctions(self.starts, number[function], offsets, sources, targets)


def _distinct(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different ones of some numbers below ``size``, and the place of each among them."""
    if size > _SPARSE * len(keys):
        return np.unique(keys, return_inverse=True)
    seen = np.zeros(size, dtype=np.bool_)
    seen[keys] = True
    found = np.flatnonzero(seen)
    place = np.empty(size, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[keys]
