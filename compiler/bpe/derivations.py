"""How each token is made: the merges that can take effect, in an order that is proper.

A real tokenizer applies the merge of lowest rank that is possible, again and again. The
source document applies each merge to the whole text in turn. Both give the same if the
merges that take effect are *proper*: in the derivation of each token by itself the last
merge comes after those of its two parts. Merges that never take effect do not matter:
many files list all decompositions of each token, of which one is ever used.

Where the list is not proper, the merges are ordered anew by tau(t) = max(k, tau(l), tau(r)),
which is the moment at which rank order gets to make t. Tokens that even this does not order
are tied: their pairs are found by encoding them.

The merges of a tokenizer in an order in which they can be applied to the whole text in turn.

Real tokenizers apply the merge of lowest rank that is possible, again and again. That is
the same as the source document's composition of merges if the list is proper: each token
is made by one merge only, and its parts are bytes or made by earlier merges.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ranks: TypeAlias = Mapping[tuple[int, int], tuple[int, int]]

# Rank, left part and right part of the merge that makes a token.
_Made: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """The tokens that merging can give, and how.

    ``spelled``: each token with the letters of its text. ``ranks``: the merge list, pair of
    ids to rank and result. ``letters``: ids of the tokens that merging begins with.
    ``merges``: int32 (n, 3), left, right and result of the merges that take effect, parts
    before results, each result once. ``tied``: ranges of ``merges`` that have one tau and no
    order that is exact. ``unreachable``: tokens that merging gives for no text, with the ids
    that it gives for their own text instead.
    """

    spelled: Mapping[int, Sequence[int]]
    ranks: Ranks
    letters: tuple[int, ...]
    merges: NDArray[np.int32]
    tied: tuple[tuple[int, int], ...]
    unreachable: Mapping[int, tuple[int, ...]]

    def encode(self, tokens: Iterable[int]) -> list[int]:
        """What merging makes of the text of ``tokens``."""
        return _encode([letter for t in tokens for letter in self.spelled[t]], self.ranks)[0]


def derive(spelled: Mapping[int, Sequence[int]], merges: NDArray[np.int32]) -> Derivations:
    """Encode every token's own text and read off the merge that makes it.

    ``merges``: int32 (n, 3) in rank order.
    """
    ranks = {(a, b): (k, t) for k, (a, b, t) in enumerate(merges.tolist())}
    letters: list[int] = []
    made: dict[int, _Made] = {}
    unreachable: dict[int, tuple[int, ...]] = {}
    for token, text in spelled.items():
        if len(text) == 1 and text[0] == token:
            letters.append(token)
            continue
        ids, last = _encode(text, ranks)
        if ids == [token]:
            made[token] = last
        else:
            unreachable[token] = tuple(ids)
    ordered, tied = _in_proper_order(made)
    rows = [(made[t][1], made[t][2], t) for t in ordered]
    effective = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Derivations(spelled, ranks, tuple(letters), effective, tied, unreachable)


def _encode(letters: Sequence[int], ranks: Ranks) -> tuple[list[int], _Made]:
    """Merge the leftmost pair of lowest rank until none has one; and the last merge made.

    Quadratic: tokens are short.
    """
    ids, last = list(letters), (-1, -1, -1)
    find = ranks.get
    while True:
        lowest, result, place = -1, -1, -1
        for i, pair in enumerate(pairwise(ids)):
            found = find(pair)
            if found is not None and (place < 0 or found[0] < lowest):
                (lowest, result), place = found, i
        if place < 0:
            return ids, last
        last = (lowest, ids[place], ids[place + 1])
        ids[place : place + 2] = [result]


def _in_proper_order(
    made: Mapping[int, _Made],
) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """The made tokens, parts before results, and the ranges that this order does not decide.

    The order by rank where that is one; else by tau. Exact wherever (i) the right part of an
    improper token is not the left part of another token of its tau, and (ii) its parts do
    not both have its tau; all tokens of a tau where that fails are tied.
    """
    ordered = sorted(made, key=lambda t: made[t][0])
    place = {t: i for i, t in enumerate(ordered)}
    if all(place.get(part, -1) < place[t] for t in ordered for part in made[t][1:]):
        return ordered, ()
    tau, depth = _taus(made)
    # Not only those with a part of higher rank: also what is made of them out of turn.
    improper = [t for t in ordered if tau[t] > made[t][0]]
    ordered.sort(key=lambda t: (tau[t], depth[t], made[t][0]))
    lefts = {(tau[t], made[t][1]) for t in ordered}
    open_taus = set()
    for t in improper:
        _, left, right = made[t]
        if (tau[t], right) in lefts or tau.get(left, -1) == tau.get(right, -1) == tau[t]:
            open_taus.add(tau[t])
    taus = [tau[t] for t in ordered]
    tied = tuple((bisect_left(taus, k), bisect_right(taus, k)) for k in sorted(open_taus))
    return ordered, tied


def _taus(made: Mapping[int, _Made]) -> tuple[dict[int, int], dict[int, int]]:
    """tau of each made token, and its depth among its own parts with the same tau."""
    tau: dict[int, int] = {}
    depth: dict[int, int] = {}
    for token in made:
        pending = [token]
        while pending:
            t = pending[-1]
            k, left, right = made[t]
            missing = [part for part in (left, right) if part in made and part not in tau]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            tau[t] = max(k, tau.get(left, -1), tau.get(right, -1))
            below = [depth[p] + 1 for p in (left, right) if tau.get(p, -1) == tau[t]]
            depth[t] = max(below, default=0)
    return tau, depth
