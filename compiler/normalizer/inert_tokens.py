"""Tokens whose characters a normalizer leaves alone behind any text.

Tokens that end inside a character, and what may end it, whatever a normalization form forbids.

Behind a token t that ends inside a character the automaton of stable texts is in one of some
states, by what went before t. Each lets some tokens end the character. t is *sure* to go on, if
what a grammar leaves holds one of them for each of these states, so only least sets of them are
kept: a set that holds another is met where that is.
"""

from codecs import getincrementaldecoder
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.normalizer.normal_form_dfa import DEAD, NormalFormDfa

_TAIL_END, _LONGEST_TAIL = 0xC0, 3
_LEAD = b"\xc0"
_CONTINUATION_BYTES = bytes(range(0x80, _TAIL_END))


def is_plain(octets: bytes, plain: NDArray[np.bool_]) -> bool:
    """Whether these are whole characters of ``plain``, bool (0x110000,)."""
    try:
        codes = np.frombuffer(octets.decode("utf-8").encode("utf-32-le"), dtype="<u4")
    except UnicodeDecodeError:
        return False
    return bool(plain[codes].all())


def ends_inside(octets: bytes) -> bool:
    """Whether a token ends inside a character."""
    decoder = getincrementaldecoder("utf-8")("ignore")
    decoder.decode(octets)
    return bool(decoder.getstate()[0])


def is_inert(octets: bytes, plain: NDArray[np.bool_], may_begin: NDArray[np.bool_]) -> bool:
    """Whether a token holds, behind the end of a character, characters of ``plain`` alone.

    ``may_begin``: bool (0x110000,), those of which a last one that has begun may be any.
    """
    rest = octets.lstrip(_CONTINUATION_BYTES)
    if len(octets) - len(rest) > _LONGEST_TAIL:
        return False
    begun = next((i for i in range(1, 4) if rest[-i : -i + 1 or None] >= _LEAD), 0)
    whole = rest
    if begun and begun < _length(rest[-begun]):
        # A character has begun: whichever it becomes.
        whole, last = rest[:-begun], rest[-begun:]
        shift = 6 * (_length(last[0]) - begun)
        code = last[0] & (0x7F >> _length(last[0]))
        for octet in last[1:]:
            code = code << 6 | octet & 0x3F
        if not may_begin[code << shift : (code + 1) << shift].all():
            return False
    return is_plain(whole, plain)


def _length(lead: int) -> int:
    """Bytes of the character that a lead byte begins."""
    return 2 + (lead >= 0xE0) + (lead >= 0xF0)


_CONTINUATIONS = range(0x80, 0xC0)


@dataclass(frozen=True, slots=True, eq=False)
class SplitCharacters:
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


def split_characters(
    texts: NormalFormDfa, between: int, octets: Mapping[int, bytes]
) -> tuple[NDArray[np.int32], SplitCharacters]:
    """The tokens that ``NormalFormDfa`` holds, out of some, and what may follow them.

    ``between``: states from 1 to below lie between two characters. ``octets``: the bytes of
    the tokens, none of them empty.
    """
    reached = {b"": np.arange(1, between)}
    is_free = texts.are_free(np.arange(len(texts.table)))
    held, bound = [], {}
    tails = [token for token, data in sorted(octets.items()) if data[0] in _CONTINUATIONS]
    for token, data in sorted(octets.items()):
        if data[0] in _CONTINUATIONS:
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
    return np.array(held, dtype=np.int32), SplitCharacters(
        np.array(tails, dtype=np.int32),
        np.array(list(bound), dtype=np.int32),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.unpackbits(packed, axis=1, count=len(tails)).view(np.bool_),
    )


def _reached(
    texts: NormalFormDfa, known: dict[bytes, NDArray[np.int64]], data: bytes
) -> NDArray[np.int64]:
    """The states that some text before leads to; ``known``: for shorter ones."""
    for end in range(1, len(data) + 1):
        if data[:end] not in known:
            column = texts.classes[data[end - 1]]
            states = texts.table[known[data[: end - 1]], column]
            known[data[:end]] = np.unique(states).astype(np.int64)
    return known[data]


def _frees(
    texts: NormalFormDfa,
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
