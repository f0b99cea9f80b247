"""Artifacts of the kind ``network`` under any tokenization whose states are made when texts meet
them: what runs them, in a file or without one."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_sections, require
from ..machine.distinct_masks import DistinctMasks
from ..machine.distinct_texts import DistinctTexts
from ..machine.equal_items import MARK
from ..machine.masks import MetMasks
from ..machine.named_rows import MEMBERS as NAMED
from ..machine.named_rows import check_named_rows
from ..machine.position_states import PositionStates
from ..machine.states import States
from ..machine.stored_positions import StoredPositions, check_positions
from ..network.configurations import Texts
from ..tokens import tokenset
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .check_tokenizer import FIRST_ROW, check_first_row, check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import SharedMachine
from .parser import check_terminals, named_in, names_of

if TYPE_CHECKING:
    from ..dfa.conjunctions import Conjunction

FIRST_CALL = 256

# The byte that texts are read with after items that are equal to an earlier one, if they are.
MARKS = "items.mark"

# Which conjunctions are of which terminal that grows.
GROWING = "lazy.terminals"


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    terminals = 0
    if GROWING in arrays:
        terminals = _check_growing(arrays)
    elif any(name.startswith("terminals.") for name in arrays):
        terminals = check_terminals(manifest, arrays)
    check_positions(arrays, len(names_of(manifest).called), terminals)
    if NAMED in arrays:
        require(GROWING not in arrays, NAMED)
        positions = len(arrays["positions.arc_offsets"]) - 1
        check_named_rows(arrays, manifest.vocab_size, positions)
    if MARKS in arrays:
        check_sections(arrays, {MARKS: f"uint8 (1) {MARK}..{MARK + 1}"})
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


def _check_growing(arrays: Arrays) -> int:
    """The number of terminals that grow."""
    from ..dfa.check_conjunctions import check_conjunctions

    check_conjunctions(arrays)
    declared = {GROWING: "int64 (terminals+1) to:conjunctions ascending"}
    sizes = check_sections(arrays, declared, conjunctions=len(arrays["lazy.starts"]))
    require(sizes["terminals"] > 0 and "terminals.ids" not in arrays, GROWING)
    return sizes["terminals"]


def _growing_in(arrays: Arrays) -> "list[tuple[Conjunction, ...]]":
    """The conjunctions of each terminal that grows."""
    if GROWING not in arrays:
        return []
    from ..dfa.conjunctions import from_sections

    found = from_sections(arrays)
    return [tuple(found[i:j]) for i, j in pairwise(arrays[GROWING].tolist())]


class MetStates(SharedMachine["MetMasks | DistinctMasks"]):
    """Matchers share one machine, until it is full.

    ``maker``: what states are made of, begun again by each call. ``first_row``: the mask before any
    token, if it is known. ``terminals``: those that are called and whose own states are made while
    decoding. ``named``: the ids of each token terminal. ``named_rows``: sections with rows.
    ``marks_equal``: texts have marks after items of arrays that are equal to an earlier one.
    """

    def __init__(
        self,
        maker: Callable[[], PositionStates],
        vocabulary: Vocabulary,
        trie: Callable[[], Trie],
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget,
        lock: Lock,
        first_row: Words | None = None,
        terminals: "Sequence[Sequence[Conjunction]]" = (),
        named: Sequence[NDArray[np.integer]] = (),
        named_rows: Arrays | None = None,
        *,
        marks_equal: bool = False,
    ) -> None:
        self._marks_equal = marks_equal
        self._maker, self._terminals = maker, terminals
        self._named = [tokenset.from_ids(ids, vocab_size) for ids in named]
        self.vocabulary, self.trie = vocabulary, trie
        self.eos, self.vocab_size = eos, vocab_size
        self._caches, self._lock, self._first_row = caches, lock, first_row
        self._named_rows = named_rows

    def _following(self, full: "MetMasks | DistinctMasks | None") -> "MetMasks | DistinctMasks":
        if not self._marks_equal:
            assert not isinstance(full, DistinctMasks)
            return self._reading(full, self._caches)
        outer, inner = self._caches.divide(1, 3)
        return DistinctMasks(self._reading(None, inner), outer)

    def _reading(self, full: MetMasks | None, caches: CacheBudget) -> MetMasks:
        tokens = self.trie, self.vocabulary, self.eos, self.vocab_size, caches, self._lock
        if self._terminals:
            from ..machine.terminal_masks import TerminalMasks, following

            assert full is None or isinstance(full, TerminalMasks)
            machine: MetMasks = following(full, self._terminals, self._maker, *tokens)
        else:
            rows = self._named_rows
            machine = MetMasks(States(self._maker()), *tokens, self._named, named_rows=rows)
        if self._first_row is not None:
            machine.begin_with(self._first_row)
        return machine

    @property
    def marks_equal(self) -> bool:
        """Whether texts are read with marks after equal items."""
        return self._marks_equal

    def texts(self) -> Texts | DistinctTexts:
        """Reads texts, apart from what matchers share."""
        found = self.plain_texts()
        return DistinctTexts(found) if self.marks_equal else found

    def plain_texts(self) -> Texts:
        """The same with the marks that they may have after equal items."""
        if not self._terminals:
            return Texts(States(self._maker()))
        from ..machine.terminal_masks import texts_of

        return texts_of(self._maker(), self._terminals)

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        # Rules that are made when they are read are made for all.
        with self._lock:
            return self.texts().viable(text)

    @property
    def grows(self) -> bool:
        """Whether terminals are called whose own states are made while decoding."""
        return bool(self._terminals)

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return bool(self._named)


class MetStatesRuntime(MetStates):
    """The states of a file's positions, ``stored``; ``names``: what messages call these;
    ``named``: the ids of each token terminal."""

    def __init__(self, contents: Contents) -> None:
        a, m, self.names = contents.arrays, contents.manifest, names_of(contents.manifest)
        is_nullable, self.named = self.names.nullable_start, named_in(m, a)
        terminals = _growing_in(a)
        first_call = FIRST_CALL + len(terminals or self.named)
        self.stored = StoredPositions.from_arrays(a, first_call, nullable_start=is_nullable)
        super().__init__(
            partial(self.stored.begun, len(terminals)),
            contents.vocabulary,
            lambda: contents.trie,
            m.eos,
            m.vocab_size,
            contents.caches,
            contents.lock,
            a.get(FIRST_ROW),
            terminals,
            named=self.named,
            named_rows=a if NAMED in a else None,
            marks_equal=MARKS in a,
        )


def runtime(contents: Contents) -> MetStatesRuntime:
    """What runs the artifact."""
    return MetStatesRuntime(contents)
