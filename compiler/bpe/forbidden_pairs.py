"""The forbidden pairs of a tokenizer's vocabulary, computed from its merges as rectangles.

Algorithm 3 of the source (Tran-Thien, "Technical Appendix", 2024, section 4) computes the DFA of
tokenize(Σ*) with a set of disallowed tokens for each state. These sets are rectangles. Number the
tokens depth first along their left spines and along their right spines, children by descending
merge index. Then merge k = (a, b) forbids the pairs A_k × B_k, where both are intervals:

    A_k = a and, with all below them, the tokens (·, a) of index > k, in right-spine order
    B_k = b and, with all below them, the tokens (b, ·) of index ≥ k, in left-spine order

and the forbidden pairs are the disjoint union of the rectangles, one for each merge. ``README.md``
proves it; ``tests/support/oracles/merge.py`` is Algorithm 3 as printed; tests compare both.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.trie import Trie

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer
from .derivations import Derivations, derive, spelled

# At most so many pairs are encoded one by one where no order of the merges is exact.
MAX_TIED_PAIRS = 200_000


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


def build_pairs(tokenizer: Tokenizer) -> ForbiddenPairTables:
    """The forbidden pairs of a tokenizer's tokens of text.

    Raises ``TokenizerError`` as ``build_forbidden_pairs`` does.
    """
    derivations = derive(spelled(tokenizer), tokenizer.merges)
    size = tokenizer.vocab_size
    forbidden = build_forbidden_pairs(derivations, size)
    # Special tokens are parts of others, but masks hold none.
    used = np.isin(np.arange(size), [*tokenizer.tokens])
    if not used[forbidden.rows.order].all():
        forbidden = ForbiddenPairTables(
            only_followed_by(forbidden.rows, used), only_followed_by(forbidden.columns, used)
        )
    if tokenizer.ignore_merges:
        forbidden = without_followers(forbidden, sorted(derivations.unreachable))
    return forbidden


def build_forbidden_pairs(derivations: Derivations, size: int) -> ForbiddenPairTables:
    """The forbidden pairs of ids below ``size``. Linear in the merges but for sorting.

    Pairs that a tied merge might forbid are encoded instead, one by one (Algorithm 4). Raises
    ``TokenizerError`` if they are more than ``MAX_TIED_PAIRS``.
    """
    merges = derivations.merges
    tokens = np.concatenate([np.array(derivations.letters, np.int32), merges[:, 2]])
    right = _Forest(tokens, merges[:, 1], size)
    left = _Forest(tokens, merges[:, 0], size)
    numbers = np.arange(len(merges))
    first = right.from_merge(merges[:, 0], numbers + 1)
    second = left.from_merge(merges[:, 1], numbers)
    in_rows, in_columns = left.order(tokens), right.order(tokens)
    pairs = _tied_pairs(derivations, right, left, in_columns, in_rows)
    for low, high in derivations.tied:
        first[low:high] = second[low:high] = 0
    if pairs:
        # Some of them lie in the rectangle of another merge.
        others = _table(merges, second, [], in_rows, size, 0)
        pairs = [(t, u) for t, u in pairs if not others.forbids(t, u)]
    by_first = [(t, int(left.begin[u])) for t, u in pairs]
    by_second = [(u, int(right.begin[t])) for t, u in pairs]
    rows = _table(merges, second, by_first, in_rows, size, 0)
    columns = _table(merges[:, [1, 0, 2]], first, by_second, in_columns, size, 1)
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


def only_followed_by(pairs: ForbiddenPairs, used: NDArray[np.bool_]) -> ForbiddenPairs:
    """The same pairs for the second tokens ``used``, bool (V,), alone.

    Merges that forbid none of these are left out, so that the table of a grammar with few tokens
    is small.
    """
    held = used[pairs.order]
    place = np.concatenate([[0], np.cumsum(held)]).astype(np.int32)
    begin, end = place[pairs.begin], place[pairs.end]
    nonempty = begin < end
    counts = np.concatenate([[0], np.cumsum(nonempty)])
    return replace(
        pairs,
        offsets=counts[pairs.offsets].astype(np.int64),
        index=pairs.index[nonempty],
        begin=begin[nonempty],
        end=end[nonempty],
        order=pairs.order[held],
    )


def _tied_pairs(
    derivations: Derivations,
    right: "_Forest",
    left: "_Forest",
    in_columns: NDArray[np.int32],
    in_rows: NDArray[np.int32],
) -> list[tuple[int, int]]:
    """The forbidden pairs among those whose boundary a tied merge may cross, ascending.

    These are the pairs of a token with right edge a and a token with left edge b before the first
    merge of the tied range, for each merge (a, b) of the range.
    """
    found: set[tuple[int, int]] = set()
    for low, high in derivations.tied:
        tied, lows = derivations.merges[low:high], np.full(high - low, low)
        befores, behinds = right.from_merge(tied[:, 0], lows), left.from_merge(tied[:, 1], lows)
        for (begin, end), (begin_row, end_row) in zip(befores, behinds, strict=True):
            for t in in_columns[begin:end].tolist():
                found.update((t, u) for u in in_rows[begin_row:end_row].tolist())
                if len(found) > MAX_TIED_PAIRS:
                    raise TokenizerError(
                        "the merges make tokens from parts that later merges make, in more ways "
                        f"than can be tried ({MAX_TIED_PAIRS:,} pairs); use --tokenization any"
                    )
    return sorted((t, u) for t, u in found if derivations.encode((t, u)) != [t, u])


class _Forest:
    """Tokens numbered depth first; the parent of a token is one of its parts, letters are roots.

    Of the children of a token those of earlier merges come last: so it stands with those of merge k
    and later ones, and all that is below them, in one interval. ``begin``: int64 (V,), the place of
    each token, -1 for none.
    """

    def __init__(self, tokens: NDArray[np.int32], parents: NDArray[np.int32], size: int) -> None:
        """``tokens``: letters, and what each merge makes. ``parents``: of the latter."""
        count = len(parents)
        letters, made = tokens[: len(tokens) - count], tokens[len(tokens) - count :]
        levels = _levels(made, parents, size)
        self._sizes = np.ones(size, dtype=np.int64)
        for numbers in reversed(levels):
            np.add.at(self._sizes, parents[numbers], self._sizes[made[numbers]])
        self._count = count
        keys = parents.astype(np.int64) * count + np.arange(count)
        order = np.argsort(keys)
        self._keys = keys[order]
        self._before = np.append(0, np.cumsum(self._sizes[made[order]]))
        self.begin = np.full(size, -1, dtype=np.int64)
        self.begin[letters] = np.cumsum(self._sizes[letters]) - self._sizes[letters]
        for numbers in levels:
            # A token stands where the later children of its parent end.
            self.begin[made[numbers]] = self.from_merge(parents[numbers], numbers + 1)[:, 1]

    def from_merge(
        self, tokens: NDArray[np.integer], numbers: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The intervals, int64 (n, 2), of tokens with all below them but their children of merges
        before ``numbers``, one for each."""
        first = tokens.astype(np.int64) * self._count
        earlier = self._before[np.searchsorted(self._keys, first + numbers)]
        earlier -= self._before[np.searchsorted(self._keys, first)]
        begin = self.begin[tokens]
        return np.stack((begin, begin + self._sizes[tokens] - earlier), axis=1)

    def order(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        """All tokens by place."""
        return tokens[np.argsort(self.begin[tokens], kind="stable")]


def _levels(
    made: NDArray[np.int32], parents: NDArray[np.int32], size: int
) -> list[NDArray[np.int64]]:
    """The merges by how far their tokens are from a letter, by the parents."""
    up = np.full(size, -1, dtype=np.int64)
    up[made] = parents
    depths, at = np.zeros(len(made), dtype=np.int64), parents.astype(np.int64)
    numbers = np.arange(len(made))
    while len(numbers):
        at = up[at]
        numbers, at = numbers[at >= 0], at[at >= 0]
        depths[numbers] += 1
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depths[order])) + 1) if len(order) else []


