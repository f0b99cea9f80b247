"""The machine of WordPiece artifacts: token sequences that the tokenizer itself would give.

A state is a place in the automaton over canonical text, the trie's node that the current
word has led to, and, where words may grow too long, how many characters it has. States are
never enumerated: they get their number when they are reached, and rows are computed when
they are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .errors import ArtifactError
from .tokenset import Words
from .trie import walk
from .vocabulary import Vocabulary
from .word_paths import WordDfa, WordPaths
from .word_trie import NONE, ROOT, SUFFIX_ROOT, WordTrie

# Rows that are kept; at 120,000 tokens a row has 15 kB.
_KEPT_ROWS = 4096

_State = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Base:
    """The tokens below a root that the text can go on with, as if no word were begun.

    ``tokens``, ``targets``: int32 (h,), ascending tokens and states behind them. ``live``:
    bool (h,), those that can be completed from their own node. ``flags``: bool (32 W,), the
    live ones. ``totals``: int32 (h,), their characters with the fewest to a word's end; None
    where words cannot grow too long.
    """

    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    flags: NDArray[np.bool_]
    totals: NDArray[np.int32] | None


@dataclass(eq=False)
class WordMachine:
    """Steps and rows. ``indicator``: ♯ in UTF-8. ``nodes``: int32 (V,), the node of a token
    that words are cut into, or -1. ``longest``: characters that a word may have, 0 where no
    word of the text has more.
    """

    words: WordDfa
    trie: WordTrie
    vocabulary: Vocabulary
    nodes: NDArray[np.int32]
    indicator: bytes
    longest: int
    eos: Sequence[int]
    vocab_size: int
    _states: list[_State] = field(default_factory=list, init=False)
    _numbers: dict[_State, int] = field(default_factory=dict, init=False)
    _bases: dict[tuple[int, int], _Base] = field(default_factory=dict, init=False)
    _rows: dict[_State, Words] = field(default_factory=dict, init=False)
    _needs: dict[tuple[int, int], int] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    @cached_property
    def start(self) -> int:
        """The state before any token."""
        return self._number((self.words.dfa.start, NONE, 0))

    @property
    def seen(self) -> int:
        """How many states have been reached."""
        return len(self._states)

    @cached_property
    def paths(self) -> WordPaths:
        """The search for ends of words."""
        return WordPaths(self.words, self.trie)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return bool(self.words.dfa.accepting[self._states[state][0]])

    def is_suffix(self, token_id: int) -> bool:
        """Whether the token continues a word."""
        return self.vocabulary.token(token_id).startswith(self.indicator)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the row allows.

        Raises ``ArtifactError`` if a row allowed what has no way (an unverified file).
        """
        place, node, count = self._states[state]
        text = self.vocabulary.token(token_id)
        if self.is_suffix(token_id):
            text = text.removeprefix(self.indicator)
            node = self.trie.read(node, text) if node != NONE else NONE
        else:
            place = place if node == NONE else self.words.after_space(place)
            node, count = int(self.nodes[token_id]), 0
        place = self.words.dfa.run(place, text)
        if not place or node == NONE:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return self._number((place, node, count + _characters(text) if self.longest else 0))

    def row(self, state: int) -> Words:
        """The allowed tokens and, where the text may end, EOS; read-only uint32 (W,)."""
        place, node, count = self._states[state]
        if count and count + self._most(place, node) <= self.longest:
            count = 0  # No token makes the word too long: the row is that of a shorter word.
        key = (place, node, count)
        row = self._rows.get(key)
        if row is None:
            row = self._computed(*key)
            with self._lock:
                if len(self._rows) >= _KEPT_ROWS:
                    del self._rows[next(iter(self._rows))]
                self._rows[key] = row
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
        kills = self.trie.kills(node)
        flags[kills.killed] = False
        for token_id, target in kills.special:
            at = int(np.searchsorted(base.tokens, token_id))
            fits = False
            if at < len(base.tokens) and base.tokens[at] == token_id:
                fewest = self.paths.shortest(int(base.targets[at]), target)
                fits = fewest is not None
                if fewest is not None and self.longest:
                    fits = count + int(self._lengths[token_id]) + fewest <= self.longest
            flags[token_id] = fits
        return flags

    def _base(self, root: int, place: int) -> _Base:
        key = (root, place)
        if key not in self._bases:
            self._bases[key] = self._walked(root, place)
        return self._bases[key]

    def _walked(self, root: int, place: int) -> _Base:
        dfa, words = self.words.dfa, self.words
        found = list(walk(self.trie.level_order, dfa.table, dfa.classes, np.array([place]), root))
        none = np.zeros(0, dtype=np.int32)
        tokens = np.concatenate([none, *(hits.tokens for hits in found)])
        targets = np.concatenate([none, *(hits.states for hits in found)])
        order = np.argsort(tokens, kind="stable")
        tokens, targets = tokens[order], targets[order]
        nodes = self.nodes[tokens]
        # More ways on than edges below the node: one of them leaves the token as it is.
        ways = words.ways[targets] > self.trie.children[nodes][:, None]
        ends = words.ends[targets].astype(np.bool_)
        nearest = ways[:, 1] & (words.plain[targets] == words.fewest[targets])
        needed = np.where(ends, 0, words.fewest[targets])
        live = ends | ways[:, 0]
        sure = ends | (nearest if self.longest else ways[:, 0])
        for at in np.flatnonzero(~sure).tolist():
            fewest = self.paths.shortest(int(targets[at]), int(nodes[at]))
            live[at] = fewest is not None
            needed[at] = fewest or 0
        flags = np.zeros(tokenset.word_count(self.vocab_size) * 32, dtype=np.bool_)
        flags[tokens[live]] = True
        totals = None
        if self.longest:
            totals = self._lengths[tokens] + needed
        return _Base(tokens, targets, flags, totals)

    def _most(self, place: int, node: int) -> int:
        """The most characters that a token takes here together with the nearest end."""
        if (place, node) not in self._needs:
            base = self._base(SUFFIX_ROOT, place)
            needs = [0] if base.totals is None else [int(base.totals.max(initial=0))]
            for token_id, target in self.trie.kills(node).special:
                at = int(np.searchsorted(base.tokens, token_id))
                if at < len(base.tokens) and base.tokens[at] == token_id:
                    fewest = self.paths.shortest(int(base.targets[at]), target)
                    needs.append(int(self._lengths[token_id]) + (fewest or 0))
            self._needs[place, node] = max(needs)
        return self._needs[place, node]

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """Characters that each token stands for, ♯ apart, shape (V,)."""
        begins = (self.vocabulary.data & 0xC0) != 0x80
        counts = np.concatenate(([0], np.cumsum(begins)))[self.vocabulary.offsets]
        lengths = np.diff(counts).astype(np.int32)
        suffixes = [i for i in np.flatnonzero(self.nodes >= 0).tolist() if self.is_suffix(i)]
        lengths[suffixes] -= _characters(self.indicator)
        return lengths

    def _number(self, state: _State) -> int:
        number = self._numbers.get(state)
        if number is None:
            # Matchers of several threads share the machine.
            with self._lock:
                number = self._numbers.get(state)
                if number is None:
                    number = len(self._states)
                    self._states.append(state)
                    self._numbers[state] = number
        return number


def _characters(text: bytes) -> int:
    return sum(octet & 0xC0 != 0x80 for octet in text)
