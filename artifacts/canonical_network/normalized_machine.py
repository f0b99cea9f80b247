"""Tokens of a network's canonical masks of which it is not known that stable texts follow.

Which characters a text may go on with depends on the last ones before
(``normalizer.normal_form_dfa``). But
*inert* characters are stable behind any text. So beside the cuts there are the *inert cuts*: the
same, where all that follows a token, behind the end of the character that it may end in, is
inert. A token that leads to an end by these does so whatever went before:

    alive by the inert cuts  =>  alive beside the stable texts  =>  alive by the cuts

and the tokens between the first and the last of these are *in doubt*. Most grammars have none.

Canonical masks of a network beside stable texts.

A state is one of the network's masks and one of the automaton of stable texts
(``normalizer.normal_form_dfa``). The mask is

    mask of the network, without tokens that lead the other automaton to its dead state,
    without tokens behind which no way is left to go on

The latter can only be tokens in doubt (``doubts``), and those that end inside a character of
which the stable texts forbid some ends: for these a way is searched.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..container.requirements import Arrays
from ..errors import ArtifactError
from ..network.tables import NetworkTables
from ..normalizer.normal_form_dfa import BoundaryTokens, NormalFormDfa
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens import tokenset
from ..tokens.interned_rows import InternedRows
from ..tokens.memo import BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary
from .machine import CanonicalNetwork
from .masks import CanonicalMasks, LazyRows, Thread

# Bytes of numbered rows that are kept, and of rows of doubts.
_KEPT_BYTES = 1 << 25


def inert_cuts(
    cuts: PretokenizerDfa, final: NDArray[np.bool_], arrays: Arrays
) -> tuple[PretokenizerDfa, NDArray[np.bool_]]:
    """The inert cuts, of the sections of an artifact: the cuts with other rows for some states,
    and more states behind theirs. ``final``: bool (Q,), the states that a text may end in."""
    states, rows = arrays["inert.states"], arrays["inert.rows"]
    size = max(len(cuts.table), int(states.max(initial=0)) + 1)
    table = np.zeros((size, *cuts.table.shape[1:]), dtype=np.int32)
    table[: len(cuts.table)] = cuts.table
    table[states] = rows
    return replace(cuts, table=table), np.append(final, np.zeros(size - len(final), np.bool_))


class UndecidedTokens:
    """``masks``: of the cuts. ``cuts`` and ``final``: the inert ones, and those of their states
    that a text may end in. ``ahead``: the tokens in doubt in some row that was worked out
    ahead of time."""

    def __init__(
        self,
        masks: CanonicalMasks,
        cuts: PretokenizerDfa,
        final: NDArray[np.bool_],
        ahead: NDArray[np.int32],
    ) -> None:
        self._masks, self._cuts, self.final = masks, cuts, final
        size = masks.vocabulary.size
        self._ahead = tokenset.from_ids(ahead, size) if len(ahead) else None
        self._rows = InternedRows(size, _KEPT_BYTES)
        self._known: BoundedCache[tuple[Thread, ...], Words] = BoundedCache(_KEPT_BYTES)

    @cached_property
    def threads(self) -> LazyRows:
        """The tokens that are alive by the inert cuts."""
        masks = self._masks
        return LazyRows(
            masks.network,
            self._cuts,
            self.final,
            masks.pairs,
            masks.vocabulary,
            self._rows,
            masks.continued,
            masks.threads,
        )

    def of(self, state: int) -> Words | None:
        """The tokens in doubt, and maybe others that the mask of ``state`` does not hold; None
        for no tokens. The mask has been made."""
        threads = self._masks.on_demand(state)
        if not threads:
            return self._ahead
        found = self._known.get(threads)
        if found is None:
            found = self._found(threads)
            self._known.keep(threads, found, found.nbytes)
        return found

    def _found(self, threads: Sequence[Thread]) -> Words:
        words = tokenset.from_ids([], self._masks.vocabulary.size)
        if self._ahead is not None:
            words |= self._ahead
        for thread in threads:
            words |= self._of_thread(*thread)
        return words

    def _of_thread(self, state: int, cut: int, node: int, plane: int) -> Words:
        read = self._masks.rows[self._masks.threads.row(state, cut, node, plane)]
        if self._rows.is_full:
            self._rows.clear()
            self.threads.forget()
        try:
            sure = self._rows[self.threads.row(state, cut, node, plane)]
        except ArtifactError:
            # Too much to search: none of them is known to be sure.
            return read
        return read & ~sure


# States that one search may meet.
_BUDGET = 20_000

# Remembered answers, and steps; when there are more, they are worked out anew.
_KEPT = 1 << 20

# A state of the network's masks, and one of the stable texts.
_Pair = tuple[int, int]


def canonical_machine(
    tables: NetworkTables,
    arrays: Arrays,
    eos: Sequence[int],
    vocabulary: Vocabulary,
    caches: CacheBudget | None = None,
) -> "CanonicalNetwork | NormalizedNetwork":
    """The canonical machine of a network: beside stable texts, where it has such sections."""
    inner = CanonicalNetwork(tables, arrays, eos, vocabulary, caches)
    if "stable.table" not in arrays:
        return inner
    table, classes, tokens, unsure = (
        arrays[f"stable.{name}"] for name in ("table", "classes", "tokens", "unsure")
    )
    texts = NormalFormDfa(table, classes, int(arrays["stable.start"][0]), tokens, unsure)
    doubtful = arrays.get("closed.doubtful", tokens[:0])
    doubts = UndecidedTokens(inner, *inert_cuts(inner.cuts, inner.final, arrays), doubtful)
    return NormalizedNetwork(inner, texts, doubts)


class _Parts(NamedTuple):
    """``row``: the tokens that both automata read. ``suspects``: those of them behind which a
    way must be searched, and the states of the texts that they lead to."""

    row: Words
    suspects: list[tuple[int, int]]


class NormalizedNetwork:
    """Both the machine and the rows of a matcher.

    A state number is that of the state of ``inner``, times S, plus that of ``texts``.
    """

    def __init__(
        self, inner: CanonicalNetwork, texts: NormalFormDfa, doubts: UndecidedTokens
    ) -> None:
        self.inner, self.texts, self.doubts = inner, texts, doubts
        self._width, self._vocab_size = len(texts.table), inner.vocabulary.size
        self._tokens = BoundaryTokens(texts, inner.vocabulary, self._vocab_size)
        self._masks: dict[int, Words] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._alive: BoundedCache[_Pair, bool] = BoundedCache(_KEPT)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.inner.start * self._width + self.texts.start

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have its own."""
        return self.inner.is_full

    def state_after(self, after: Sequence[int]) -> int:
        """Where a member begins behind a prompt. Raises ``ArtifactError`` if none can."""
        inner = self.inner.state_after(after)
        state = inner * self._width + self.texts.behind(after, self.inner.vocabulary)
        if not self.row(state).any():
            raise ArtifactError(
                "no member of the grammar continues this prompt: its last characters compose "
                "with what each member begins with"
            )
        return state

    def configuration_of(self, state: int) -> int:
        """The configuration of the network at a state."""
        return self.inner.configuration_of(state // self._width)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member as the tokenizer would."""
        return self.inner.is_accepting(state // self._width)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if it leads nowhere (an unverified file).
        """
        target = self._steps.get((state, token_id))
        if target is None:
            number, text = divmod(state, self._width)
            after = self.texts.step(text, self.inner.vocabulary.token(token_id))
            if len(self._steps) >= _KEPT:
                self._steps.clear()
            target = self.inner.step(number, token_id) * self._width + after
            self._steps[state, token_id] = target
        return target

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        return self.step(state, token_id) if tokenset.contains(self.row(state), token_id) else None

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        known = self._masks.get(state)
        if known is None:
            known = self._computed(*divmod(state, self._width))
            known.flags.writeable = False
            if len(self._masks) >= self.inner.most_masks:
                self._masks.pop(next(iter(self._masks)))
            self._masks[state] = known
        return known

    def _computed(self, number: int, text: int) -> Words:
        mask, suspects = self._parts(number, text)
        for token, after in suspects:
            if not self._goes_on((self.inner.step(number, token), after)):
                mask[token >> 5] &= ~self._tokens.bits[token & 31]
        return mask

    def _parts(self, number: int, text: int) -> _Parts:
        found = self._tokens.at(text)
        row = self.inner.row(number).copy()
        row[self._tokens.words] &= found.kept
        suspects = [pair for pair in found.unsure if tokenset.contains(row, pair[0])]
        doubtful = self.doubts.of(number)
        if doubtful is not None:
            known = {token for token, _ in suspects}
            for token in tokenset.to_ids(doubtful & row).tolist():
                if token not in known and self.inner.vocabulary.is_text(token):
                    after = self.texts.step(text, self.inner.vocabulary.token(token))
                    suspects.append((token, after))
        return _Parts(row, suspects)

    def _goes_on(self, pair: _Pair) -> bool:
        """Whether some way leads from a pair to the end of the text."""
        known = self._alive.get(pair)
        return self._search(pair) if known is None else known

    def _search(self, begin: _Pair) -> bool:
        """By the way that is shortest to the end of the text first. Raises ``ArtifactError``
        where it meets too much."""
        led = {begin: begin}
        order = count()
        heap = [(0, next(order), begin)]
        for _ in range(_BUDGET):
            if not heap:
                for pair in led:
                    self._alive.keep(pair, False)
                return False
            pair = heappop(heap)[2]
            known = self._alive.get(pair)
            if known is False:
                continue
            row, suspects = self._parts(*pair)
            # EOS is a token of the row, too.
            others = row
            if suspects:
                tokens = [token for token, _ in suspects]
                others = row & ~tokenset.from_ids(tokens, self._vocab_size)
            if known or others.any():
                self._found_alive(pair, led)
                return True
            for token, text in suspects:
                after = self.inner.step(pair[0], token), text
                if after not in led:
                    led[after] = pair
                    heappush(heap, (self._left(*after), next(order), after))
        raise ArtifactError(
            f"what may come next was not decided within {_BUDGET:,} steps, beside texts that the "
            f"tokenizer does not change; compile with --tokenization any"
        )

    def _found_alive(self, pair: _Pair, led: dict[_Pair, _Pair]) -> None:
        self._alive.keep(pair, True)
        while led[pair] != pair:
            pair = led[pair]
            self._alive.keep(pair, True)

    def _left(self, number: int, text: int) -> int:
        """At least so many bytes lead to the end of the text; 0 inside a character, which soon
        ends."""
        inner = self.inner
        if self.texts.are_inside(np.array([text]))[0]:
            return 0
        threads = inner.network.threads[inner.configuration_of(number)]
        return min(inner.threads.firsts.left((p, 0, node)) for p, node in threads)
