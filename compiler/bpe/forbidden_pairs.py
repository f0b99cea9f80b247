"""The DFA of tokenize(Σ*) as rectangles of forbidden pairs.

Instead of the sets f(S) of Algorithm 3: number the tokens along their left spines and along
their right spines, children by descending merge index. Then merge k = (a, b) forbids the
pairs A_k × B_k, both intervals:

    A_k = a and, with all below them, the tokens (·, a) of index > k, in right-spine order
    B_k = b and, with all below them, the tokens (b, ·) of index ≥ k, in left-spine order

and the forbidden pairs are the disjoint union of these rectangles. ``README.md`` proves it;
``merge.oracle`` is Algorithm 3 as printed, which tests compare this with.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs

from ..diagnostics import TokenizerError
from .derivations import Derivations

# Pairs that are encoded one by one where no order of the merges is exact.
MOST_TIED_PAIRS = 200_000

_Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class ForbiddenPairTables:
    """Forbidden pairs by first token (``rows``) and by second token (``columns``).

    ``columns`` is the same table with left and right exchanged: row u of it holds the
    tokens that may not precede u.
    """

    rows: ForbiddenPairs
    columns: ForbiddenPairs


def build_forbidden_pairs(derivations: Derivations, size: int) -> ForbiddenPairTables:
    """The rectangles of all merges, for ids below ``size``. Linear but for sorting.

    Pairs that a tied merge might forbid are encoded instead, each by itself (Algorithm 4).
    Raises ``TokenizerError`` if those are too many.
    """
    merges = derivations.merges
    tokens = np.concatenate([np.array(derivations.letters, np.int32), merges[:, 2]])
    right = _Forest(tokens, merges[:, 1], size)
    left = _Forest(tokens, merges[:, 0], size)
    first: list[_Interval] = []
    second: list[_Interval] = []
    for number, (a, b, _) in enumerate(merges.tolist()):
        # Children are placed from the end of their parent's interval, earliest merge last:
        # what is left of it are the later ones. Index > k: this merge's token is placed
        # first; index ≥ k: afterwards.
        right.place_child(number)
        first.append(right.rest(a))
        second.append(left.rest(b))
        left.place_child(number)
    in_rows, in_columns = left.order(tokens), right.order(tokens)
    pairs = _tied_pairs(derivations, right, left, in_columns, in_rows)
    for low, high in derivations.tied:
        first[low:high] = second[low:high] = [(0, 0)] * (high - low)
    if pairs:
        # Of these some lie in the rectangle of another merge already.
        known = _table(merges, second, [], in_rows, size, 0)
        pairs = [(t, u) for t, u in pairs if not known.forbids(t, u)]
    rows = _table(merges, second, [(t, left.place(u)) for t, u in pairs], in_rows, size, 0)
    swapped = merges[:, [1, 0, 2]]
    columns = _table(swapped, first, [(u, right.place(t)) for t, u in pairs], in_columns, size, 1)
    return ForbiddenPairTables(rows, columns)


def without_followers(rectangles: ForbiddenPairTables, tokens: list[int]) -> ForbiddenPairTables:
    """The same with ``tokens``, which are in no merge, before no other token of their piece.

    Columns are left as they are: no token that continues a piece has these before it.
    """
    rows, count = rectangles.rows, len(tokens)
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
    return replace(rectangles, rows=closed)


def only_followed_by(pairs: ForbiddenPairs, used: NDArray[np.bool_]) -> ForbiddenPairs:
    """Only the second tokens ``used``, bool (V,); merges that forbid none of them are left out."""
    held = used[pairs.order]
    place = np.concatenate([[0], np.cumsum(held)]).astype(np.int32)
    begin, end = place[pairs.begin], place[pairs.end]
    kept = begin < end
    counts = np.concatenate([[0], np.cumsum(kept)])
    return replace(
        pairs,
        offsets=counts[pairs.offsets].astype(np.int64),
        index=pairs.index[kept],
        begin=begin[kept],
        end=end[kept],
        order=pairs.order[held],
    )


def _tied_pairs(
    derivations: Derivations,
    right: "_Forest",
    left: "_Forest",
    in_columns: NDArray[np.int32],
    in_rows: NDArray[np.int32],
) -> list[tuple[int, int]]:
    """The forbidden pairs among those whose boundary a tied merge may cross.

    These are the pairs of a token of right edge a and one of left edge b at the time of the
    range's first merge, for each merge (a, b) in the range.
    """
    found: set[tuple[int, int]] = set()
    for low, high in derivations.tied:
        for a, b, _ in derivations.merges[low:high].tolist():
            begin, end = right.later(a, low)
            for t in in_columns[begin:end].tolist():
                begin_row, end_row = left.later(b, low)
                found.update((t, u) for u in in_rows[begin_row:end_row].tolist())
                if len(found) > MOST_TIED_PAIRS:
                    raise TokenizerError(
                        "the merges make tokens from parts that later merges make, in more ways "
                        f"than can be tried ({MOST_TIED_PAIRS:,} pairs); use --tokenization any"
                    )
    return sorted((t, u) for t, u in found if derivations.encode((t, u)) != [t, u])


class _Forest:
    """Tokens in preorder; the parent of a token is one of its parts, a letter is a root."""

    def __init__(self, tokens: NDArray[np.int32], parents: NDArray[np.int32], size: int) -> None:
        count = len(parents)
        self._made = tokens[len(tokens) - count :].tolist()
        self._parents = parents.tolist()
        self._sizes = [1] * size
        for token, parent in zip(reversed(self._made), reversed(self._parents), strict=True):
            self._sizes[parent] += self._sizes[token]
        self._begin, self._end = [-1] * size, [-1] * size
        start = 0
        for letter in tokens[: len(tokens) - count].tolist():
            self._begin[letter], self._end[letter] = start, start + self._sizes[letter]
            start = self._end[letter]

    def place_child(self, number: int) -> None:
        """Give the token of a merge, all earlier ones placed, the end of its parent's rest."""
        token, parent = self._made[number], self._parents[number]
        end = self._end[parent]
        self._end[token], self._begin[token] = end, end - self._sizes[token]
        self._end[parent] = self._begin[token]

    def rest(self, token: int) -> _Interval:
        """A token and its children that are not placed yet, as an interval."""
        return self._begin[token], self._end[token]

    def place(self, token: int) -> int:
        """The place of a token."""
        return self._begin[token]

    def later(self, token: int, number: int) -> _Interval:
        """A token and its children made by merge ``number`` or later, once all are placed."""
        made = zip(self._made[number:], self._parents[number:], strict=True)
        size = sum(self._sizes[child] for child, parent in made if parent == token)
        return self._begin[token], self._begin[token] + 1 + size

    def order(self, tokens: NDArray[np.int32]) -> NDArray[np.int32]:
        """All tokens by place, once every one is placed."""
        begin = np.array(self._begin, dtype=np.int64)
        return tokens[np.argsort(begin[tokens], kind="stable")]


