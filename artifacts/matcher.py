"""The matcher: follows one text token by token and says what may come next.

It steps one object, the machine of the artifact's kind. Every machine has the protocol
``Machine``; what differs from kind to kind is inside of it.

    matcher.mask()      machine.row(state)
    matcher.advance(t)  state = machine.take(state, t)

A machine that interns is replaced when it is full (``tokens/interning.py``): its *generation* ends.
Then each matcher begins again on the next machine and reads the tokens that it has taken.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from operator import index
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .errors import ArtifactError, TokenRefusedError
from .tokens import tokenset
from .tokens.arguments import no_id, shared
from .tokens.bitmask import bitmask_of, put
from .tokens.stop_ids import StopRows
from .tokens.tokenset import Words
from .tokens.vocabulary import Vocabulary

_FINISHED = -1

# So many tokens without bytes may be forced before bytes are: in a damaged file there is no end.
_MOST_WITHOUT_BYTES = 1 << 12


class Machine(Protocol):
    """An automaton over whole tokens. States are integers from 0; those that ``start`` and
    ``take`` have given are valid as long as the machine lives.

    ``row`` and ``take`` agree: where ``row(state)`` holds a token, ``take(state, token_id)`` is a
    state, and else None. A token of EOS is in the row of every accepting state, where the matcher
    ends the text by it and does not ask the machine; elsewhere it is a token like others.
    A machine tests the bit of its row, or reads the token where that takes less time.
    Both raise ``ArtifactError`` where they meet damage that no check of the file could find.
    Threads may share a machine. ``is_full``: it has interned as much as it may, so that matchers
    should go on to the next one.
    """

    @property
    def is_full(self) -> bool:
        """Never, where nothing is interned."""

    @property
    def start(self) -> int:
        """The state before any token."""

    def row(self, state: int) -> Words:
        """The tokens that may come next: uint32 (ceil(V / 32),), read-only."""

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token, which may be any integer; None if it may not come next."""

    def is_accepting(self, state: int) -> bool:
        """Whether the text may end here."""