def _table(
    merges: NDArray[np.int32],
    intervals: NDArray[np.int64],
    singles: list[tuple[int, int]],
    order: NDArray[np.int32],
    size: int,
    reach: int,
) -> ForbiddenPairs:
    """The table of the intervals of merges (x, y, result), by x; spines go from result to y.

    ``intervals``: of ``order``, (n, 2), one for each merge. ``singles``: (token, place) pairs that
    are forbidden for that token alone, not for those that have it on their spine. ``reach``: a
    token's bound is the index of the merge that makes it plus ``reach``: 0 for rows, 1 for columns.
    """
    # No bound exceeds this index, so entries that have it count for their own token alone.
    own = len(merges) + reach
    owners = np.concatenate([merges[:, 0], np.array([t for t, _ in singles], np.int32)])
    index = np.concatenate([np.arange(len(merges)), np.full(len(singles), own)])
    alone = np.array([(p, p + 1) for _, p in singles], np.int64).reshape(-1, 2)
    bounds = np.concatenate((intervals, alone)).astype(np.int32)
    kept = np.flatnonzero(bounds[:, 0] < bounds[:, 1])
    kept = kept[np.argsort(owners[kept], kind="stable")]
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners[kept], minlength=size), out=offsets[1:])
    part = np.full(size, -1, dtype=np.int32)
    part[merges[:, 2]] = merges[:, 1]
    bound = np.full(size, -1, dtype=np.int32)
    bound[merges[:, 2]] = np.arange(len(merges)) + reach
    table = ForbiddenPairs(
        part=part,
        bound=bound,
        row_class=np.zeros(size, dtype=np.int32),
        offsets=offsets,
        index=index[kept].astype(np.int32),
        begin=np.ascontiguousarray(bounds[kept, 0]),
        end=np.ascontiguousarray(bounds[kept, 1]),
        order=order,
    )
    return replace(table, row_class=_row_classes(table, merges))


