"""The forbidden pairs of a tokenizer's vocabulary, computed from its merges as rectangles.

Algorithm 3 of the source (Tran-Thien, "Technical Appendix", 2024, section 4) computes the DFA of
tokenize(Σ*) with a set of disallowed tokens for each state. These sets are rectangles. Number the
tokens depth first along their left spines and along their right spines, children by descending
limit (``LastMerges``). Then the merge (a, b) of rank k forbids the pairs A × B, where both are
intervals:

    A = a and, with all below them, the tokens (·, a) of a limit above k, in right-spine order
    B = b and, with all below them, the tokens (b, ·) of a limit of k or more, in left-spine order

Where the other part is made later than k, the limits are compared with that moment. The forbidden
pairs are the disjoint union of the rectangles, one for each merge. ``README.md`` proves it for any
list of merges; ``tests/support/oracles/merge.py`` is Algorithm 3 as printed; tests compare both.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import numbered, places_in, stable_order
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.trie import Trie

from ..tokenizers import Tokenizer
from .derivations import Derivations


@dataclass(frozen=True, slots=True, eq=False)
class ForbiddenPairTables:
    """Forbidden pairs by first token (``rows``) and by second token (``columns``).

    ``columns`` is the same table with left and right exchanged: row u of it holds the
    tokens that may not precede u.
    """

    rows: ForbiddenPairs
    columns: ForbiddenPairs


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """``forbidden``: the forbidden pairs. ``trie``: of the tokens of text that merging can
    produce."""

    forbidden: ForbiddenPairTables
    trie: Trie


def build_pairs(tokenizer: Tokenizer, derivations: Derivations) -> ForbiddenPairTables:
    """The forbidden pairs of a tokenizer's tokens of text, with its derivations."""
    size = tokenizer.vocab_size
    forbidden = build_forbidden_pairs(derivations, size)
    # Special tokens are parts of others, but masks hold none.
    used = np.isin(np.arange(size), [*tokenizer.tokens])
    if not used[forbidden.rows.order].all():
        forbidden = ForbiddenPairTables(
            forbidden.rows.followed_by(used), forbidden.columns.followed_by(used)
        )
    if tokenizer.ignore_merges:
        forbidden = without_followers(forbidden, [*derivations.unreachable])
    return forbidden


def build_forbidden_pairs(derivations: Derivations, size: int) -> ForbiddenPairTables:
    """The forbidden pairs of ids below ``size``. Linear in the merges but for sorting."""
    merges, last = derivations.merges, derivations.last
    left, right, made = merges.T
    ranks, letters = last.merge[made], np.array(derivations.letters, np.int32)
    first_tau, second_tau = last.tau[left], last.tau[right]
    # From which limit on: what is made later finds the other standing. Of one moment, the left
    # part is made first.
    first_from = np.where(first_tau <= second_tau, np.maximum(ranks, second_tau), ranks) + 1
    second_from = np.where(second_tau < first_tau, np.maximum(ranks, first_tau), ranks)
    by_right = _Forest(letters, made, right, last.right_limit[made], size)
    by_left = _Forest(letters, made, left, last.left_limit[made], size)
    first = by_right.from_limit(left, first_from)
    second = by_left.from_limit(right, second_from)
    bounds = last.right_limit[made], last.left_limit[made] + 1
    rows = _table(merges, second, first_from - 1, bounds[0], by_left.order, by_right.levels, size)
    mirrored = merges[:, [1, 0, 2]]
    columns = _table(mirrored, first, second_from, bounds[1], by_right.order, by_left.levels, size)
    return ForbiddenPairTables(rows, columns)


def without_followers(tables: ForbiddenPairTables, tokens: list[int]) -> ForbiddenPairTables:
    """The same where no token may follow one of ``tokens`` (which are in no merge).

    ``columns`` stays as it is: it is used for first tokens that others may follow only.
    """
    rows, count = tables.rows, len(tokens)
    place = rows.offsets[tokens]
    more = np.zeros(len(rows.part) + 1, dtype=np.int64)
    more[np.array(tokens, dtype=np.int64) + 1] = 1
    row_class = rows.row_class.copy()
    row_class[tokens] = rows.classes
    closed = replace(
        rows,
        row_class=row_class,
        offsets=rows.offsets + np.cumsum(more),
        index=np.insert(rows.index, place, 0),
        begin=np.insert(rows.begin, place, 0),
        end=np.insert(rows.end, place, np.full(count, len(rows.order), np.int32)),
    )
    return replace(tables, rows=closed)