def _table(
    merges: NDArray[np.int32],
    intervals: list[_Interval],
    singles: list[tuple[int, int]],
    order: NDArray[np.int32],
    size: int,
    reach: int,
) -> ForbiddenPairs:
    """The intervals of the merges (x, y, result) by x; the spine goes from result to y.

    ``singles``: (token, place) pairs that are forbidden for that very token. ``reach``: a
    merge counts below a spine's token while its index is less than that of the merge which
    makes that token plus ``reach``.
    """
    # No bound exceeds this index, so what has it is nobody's but its token's own.
    own = len(merges) + reach
    owners = np.concatenate([merges[:, 0], np.array([t for t, _ in singles], np.int32)])
    index = np.concatenate([np.arange(len(merges)), np.full(len(singles), own)])
    bounds = np.array([*intervals, *((p, p + 1) for _, p in singles)], np.int32).reshape(-1, 2)
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

    The slices of t are its own and those of its part y under the bound of t, then what
    already followed y: two numbers say it all.
    """
    below: list[int] = [0] * len(table.part)
    classes: list[int] = [0] * len(table.part)
    known_below: dict[tuple[int, int, int], int] = {}
    known: dict[tuple[int, int], int] = {(-1, 0): 0}
    offsets = table.offsets
    own = np.where(np.diff(offsets) > 0, np.arange(len(table.part)), -1).tolist()
    used = _slice_lengths(table, merges)
    parts = dict(merges[:, [2, 1]].tolist())
    for token in (*set(table.order.tolist()).difference(parts), *merges[:, 2].tolist()):
        part = parts.get(token)
        if part is not None:
            tail = below[part]
            if used[token]:
                key = (part, used[token], tail)
                tail = known_below.setdefault(key, len(known_below) + 1)
            below[token] = tail
        classes[token] = known.setdefault((own[token], below[token]), len(known))
    return np.array(classes, dtype=np.int32)


def _slice_lengths(table: ForbiddenPairs, merges: NDArray[np.int32]) -> list[int]:
    """For each token how many merges with its part as x lie below its bound."""
    scale = len(merges) + 2
    keys = np.repeat(np.arange(len(table.part)), np.diff(table.offsets)) * scale + table.index
    found = np.zeros(len(table.part), dtype=np.int64)
    tokens, parts = merges[:, 2], merges[:, 1].astype(np.int64)
    found[tokens] = np.searchsorted(keys, parts * scale + table.bound[tokens])
    found[tokens] -= table.offsets[parts]
    lengths: list[int] = found.tolist()
    return lengths
