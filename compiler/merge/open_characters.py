"""Tokens that end inside a character, and what may end it, whatever a normalization form forbids.

Behind a token t that ends inside a character the automaton of stable texts is in one of some
states, by what went before t. Each lets some tokens end the character. t is *sure* to go on, if
what a grammar leaves holds one of them for each of these states, so only least sets of them are
kept: a set that holds another is met where that is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.stable_texts import DEAD, StableTexts

_TAILS = range(0x80, 0xC0)


@dataclass(frozen=True, slots=True, eq=False)
class OpenCharacters:
    """``tails``: int32 (U,), the tokens that begin inside a character. ``tokens``: int32 (T,),
    the others that lead some state into a character of which not all ends are free. ``sets``:
    bool (n, U), the sets of tails that lead to free states: for the token i those from
    ``offsets[i]`` to ``offsets[i + 1] - 1``, int64 (T + 1,).
    """

    tails: NDArray[np.int32]
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    sets: NDArray[np.bool_]

    def sets_of(self, place: int) -> NDArray[np.bool_]:
        """The sets of a token by its place."""
        return self.sets[int(self.offsets[place]) : int(self.offsets[place + 1])]


def open_characters(
    texts: StableTexts, between: int, octets: Mapping[int, bytes]
) -> tuple[NDArray[np.int32], OpenCharacters]:
    """The tokens that ``StableTexts`` holds, out of some, and what may follow them.

    ``between``: states from 1 to below lie between two characters. ``octets``: the bytes of
    the tokens, none of them empty.
    """
    reached = {b"": np.arange(1, between)}
    is_free = texts.are_free(np.arange(len(texts.table)))
    held, bound = [], {}
    tails = [token for token, data in sorted(octets.items()) if data[0] in _TAILS]
    for token, data in sorted(octets.items()):
        if data[0] in _TAILS:
            held.append(token)
            continue
        states = _reached(texts, reached, data)
        not_free = states[~is_free[states]]
        if len(not_free) or DEAD in states:
            held.append(token)
        if len(not_free):
            bound[token] = not_free
    states = np.unique(np.concatenate([*bound.values(), np.zeros(0, dtype=np.int64)]))
    frees = _frees(texts, is_free, states, [octets[token] for token in tails])
    sets = [_least(frees[np.searchsorted(states, found)]) for found in bound.values()]
    packed = np.concatenate([np.zeros((0, frees.shape[1]), dtype=np.uint8), *sets])
    return np.array(held, dtype=np.int32), OpenCharacters(
        np.array(tails, dtype=np.int32),
        np.array(list(bound), dtype=np.int32),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.unpackbits(packed, axis=1, count=len(tails)).view(np.bool_),
    )


def _reached(
    texts: StableTexts, known: dict[bytes, NDArray[np.int64]], data: bytes
) -> NDArray[np.int64]:
    """The states that some text before leads to; ``known``: for shorter ones."""
    for end in range(1, len(data) + 1):
        if data[:end] not in known:
            column = texts.classes[data[end - 1]]
            states = texts.table[known[data[: end - 1]], column]
            known[data[:end]] = np.unique(states).astype(np.int64)
    return known[data]


def _frees(
    texts: StableTexts,
    is_free: NDArray[np.bool_],
    states: NDArray[np.int64],
    tails: list[bytes],
) -> NDArray[np.uint8]:
    """For each state the tails that lead to a free state, packed."""
    found = np.zeros((len(states), len(tails)), dtype=np.bool_)
    for place, data in enumerate(tails):
        after = states
        for octet in data:
            after = texts.table[after, texts.classes[octet]].astype(np.int64)
        found[:, place] = (after != DEAD) & is_free[after]
    return np.packbits(found, axis=1)


def _least(sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Those that hold no other, each once."""
    distinct = {int.from_bytes(row.tobytes()) for row in sets}
    kept: list[int] = []
    for found in sorted(distinct, key=lambda one: (one.bit_count(), one)):
        if all(other & ~found for other in kept):
            kept.append(found)
    width = sets.shape[1]
    data = b"".join(found.to_bytes(width) for found in kept)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(kept), width)