def _row_classes(table: ForbiddenPairs, merges: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the tokens by the slices that their rows consist of; int32 (V,).

    The row of t = (x, y) consists of the slice of t itself, the slice of y below the bound of t,
    and the slices below y: the number of the first and one for the other two identify it.
    """
    size = len(table.part)
    used, below = _slice_lengths(table, merges), np.zeros(size, dtype=np.int64)
    most, tails = int(used.max(initial=0)) + 1, 1
    made, parts = merges[:, 2], merges[:, 1].astype(np.int64)
    for numbers in _levels(made, merges[:, 1], size):
        tokens, of = made[numbers], parts[numbers]
        # A part has one tail, and its tokens are all of this level.
        found, tail = np.unique(of * most + used[tokens], return_inverse=True)
        below[tokens] = np.where(used[tokens] > 0, tails + tail, below[of])
        tails += len(found)
    own = np.where(np.diff(table.offsets) > 0, np.arange(1, size + 1), 0)
    # The empty row is the first, whether a token has it or not.
    classes = np.zeros(size, dtype=np.int32)
    keys = np.append(0, own[table.order] * tails + below[table.order])
    classes[table.order] = np.unique(keys, return_inverse=True)[1].reshape(-1)[1:]
    return classes


def _slice_lengths(table: ForbiddenPairs, merges: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each token (x, y): how many merges with left part y lie below its bound."""
    scale = len(merges) + 2
    keys = np.repeat(np.arange(len(table.part)), np.diff(table.offsets)) * scale + table.index
    found = np.zeros(len(table.part), dtype=np.int64)
    tokens, parts = merges[:, 2], merges[:, 1].astype(np.int64)
    found[tokens] = np.searchsorted(keys, parts * scale + table.bound[tokens])
    found[tokens] -= table.offsets[parts]
    return found
