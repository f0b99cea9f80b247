"""LinMaxMatch and end-to-end WordPiece, as the paper has them: text to tokens in linear time.

Song et al. (2021): the trie of section 3.1, failure links by Algorithm 2, matching by Algorithm 1,
words and tokens in one pass by Algorithm 3; and the transitions that a word takes.

    V = {a, abcd, ##b, ##c}, the word abcb: a, b, c are read below the root of words, where b is
    not read next. The failure pops of abc, a and ##b, are the first tokens; its failure link is
    the node ##c, which does not read b either: it pops ##c and leads to the root of suffixes,
    which reads b. At the end of the word what is left is popped: a ##b ##c ##b

The paper builds one trie of V as strings, in which the node r♯ of the suffix indicator hangs
below the root r. Then a word that begins with ♯ after a shorter token is matched wrongly (♯ =
``##``, V = {``#``, ``###c``}: ``##c`` is ``# ###c``, and the paper's Algorithm 1 finds none). Here
r has all of V as it is written and r♯, a root of its own, has the suffix tokens without ♯. That
also removes Algorithm 1's special case for the word ♯. If ♯ is empty the two roots are one.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from constrain.compiler.wordpiece.normalizer import (
    SPACE,
    character_tables,
    is_punctuation,
    is_space,
)
from constrain.compiler.wordpiece.words import Word, Words

NO_TOKEN = -1
ROOT = 0
# No node: where there is no failure link.
NULL = -1


@dataclass(frozen=True, slots=True, eq=False)
class SuffixTrie:
    """Nodes from 0; node 0 is the root r, ``suffix_root`` is r♯.

    ``children[u]``: the edges out of u, by character. ``tokens[u]``: the id of the token
    that ends at u, or ``NO_TOKEN``.
    """

    children: list[dict[str, int]]
    tokens: list[int]
    suffix_root: int

    @classmethod
    def of_tokens(
        cls,
        initial: Iterable[tuple[str, int]],
        suffixes: Iterable[tuple[str, int]],
        *,
        shared: bool,
    ) -> "SuffixTrie":
        """The trie of the tokens that begin a word and of those that continue it, without ♯.

        ``shared``: both are the same (♯ is empty), so that one root serves. Empty tokens
        match nothing and are left out. Grows with the tokens' total length.
        """
        trie = cls([{}], [NO_TOKEN], ROOT) if shared else cls([{}, {}], [NO_TOKEN] * 2, ROOT + 1)
        for text, token_id in initial:
            trie._insert(ROOT, text, token_id)
        if not shared:
            for text, token_id in suffixes:
                trie._insert(trie.suffix_root, text, token_id)
        return trie

    @property
    def roots(self) -> tuple[int, ...]:
        """r and r♯, once if they are one."""
        return (ROOT,) if self.suffix_root == ROOT else (ROOT, self.suffix_root)

    def find(self, node: int, text: str) -> int | None:
        """The node below ``node`` that ``text`` leads to."""
        found: int | None = node
        for char in text:
            if found is None:
                return None
            found = self.children[found].get(char)
        return found

    def _insert(self, node: int, text: str, token_id: int) -> None:
        if not text:
            return
        children, tokens = self.children, self.tokens
        for char in text:
            below = children[node].get(char)
            if below is None:
                below = children[node][char] = len(children)
                children.append({})
                tokens.append(NO_TOKEN)
            node = below
        tokens[node] = token_id


@dataclass(frozen=True, slots=True, eq=False)
class FailureLinks:
    """``link[v]`` is f(v), ``NULL`` where there is none; ``pops[v]`` is F(v), token ids."""

    link: list[int]
    pops: list[tuple[int, ...]]


def precompute(trie: SuffixTrie) -> FailureLinks:
    """Algorithm 2: breadth-first from both roots, each node from its parent.

    O(M) steps for M characters in all tokens, O(Mm) for the pops of tokens of m characters.
    """
    link = [NULL] * len(trie.children)
    pops: list[tuple[int, ...]] = [()] * len(trie.children)
    queue = deque(trie.roots)
    while queue:
        u = queue.popleft()
        for c, v in trie.children[u].items():
            queue.append(v)
            if trie.tokens[v] != NO_TOKEN:
                link[v], pops[v] = trie.suffix_root, (trie.tokens[v],)
                continue
            z, found = link[u], pops[u]
            while z != NULL and c not in trie.children[z]:
                found, z = found + pops[z], link[z]
            if z != NULL:
                link[v], pops[v] = trie.children[z][c], found
    return FailureLinks(link, pops)


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
    """Pop what is left at the end of a word into ``tokens``; a root if all of it can be popped."""
    while links.link[u] != NULL:
        tokens.extend(links.pops[u])
        u = links.link[u]
    return u


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


class EndToEnd:
    """Algorithm 3, for the tokens of ``words``.

    Erratum: as printed, ``IsWdBndry`` looks at the character before the word that it is at the
    start of, so that the text ``-a`` with V = {``-``} is never left; a word boundary after
    punctuation lies after the word's first character. The printed algorithm also lacks the longest
    word that real tokenizers take.
    """

    def __init__(self, words: Words, unknown: int, max_chars: int) -> None:
        self._unknown, self._max_chars = unknown, max_chars
        marks = [chr(code) for code in character_tables().punctuation.codes()]
        initial = {**dict.fromkeys(marks, unknown), **words.initial}
        self.trie = SuffixTrie.of_tokens(initial.items(), words.suffixes.items(), shared=False)
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
            known = _is_boundary(s, start, i) and u in self._ends
            while not _is_boundary(s, start, i):
                i += 1
            if not known or i - start > self._max_chars:
                tokens = [self._unknown]
            if i > start:
                yield Word(start, i, tuple(tokens))
            while i < len(s) and is_space(s[i]):
                i += 1


def _is_boundary(s: str, start: int, i: int) -> bool:
    """``IsWdBndry``, for the word that begins at ``start``."""
    if i >= len(s) or (i > start and is_punctuation(s[i - 1])):
        return True
    return is_punctuation(s[i]) or is_space(s[i])
