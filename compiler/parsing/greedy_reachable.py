"""What of a closed memo a text can ask for.

Closing works out answers in the middle of tokens, which are then part of others. Where nothing
is left to be worked out, no text asks for them: a mask begins with the root of the token trie
and goes on with the frames below.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.greedy_memo import GreedyMemo, exits_of, feed_key, split_feeds
from constrain.artifacts.greedy_walk import NOTHING, ROOT


def reachable(memo: GreedyMemo) -> GreedyMemo:
    """A memo without the answers, residuals, rows and exits that no mask begins or goes on with."""
    begun = exits_of(memo.first_keys) == ROOT
    owners, frames = split_feeds(memo.feed_keys)
    met = np.zeros(len(memo.known), dtype=np.bool_)
    met[memo.firsts[begun]] = True
    count = -1
    while count != (count := int(met.sum())):
        met[memo.feeds[met[owners]]] = True
    fed = met[owners]
    counts = np.diff(memo.pending_offsets)
    pending = memo.pending[np.repeat(met, counts)]
    rows, known = np.unique(np.append(0, memo.known[met]), return_inverse=True)
    exits, waiting = np.unique(
        np.concatenate(([NOTHING, ROOT], pending[:, 1])), return_inverse=True
    )
    numbers = np.cumsum(met) - 1
    kept = memo.rows.only(rows)
    sizes = np.diff(memo.exits_offsets)
    return replace(
        memo,
        codes=kept.codes,
        blocks=kept.blocks,
        block_offsets=kept.offsets,
        exits=memo.exits[np.repeat(np.isin(np.arange(len(sizes)), exits), sizes)],
        exits_offsets=_ends(sizes[exits]),
        known=known[1:].astype(np.int32),
        pending=np.stack((pending[:, 0], waiting[2:]), axis=1).astype(np.int32),
        pending_offsets=_ends(counts[met]),
        first_keys=memo.first_keys[begun],
        firsts=numbers[memo.firsts[begun]].astype(np.int32),
        # subtle: numbers keep their order, and so do the keys.
        feed_keys=feed_key(numbers[owners[fed]], frames[fed]),
        feeds=numbers[memo.feeds[fed]].astype(np.int32),
    )


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(np.append(0, sizes)).astype(np.int64)