class Interning(Machine, Protocol):
    """A machine that may be full."""

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the row of ``state`` holds; no row is computed."""

    def reading_again(self) -> AbstractContextManager[None]:
        """Inside it a matcher reads the tokens that it has taken."""


class Generation:
    """The time of one machine. ``machine``: None when it has ended, so that matchers that stand
    still hold nothing of it."""

    __slots__ = ("__weakref__", "machine")

    def __init__(self, machine: Machine) -> None:
        self.machine: Machine | None = machine


class Begun(NamedTuple):
    """Where a text begins: ``state`` of ``machine``, which ``generation`` holds until it ends."""

    generation: Generation
    machine: Machine
    state: int


class Source(Protocol):
    """What a matcher is of."""

    @property
    def is_canonical(self) -> bool:
        """Whether a text has the tokenizer's own tokens alone."""

    @property
    def spells_bytes(self) -> bool:
        """Whether tokens spell their own bytes."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""

    def matcher(
        self, after: Sequence[int] | None = None, stop_ids: Sequence[int] | None = None
    ) -> "Matcher":
        """A matcher of the same."""


class Matcher:
    """Follows one text. Made by ``Artifact.matcher``. Matchers of one artifact may each be used by
    another thread; one matcher is used by one thread at a time.
    It holds a state and a token for each token taken, and nothing else that grows.

    ``begin``: where the text begins, on the machine of now. ``vocab_size``: V. ``eos``: the ids
    that end a text, which ``stop_ids`` take the place of. ``source``: what it is of, and the
    ``prompt`` that the text follows.
    """

    __slots__ = (
        "_apart",
        "_begin",
        "_eos",
        "_eos_row",
        "_generation",
        "_prompt",
        "_source",
        "_states",
        "_stops",
        "_tokens",
        "_vocab_size",
    )

    def __init__(
        self,
        begin: Callable[[], Begun],
        eos: Sequence[int],
        vocab_size: int,
        stop_ids: Sequence[int] | None = None,
        source: Source | None = None,
        prompt: Sequence[int] | None = None,
    ) -> None:
        self._begin, self._source, self._prompt = begin, source, prompt
        own = stop_ids is not None and set(stop_ids) != set(eos)
        self._stops = StopRows(stop_ids or (), eos, vocab_size) if own else None
        self._eos = frozenset(stop_ids if own and stop_ids is not None else eos)
        self._apart = self._eos.union(eos)  # What is more than a step of the machine.
        self._vocab_size = vocab_size
        self._eos_row = tokenset.fixed(tuple(sorted(self._eos)), vocab_size)
        self._generation, _, start = begin()
        self._states = [start]
        self._tokens: list[int] = []

    def _repr_html_(self) -> str:
        from .tokens.as_html import mask_table

        vocabulary = self._source.vocabulary if self._source else None
        return mask_table(self.mask(), self._tokens, vocabulary)

    def mask(self) -> Words:
        """The allowed tokens: read-only uint32 (ceil(V / 32),), bit i % 32 of word i // 32.

        The EOS bits are set where the match may end; after EOS they alone are. The array
        never changes once it has been returned.
        """
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        state = self._states[-1]
        if state == _FINISHED:
            return self._eos_row
        row = machine.row(state)
        return row if self._stops is None else self._stops.row(row, machine.is_accepting(state))

    def fill(self, row: NDArray[Any]) -> None:
        """Copy the mask into ``row``, int32 or uint32 (n,) of NumPy or PyTorch with n at least
        ceil(V / 32). A longer row's tail is cleared. Raises ``ValueError`` on another
        shape or dtype, and ``TypeError`` for what is neither.
        """
        mask = self.mask()
        row = shared(row, "fill")
        if row.dtype is mask.dtype and row.shape == mask.shape:
            row[...] = mask
            return
        if row.ndim != 1:
            raise ValueError(
                f"fill needs one row of at least {len(mask)} words, not an array {row.shape}"
            )
        put(bitmask_of(row[np.newaxis], len(mask), 1)[0], mask)

    def fill_window(self, rows: NDArray[Any], drafts: Sequence[int]) -> int:
        """Fill one row for the mask of now and one after each drafted token, as far as these are
        allowed, and say how many are. Rows after stay as they are, and the matcher does not move.

        ``rows``: int32 or uint32 (k + 1 or more, n), n at least ceil(V / 32), for k drafts. Raises
        ``ValueError`` on another shape or dtype.
        """
        words = bitmask_of(rows, len(self._eos_row), len(drafts) + 1)
        base = len(self._tokens)
        try:
            put(words[0], self.mask())
            for place, token_id in enumerate(drafts, start=1):
                if not self.accept([token_id]):
                    break
                put(words[place], self.mask())
            return len(self._tokens) - base
        finally:
            self.rollback(len(self._tokens) - base)

    def fill_tree(
        self,
        first_child: Sequence[int],
        next_sibling: Sequence[int],
        drafts: Sequence[int],
        rows: NDArray[Any],
    ) -> int:
        """Fill the rows of a tree of drafted tokens, and say how many were filled.

        Node 0 is the place of now; the token of node i is ``drafts[i]``, its first child and its
        next sibling are nodes or -1. A node that its parent's row does not hold keeps its row, and
        so do those below it. ``rows``: one of each node, as for ``fill_window``. Raises
        ``ValueError`` on another shape or dtype, and on what is no tree; the matcher does not move.
        """
        count = len(drafts)
        if not count == len(first_child) == len(next_sibling):
            raise ValueError("each node needs a first child, a next sibling and a token")
        words = bitmask_of(rows, len(self._eos_row), count)
        base, filled, seen = len(self._tokens), 0, 0
        pending = [(0, 0)] if count else []
        try:
            while pending:
                node, depth = pending.pop()
                seen += 1
                if not 0 <= node < count or seen > count:
                    raise ValueError("the drafted tokens are no tree")
                if depth and next_sibling[node] != -1:
                    pending.append((int(next_sibling[node]), depth))
                self.rollback(len(self._tokens) - base - max(depth - 1, 0))
                if depth and not self.accept([int(drafts[node])]):
                    continue
                put(words[node], self.mask())
                filled += 1
                if first_child[node] != -1:
                    pending.append((int(first_child[node]), depth + 1))
            return filled
        finally:
            self.rollback(len(self._tokens) - base)

    def apply(self, logits: NDArray[Any]) -> None:
        """Set the logits of disallowed tokens to -inf, in place.

        ``logits``: floating, of NumPy or PyTorch, last axis at least V; entries past the
        vocabulary are disallowed too. Raises ``ValueError`` on another shape or dtype.
        """
        logits = shared(logits, "apply")
        if logits.ndim < 1 or logits.dtype.kind != "f" or logits.shape[-1] < self._vocab_size:
            raise ValueError(
                f"apply needs floating logits with at least {self._vocab_size} entries in the "
                f"last axis, not {logits.dtype} {logits.shape}"
            )
        allowed = tokenset.to_flags(self.mask())[: self._vocab_size]
        inside = logits[..., : self._vocab_size]
        np.copyto(inside, -np.inf, where=~allowed)
        logits[..., self._vocab_size :] = -np.inf

    def advance(self, token_id: int) -> None:
        """Take a token. One that the mask does not allow raises ``TokenRefusedError``, what is no
        id ``TypeError``; both change nothing.

        EOS ends the match where it may end; elsewhere it is what the grammar has there, a text
        or a token that it names.
        """
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        try:
            token_id = index(token_id)
        except TypeError:
            raise no_id(token_id) from None
        target = self._after(machine, self._states[-1], token_id)
        if target is None:
            raise TokenRefusedError(token_id, self._reason(token_id))
        self._states.append(target)
        self._tokens.append(token_id)
        if machine.is_full:
            self._moved()

    def accept(self, token_ids: Sequence[int]) -> int:
        """Take tokens until one is refused or the text has ended, and say how many were taken.

        Ids that no token has are refused, too; after the end nothing more is taken.
        """
        taken = 0
        for token_id in token_ids:
            machine = self._generation.machine
            if machine is None:
                machine = self._moved()
            state = self._states[-1]
            target = None if state == _FINISHED else self._after(machine, state, token_id)
            if target is None:
                break
            self._states.append(target)
            self._tokens.append(int(token_id))
            taken += 1
            if machine.is_full:
                self._moved()
        return taken

    def validate(self, token_ids: Sequence[int]) -> int:
        """How many tokens ``accept`` would take. The matcher does not move."""
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        state, taken = self._states[-1], 0
        ends, size, take = self._apart, self._vocab_size, machine.take
        for token_id in token_ids:
            if state == _FINISHED:
                break
            if token_id in ends or not 0 <= token_id < size:
                target = self._after(machine, state, token_id)
            else:
                target = take(state, token_id)
            if target is None:
                break
            state = target
            taken += 1
        if machine.is_full:
            self._moved()
        return taken

    def seek(self, token_ids: Sequence[int]) -> int:
        """Go to where ``token_ids`` lead from the start: take back what differs from them and
        accept the rest, as far as it is allowed. Gives the new position, at most their number.

        Costs what differs, beside one comparison of the tokens taken.
        """
        known = self._tokens
        common = min(len(known), len(token_ids))
        if known[:common] != list(token_ids[:common]):
            pairs = zip(known, token_ids, strict=False)
            common = next(i for i, (old, new) in enumerate(pairs) if old != new)
        self.rollback(len(known) - common)
        self.accept(token_ids[common:])
        return len(self._tokens)

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens. Raises ``ValueError`` if there are fewer."""
        if not 0 <= count < len(self._states):
            raise ValueError(f"cannot take back {count} tokens: {len(self._states) - 1} were taken")
        del self._states[len(self._states) - count :]
        del self._tokens[len(self._tokens) - count :]

    def reset(self) -> None:
        """Take back all tokens."""
        self.rollback(len(self._tokens))

    def fork(self) -> "Matcher":
        """Another matcher in the same place, which moves by itself. Costs a copy of the tokens
        taken, two numbers each."""
        other = object.__new__(type(self))
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other._states, other._tokens = self._states[:], self._tokens[:]
        return other

    __copy__ = fork

    def __deepcopy__(self, _: object) -> "Matcher":
        return self.fork()

    def __reduce__(self) -> tuple[Any, ...]:
        # For pools of processes: the artifact and the tokens, and no states.
        if self._source is None:
            raise TypeError("only the matchers of an artifact can be pickled")
        stop_ids = None if self._stops is None else tuple(sorted(self._stops.stop_ids))
        return _again, (self._source, self._prompt, stop_ids, tuple(self._tokens))

    @property
    def position(self) -> int:
        """The number of tokens taken, EOS included."""
        return len(self._tokens)

    @property
    def taken(self) -> tuple[int, ...]:
        """The tokens taken, EOS included."""
        return tuple(self._tokens)

    @property
    def is_accepting(self) -> bool:
        """Whether the match may end here."""
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        return self.is_finished or machine.is_accepting(self._states[-1])

    @property
    def is_finished(self) -> bool:
        """Whether EOS was taken."""
        return self._states[-1] == _FINISHED

    def forced_tokens(self, limit: int = 1024) -> list[int]:
        """The tokens that must come next, while each mask holds a single one.

        At most ``limit`` of them; EOS that ends the match is not among them. The matcher does
        not move.
        """
        forced: list[int] = []
        try:
            while len(forced) < limit:
                token_id = tokenset.only_id(self.mask())
                if token_id is None or self.is_accepting:
                    break
                self.advance(token_id)
                forced.append(token_id)
        finally:
            self.rollback(len(forced))
        return forced

    def forced_bytes(self, limit: int = 1024) -> bytes:
        """Bytes that the text must go on with, at most ``limit``; the matcher does not move.

        What all allowed tokens begin with, and so on after a token that is just that: where any
        tokens may spell a text, or where it is the only one. Under ``any``, on a tokenizer with a
        token for each byte, there are no more of them; else there may be. WordPiece does not spell
        bytes: none are given.
        """
        if self._source is None:
            raise TypeError("only the matchers of an artifact know the bytes of tokens")
        source, found, moved = self._source, bytearray(), 0
        vocabulary = source.vocabulary
        try:
            while source.spells_bytes and len(found) < limit and not self.is_accepting:
                if moved - len(found) > _MOST_WITHOUT_BYTES:
                    break
                mask = self.mask()
                first, last = tokenset.ends_of(mask)
                if first > last or vocabulary.begin_apart(first, last):
                    break
                allowed = tokenset.to_ids(mask)
                common = vocabulary.common_prefix(allowed)
                found += common
                if source.is_canonical and len(allowed) != 1:
                    break
                own = allowed[vocabulary.lengths[allowed] == len(common)]
                if not (common or len(allowed) == 1) or not self.accept(own[:1].tolist()):
                    break
                moved += 1
        finally:
            self.rollback(moved)
        return bytes(found[:limit])

    def _after(self, machine: Machine, state: int, token_id: int) -> int | None:
        """The state after a token, None if it may not come next."""
        if token_id in self._eos:
            if state == _FINISHED or machine.is_accepting(state):
                return _FINISHED
            if self._stops is not None:
                return None
        elif state == _FINISHED:
            return None
        elif not 0 <= token_id < self._vocab_size:
            if tokenset.contains(machine.row(state), token_id):
                raise ArtifactError(f"the artifact is damaged: it allows token {token_id}")
            return None
        elif self._stops is not None and self._stops.hides(token_id, machine.is_accepting(state)):
            return None
        return machine.take(state, token_id)

    def _moved(self) -> Machine:
        """The machine of now, on which the tokens have been read again."""
        generation, machine, state = self._begin()
        states = [state]
        # No other machine is ever full.
        interning = cast(Interning, machine)
        with interning.reading_again():
            for token_id, before in zip(self._tokens, self._states[1:], strict=True):
                state = _FINISHED if before == _FINISHED else interning.step(state, token_id)
                states.append(state)
        self._generation, self._states = generation, states
        return machine

    def _reason(self, token_id: int) -> str:
        said = f"the mask does not allow it as token {len(self._tokens) + 1} of the text"
        if not 0 <= token_id < self._vocab_size:
            said = f"no token has this id; ids are 0 to {self._vocab_size - 1}"
        return "the match has ended" if self.is_finished else said


def _again(
    source: Source, after: Sequence[int] | None, stop_ids: Sequence[int] | None, ids: Sequence[int]
) -> Matcher:
    """A matcher that has taken ``token_ids``."""
    matcher = source.matcher(after, stop_ids)
    matcher.accept(ids)
    return matcher
