"""CartesianMerge at run time (Tran-Thien 2024, Algorithm 6): a product DFA's states, met lazily.

A state is a set of product states that the text so far may be in (whether the pre-tokenizer has a
boundary here may depend on what follows) and the class of the last token. The mask is

    tokens that start a pre-token  |  tokens that continue one & allowed after the last token

and all of them lead to relevant product states: Algorithm 5 took the others out. With ``[a-z]+ ``
on GPT-2, behind ``in`` the token ``t`` is not allowed, since the merges make ``int`` of both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..errors import ArtifactError
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens import tokenset
from ..tokens.block_rows import BlockRows
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary
from .transitions import Transitions

DEAD = 0

# How the budget is divided: masks, sets of tokens that may follow others, the tokens of sets of
# product states, steps, and these sets themselves, which are interned.
_MASKS, _ALLOWED, _UNIONS, _STEPS, _INTERNED = 7, 2, 5, 1, 1

# A member of an interned set: an integer, and its place in the tuple.
_MEMBER_BYTES = 40

# Tokens that are tried one by one before a mask is computed.
_TRIED = 6


@dataclass(frozen=True, eq=False)
class ProductRows:
    """The tokens of each product state, by how they begin.

    ``row_of``: int32 (2N,), for state p at 2p the tokens that continue a pre-token, at 2p + 1
    those that start one: -1 for none, below R one of ``rows``, from R on one
    of the lists ``ids[offsets[i]:offsets[i + 1]]`` (int32, ascending).
    """

    row_of: NDArray[np.int32]
    rows: BlockRows
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def united(self, rows: Sequence[int], vocab_size: int) -> "Words | NDArray[np.int32] | None":
        """The union of some rows: packed, or ids if all are lists, None if it is empty."""
        numbers = sorted({int(self.row_of[row]) for row in rows} - {-1})
        dense = [n for n in numbers if n < len(self.rows)]
        lists = [self._list(n - len(self.rows)) for n in numbers[len(dense) :]]
        if not dense:
            if len(lists) < 2:
                return lists[0] if lists else None
            return np.unique(np.concatenate(lists))
        packed: Words = np.bitwise_or.reduce(self.rows.rows(dense, vocab_size), axis=0)
        if lists:
            packed = packed | tokenset.from_ids(np.concatenate(lists), vocab_size)
        return packed

    def _list(self, number: int) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.ids[int(self.offsets[number]) : self.offsets[number + 1]]
        return found


@dataclass(slots=True, eq=False)
class UnitedRows:
    """The tokens of a set of product states: ``continuing`` as ``ProductRows.united`` gives
    them."""

    starting: Words
    continuing: "Words | NDArray[np.int32] | None"

    @property
    def nbytes(self) -> int:
        return self.starting.nbytes + (0 if self.continuing is None else self.continuing.nbytes)


@dataclass(eq=False)
class ProductMachine(InterningMachine):
    """Both the machine and the rows of a matcher. Masks that were found before, and groups, are
    read without the lock.

    ``transitions``, ``classes``: uint8 (256,), of the product's states. ``accepting``: uint8 (N,).
    ``first``: the product state before any text. ``pretokenizer``: followed through a prompt.
    ``after_boundary``: int32, for each state of that the product state in which a member begins
    behind it, 0 for none.

    A state number is group * (classes + 1) + class + 1: a group is a set of product states, the
    class is that of the last token, -1 before any.
    """

    transitions: Transitions
    classes: NDArray[np.uint8]
    accepting: NDArray[np.uint8]
    first: int
    product_rows: ProductRows
    pairs: ForbiddenPairs
    pretokenizer: PretokenizerDfa
    after_boundary: NDArray[np.int32]
    vocabulary: Vocabulary
    eos: Sequence[int]
    vocab_size: int
    caches: CacheBudget = field(default_factory=CacheBudget)
    artifact_lock: Lock | None = None
    # Sets of product states by number, and whether a member may end in one of them.
    _groups: list[tuple[tuple[int, ...], bool]] = field(default_factory=list, init=False)
    _number: dict[tuple[int, ...], int] = field(default_factory=dict, init=False)
    # A token of each class, plus 1, that was last.
    _token_of: dict[int, int] = field(default_factory=dict, init=False)

    # About the bytes of the sets.
    _held: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._width = self.pairs.classes + 1
        words = tokenset.word_count(self.vocab_size)
        budgets = self.caches.divide(_MASKS, _ALLOWED, _UNIONS, _STEPS, _INTERNED)
        masks, allowed, unions, steps, interned = budgets
        self.begin_interning(interned, self.artifact_lock)
        row_bytes = 4 * words + ENTRY_BYTES
        self._masks: BoundedCache[int, Words] = masks.cache(row_bytes)
        self._allowed: BoundedCache[int, Words] = allowed.cache(row_bytes)
        self._unions: BoundedCache[int, UnitedRows] = unions.cache()
        self._steps: BoundedCache[tuple[int, int], int] = steps.cache()
        self._flags = np.zeros(words * 32, dtype=np.bool_)
        self._empty = np.zeros(words, dtype=np.uint32)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.state_of((self.first,), None)

    @property
    def interned_bytes(self) -> int:
        """About the size of the sets of product states."""
        return self._held + ENTRY_BYTES * len(self._token_of)

    def take_over(self, full: "ProductMachine") -> None:
        """Begin with what the machine before, which is full, found for any text."""
        self._allowed, self._token_of = full._allowed, full._token_of
        # What is handed on does not count.
        self._most_interned += self.interned_bytes

    def state_after(self, after: Sequence[int]) -> int:
        """The state behind a prompt: by the boundaries that it may have there, and its last token.

        Raises ``ArtifactError`` if no member can follow it.
        """
        states, last = self.pretokenizer.after(after, self.vocabulary, self.pairs)
        if last is None:
            return self.start
        found = self.state_of(sorted(self.starts_behind(states)), last)
        if not self.row(found).any():
            raise ArtifactError(
                f"no member of the grammar continues token {last}: the tokenizer would join "
                f"each first token to it"
            )
        return found

    def starts_behind(self, states: Sequence[int]) -> set[int]:
        """The product states in which a text goes on behind a prompt, by the pre-tokenizer's."""
        return {int(self.after_boundary[state]) for state in states} - {DEAD}

    def accepts(self, member: int) -> bool:
        """Whether a text may end in a member of a state."""
        return bool(self.accepting[member])

    def state_of(self, states: Sequence[int], last: int | None) -> int:
        """The number of a set of product states after the token ``last``."""
        key, after = tuple(states), 0
        if last is not None:
            # Any token of the class will do.
            after = int(self.pairs.row_class[last]) + 1
            self._token_of[after] = last
        number = self._number.get(key)
        if number is None:
            with self.lock:
                number = self._number.get(key)
                if number is None:
                    number = len(self._groups)
                    self._groups.append((key, any(map(self.accepts, key))))
                    self._held += 2 * ENTRY_BYTES + _MEMBER_BYTES * len(key)
                    # subtle: it is found without the lock, so what it is the number of comes first.
                    self._number[key] = number
                    self.look()
        return number * self._width + after

    def members(self, state: int) -> tuple[int, ...]:
        """The product states that the text so far may be in."""
        return self._groups[state // self._width][0]

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return self._groups[state // self._width][1]

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        cached = self._masks.get(state)
        if cached is None:
            with self.lock:
                # Another thread may have found it.
                cached = self._masks.get(state)
                if cached is None:
                    cached = self._mask(state)
                    cached.flags.writeable = False
                    self._masks.keep(state, cached)
        return cached

    def states_around(self, state: int) -> None:
        """None: rows are precomputed for each state."""

    def finds(self, state: int, is_wanted: Callable[[int], bool]) -> bool:
        """Whether the mask at a state holds a wanted token: a quick look that may miss some.

        Only where few tokens continue a pre-token, and at the first of them.
        """
        number, after = divmod(state, self._width)
        continuing = self._union(number).continuing
        if not after or continuing is None or continuing.dtype != np.int32:
            return False
        last = self._token_of[after]
        return any(
            is_wanted(token) and not self.pairs.forbids(last, token)
            for token in continuing[:_TRIED].tolist()
        )

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if a mask allowed what leads nowhere (an unverified file).
        """
        number, after = divmod(state, self._width)
        octets = self.vocabulary.token(token_id) if self.vocabulary.is_text(token_id) else b""
        found = set()
        if octets:
            fallback, whole = self.pretokenizer.fallback, self.pretokenizer.whole
            bytewise = len(octets) == 1 and int(fallback[octets[0]]) == token_id
            plane = 2 if bytewise or token_id in whole else 0
            follows = after > 0 and not self.pairs.forbids(self._token_of[after], token_id)
            for p in self._groups[number][0]:
                found.add(self._run(p, plane + 1, octets))
                if follows:
                    found.add(self._run(p, plane, octets))
        found.discard(DEAD)
        if not found:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return self.state_of(sorted(found), token_id)

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        target = self._steps.get((state, token_id))
        if target is None and tokenset.contains(self.row(state), token_id):
            target = self._steps.keep((state, token_id), self.step(state, token_id))
        return target

    def _run(self, state: int, plane: int, octets: bytes) -> int:
        columns = self._columns
        return self.transitions.run(state, plane, [columns[octet] for octet in octets])

    def _union(self, number: int) -> UnitedRows:
        """The tokens of a set of product states, with EOS where a member may end."""
        cached = self._unions.get(number)
        if cached is None:
            cached = self._united(*self._groups[number])
            self._unions.keep(number, cached, cached.nbytes + ENTRY_BYTES)
        return cached

    def _united(self, states: tuple[int, ...], accepting: bool) -> UnitedRows:
        rows = self.product_rows
        starting = rows.united([2 * p + 1 for p in states], self.vocab_size)
        continuing = rows.united([2 * p for p in states], self.vocab_size)
        if starting is None:
            packed = self._empty
        elif starting.dtype == np.uint32:
            packed = starting.view(np.uint32)
        else:
            packed = tokenset.from_ids(starting, self.vocab_size)
        if accepting:
            packed = packed | tokenset.from_ids(list(self.eos), self.vocab_size)
        return UnitedRows(packed, continuing)

    def _mask(self, state: int) -> Words:
        number, after = divmod(state, self._width)
        union = self._union(number)
        if union.continuing is None or not after:
            return union.starting.copy()
        continuing, allowed = union.continuing, self._allowed_after(after)
        if continuing.dtype == np.uint32:
            return allowed & continuing.view(np.uint32) | union.starting
        ids = continuing[(allowed[continuing >> 5] >> (continuing & 31).view(np.uint32) & 1) != 0]
        self._flags[ids] = True
        mask = tokenset.from_flags(self._flags)
        self._flags[ids] = False
        mask |= union.starting
        return mask

    def _allowed_after(self, after: int) -> Words:
        """The tokens that may follow those of a class; bits past the vocabulary are set."""
        cached = self._allowed.get(after)
        if cached is None:
            self._flags[self.pairs.ids(self._token_of[after])] = True
            cached = ~tokenset.from_flags(self._flags)
            self._flags.fill(False)
            self._allowed.keep(after, cached)
        return cached

    @cached_property
    def _columns(self) -> list[int]:
        return [int(c) for c in self.classes]
