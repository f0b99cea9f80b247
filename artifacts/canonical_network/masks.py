"""The tokens that fit one thread of a network, worked out when they are first asked for.

A thread is a state, a state of the cuts and a set of stacks. Its row is found by walks of the
token trie down the stacks (``canonical_network.trie_walk``), which part the tokens into those that
lead to open
places, whatever the stacks of a context, and *doubtful* ones, of which
``canonical_network.dead_ends`` decides.

Canonical masks of a network: the tokens with which the tokenizer's own encoding goes on.

What may be read is decided by the grammar and the cuts alone; what a token leaves possible by
``canonical_network.dead_ends``. So for a configuration c and a cut state q

    First1(c, q)   the tokens that start a piece, without dead ends
    First0(c, q)   those that continue one, without dead ends

do not depend on the tokens before, and for the set Q of cut states that they may have led to

    mask = union over Q of First1(c, q) | (First0(c, q) & allowed after the last token)

with EOS where the text may end in c and in some q. ``README.md`` in the compiler's ``merge``
has the lemmas.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..errors import ArtifactError
from ..network.configurations import Network
from ..network.tables import DEAD
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens import tokenset
from ..tokens.interned_rows import NOTHING, InternedRows
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .certificates import Certificates
from .contexts import ReturnContexts
from .dead_ends import DeadEnds
from .precomputed_rows import PrecomputedRows
from .trie_walk import ROOT, Group, PieceWalks, WalkKey, piece_tries

# The row of what leads to open places, and the groups that lead to others.
_Parted: TypeAlias = tuple[int, tuple[Group, ...]]


class LazyRows:
    """``rows``: where the rows that are found are numbered. ``final`` and ``continued``: see
    ``ReturnContexts``. ``reader``: says what each token reads, and these cuts what may follow it;
    its
    states of the cuts are states of these."""

    def __init__(
        self,
        network: Network,
        cuts: PretokenizerDfa,
        final: NDArray[np.bool_],
        pairs: ForbiddenPairs,
        vocabulary: Vocabulary,
        rows: InternedRows,
        continued: int | None = None,
        reader: "LazyRows | None" = None,
    ) -> None:
        self._network, self._rows, self._vocab_size = network, rows, vocabulary.size
        self.cuts = cuts
        beside: ReturnContexts | None = None if reader is None else reader.endings
        self.endings: ReturnContexts = ReturnContexts(
            network.tables, cuts, final, continued, beside
        )
        tries: Sequence[Trie] = (
            reader.walks.tries if reader else piece_tries(cuts, pairs, vocabulary)
        )
        self.walks: PieceWalks = PieceWalks(network.tables, cuts, self.endings, tries)
        self._read = (reader or self).walks.walk
        self.firsts = Certificates(network, cuts, self.endings, pairs, self.walks.trie)
        self.dead_ends = DeadEnds(network, self.endings, self.walks, self.firsts, pairs)
        self._sure: dict[tuple[WalkKey, int], _Parted] = {}
        self._survivors: dict[tuple[int, int], int] = {}

    def row(self, state: int, cut: int, node: int, plane: int) -> int:
        """The number of a row; the tokens begin in ``plane``. Walks down the stacks of ``node``
        until nothing is pending. Raises ``ArtifactError`` where a search meets too much."""
        stacks = self._network.stacks
        row = NOTHING
        waiting = [((ROOT, state, cut, plane), node)]
        seen = set(waiting)
        for key, below in waiting:
            sure, doubtful = self._parted(key, self.endings.of_node(stacks, below))
            row = self._rows.union(row, sure)
            for group in doubtful:
                row = self._rows.union(row, self._surviving(group, below))
            for after, left, left_plane in self._read(*key).pending:
                for frame, rest in stacks.entries[below]:
                    more = (left, frame, after, left_plane), rest
                    if frame != DEAD and more not in seen:
                        seen.add(more)
                        waiting.append(more)
        return row

    def forget(self) -> None:
        """The rows have been numbered anew."""
        self._sure.clear()
        self._survivors.clear()

    def _parted(self, key: WalkKey, context: int) -> _Parted:
        """The tokens of a walk that lead to open places, whatever the stacks of a context; and
        the groups that lead to other places."""
        known = self._sure.get((key, context))
        if known is None:
            endings = self.endings
            found: list[NDArray[np.int32]] = []
            doubtful = []
            for group in self._read(*key).groups:
                pair = endings.number(group.state, group.cut)
                above = context
                for frame in group.frames:
                    above = endings.push(frame, above)
                if endings.is_open(pair, above):
                    found.append(group.ids)
                elif endings.is_live(pair, above):
                    doubtful.append(group)
            ids = np.concatenate(found) if found else np.zeros(0, dtype=np.int32)
            row = self._rows.number(tokenset.from_ids(ids, self._vocab_size))
            known = self._sure[key, context] = row, tuple(doubtful)
        return known

    def _surviving(self, group: Group, node: int) -> int:
        """The row of the tokens of a doubtful group that are no dead ends above ``node``."""
        row = self._survivors.get((group.number, node))
        if row is None:
            ids = self.dead_ends.survivors(group, node)
            row = self._rows.number(tokenset.from_ids(ids, self._vocab_size))
            self._survivors[group.number, node] = row
        return row


# How a budget is divided: interned rows, masks, and everything else; and other answers.
_ROWS, _MASKS, _OTHERS = 1, 1, 2
_KEPT = 1 << 20

# State, cut state, set of stacks, and the plane in which tokens begin.
Thread: TypeAlias = tuple[int, int, int, int]


class CanonicalMasks:
    """Both the machine and the rows of a matcher.

    A state is a configuration of ``network``, a set of cut states, and the class of the last
    token. ``final``: bool (Q,), the cut states that a text may end in. ``read``: the
    configuration after a token, as ``Network.read`` says. ``pairs`` are those of all tokens
    that merging gives. ``continued``: see ``ReturnContexts``. ``closed``: rows that were worked out
    ahead of time, if there are any.
    """

    def __init__(
        self,
        network: Network,
        read: Callable[[int, int], int],
        cuts: PretokenizerDfa,
        final: NDArray[np.bool_],
        pairs: ForbiddenPairs,
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        continued: int | None = None,
        closed: PrecomputedRows | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        rows, masks, _ = (caches or CacheBudget()).divide(_ROWS, _MASKS, _OTHERS)
        self.network = network
        self.cuts, self.pairs, self.vocabulary = cuts, pairs, vocabulary
        self._read, self.final = read, final
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self.continued, self.closed = continued, closed
        self.planes = 4 if len(cuts.apart) else 2
        self.rows = InternedRows(vocab_size, rows.limit)
        self._width = pairs.classes + 1
        self.most_masks = max(64, masks.limit // (4 * tokenset.word_count(vocab_size)))
        self._flags = np.zeros(tokenset.word_count(vocab_size) * 32, dtype=np.bool_)
        self._sets: list[tuple[int, ...]] = []
        self._set_numbers: dict[tuple[int, ...], int] = {}
        self._states: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._cut_steps: dict[tuple[int, int, bool], int] = {}
        self._masks: dict[int, Words] = {}
        self._unions: dict[frozenset[int], int] = {}
        self._forbidden_rows: dict[int, Words] = {}
        self._first: dict[tuple[int, int, int], int] = {}
        # No more than states: they are asked for as long as masks are kept.
        self._missing: dict[tuple[int, int, int], tuple[Thread, ...]] = {}

    @cached_property
    def threads(self) -> LazyRows:
        """What works out the rows that are not ``closed``, made when there is one."""
        return LazyRows(
            self.network,
            self.cuts,
            self.final,
            self.pairs,
            self.vocabulary,
            self.rows,
            self.continued,
        )

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.state_of(self.network.start, (self.cuts.start,), None)

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have its own."""
        return max(len(self.network.threads), len(self._states)) > _KEPT

    def state_of(self, configuration: int, cuts: Sequence[int], last: int | None) -> int:
        """The number of a state; ``last``: the token before."""
        after = 0 if last is None else int(self.pairs.row_class[last]) + 1
        return self._state(configuration, self._set(tuple(cuts)), after)

    def configuration_of(self, state: int) -> int:
        """The configuration of the network at a state."""
        return self._states[state][0]

    def on_demand(self, state: int) -> tuple[Thread, ...]:
        """The threads whose rows were not ahead when the mask of a state was made."""
        configuration, cuts, _ = self._states[state]
        found = (self._missing.get((configuration, cuts, starts), ()) for starts in (0, 1))
        return tuple(chain.from_iterable(found))

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member as the tokenizer would."""
        configuration, cuts, _ = self._states[state]
        ends = any(self.final[q] for q in self._sets[cuts])
        return ends and self.network.may_end(configuration)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if it leads nowhere (an unverified file).
        """
        target = self._steps.get((state, token_id))
        if target is None:
            configuration, cuts, after = self._states[state]
            follows = after > 0 and not self.pairs.forbids(self._token_of(after), token_id)
            reached = self._cut_step(cuts, token_id, follows)
            configuration = self._read(configuration, token_id) if reached >= 0 else -1
            if configuration < 0:
                raise ArtifactError(
                    f"damaged artifact: token {token_id} is allowed, but leads nowhere"
                )
            if len(self._steps) >= _KEPT:
                self._steps.clear()
            last = int(self.pairs.row_class[token_id]) + 1
            target = self._state(configuration, reached, last)
            self._steps[state, token_id] = target
        return target

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        return self.step(state, token_id) if tokenset.contains(self.row(state), token_id) else None

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        known = self._masks.get(state)
        if known is None:
            if self.rows.is_full:
                self._forget()
            known = self._mask(*self._states[state])
            known.flags.writeable = False
            if len(self._masks) >= self.most_masks:
                self._masks.pop(next(iter(self._masks)))
            self._masks[state] = known
        return known

    def first(self, configuration: int, cuts: int, starts: int) -> int:
        """First1 (``starts`` 1) or First0 (0) of a set of cut states, as the number of a row."""
        key = configuration, cuts, starts
        row = self._first.get(key)
        if row is None:
            if len(self._first) >= _KEPT:
                self._first.clear()
            row = NOTHING
            ahead: set[int] = set()
            missing: list[Thread] = []
            for cut in self._sets[cuts]:
                for state, node in self.network.threads[configuration]:
                    for plane in range(starts, self.planes, 2):
                        thread = state, cut, node, plane
                        found = None
                        if self.closed is not None:
                            found = self.closed.find(self.network.stacks, *thread)
                        if found is None:
                            missing.append(thread)
                            row = self.rows.union(row, self.threads.row(*thread))
                        else:
                            ahead |= found
            row = self._first[key] = self.rows.union(row, self._joined(frozenset(ahead)))
            if missing:
                self._missing[key] = tuple(missing)
        return row

    def _mask(self, configuration: int, cuts: int, after: int) -> Words:
        starting = self.rows[self.first(configuration, cuts, 1)]
        mask = starting.copy()
        if after:
            number = self.first(configuration, cuts, 0)
            if number != NOTHING:
                mask |= self.rows[number] & ~self._forbidden(after)
        if self.network.may_end(configuration) and any(self.final[q] for q in self._sets[cuts]):
            mask |= self._eos
        return mask

    def _forbidden(self, after: int) -> Words:
        known = self._forbidden_rows.get(after)
        if known is None:
            self._flags.fill(False)
            self.pairs.mark(self._token_of(after), self._flags)
            known = tokenset.from_flags(self._flags)
            if len(self._forbidden_rows) >= self.most_masks:
                self._forbidden_rows.pop(next(iter(self._forbidden_rows)))
            self._forbidden_rows[after] = known
        return known

    def _joined(self, ahead: frozenset[int]) -> int:
        """The number of the union of rows that were worked out ahead."""
        if not ahead or self.closed is None:
            return NOTHING
        number = self._unions.get(ahead)
        if number is None:
            if len(self._unions) >= _KEPT:
                self._unions.clear()
            number = self._unions[ahead] = self.rows.number(self.closed.union(ahead))
        return number

    def _forget(self) -> None:
        self.rows.clear()
        self._unions.clear()
        if "threads" in self.__dict__:
            self.threads.forget()
        self._first.clear()

    def _cut_step(self, cuts: int, token_id: int, follows: bool) -> int:
        """The set of cut states after a token, -1 if it is empty."""
        key = cuts, token_id, follows
        known = self._cut_steps.get(key)
        if known is None:
            if len(self._cut_steps) >= _KEPT:
                self._cut_steps.clear()
            text = self.vocabulary.is_text(token_id)
            octets = self.vocabulary.token(token_id) if text else b""
            planes = (0, 1) if follows else (1,)
            found = {
                self.cuts.step(cut, plane, token_id, octets)
                for cut in self._sets[cuts]
                for plane in planes
            }
            known = self._set(tuple(sorted(found - {DEAD}))) if found - {DEAD} else -1
            self._cut_steps[key] = known
        return known

    def _set(self, cuts: tuple[int, ...]) -> int:
        if cuts not in self._set_numbers:
            self._set_numbers[cuts] = len(self._sets)
            self._sets.append(cuts)
        return self._set_numbers[cuts]

    def _state(self, configuration: int, cuts: int, after: int) -> int:
        key = configuration, cuts, after
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(key)
        return number

    def _token_of(self, after: int) -> int:
        return self._tokens[after - 1]

    @cached_property
    def _tokens(self) -> list[int]:
        """A token of each class."""
        found = np.zeros(self._width, dtype=np.int64)
        found[self.pairs.row_class] = np.arange(len(self.pairs.row_class))
        tokens: list[int] = found.tolist()
        return tokens
