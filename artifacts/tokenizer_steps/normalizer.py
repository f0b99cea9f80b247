"""Any machine beside a normal-form DFA: its masks without texts that the normalizer changes.

    mask = mask of the inner machine
           without tokens that lead the normal-form DFA to its dead state
           without tokens after which no text goes on in both

What a normalization form forbids depends on the last characters alone, but in thousands of states:
a synchronous product built ahead would multiply the inner machine's states by them. So both are
followed side by side. Compilation proves of nearly all tokens that something goes on after them;
of the others a search decides.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.interning import Lock, Stepped
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.search import Trail, search_alive
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary
from .normal_form_dfa import Runs

# Pairs of states that one search may expand where tokens are undecided for any text before them.
_BUDGET = 20_000

# How the budget is divided: masks, steps, and results of searches.
_MASKS, _STEPS, _RESULTS = 6, 1, 1

# A state of the inner machine, and one of the normal-form DFA.
_Pair = tuple[int, int]


class Inner(Stepped, Protocol):
    """A machine with its masks. ``vocab_size``: tokens of a mask."""

    vocabulary: Vocabulary
    vocab_size: int

    def states_around(self, state: int) -> tuple[int, int] | None:
        """Two states, after which no more and no less may follow than after ``state``, and which
        many states have; None if there are none."""


class Undecided(Protocol):
    """What compilation has not decided of an inner machine's tokens. Sets of bytes are bits."""

    def of(self, state: int) -> Words | None:
        """The tokens that may be dead after some text in normal form, None for no tokens; the mask
        of ``state`` need not hold them all."""

    def octets_after(self, state: int, tokens: Sequence[int]) -> list[int]:
        """Of each of some tokens that the mask of ``state`` holds some bytes after which texts go
        on to the end, if these are in normal form and so is what goes on after the byte."""

    def finds(self, state: int, octets: int, is_wanted: Callable[[int], bool]) -> bool:
        """Whether such a byte of ``octets`` or a wanted token may come next; False where that takes
        a mask."""

    def distance(self, state: int) -> int:
        """At least so many bytes lead to the end of the text."""


M = TypeVar("M", bound=Inner)


