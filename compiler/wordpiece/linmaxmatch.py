"""LinMaxMatch: one word to tokens, each the longest that fits, in linear time.

Song et al. (2021), Algorithm 1, on the two-root trie of ``trie``. The naive version, which
HF's and the original implementation follow, is the oracle.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .failure import NULL, FailureLinks, precompute
from .trie import ROOT, SuffixTrie


class Transition(NamedTuple):
    """One step: from ``source`` to ``target``, reading ``char`` or popping ``pops``.

    ``char`` is empty for a failure transition.
    """

    source: int
    target: int
    char: str
    pops: tuple[int, ...]


class LinMaxMatch:
    """Tokenizes single words.

    ``vocabulary``: token, as it is written, to id. ``indicator``: ♯, any string.
    ``max_chars``: longer words are unknown; None for no bound.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], indicator: str, max_chars: int | None = None
    ) -> None:
        self.trie = SuffixTrie.of_vocabulary(vocabulary, indicator)
        self.links = precompute(self.trie)
        self.max_chars = max_chars

    def tokenize(self, word: str) -> list[int] | None:
        """The word's token ids; None if it is unknown.

        At most 2n transitions for n characters: each reads one or goes up by at least one.
        """
        if self.max_chars is not None and len(word) > self.max_chars:
            return None
        tokens, u, i = match_loop(self.trie, self.links, word, 0)
        if i < len(word) or flush(self.links, u, tokens) not in self.trie.roots:
            return None
        return tokens

    def trace(self, word: str) -> Iterator[Transition]:
        """The transitions that the word takes, until its end or to where it stops."""
        u = ROOT
        children, link, pops = self.trie.children, self.links.link, self.links.pops
        for char in (*word, ""):
            while char not in children[u]:
                if link[u] == NULL:
                    return
                yield Transition(u, link[u], "", pops[u])
                u = link[u]
            yield Transition(u, children[u][char], char, ())
            u = children[u][char]


def match_loop(
    trie: SuffixTrie, links: FailureLinks, s: str, start: int
) -> tuple[list[int], int, int]:
    """``MatchLoop`` of Algorithm 1: read ``s`` from ``start`` until a character cannot be read.

    Returns the tokens popped, the node reached and the place of that character.
    """
    children, link, pops = trie.children, links.link, links.pops
    tokens: list[int] = []
    u = ROOT
    for i in range(start, len(s)):
        c = s[i]
        v = children[u].get(c)
        while v is None:
            if link[u] == NULL:
                return tokens, u, i
            tokens.extend(pops[u])
            u = link[u]
            v = children[u].get(c)
        u = v
    return tokens, u, len(s)


def flush(links: FailureLinks, u: int, tokens: list[int]) -> int:
    """Pop what is left at the end of a word; a root if all of it can be popped."""
    while links.link[u] != NULL:
        tokens.extend(links.pops[u])
        u = links.link[u]
    return u


class NaiveMatch(NamedTuple):
    """``tokens``: ids, or None if the word is unknown. ``lookups``: substrings looked up."""

    tokens: list[int] | None
    lookups: int


def max_match_via_substrings(
    word: str, vocabulary: Mapping[str, int], indicator: str, longest: int | None = None
) -> NaiveMatch:
    """The original WordPiece: try the longest substring first. O(nm), the oracle.

    ``longest``: m, the most characters that a token has, ♯ apart (None: try all lengths).
    """
    tokens: list[int] = []
    lookups = start = 0
    while start < len(word):
        stop = len(word) if longest is None else min(len(word), start + longest)
        for end in range(stop, start, -1):
            lookups += 1
            token = (indicator if start else "") + word[start:end]
            if token in vocabulary:
                tokens.append(vocabulary[token])
                start = end
                break
        else:
            return NaiveMatch(None, lookups)
    return NaiveMatch(tokens, lookups)
