"""End-to-end WordPiece: normalised text to words and words to tokens, in one pass.

Song et al. (2021), section 4 and Algorithm 3. Erratum: as printed, ``IsWdBndry`` looks at the
character before the word that it is at the start of, so that the text ``-a`` with V = {``-``}
is never left; a word boundary after punctuation lies after the word's first character. The
printed algorithm also lacks the longest word that real tokenizers take.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .linmaxmatch import NULL, ROOT, SuffixTrie, flush, match_loop, precompute
from .normalizer import SPACE, character_tables, is_punctuation, is_space

_LETTER, _SPACE, _PUNCTUATION = 0, 1, 2


class Word(NamedTuple):
    """The tokens of ``text[start:end]``; ``[unknown]`` if it is unknown."""

    start: int
    end: int
    tokens: list[int]


class EndToEnd:
    """Tokenizes normalised text.

    ``vocabulary``: token, as it is written, to id. ``indicator``: ♯. ``unknown``: the id of
    the unknown token. ``max_chars``: longer words are unknown.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], indicator: str, unknown: int, max_chars: int
    ) -> None:
        self._kinds = _Kinds()
        self._vocabulary, self._indicator = vocabulary, indicator
        self._unknown, self._max_chars = unknown, max_chars
        marks = [chr(code) for code in character_tables().punctuation.codes()]
        self.initial, self.suffixes = self._word_tokens()
        initial = {**dict.fromkeys(marks, unknown), **self.initial}
        self.trie = SuffixTrie.of_tokens(initial.items(), self.suffixes.items(), shared=False)
        self.links = precompute(self.trie)
        # r_p, without edges: that a punctuation character, a word by itself, has been read.
        self._punctuation_root = len(self.trie.children)
        self.trie.children.append({})
        self.links.link.append(NULL)
        self.links.pops.append(())
        for char in marks:
            self.links.link[self.trie.children[ROOT][char]] = self._punctuation_root
        self._ends = frozenset((*self.trie.roots, self._punctuation_root))

    def words(self, text: str) -> Iterator[Word]:
        """Algorithm 3, word by word. O(n)."""
        s, i = text + SPACE, 0
        while i < len(s):
            start = i
            tokens, u, i = match_loop(self.trie, self.links, s, start)
            known = self._is_boundary(s, start, i) and u in self._ends
            while not self._is_boundary(s, start, i):
                i += 1
            if not known or i - start > self._max_chars:
                tokens = [self._unknown]
            if i > start:
                yield Word(start, i, tokens)
            while i < len(s) and self._kinds[s[i]] == _SPACE:
                i += 1

    def word(self, word: str) -> tuple[int, ...]:
        """The tokens of one word: a punctuation character, or text without any and white space."""
        if not 0 < len(word) <= self._max_chars:
            return (self._unknown,) if word else ()
        whole = self._vocabulary.get(word)
        if whole is not None:
            return (whole,)
        tokens, u, i = match_loop(self.trie, self.links, word, 0)
        known = i == len(word) and flush(self.links, u, tokens) in self._ends
        return tuple(tokens) if known else (self._unknown,)

    def _is_boundary(self, s: str, start: int, i: int) -> bool:
        """``IsWdBndry``, for the word that begins at ``start``."""
        kinds = self._kinds
        return (
            i >= len(s) or (i > start and kinds[s[i - 1]] == _PUNCTUATION) or kinds[s[i]] != _LETTER
        )

    def _word_tokens(self) -> tuple[dict[str, int], dict[str, int]]:
        """No word has punctuation or white space beside other characters, so no token needs to."""
        kinds, mark = self._kinds, self._indicator
        initial, suffixes = {}, {}
        for token, token_id in self._vocabulary.items():
            is_mark = len(token) == 1 and kinds[token] == _PUNCTUATION
            if is_mark or not any(map(kinds.__getitem__, token)):
                initial[token] = token_id
            rest = token.removeprefix(mark)
            if token.startswith(mark) and not any(map(kinds.__getitem__, rest)):
                suffixes[rest] = token_id
        return initial, suffixes


class _Kinds(dict[str, int]):
    """What a character is to the pre-tokenizer; fills itself in."""

    def __missing__(self, char: str) -> int:
        kind = _SPACE if is_space(char) else _PUNCTUATION if is_punctuation(char) else _LETTER
        self[char] = kind
        return kind
