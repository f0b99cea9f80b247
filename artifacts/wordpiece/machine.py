"""The machine of WordPiece artifacts: token sequences that the tokenizer itself would give.

A state is a place in the automaton over canonical text, the trie's node that the current word
has led to, and, where words may grow too long, how many characters it has. Nothing is interned:
a number encodes all three. Rows are computed lazily,

    tokens that the text reads from here, without those that cannot continue the word
    (``forbidden_tokens``) and without dead ends (``dead_ends``)

and all caches share one budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.byte_dfa import ByteDfa
from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.vocabulary import TokenClasses, Vocabulary
from .dead_ends import Completions, WordDfa
from .forbidden_tokens import ForbiddenAfter, forbidden_tokens
from .trie import NONE, OTHER_BYTE, ROOT, SUFFIX_ROOT, WordTrie
from .trie_walk import WordWalk

# How the budget is divided between rows, the two things that they are made of, and numbers; and
# between all of these and the trie.
_ROWS, _BASES, _FORBIDDEN, _NUMBERS = 4, 6, 4, 1
_MACHINE, _TRIE = 15, 1

# A place in the automaton over canonical text, a node of the trie or -1, a count of characters.
_State = tuple[int, int, int]

_UNKNOWN = bytes([OTHER_BYTE])


@dataclass(frozen=True, slots=True, eq=False)
class _Base:
    """The tokens below a root that the text can go on with, as if no word were begun.

    ``tokens``, ``targets``: int32 (h,), ascending tokens and states after them. ``flags``:
    bool (32 W,), those that can be completed from their own node. ``totals``: int32 (h,), their
    characters with the fewest to a word's end; None where words cannot grow too long.
    """

    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    flags: NDArray[np.bool_]
    totals: NDArray[np.int32] | None

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return 12 * len(self.tokens) + len(self.flags)


@dataclass(eq=False)
class WordMachine:
    """Steps and rows. ``indicator``: ♯ in UTF-8. ``nodes``: int32 (V,), the node of a token
    that words are made of, or -1. ``longest``: characters that a word may have, 0 where no
    word of the text has more. Threads share it without a lock: all that is cached follows from the
    file alone.
    """

    words: WordDfa
    trie: WordTrie
    vocabulary: Vocabulary
    nodes: NDArray[np.int32]
    indicator: bytes
    longest: int
    eos: Sequence[int]
    vocab_size: int
    caches: CacheBudget = field(default_factory=CacheBudget)
    is_full: ClassVar[bool] = False

    def __post_init__(self) -> None:
        rows, bases, forbidden, numbers = self.caches.divide(_ROWS, _BASES, _FORBIDDEN, _NUMBERS)
        most, self._search_budget = numbers.divide(1, 3)
        self._rows: BoundedCache[_State, Words] = rows.cache()
        self._bases: BoundedCache[tuple[int, int], _Base] = bases.cache()
        self._forbidden: BoundedCache[int, ForbiddenAfter] = forbidden.cache()
        self._longest_totals: BoundedCache[tuple[int, int], int] = most.cache()

    @cached_property
    def start(self) -> int:
        """The state before any token."""
        return self._number((self.words.dfa.start, NONE, 0))

    @cached_property
    def completions(self) -> Completions:
        """The search for ends of words."""
        return Completions(self.words, self.trie, self._search_budget)

    @cached_property
    def _walk(self) -> WordWalk:
        return WordWalk(self.trie, self.words.dfa, self.vocab_size)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return bool(self.words.dfa.accepting[self._parts(state)[0]])

    @cached_property
    def unknown(self) -> int:
        """The token that stands for whole unknown words, or -1 if members have none."""
        node = self.trie.child(ROOT, OTHER_BYTE)
        return int(self.trie.tokens[node]) if node != NONE else NONE

    def is_suffix(self, token_id: int) -> bool:
        """Whether the token continues a word."""
        return bool(self._suffixes[token_id])

    def text(self, token_id: int) -> bytes:
        """What a token is in canonical text, the space before a word apart."""
        if token_id == self.unknown:
            return _UNKNOWN
        text = self.vocabulary.token(token_id)
        return text.removeprefix(self.indicator) if self.is_suffix(token_id) else text

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the row allows.

        Raises ``ArtifactError`` if a row allowed what leads nowhere (an unverified file).
        """
        place, node, count = self._parts(state)
        text = self.text(token_id)
        if self.is_suffix(token_id):
            node = self.trie.read(node, text) if node != NONE else NONE
        else:
            place = place if node == NONE else self.words.after_space(place)
            node, count = int(self.nodes[token_id]), 0
        place = self.words.dfa.run(place, text)
        if not place or node == NONE:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return self._number((place, node, count + _characters(text) if self.longest else 0))

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the row of ``state`` lacks it."""
        return self.step(state, token_id) if tokenset.contains(self.row(state), token_id) else None

    def row(self, state: int) -> Words:
        """The allowed tokens and, where the text may end, EOS; read-only uint32 (W,)."""
        place, node, count = self._parts(state)
        if count and count + self._most(place, node) <= self.longest:
            count = 0  # No token makes the word too long: the row is that of a shorter word.
        key = (place, node, count)
        row = self._rows.get(key)
        if row is None:
            row = self._computed(*key)
            self._rows.keep(key, row, row.nbytes + ENTRY_BYTES)
        return row

    def _computed(self, place: int, node: int, count: int) -> Words:
        flags = np.zeros(tokenset.word_count(self.vocab_size) * 32, dtype=np.bool_)
        following = place
        if node != NONE:
            flags |= self._continuing(place, node, count)
            following = self.words.after_space(place)
        if following:
            base = self._base(ROOT, following)
            flags |= base.flags
            if base.totals is not None:
                flags[base.tokens[base.totals > self.longest]] = False
        if self.words.dfa.accepting[place]:
            flags[list(self.eos)] = True
        row = tokenset.from_flags(flags)
        row.flags.writeable = False
        return row

    def _continuing(self, place: int, node: int, count: int) -> NDArray[np.bool_]:
        """The tokens that may continue the word."""
        base = self._base(SUFFIX_ROOT, place)
        flags = base.flags.copy()
        if base.totals is not None:
            flags[base.tokens[base.totals + count > self.longest]] = False
        if not len(base.tokens):
            return flags
        after = self._forbidden_after(node)
        flags[after.forbidden] = False
        special, totals = self._specials(base, after)
        flags[after.special] = False
        flags[special[totals + count <= self.longest] if self.longest else special] = True
        return flags

    def _specials(
        self, base: _Base, after: ForbiddenAfter
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The special tokens that are no dead end, with their characters and the fewest after
        (exact only where words can grow too long)."""
        places = np.searchsorted(base.tokens, after.special)
        places[places == len(base.tokens)] = 0
        held = base.tokens[places] == after.special
        special, states = after.special[held], base.targets[places[held]]
        needed = self.completions.fewest(states, after.nodes[held], exact=bool(self.longest))
        live = needed != NONE
        return special[live], self._lengths[special[live]] + needed[live]

    def _forbidden_after(self, node: int) -> ForbiddenAfter:
        found = self._forbidden.get(node)
        if found is None:
            found = forbidden_tokens(self.trie, node)
            self._forbidden.keep(node, found, found.nbytes + ENTRY_BYTES)
        return found

    def _base(self, root: int, place: int) -> _Base:
        found = self._bases.get((root, place))
        if found is None:
            found = self._walked(root, place)
            self._bases.keep((root, place), found, found.nbytes + ENTRY_BYTES)
        return found

    def _walked(self, root: int, place: int) -> _Base:
        tokens, targets = self._walk.read(root, place)
        needed = self.completions.fewest(targets, self.nodes[tokens], exact=bool(self.longest))
        live = needed != NONE
        flags = np.zeros(tokenset.word_count(self.vocab_size) * 32, dtype=np.bool_)
        flags[tokens[live]] = True
        totals = self._lengths[tokens] + np.maximum(needed, 0) if self.longest else None
        return _Base(tokens, targets, flags, totals)

    def _most(self, place: int, node: int) -> int:
        """The most characters that a token takes here together with the nearest end."""
        most = self._longest_totals.get((place, node))
        if most is None:
            base = self._base(SUFFIX_ROOT, place)
            most = 0 if base.totals is None else int(base.totals.max(initial=0))
            if len(base.tokens):
                _, totals = self._specials(base, self._forbidden_after(node))
                most = max(most, int(totals.max(initial=0)))
            self._longest_totals.keep((place, node), most)
        return most

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """Characters that each token stands for, ♯ apart, shape (V,)."""
        begins = (self.vocabulary.data & 0xC0) != 0x80
        counts = np.concatenate(([0], np.cumsum(begins)))[self.vocabulary.offsets]
        lengths = np.diff(counts).astype(np.int32)
        lengths[self._suffixes & (self.nodes >= 0)] -= _characters(self.indicator)
        if self.unknown != NONE:
            lengths[self.unknown] = 1
        return lengths

    @cached_property
    def _suffixes(self) -> NDArray[np.bool_]:
        """Which tokens begin with ♯, shape (V,)."""
        data, starts = self.vocabulary.data, self.vocabulary.offsets[:-1]
        found = self.vocabulary.lengths >= len(self.indicator)
        for k, octet in enumerate(self.indicator):
            places = np.flatnonzero(found)
            found[places] = data[starts[places] + k] == octet
        return found

    def _number(self, state: _State) -> int:
        """A state as a number."""
        place, node, count = state
        return (place * self._nodes + node + 1) * self._counts + count

    def _parts(self, state: int) -> _State:
        """Inverse of ``_number``."""
        rest, count = divmod(state, self._counts)
        place, node = divmod(rest, self._nodes)
        return place, node - 1, count

    @cached_property
    def _nodes(self) -> int:
        """How many nodes a state may have, with -1."""
        return len(self.trie.octets) + 1

    @cached_property
    def _counts(self) -> int:
        """How many counts a state may have."""
        return self.longest + 1


def _characters(text: bytes) -> int:
    return sum(octet & 0xC0 != 0x80 for octet in text)


def word_machine(
    manifest: Manifest, arrays: Arrays, vocabulary: Vocabulary, caches: CacheBudget
) -> WordMachine:
    """The machine of an artifact of the kind ``word-dfa``."""
    a = arrays
    machine, trie = caches.divide(_MACHINE, _TRIE)
    table, classes, accepting = a["words.table"], a["words.classes"], a["words.accepting"]
    return WordMachine(
        words=WordDfa(
            ByteDfa(table, classes, TokenClasses.of(), accepting, manifest.token_start),
            ends=a["words.ends"],
            fewest=a["words.fewest"],
            plain=a["words.plain"],
            first_bytes=a["words.ways"],
            plain_nodes=a["pieces.letters"],
        ),
        trie=WordTrie.from_sections(a, trie),
        vocabulary=vocabulary,
        nodes=a["pieces.nodes"],
        indicator=a["words.indicator"].tobytes(),
        longest=int(a["words.longest"][0]),
        eos=manifest.eos,
        vocab_size=manifest.vocab_size,
        caches=machine,
    )
