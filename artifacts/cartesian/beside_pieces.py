"""A product at run time beside the tokens of whole pre-tokens (``ignore_merges``).

The product's own rows know the boundaries, and which tokens stand for a whole pre-token; not that
no other tokens spell the text of one. So a state's members are pairs of a product state p and a
place n (``pretokenizer.whole_pieces``), and of a row all tokens are dead ends that lead to a pair
from which nothing goes on:

    (p, n) behind t is live  iff  a boundary is free at p and n is not the text of a token,
                              or  a token that continues p and may follow t leads off the trie,
                              or  to a live pair
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..pretokenizer.whole_pieces import OFF, PretokenizerBesidePieces, TokensBelow, WholePieces
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache, solve_recursive
from ..tokens.tokenset import Words
from .machine import DEAD, ProductMachine, UnitedRows

# How the budget is divided: the product's own caches, tokens below a place, rows without dead
# ends, what is live.
_PRODUCT, _BELOW, _ROWS, _LIVE = 10, 1, 4, 1


@dataclass(eq=False)
class ProductBesidePieces(ProductMachine):
    """As its base, but that a member of a state is p · places + n."""

    def __post_init__(self) -> None:
        self.caches, below, rows, live = self.caches.divide(_PRODUCT, _BELOW, _ROWS, _LIVE)
        super().__post_init__()
        self._below: BoundedCache[int, TokensBelow] = below.cache()
        self._rows: BoundedCache[tuple[int, int, int], Words]
        self._rows = rows.cache(self._empty.nbytes + ENTRY_BYTES)
        self._live: BoundedCache[tuple[int, int, int], bool] = live.cache()

    def take_over(self, full: ProductMachine) -> None:
        """Also what was found of pairs of a product state and a place, whatever the text."""
        super().take_over(full)
        assert isinstance(full, ProductBesidePieces)
        self._below, self._rows, self._live = full._below, full._rows, full._live
        self.__dict__["_from_start"] = full._from_start
        self.__dict__["_at_boundary"] = full._at_boundary

    @cached_property
    def pieces(self) -> WholePieces:
        """The trie of the tokens of whole pre-tokens."""
        assert isinstance(self.pretokenizer, PretokenizerBesidePieces)
        assert self.pretokenizer.pieces is not None
        return self.pretokenizer.pieces

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.state_of((self.first * self.pieces.places,), None)

    def starts_behind(self, states: Sequence[int]) -> set[int]:
        """The members in which a text goes on behind a prompt."""
        pairs = (divmod(state, self.pieces.places) for state in states)
        found = ((int(self.after_boundary[s]), place) for s, place in pairs)
        return {p * self.pieces.places + place for p, place in found if p != DEAD}

    def accepts(self, member: int) -> bool:
        """Whether a text may end in a member of a state."""
        p, place = divmod(member, self.pieces.places)
        return bool(self.accepting[p]) and self.pieces.may_end(place)

    def members(self, state: int) -> tuple[int, ...]:
        """The product states that the text so far may be in."""
        found = super().members(state)
        return tuple(dict.fromkeys(member // self.pieces.places for member in found))

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows."""
        number, after = divmod(state, self._width)
        octets = self.vocabulary.token(token_id) if self.vocabulary.is_text(token_id) else b""
        pieces, found = self.pieces, set[int]()
        follows = after > 0 and not self.pairs.forbids(self._token_of[after], token_id)
        is_whole = token_id in self.pretokenizer.whole
        for member in self._groups[number][0] if octets else ():
            p, place = divmod(member, pieces.places)
            if pieces.may_end(place):
                target = self._run(p, 1, octets)
                if is_whole and not self._at_boundary[target]:
                    target = DEAD
                behind = pieces.whole if is_whole else pieces.after(OFF, octets)
                found.add(target * pieces.places + behind if target else DEAD)
            if follows and not is_whole and place != pieces.whole:
                target = self._run(p, 0, octets)
                behind = pieces.after(place, octets) if place else OFF
                found.add(target * pieces.places + behind if target else DEAD)
        found.discard(DEAD)
        if not found:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return self.state_of(sorted(found), token_id)

    def _united(self, states: tuple[int, ...], accepting: bool) -> UnitedRows:
        starting, continuing = self._empty.copy(), self._empty.copy()
        for member in states:
            p, place = divmod(member, self.pieces.places)
            if self.pieces.may_end(place):
                starting |= self._live_row(p, OFF, 1)
            if place != self.pieces.whole:
                continuing |= self._live_row(p, place, 0)
        if accepting:
            starting |= tokenset.from_ids(list(self.eos), self.vocab_size)
        return UnitedRows(starting, continuing)

    def _live_row(self, p: int, place: int, plane: int) -> Words:
        """The tokens that start a pre-token at p (``plane`` 1), or continue one, without dead
        ends."""
        key = p, place, plane
        cached = self._rows.get(key)
        if cached is not None:
            return cached
        row = self._row_at(2 * p + plane)
        if plane or place != OFF:
            ids, targets, nodes = self._inside(p, place, plane, row)
            stuck = [
                not self._is_live(target, token, node)
                for token, target, node in zip(ids, targets, nodes, strict=True)
            ]
            row = row & ~tokenset.from_ids(np.array(ids, np.int32)[stuck], self.vocab_size)
        return self._rows.keep(key, row)

    def _inside(
        self, p: int, place: int, plane: int, row: Words
    ) -> tuple[list[int], list[int], list[int]]:
        """The tokens of a row that lead to nodes of the trie, the product states, the nodes; only
        where the pre-token cannot end there."""
        below = self._tokens_below(place)
        held = np.flatnonzero(_is_in(row, below.ids))
        targets = self._targets(p, plane, below, held)
        is_open = ~(self._at_boundary[targets] & ~self.pieces.is_text[below.nodes[held]])
        held, targets = held[is_open], targets[is_open]
        return below.ids[held].tolist(), targets.tolist(), below.nodes[held].tolist()

    def _targets(
        self, p: int, plane: int, below: TokensBelow, held: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        columns, lengths = self.classes[below.octets[held]], below.lengths[held]
        states = np.full(len(held), p, dtype=np.int64)
        for at in range(columns.shape[1] if len(held) else 0):
            after = self.transitions.targets(states, plane if not at else 0, columns[:, at])
            states = np.where(at < lengths, after, states)
        return states

    def _is_live(self, p: int, token: int, node: int) -> bool:
        """Whether something goes on at p and a node behind ``token``, which the pre-token cannot
        end with."""
        key = self._place(p, token, node)
        cached = self._live.get(key)
        return solve_recursive(key, self._live.get, self._going_on) if cached is None else cached

    def _place(self, p: int, token: int, node: int) -> tuple[int, int, int]:
        """What a place's result depends on: of the token only what may follow it."""
        after = int(self.pairs.row_class[token]) + 1
        self._token_of.setdefault(after, token)
        return p, after, node

    def _going_on(self, key: tuple[int, int, int]) -> Generator[tuple[int, int, int], bool, bool]:
        p, after, node = key
        row = self._row_at(2 * p) & self._allowed_after(after)
        below = self._tokens_below(node)
        held = below.ids[_is_in(row, below.ids)]
        live = bool((row & ~tokenset.from_ids(held, self.vocab_size)).any())
        if not live and len(held):
            ids, targets, nodes = self._inside(p, node, 0, row)
            live = len(ids) < len(held)
            for token, target, inside in zip(ids, targets, nodes, strict=True):
                if live:
                    break
                live = yield self._place(target, token, inside)
        return self._live.keep(key, live)

    def _row_at(self, row: int) -> Words:
        found = self.product_rows.united([row], self.vocab_size)
        if found is None:
            return self._empty
        if found.dtype == np.uint32:
            return found.view(np.uint32)
        return tokenset.from_ids(found, self.vocab_size)

    def _tokens_below(self, place: int) -> TokensBelow:
        if place == OFF:
            return self._from_start
        cached = self._below.get(place)
        if cached is None:
            found = self.pieces.below(place)
            cached = self._below.keep(place, found, found.nbytes + ENTRY_BYTES)
        return cached

    @cached_property
    def _from_start(self) -> TokensBelow:
        """The tokens that begin a text of the trie."""
        return self.pieces.below(OFF)

    @cached_property
    def _at_boundary(self) -> NDArray[np.bool_]:
        """Product states at which the text may end or a pre-token start."""
        found: NDArray[np.bool_] = self.transitions.starts_pretoken() | (self.accepting != 0)
        return found


def _is_in(row: Words, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (row[ids >> 5] >> (ids & 31).astype(np.uint32) & 1) != 0
    return found
