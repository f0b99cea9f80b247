"""Whether what a normalization form forbids can lead to a dead end.

While decoding, stable texts are followed beside the product (``constrain.artifacts.stable``).
That takes tokens out of masks, and a mask could run empty. It cannot where each transition of
the product that is relevant is so by characters that are stable behind any text:

    open      the text may end, or a piece may start that inert characters lead to an end
    else      a token may follow the last one and leads to where this holds, which ends the
              character that has begun and holds inert ones beside that

A sufficient condition, which nearly all grammars meet that leave such characters a choice.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .lift import Lift
from .marked_dfa import DEAD, reaching
from .product import Product
from .relevance import Relevance
from .stable_characters import LOST, StableCharacters
from .stable_text import StableTables, is_plain
from .tables import PairTables

_TAIL_END, _LONGEST_TAIL = 0xC0, 3
_LEAD = b"\xc0"
_TAILS = bytes(range(0x80, _TAIL_END))

# Tokens that are tried at one state.
_MOST_TRIED = 200


def ends_freely(
    product: Product,
    pairs: PairTables,
    stable: StableTables,
    tokens: Mapping[int, bytes],
    lifted: Lift,
    found: Relevance,
) -> bool:
    """Whether no relevant transition of ``lifted`` depends on characters that are not inert.

    ``tokens``: id to bytes.
    """
    opened = _freely_open(product, stable)
    entered = np.zeros(product.states, dtype=np.bool_)
    entered[product.table] = True
    entered[[product.start, *product.after_cut]] = True
    entered[DEAD] = False
    if (entered & product.is_open & ~opened).any():
        return False
    keys = found.states * lifted.size + found.tokens
    search = _Search(product, pairs, stable.characters, tokens, lifted, opened, keys)
    return search.settle_all()


class _Search:
    """Entries are a state that is not open and the token that enters it, as one number."""

    def __init__(
        self,
        product: Product,
        pairs: PairTables,
        characters: StableCharacters,
        tokens: Mapping[int, bytes],
        lifted: Lift,
        opened: NDArray[np.bool_],
        keys: NDArray[np.int64],
    ) -> None:
        self.product, self.pairs, self.lifted = product, pairs, lifted
        self.plain = characters.is_inert[characters.classes]
        # What is never stable is no member's.
        self.may_begin = self.plain | (characters.classes == LOST)
        self.tokens, self.opened, self.keys = tokens, opened, keys
        self.states, self.entering = np.divmod(keys, lifted.size)
        self.settled = opened[self.states]
        self.forbidden = np.zeros(lifted.size, dtype=np.bool_)

    def settle_all(self) -> bool:
        """First by single bytes for all entries at once, then state by state."""
        for step in (self.by_bytes, self.by_states):
            count = -1
            while count != (count := int(self.settled.sum())) and not self.settled.all():
                step()
        return bool(self.settled.all())

    def leads(self, states: NDArray[np.integer], token: int) -> NDArray[np.bool_]:
        """Whether ``token`` leads each of ``states`` to an open state or a settled entry."""
        for octet in self.tokens[token]:
            states = self.product.table[states, 0, self.product.classes[octet]]
        wanted = states * np.int64(self.lifted.size) + token
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        known = (self.keys[place] == wanted) & self.settled[place]
        found: NDArray[np.bool_] = (self.opened[states] | known) & (states != DEAD)
        return found

    def by_bytes(self) -> None:
        trie = self.pairs.trie
        for token in trie.ids[: trie.held[trie.first[1]]].tolist():
            if self.tokens[token][0] >= _TAIL_END:
                continue
            waiting = np.flatnonzero(~self.settled)
            self.without_followed(waiting[self.leads(self.states[waiting], token)], token)

    def by_states(self) -> None:
        waiting = np.flatnonzero(~self.settled)
        for state in np.unique(self.states[waiting]).tolist():
            row = self.lifted.lists.get(2 * state)
            if row is None:
                found = self.lifted.bits.get(2 * state, np.zeros(0, dtype=np.bool_))
                row = np.flatnonzero(found).astype(np.int32)
            left = waiting[self.states[waiting] == state]
            begin = np.array([state])
            for token in row[:_MOST_TRIED].tolist():
                if not len(left):
                    break
                if self.is_inert(token) and self.leads(begin, token)[0]:
                    left = self.without_followed(left, token)

    def without_followed(self, entries: NDArray[np.int64], token: int) -> NDArray[np.int64]:
        """Settle the entries that ``token`` may follow; the others."""
        if not len(entries):
            return entries
        before = self.pairs.rectangles.columns.ids(token)
        self.forbidden[before] = True
        stuck = self.forbidden[self.entering[entries]]
        self.forbidden[before] = False
        self.settled[entries[~stuck]] = True
        return entries[stuck]

    def is_inert(self, token: int) -> bool:
        """Whether a token holds, behind the end of a character, inert ones alone."""
        octets = self.tokens[token]
        rest = octets.lstrip(_TAILS)
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
            if not self.may_begin[code << shift : (code + 1) << shift].all():
                return False
        return is_plain(whole, self.plain)


def _length(lead: int) -> int:
    """Bytes of the character that a lead byte begins."""
    return 2 + (lead >= 0xE0) + (lead >= 0xF0)


def _freely_open(product: Product, stable: StableTables) -> NDArray[np.bool_]:
    """States where the text may end or a piece may start that inert characters lead to an end."""
    keys = product.classes.astype(np.int64) * 256 + stable.inert_classes
    joint = np.unique(keys, return_index=True)[1]
    first = product.table[:, :, product.classes[joint]].astype(np.int64)
    second = stable.inert[:, stable.inert_classes[joint]].astype(np.int64)
    width = np.int64(len(stable.inert))
    begin = np.flatnonzero(product.is_open) * width + stable.inert_start
    known = np.append(DEAD, begin)
    found, rows, frontier = [known], [], begin
    while len(frontier):
        left, right = np.divmod(frontier, width)
        a, b = first[left], second[right][:, None, :]
        rows.append(np.where((a != DEAD) & (b != DEAD), a * width + b, DEAD))
        frontier = np.setdiff1d(rows[-1], known)
        known = np.union1d(known, frontier)
        found.append(frontier)
    pairs = np.concatenate(found)
    order = np.argsort(pairs)
    dead = np.full((1, *rows[0].shape[1:]), DEAD)
    table = order[np.searchsorted(pairs[order], np.concatenate([dead, *rows]))]
    states, texts = np.divmod(pairs, width)
    ends = reaching(table, product.accepting[states] & (texts == stable.inert_start))
    starts = ends[table[: len(begin) + 1, 1::2]].any(axis=(1, 2))
    opened: NDArray[np.bool_] = product.accepting.copy()
    opened[states[: len(begin) + 1]] |= starts
    return opened
