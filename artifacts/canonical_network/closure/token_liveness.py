"""Which tokens are live above stacks of one context: dead, live or undecided.

Liveness           of tokens: live at a boundary or by a certificate, dead at a dead pair
DecidedBlocks      of walks: their live tokens and the undecided ones, by what they share
SearchedTokens     of undecided tokens: results of ``liveness.DeadEnds``, cached one by one

for lists of numbers, after "[1": the tokens that lead after "," are live, since a pre-token
may start there; those that end inside a number are live by the certificate "]"
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import ArtifactError
from ...network.configurations import BOTTOM
from ...tokens import tokenset
from ...tokens.distinct import distinct, numbered_keys
from ...tokens.tokenset import Words
from ...tokens.trie import ranges
from ...tokens.watch import Watch
from ...walk.node_sets import ROOT
from ..certificates import Place
from ..liveness import DeadEnds
from ..precomputed_rows import DEEPER
from ..pretokenized import PretokenizedNetwork
from ..trie_walk import Frames
from .context_status import IS_LIVE, IS_UNDECIDED, StatusByContext
from .joint_walks import TEXT, bounds_of
from .pair_walks import ByTarget, Part, Suspended, Target

# Rows of more tokens are encoded as bits.
LONGEST_LIST = 512


class EncodedRows:
    """Rows by number, equal ones once, even numbers for those of bits and odd ones for lists."""

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._lists: dict[bytes, int] = {}
        self._bits: dict[bytes, int] = {}
        self.nbytes = 0

    def add(self, ids: NDArray[np.int32]) -> int:
        """The number of the row of ``ids``."""
        if len(ids) <= 2 * LONGEST_LIST:
            ids = distinct(ids)
        return self.add_ascending(ids)

    def add_ascending(self, ids: NDArray[np.int32]) -> int:
        """The same of ids in ascending order, each once if they are few."""
        if len(ids) <= LONGEST_LIST:
            content, numbers = ids.astype("<i4").tobytes(), self._lists
        else:
            content, numbers = tokenset.from_ids(ids, self._vocab_size).tobytes(), self._bits
        if content not in numbers:
            self.nbytes += len(content)
            numbers[content] = len(numbers)
        return 2 * numbers[content] + (numbers is self._lists)

    def add_bits(self, words: Words) -> int:
        """The same of a row of bits, of as many tokens at most."""
        if int(np.bitwise_count(words).sum()) <= LONGEST_LIST:
            return self.add(tokenset.to_ids(words).astype(np.int32))
        padded = np.zeros(tokenset.word_count(self._vocab_size), dtype="<u4")
        padded[: len(words)] = words
        content = padded.tobytes()
        if content not in self._bits:
            self.nbytes += len(content)
            self._bits[content] = len(self._bits)
        return 2 * self._bits[content]

    def held(self, tokens: NDArray[np.int32]) -> Callable[[int], NDArray[np.bool_]]:
        """Of each row that is there now, by its number: which of ``tokens`` it holds."""
        bits, lists = [*self._bits], [*self._lists]
        flags = np.zeros(32 * tokenset.word_count(self._vocab_size), dtype=np.bool_)
        places, shifts = tokens >> 5, (tokens & 31).astype("<u4")

        @cache
        def of(number: int) -> NDArray[np.bool_]:
            found: NDArray[np.bool_]
            if number % 2:
                ids = np.frombuffer(lists[number // 2], dtype="<i4")
                flags[ids] = True
                found = flags[tokens]
                flags[ids] = False
                return found
            words: Words = np.frombuffer(bits[number // 2], dtype="<u4")
            found = (words[places] >> shifts & 1).astype(np.bool_)
            return found

        return of

    def place(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """The places of rows among all, those of bits first; final when all rows are there."""
        return numbers // 2 + len(self._bits) * (numbers % 2)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The sections ``closed.rows``, ``closed.ids`` and ``closed.id_offsets``."""
        width = tokenset.word_count(self._vocab_size)
        packed: Words = np.frombuffer(b"".join(self._bits), dtype="<u4").reshape(-1, width)
        ids = np.frombuffer(b"".join(self._lists), dtype="<i4")
        offsets = np.cumsum([0, *(len(content) // 4 for content in self._lists)])
        return {
            "closed.id_offsets": offsets.astype(np.int64),
            "closed.ids": ids,
            "closed.rows": packed,
        }


class Summaries:
    """``found``: by entry, state and suffix the row (of ``rows``, or ``DEEPER``) and the set of
    entries at which the walk goes on. ``suffixes``: numbered, (frame, suffix below) or
    (``UNKNOWN``, context), the empty stack first.
    """

    def __init__(self, vocab_size: int, planes: int, pre_states: int) -> None:
        """``planes``: in which tokens begin. ``pre_states``: of the pre-tokenizer DFA."""
        self.found: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.rows = EncodedRows(vocab_size)
        self.suffixes: dict[tuple[int, int], int] = {(TEXT, BOTTOM): 0}
        self._planes, self._pre_states = planes, pre_states
        # Where walks go on inside tokens; those at the root of the trie have numbers of their own.
        self._entries: dict[Suspended, int] = {}
        self._entry_sets: dict[tuple[int, ...], int] = {(): 0}

    @property
    def nbytes(self) -> int:
        """Bytes of the sections, approximately."""
        return self.rows.nbytes + 16 * len(self.found)

    def suffix(self, frame: int, below: int) -> int:
        """The number of a suffix."""
        return self.suffixes.setdefault((frame, below), len(self.suffixes))

    def entry(self, suspended: Suspended) -> int:
        """The number of an entry: plane and pre-tokenizer state at the root of the trie."""
        pre_state, nodes, plane = suspended
        if nodes == ROOT:
            return self.root_entry(pre_state, plane)
        roots = self._planes * self._pre_states
        return self._entries.setdefault(suspended, roots + len(self._entries))

    def root_entry(self, pre_state: int, plane: int) -> int:
        """The entry at the root of the trie."""
        return plane * self._pre_states + pre_state

    def entry_set(self, suspended: Sequence[Suspended]) -> int:
        """The number of a set of entries."""
        entries = tuple(sorted(map(self.entry, suspended)))
        return self._entry_sets.setdefault(entries, len(self._entry_sets))

    def arrays(self, states: int) -> dict[str, NDArray[Any]]:
        """The sections but for ``closed.all`` and ``closed.contexts``. ``states``: of the
        network."""
        entries, at, suffixes = np.array([*self.found], dtype=np.int64).reshape(-1, 3).T
        keys = (entries * states + at) * len(self.suffixes) + suffixes
        order = np.argsort(keys)
        answers = np.array([*self.found.values()], dtype=np.int32).reshape(-1, 2)[order]
        is_row = answers[:, 0] != DEEPER
        answers[is_row, 0] = self.rows.place(answers[is_row, 0])
        return {
            "closed.answers": answers,
            "closed.keys": keys[order],
            "closed.pending": np.array([e for s in self._entry_sets for e in s], dtype=np.int32),
            "closed.pending_offsets": np.cumsum([0, *map(len, self._entry_sets)]).astype(np.int64),
            "closed.suffixes": np.array(list(self.suffixes), dtype=np.int32),
            **self.rows.arrays(),
        }


class DecidedBlocks:
    """The blocks of a part, whose tokens have been decided in a context; ``status``: of each token.

    Blocks share a number where the same tokens are live, and the same undecided, which lead to the
    same targets.
    """

    def __init__(self, part: Part, status: NDArray[np.int8]) -> None:
        self._part = part
        is_live = status == IS_LIVE
        self._live, self._undecided = part.ids[is_live], np.flatnonzero(status == IS_UNDECIDED)
        sizes = np.diff(part.bounds)
        sizes[sizes > 0] = np.add.reduceat(is_live, part.bounds[:-1][sizes > 0], dtype=np.int64)
        self._live_bounds = bounds_of(sizes)
        self._undecided_bounds = np.searchsorted(self._undecided, part.bounds)
        places = self._undecided
        columns = part.ids[places], part.pairs[places], part.pushed[places]
        live = _spans(self._live.tobytes(), 4 * self._live_bounds)
        undecided = _spans(np.stack(columns, axis=1).tobytes(), 12 * self._undecided_bounds)
        # A block without tokens has the number 0.
        contents = chain([(b"", b"")], zip(live, undecided, strict=True))
        self._numbers = numbered_keys(contents)[1][1:].astype(np.int32)

    def contents(self) -> Iterator[bytes]:
        """Of each walk; the same of two walks only if they have the same tokens."""
        numbers = self._numbers[self._part.blocks]
        bounds = bounds_of(numbers > 0)[self._part.offsets]
        return _spans(numbers[numbers > 0].tobytes(), 4 * bounds)

    def of(self, walk: int) -> tuple[NDArray[np.int32], ByTarget]:
        """The live tokens of a walk, in any order, and the undecided ones."""
        part = self._part
        blocks = part.blocks[part.offsets[walk] : part.offsets[walk + 1]]
        blocks = blocks[self._numbers[blocks] > 0]
        live = _taken(self._live, self._live_bounds, blocks)
        return live, part.by_target(_taken(self._undecided, self._undecided_bounds, blocks))


def _spans(data: bytes, bounds: NDArray[np.int64]) -> Iterator[bytes]:
    return (data[low:high] for low, high in pairwise(bounds.tolist()))


def _taken(
    values: NDArray[Any], bounds: NDArray[np.int64], blocks: NDArray[np.int32]
) -> NDArray[Any]:
    return values[ranges(bounds[blocks], bounds[blocks + 1] - bounds[blocks])]


class Liveness:
    """What precomputing rows has to know of tokens: here by the pre-tokenizer DFA alone; beside a
    normal-form DFA too (``inert_tokens.NormalizedLiveness``)."""

    def __init__(self, network: PretokenizedNetwork) -> None:
        self.status = StatusByContext(network)
        self.joint = self.status.joint

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """The contexts are all there; ``pushes``: frame, context and the context above."""

    def at_boundary(self, context: int) -> NDArray[np.bool_]:
        """Which pairs are at a boundary in a context, bool (n,)."""
        found: NDArray[np.bool_] = self.status.of(context).status == IS_LIVE
        return found

    def decide(
        self, part: Part, context: int, live: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int8]:
        """Of each token of a part, above stacks of a context: dead, live or undecided; int8. All of
        its walks can begin in calls of that context. ``live``: tokens that have been shown to be
        so."""
        found = np.zeros(len(part.ids), dtype=np.int8)
        for frames, places in part.by_frames:
            status = self.status.above(frames, context)
            found[places] = status.status[part.pairs[places]]
            if live is not None:
                found[places[live[places]]] = IS_LIVE
            left = places[found[places] == IS_UNDECIDED]
            found[left[status.has_certificate(part.pairs[left], part.ids[left])]] = IS_LIVE
        return found

    def found_live(
        self, target: Target, ids: NDArray[np.int32], top: Frames, ground: tuple[int, int]
    ) -> None:
        """A search found undecided tokens to be live, which lead to a target above the frames
        ``top``, the uppermost first, and the stack ``ground`` (a suffix)."""

    def arrays(self, summaries: Summaries, *, has_all: bool) -> dict[str, NDArray[Any]]:
        """More sections. ``has_all``: whether what has no summary has no tokens."""
        return {}


# Steps of a search above frames that are not given; and searches that may come to nothing. Where
# more do, the others are left to decoding, which has the stacks.
_BUDGET, _MOST_FAILED = 50, 500

# What a search costs in trie nodes that are met.
_SEARCH_WORK = 30_000

# Whether tokens are live at a place; None, or nothing, where that was not decided.
Results: TypeAlias = dict[int, bool | None]


class SearchedTokens:
    """``has_given_up``: no more searches are made."""

    def __init__(self, dead_ends: DeadEnds, watch: Watch) -> None:
        self._dead_ends, self._watch = dead_ends, watch
        self._results: dict[Place, Results] = {}
        self._failed = 0

    @property
    def has_given_up(self) -> bool:
        """Whether too many searches came to nothing."""
        return self._failed > _MOST_FAILED

    def of(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> Results:
        """Of each of ``ids``, and of others; the place is not at a boundary. ``whole``: its stacks
        are given."""
        results = self._results.setdefault(place, {})
        if self.has_given_up:
            return results
        new = [token for token in ids.tolist() if token not in results]
        # Tokens are sieved together, and one by one only where some depend on more.
        for batches in ([new], [[token] for token in new]):
            for batch in batches:
                if self.has_given_up:
                    return results
                if batch and batch[0] not in results:
                    found = self._decide(place, np.array(batch, dtype=np.int32), whole=whole)
                    if found is not None:
                        results.update(dict.fromkeys(batch, False) | dict.fromkeys(found, True))
                    elif len(batch) == 1:
                        results[batch[0]] = None
        return results

    def _decide(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> list[int] | None:
        self._watch(_SEARCH_WORK, 0)
        try:
            found = self._dead_ends.decide(place, ids, whole=whole, budget=_BUDGET)
        except ArtifactError:
            found = None
        self._failed += found is None
        return None if found is None else found.tolist()