class _Forest:
    """Tokens numbered depth first; the parent of a token is one of its parts, letters are roots.

    Children stand by descending limit: so a token stands with those of limit k and above, and all
    that is below them, in one interval. ``order``: int32, the tokens by place. ``levels``: the
    other tokens' numbers, by how far each is from a letter.
    """

    order: NDArray[np.int32]
    levels: list[NDArray[np.int64]]

    def __init__(
        self,
        letters: NDArray[np.int32],
        made: NDArray[np.int32],
        parents: NDArray[np.int32],
        limits: NDArray[np.int64],
        size: int,
    ) -> None:
        """``made``: the other tokens, with their ``parents`` and ``limits``."""
        self.levels = _levels(made, parents, size)
        self._sizes = np.ones(size, dtype=np.int64)
        for numbers in reversed(self.levels):
            np.add.at(self._sizes, parents[numbers], self._sizes[made[numbers]])
        self._scale = int(limits.max(initial=0)) + 2
        keys = parents.astype(np.int64) * self._scale + limits
        order = stable_order(keys)
        self._keys = keys[order]
        self._first = np.append(0, np.cumsum(np.bincount(parents, minlength=size)))
        self._before = np.append(0, np.cumsum(self._sizes[made[order]]))
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        self._begin = np.full(size, -1, dtype=np.int64)
        self._begin[letters] = np.cumsum(self._sizes[letters]) - self._sizes[letters]
        for numbers in self.levels:
            # A token stands where the children of its parent that come later in ``order`` end.
            begin = self._interval(parents[numbers], places[numbers] + 1)[:, 1]
            self._begin[made[numbers]] = begin
        tokens = np.concatenate((letters, made))
        self.order = np.empty_like(tokens)
        self.order[self._begin[tokens]] = tokens

    def from_limit(
        self, tokens: NDArray[np.integer], limits: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The intervals, int64 (n, 2), of tokens with all below them but their children of smaller
        limits, one for each."""
        keys = tokens.astype(np.int64) * self._scale + np.minimum(limits, self._scale - 1)
        return self._interval(tokens, places_in(self._keys, keys))

    def _interval(self, tokens: NDArray[np.integer], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same but for their children that stand before ``ends`` among the sorted keys."""
        begin = self._begin[tokens]
        left_out = self._before[ends] - self._before[self._first[tokens]]
        return np.stack((begin, begin + self._sizes[tokens] - left_out), axis=1)


def _levels(
    made: NDArray[np.int32], parents: NDArray[np.int32], size: int
) -> list[NDArray[np.int64]]:
    """The merges by how far their tokens are from a letter, by the parents."""
    up, depths = np.arange(size), np.zeros(size, dtype=np.int64)
    up[made], depths[made] = parents, 1
    while depths[up].any():
        # Each looks twice as far as before.
        depths, up = depths + depths[up], up[up]
    order = stable_order(depths[made])
    return np.split(order, np.flatnonzero(np.diff(depths[made[order]])) + 1) if len(order) else []


def _table(
    merges: NDArray[np.int32],
    intervals: NDArray[np.int64],
    index: NDArray[np.int64],
    bounds: NDArray[np.int64],
    order: NDArray[np.int32],
    levels: list[NDArray[np.int64]],
    size: int,
) -> ForbiddenPairs:
    """The table of the intervals of merges (x, y, result), by x; spines go from result to y.

    ``intervals``: of ``order``, int64 (n, 2). ``index``: the merge counts after tokens with x on
    their spine where the bound of what is above x is higher. ``bounds``: of the results.
    ``levels``: the merges by how many are below their results on these spines.
    """
    kept = np.flatnonzero(intervals[:, 0] < intervals[:, 1])
    kept = kept[stable_order(index[kept], merges[kept, 0])]
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(merges[kept, 0], minlength=size), out=offsets[1:])
    part, bound = np.full((2, size), -1, dtype=np.int32)
    part[merges[:, 2]] = merges[:, 1]
    bound[merges[:, 2]] = bounds
    begin, end = np.ascontiguousarray(intervals[kept].T.astype(np.int32))
    table = ForbiddenPairs(
        part=part,
        bound=bound,
        row_class=np.zeros(size, dtype=np.int32),
        offsets=offsets,
        index=index[kept].astype(np.int32),
        begin=begin,
        end=end,
        order=order,
    )
    return replace(table, row_class=_row_classes(table, merges, levels))


def _row_classes(
    table: ForbiddenPairs, merges: NDArray[np.int32], levels: list[NDArray[np.int64]]
) -> NDArray[np.int32]:
    """Number the tokens by the slices that their rows consist of; int32 (V,).

    The row of t = (x, y) consists of the slice of t itself, the slice of y below the bound of t,
    and the slices below y: the number of the first and one for the other two identify it.
    """
    size = len(table.part)
    used, below = _slice_lengths(table, merges), np.zeros(size, dtype=np.int64)
    most, tails = int(used.max(initial=0)) + 1, 1
    made, parts = merges[:, 2], merges[:, 1].astype(np.int64)
    for numbers in levels:
        tokens, of = made[numbers], parts[numbers]
        # A part has one tail, and its tokens are all of this level.
        tail = numbered(of * most + used[tokens])
        below[tokens] = np.where(used[tokens] > 0, tails + tail, below[of])
        tails += int(tail.max()) + 1
    own = np.where(np.diff(table.offsets) > 0, np.arange(1, size + 1), 0)
    # The empty row is the first, whether a token has it or not.
    classes = np.zeros(size, dtype=np.int32)
    keys = np.append(0, own[table.order] * tails + below[table.order])
    classes[table.order] = numbered(keys)[1:]
    return classes


def _slice_lengths(table: ForbiddenPairs, merges: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each token (x, y): how many merges with left part y lie below its bound."""
    scale = int(max(table.index.max(initial=0), table.bound.max(initial=0))) + 1
    keys = np.repeat(np.arange(len(table.part)), np.diff(table.offsets)) * scale + table.index
    found = np.zeros(len(table.part), dtype=np.int64)
    tokens, parts = merges[:, 2], merges[:, 1].astype(np.int64)
    found[tokens] = places_in(keys, parts * scale + table.bound[tokens])
    found[tokens] -= table.offsets[parts]
    return found
