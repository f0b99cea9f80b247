"""Where words of canonical text can end, so that no mask leads into a dead end.

A word's end is alive if the text may end there or another word follows that has tokens and
comes to such an end itself; a least fixed point, found from the texts' ends backwards.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD
from constrain.artifacts.tokens.memo import CacheBudget
from constrain.artifacts.tokens.trie import Trie, walk
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.artifacts.wordpiece.dead_ends import SPACE, Completions, WordDfa
from constrain.artifacts.wordpiece.trie import ROOT

from ..automata.dfa import Dfa
from ..limits import Limits
from .trie_layout import TrieLayout

_STAGE = "words"
_FAR = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class WordEnds:
    """``words``: the automaton with its ends. ``longest``: characters that a word may have if
    the text has longer ones, else 0. ``is_empty``: no member has tokens."""

    words: WordDfa
    longest: int
    is_empty: bool


def word_ends(
    dfa: Dfa, tokens: TrieLayout, characters: frozenset[bytes], max_chars: int, limits: Limits
) -> WordEnds:
    """The ends of words of canonical text ``dfa``.

    ``characters``: plain ones, in UTF-8; words of them always have tokens. Others are searched
    for. Raises ``LimitError`` (time).
    """
    tables = dfa.tables()
    space = int(dfa.classes[SPACE])
    edges, within = _Edges.of_plain(dfa, characters), _Edges.within_words(dfa)
    after_space = dfa.table[:, space]
    starts = np.unique(after_space[after_space != DEAD])
    live = np.zeros(dfa.states, dtype=np.bool_)
    while True:
        limits.check_resources(_STAGE)
        ends = dfa.accepting | live[after_space]
        ends[DEAD] = False
        fewest, plain = within.fewest(ends), edges.fewest(ends)
        words = WordDfa(
            tables,
            ends.astype(np.uint8),
            fewest,
            plain,
            edges.first_bytes(ends, plain),
            tokens.plain_nodes,
        )
        waiting = starts[~live[starts]]
        found = waiting[(plain[waiting] >= 0) & (plain[waiting] <= max_chars)]
        if not len(found):
            paths = Completions(words, tokens.trie, CacheBudget())
            near = waiting[(fewest[waiting] >= 0) & (fewest[waiting] <= max_chars)]
            found = np.array([s for s in near.tolist() if _is_near(paths, s, max_chars)], np.int64)
        if not len(found):
            break
        live[found] = True
    begins = _is_near(Completions(words, tokens.trie, CacheBudget()), dfa.start, max_chars)
    too_long = within.has_longer_words(max_chars)
    return WordEnds(words, max_chars if too_long else 0, not begins)


def _is_near(paths: Completions, start: int, max_chars: int) -> bool:
    fewest = paths.shortest(start, ROOT)
    return fewest is not None and fewest <= max_chars


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Parallel int64 arrays. ``begins``: the characters that each begins. ``octets``: the first
    bytes of plain characters, where the edges are of those."""

    states: int
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    begins: NDArray[np.int64]
    octets: NDArray[np.int64]

    @classmethod
    def of_plain(cls, dfa: Dfa, characters: frozenset[bytes]) -> "_Edges":
        """Where plain characters lead."""
        used = dfa.used_bytes()
        texts = sorted(c for c in characters if all(used[octet] for octet in c))
        vocabulary = Vocabulary.from_tokens(dict(enumerate(texts)), (), len(texts))
        firsts = np.array([c[0] for c in texts], dtype=np.int64)
        states = np.arange(1, dfa.states)
        found = {
            (int(row) + 1, int(octet), int(target))
            for hits in walk(Trie.from_vocabulary(vocabulary), dfa.table, dfa.classes, states)
            for row, octet, target in np.unique(
                np.column_stack((hits.rows, firsts[hits.tokens], hits.states)), axis=0
            )
        }
        sources, octets, targets = np.array(sorted(found), dtype=np.int64).reshape(-1, 3).T
        return cls(dfa.states, sources, targets, np.ones_like(sources), octets)

    @classmethod
    def within_words(cls, dfa: Dfa) -> "_Edges":
        """The edges within words, each once."""
        table = dfa.table.astype(np.int64)
        table[:, dfa.classes[SPACE]] = DEAD
        begins = np.ones(table.shape[1], dtype=np.int64)
        begins[dfa.classes[0x80:0xC0]] = 0
        rows, columns = np.nonzero(table != DEAD)
        edges = np.unique((rows * dfa.states + table[rows, columns]) * 2 + begins[columns])
        sources, targets = np.divmod(edges >> 1, dfa.states)
        return cls(dfa.states, sources, targets, edges & 1, np.zeros(0, dtype=np.int64))

    def fewest(self, ends: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Characters to the nearest end, whatever their tokens; -1 if there is none."""
        distance = np.where(ends, 0, _FAR)
        while True:
            before = distance.copy()
            np.minimum.at(distance, self.sources, before[self.targets] + self.begins)
            distance = np.minimum(distance, _FAR)
            if (distance == before).all():
                return np.where(distance < _FAR, distance, -1).astype(np.int32)

    def first_bytes(self, ends: NDArray[np.bool_], plain: NDArray[np.int32]) -> NDArray[np.int32]:
        """How many first bytes lead to an end, and how many to a nearest one."""
        leading = plain[self.targets] >= 0
        nearest = leading & (plain[self.targets] + 1 == plain[self.sources])
        counted = np.zeros((self.states, 2), dtype=np.int32)
        for column, chosen in enumerate((leading, nearest)):
            pairs = np.unique(self.sources[chosen] * 256 + self.octets[chosen])
            counted[:, column] = np.bincount(pairs // 256, minlength=self.states)
        return counted

    def has_longer_words(self, max_chars: int) -> bool:
        """Whether some word has more than ``max_chars`` characters."""
        longest = np.zeros(self.states, dtype=np.int64)
        # Four bytes make a character at most: whatever still grows after so many rounds repeats.
        for _ in range(4 * (max_chars + 1) + 1):
            grown = np.zeros_like(longest)
            np.maximum.at(grown, self.sources, longest[self.targets] + self.begins)
            if (grown == longest).all() or int(grown.max()) > max_chars:
                return bool(grown.max() > max_chars)
            longest = grown
        return True
