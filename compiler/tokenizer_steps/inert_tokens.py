"""Tokens by the characters that they hold: inert ones, and those that end inside a character.

    not_plain          tokens that hold more than whole characters that are in normal form alone
    is_inert           after the end of a character that it may begin with, a token holds inert
                       characters alone, which are in normal form after any text
    split_characters   of a token that ends inside a character, which tokens may end it

After a token t that ends inside a character the normal-form DFA is in one of some states, by what
went before t. Each lets some *tails* end the character, tokens that begin inside one. Decoding need
not look for an end after t if what a grammar leaves holds a tail for each of these states; so only
least sets of tails are stored: a set that holds another is met where that is.

    states after t    let the tails    {u, v}, {u, v, w} and {w} lead on
    stored             {u, v} and {w}
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokenizer_steps.normal_form_dfa import DEAD, NormalFormDfa
from constrain.artifacts.tokenizer_steps.split_characters import SplitCharacters
from constrain.artifacts.tokens.memo import Numbered, memoised

from ..tokenizers.tokenizer import TokenTable

_TAIL_END, _LONGEST_TAIL = 0xC0, 3
_LEAD = b"\xc0"
_CONTINUATION_BYTES = bytes(range(0x80, _TAIL_END))


def is_plain(octets: bytes, plain: NDArray[np.bool_]) -> bool:
    """Whether ``octets`` are whole characters of ``plain``, bool (0x110000,)."""
    try:
        codes = np.frombuffer(octets.decode("utf-8").encode("utf-32-le"), dtype="<u4")
    except UnicodeDecodeError:
        return False
    return bool(plain[codes].all())


def not_plain(octets: Mapping[int, bytes], plain: NDArray[np.bool_]) -> list[int]:
    """The tokens, ascending, that are not whole characters of ``plain``, bool (0x110000,)."""
    table = TokenTable.of(octets)
    codes, begins = table.characters()
    is_other = ~plain[codes]
    is_other[(codes >= 0xDC80) & (codes < 0xDD00)] = True
    # A token that is whole characters begins and ends where one does.
    first = np.searchsorted(begins, table.offsets)
    is_cut = begins[first] != table.offsets
    others = np.append(0, np.cumsum(is_other))[first]
    is_found = is_cut[:-1] | is_cut[1:] | (others[:-1] < others[1:])
    found: list[int] = np.flatnonzero(is_found & (np.diff(table.offsets) > 0)).tolist()
    return found


def is_inert(octets: bytes, plain: NDArray[np.bool_], may_begin: NDArray[np.bool_]) -> bool:
    """Whether a token holds, after the end of a character, characters of ``plain`` alone.

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


def split_characters(
    dfa: NormalFormDfa, between: int, octets: Mapping[int, bytes]
) -> tuple[NDArray[np.int32], SplitCharacters]:
    """The boundary tokens of a normal-form DFA, out of some, and what may end their characters.

    ``between``: states from 1 to below lie between two characters. ``octets``: the bytes of
    the tokens, none of them empty.
    """
    behind = _Behind(dfa, np.arange(1, between))
    is_free = dfa.free
    boundary, bound = [], {}
    tails = [token for token, data in sorted(octets.items()) if data[0] in _CONTINUATIONS]
    for token, data in sorted(octets.items()):
        if data[0] in _CONTINUATIONS:
            boundary.append(token)
            continue
        states = behind.all_after(data)
        not_free = states[~is_free[states]]
        if len(not_free) or DEAD in states:
            boundary.append(token)
        if len(not_free):
            bound[token] = not_free
    states = np.unique(np.concatenate([*bound.values(), np.zeros(0, dtype=np.int64)]))
    frees = _frees(dfa, is_free, states, [octets[token] for token in tails])
    sets = [_least(frees[np.searchsorted(states, found)]) for found in bound.values()]
    packed = np.concatenate([np.zeros((0, frees.shape[1]), dtype=np.uint8), *sets])
    return np.array(boundary, dtype=np.int32), SplitCharacters(
        np.array(tails, dtype=np.int32),
        np.array(list(bound), dtype=np.int32),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.unpackbits(packed, axis=1, count=len(tails)).view(np.bool_),
    )


class _Behind:
    """The states of a DFA after bytes that are read in any of ``states``; few such sets differ."""

    def __init__(self, dfa: NormalFormDfa, states: NDArray[np.int64]) -> None:
        self._dfa, self._sets = dfa, Numbered([states.tobytes()])

    def all_after(self, data: bytes) -> NDArray[np.int64]:
        """The states that ``data`` may lead to, int64, ascending."""
        number = 0
        for octet in data:
            number = self._after(number, octet)
        return np.frombuffer(self._sets[number], dtype=np.int64)

    @memoised
    def _after(self, number: int, octet: int) -> int:
        states = np.frombuffer(self._sets[number], dtype=np.int64)
        column = self._dfa.table[states, self._dfa.classes[octet]]
        return self._sets.number(np.unique(column).astype(np.int64).tobytes())


def _frees(
    dfa: NormalFormDfa,
    is_free: NDArray[np.bool_],
    states: NDArray[np.int64],
    tails: list[bytes],
) -> NDArray[np.uint8]:
    """For each state the tails that lead to a free state, packed."""
    found = np.zeros((len(states), len(tails)), dtype=np.bool_)
    for place, data in enumerate(tails):
        after = states
        for octet in data:
            after = dfa.table[after, dfa.classes[octet]].astype(np.int64)
        found[:, place] = (after != DEAD) & is_free[after]
    return np.packbits(found, axis=1)


def _least(sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The sets that hold no other, each once."""
    distinct = {int.from_bytes(row.tobytes()) for row in sets}
    least: list[int] = []
    for found in sorted(distinct, key=lambda one: (one.bit_count(), one)):
        if all(other & ~found for other in least):
            least.append(found)
    width = sets.shape[1]
    data = b"".join(found.to_bytes(width) for found in least)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(least), width)
