"""LinMaxMatch of single words, and the transitions that one takes."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from constrain.compiler.wordpiece.linmaxmatch import (
    NULL,
    ROOT,
    SuffixTrie,
    flush,
    match_loop,
    precompute,
)


class Transition(NamedTuple):
    """One step: from ``source`` to ``target``, reading ``char`` or popping ``pops``.

    ``char`` is empty for a failure transition.
    """

    source: int
    target: int
    char: str
    pops: tuple[int, ...]


def trie_of_vocabulary(vocabulary: Mapping[str, int], indicator: str) -> SuffixTrie:
    """The trie of a vocabulary as it is written: ``a``, ``##b``."""
    suffixes = (
        (token.removeprefix(indicator), i)
        for token, i in vocabulary.items()
        if indicator and token.startswith(indicator)
    )
    return SuffixTrie.of_tokens(vocabulary.items(), suffixes, shared=not indicator)


class LinMaxMatch:
    """Tokenizes single words.

    ``vocabulary``: token, as it is written, to id. ``indicator``: ♯, any string.
    ``max_chars``: longer words are unknown; None for no bound.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], indicator: str, max_chars: int | None = None
    ) -> None:
        self.trie = trie_of_vocabulary(vocabulary, indicator)
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