class WithNormalForm(Generic[M]):
    """Both the machine and the rows of a matcher.

    A state number is that of the state of ``inner``, times the number of states of ``runs``, plus
    that of ``runs``.
    """

    def __init__(
        self,
        inner: M,
        runs: Runs,
        undecided: Undecided,
        caches: CacheBudget | None = None,
    ) -> None:
        self.inner, self.runs, self.undecided = inner, runs, undecided
        self._width = runs.states
        masks, steps, results = (caches or CacheBudget()).divide(_MASKS, _STEPS, _RESULTS)
        row_bytes = 4 * tokenset.word_count(inner.vocab_size) + ENTRY_BYTES
        self._masks: BoundedCache[int, Words] = masks.cache(row_bytes)
        self._steps: BoundedCache[tuple[int, int], int] = steps.cache()
        self._live: BoundedCache[_Pair, bool] = results.cache()
        # The first mask then finds what most masks need.
        runs.at(runs.start)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.inner.start * self._width + self.runs.start

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._masks.keep(self.start, row)

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have a machine of its own."""
        return self.inner.is_full

    @property
    def lock(self) -> Lock:
        """Held while something is added."""
        return self.inner.lock

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""
        return self.inner.vocabulary

    def reading_again(self) -> AbstractContextManager[None]:
        """Inside it a matcher reads the tokens that it has taken."""
        return self.inner.reading_again()

    def state_after(self, after: Sequence[int]) -> int:
        """The state after a prompt. Raises ``ArtifactError`` if no member can follow it."""
        state = self.behind(self.inner.state_after(after), after)
        if not self.row(state).any():
            raise ArtifactError(
                "no member of the grammar continues this prompt: its last characters compose "
                "with what each member begins with"
            )
        return state

    def behind(self, state: int, ids: Iterable[int]) -> int:
        """A state of ``inner`` after a prompt, as one of both."""
        return state * self._width + self.runs.behind(ids)

    def inner_state(self, state: int) -> int:
        """The state of ``inner``."""
        return state // self._width

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return self.inner.is_accepting(state // self._width)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if it leads nowhere (an unverified file).
        """
        target = self._steps.get((state, token_id))
        if target is None:
            # The inner machine takes the lock where it adds something.
            number, text = divmod(state, self._width)
            after = self.runs.step(text, token_id)
            target = self.inner.step(number, token_id) * self._width + after
            self._steps.keep((state, token_id), target)
        return target

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        target = self._steps.get((state, token_id))
        if target is None and tokenset.contains(self.row(state), token_id):
            target = self.step(state, token_id)
        return target

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        cached = self._masks.get(state)
        if cached is None:
            with self.inner.lock:
                # Another thread may have found it.
                cached = self._masks.get(state)
                if cached is None:
                    cached = self._masks.keep(state, self._mask(*divmod(state, self._width)))
        return cached

    def _mask(self, number: int, text: int) -> Words:
        around = self.inner.states_around(number)
        if around is not None:
            less, more = (self.row(state * self._width + text) for state in around)
            if np.array_equal(less, more):
                return less
        mask, watched = self._parts(number, text)
        octets = self.undecided.octets_after(number, [token for token, _ in watched])
        settled = self.runs.settled([after for _, after in watched])
        dead = [
            token
            for (token, after), some, others in zip(watched, octets, settled, strict=True)
            if not (some & others or self._is_live((self.inner.step(number, token), after)))
        ]
        if dead:
            mask &= ~tokenset.from_ids(dead, self.inner.vocab_size)
        mask.flags.writeable = False
        return mask

    def _parts(self, number: int, text: int) -> tuple[Words, list[tuple[int, int]]]:
        """The tokens that both automata read, and those of them after which an end must be looked
        for, with the states of ``runs`` that they lead to."""
        row = self.inner.row(number)
        row = row.copy()
        watched = self.runs.at(text).restrict(row)
        undecided = self.undecided.of(number)
        if undecided is not None:
            seen = {token for token, _ in watched}
            for token in tokenset.to_ids(undecided & row).tolist():
                if token not in seen and self.inner.vocabulary.is_text(token):
                    watched.append((token, self.runs.step(text, token)))
        return row, watched

    def _is_live(self, begin: _Pair) -> bool:
        """Whether some text leads from a pair to the end. Raises ``ArtifactError`` where that takes
        too much."""
        cached = self._live.get(begin)
        if cached is not None:
            return cached
        around = self.inner.states_around(begin[0])
        if around is not None and self._is_live((around[0], begin[1])):
            return self._live.keep(begin, True)
        trail = Trail[_Pair]()
        trail.add(begin, begin)

        def expand(pair: _Pair) -> list[tuple[int, _Pair]] | None:
            if self._live.get(pair) is False:
                return []
            watched = self._watched(pair)
            if watched is None:
                trail.mark_live(pair, self._live)
                return None
            found = ((self.inner.step(pair[0], token), text) for token, text in watched)
            new = [after for after in found if trail.add(after, pair)]
            return [(self._estimate(after), after) for after in new]

        found = search_alive(begin, expand, self._is_spent)
        if found is None:
            raise ArtifactError(
                f"what may come next was not decided within {_BUDGET:,} steps, beside texts that "
                f"the tokenizer does not change; compile with --tokenization any"
            )
        if not found:
            trail.mark_dead(self._live)
        return found

    def _watched(self, pair: _Pair) -> list[tuple[int, int]] | None:
        """The tokens after which an end must be looked for, and where they lead; None if others
        are there, or the pair is live by a cached result."""
        number, text = pair
        if self._live.get(pair):
            return None
        (octets,) = self.runs.settled([text])
        if self.undecided.finds(number, octets, partial(self._settles, text)):
            return None
        row, watched = self._parts(number, text)
        # EOS is a token of the row, too.
        if watched:
            row = row & ~tokenset.from_ids([token for token, _ in watched], self.inner.vocab_size)
        return None if row.any() else watched

    def _settles(self, text: int, token_id: int) -> bool:
        return self.runs.is_settled(self.runs.step(text, token_id))

    def _estimate(self, pair: _Pair) -> int:
        """The nearest end of the text first. A character that has begun ends soon."""
        return 0 if self.runs.is_inside(pair[1]) else self.undecided.distance(pair[0])

    def _is_spent(self, expanded: int, _found: int) -> bool:
        return expanded >= _BUDGET
